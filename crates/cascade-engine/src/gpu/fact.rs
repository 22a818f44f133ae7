//! One fact about a GPU: a number, its unit and where it comes from.

use std::fmt;

use serde::Deserialize;

/// A number with its unit and its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The number, in `unit`.
    pub value: f64,
    /// Unit as written in the file; every key has exactly one.
    pub unit: String,
    /// Where the number comes from; starts with `assumed:` when nobody measured or published it.
    pub source: String,
}

impl Fact {
    /// A fact from its parts.
    pub fn new(value: f64, unit: &str, source: impl Into<String>) -> Self {
        Self {
            value,
            unit: unit.to_owned(),
            source: source.into(),
        }
    }

    /// The number as a count; facts whose unit counts things are checked to be whole when they are loaded.
    pub fn count(&self) -> u64 {
        self.value as u64
    }

    /// Whether the source says that the number is an assumption.
    pub fn is_assumed(&self) -> bool {
        self.source.starts_with("assumed")
    }
}

/// Unit and legal range of a fact.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The only unit that the key takes.
    pub unit: &'static str,
    /// Smallest legal value.
    pub min: f64,
    /// Largest legal value.
    pub max: f64,
}

/// Units that count things, so that a fraction is an error.
const WHOLE: [&str; 7] = ["SM", "schedulers", "warps", "CTAs", "registers", "bytes", "banks"];

impl Rule {
    /// What is wrong with `fact`, if anything.
    pub fn check(&self, fact: &Fact) -> Option<String> {
        let Fact { value, unit, source } = fact;
        if unit != self.unit {
            return Some(format!("has the unit `{unit}`, expected `{}`", self.unit));
        }
        if !(self.min..=self.max).contains(value) {
            return Some(format!(
                "is {} {unit}, expected {} to {}",
                Plain(*value),
                self.min,
                self.max
            ));
        }
        if WHOLE.contains(&self.unit) && value.fract() != 0.0 {
            return Some(format!("is {value} {unit}, expected a whole number"));
        }
        source
            .trim()
            .is_empty()
            .then(|| "has no source; write where the value comes from".to_owned())
    }
}

/// A number as people write it: huge and tiny ones with an exponent.
struct Plain(f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.abs() {
            size if size.is_finite() && size != 0.0 && !(1e-6..1e15).contains(&size) => {
                write!(f, "{:e}", self.0)
            }
            _ => write!(f, "{}", self.0),
        }
    }
}

/// Declares a table of facts: a struct with one [`Fact`] per key and a visitor that knows each key's rule.
macro_rules! fact_table {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $key:ident: $unit:literal $min:literal ..= $max:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$doc])* pub $key: $crate::gpu::fact::Fact,)* }

        impl $name {
            /// Calls `f(key, fact, rule)` for every key, in file order.
            pub fn each<'a>(&'a self, f: &mut dyn FnMut(&'static str, &'a $crate::gpu::fact::Fact, $crate::gpu::fact::Rule)) {
                $(f(stringify!($key), &self.$key, $crate::gpu::fact::Rule { unit: $unit, min: $min, max: $max });)*
            }

            /// The fact with this key.
            pub(super) fn fact_mut(&mut self, key: &str) -> Option<&mut $crate::gpu::fact::Fact> {
                match key {
                    $(stringify!($key) => Some(&mut self.$key),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use fact_table;
