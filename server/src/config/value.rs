//! Types of single settings.

use std::collections::BTreeMap;
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

/// Measured times of an empty kernel, in ns, by GPU config: `SM90_H100=900,SM80_A100=1100`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct T0Table(BTreeMap<String, f64>);

impl T0Table {
    /// The time for a GPU.
    pub fn get(&self, gpu: &str) -> Option<f64> {
        self.0.get(gpu).copied()
    }
}

impl FromStr for T0Table {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let entry = |entry: &str| {
            let wrong = || format!("{entry:?} must look like SM90_H100=900, with a time of 0 to 1e6 ns");
            let (gpu, ns) = entry.split_once('=').ok_or_else(wrong)?;
            let ns: f64 = ns.trim().parse().map_err(|_not_a_number| wrong())?;
            match (gpu.trim(), ns) {
                ("", _) => Err(wrong()),
                (gpu, ns) if (0.0..=1e6).contains(&ns) => Ok((gpu.to_owned(), ns)),
                _ => Err(wrong()),
            }
        };
        text.split(',').map(entry).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for T0Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self.0.iter().map(|(gpu, ns)| format!("{gpu}={ns}")).collect();
        f.write_str(&entries.join(","))
    }
}

/// A text that names none of a setting's choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {choices}")]
pub struct NotAChoice {
    pub(super) choices: &'static str,
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

pub(super) use choices;

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
