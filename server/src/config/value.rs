//! Types of single settings.

use std::fmt;
use std::str::FromStr;

/// A value, or nothing where the text is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maybe<T>(pub Option<T>);

impl<T: FromStr> FromStr for Maybe<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        match text.trim() {
            "" => Ok(Self(None)),
            text => text.parse().map(|value| Self(Some(value))),
        }
    }
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for comparing and for handing on.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A text that names none of a setting's choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {choices}")]
pub struct NotAChoice {
    choices: &'static str,
}

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident, $list:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal $(| $more:literal)*),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl FromStr for $name {
            type Err = NotAChoice;

            fn from_str(text: &str) -> Result<Self, NotAChoice> {
                match text.to_ascii_lowercase().as_str() {
                    $($text $(| $more)* => Ok(Self::$variant),)+
                    _ => Err(NotAChoice { choices: $list }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text),+ })
            }
        }
    };
}

choices!(
    /// Yes or no.
    Switch, "true or false" {
        /// Yes.
        On = "true" | "1" | "yes" | "on",
        /// No.
        Off = "false" | "0" | "no" | "off",
    }
);

choices!(
    /// Where sims run.
    SimBackend, "local: in this version sims only run beside the server" {
        /// As processes beside the server.
        Local = "local",
    }
);

choices!(
    /// The engine of the built-in worker.
    EngineChoice, "auto, accel-sim or cascade" {
        /// Accel-Sim where it is built, else Cascade's own.
        Auto = "auto",
        /// Accel-Sim.
        AccelSim = "accel-sim",
        /// Cascade's own.
        Cascade = "cascade",
    }
);

choices!(
    /// How log lines are written.
    LogFormat, "text or json" {
        /// For people.
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
);
