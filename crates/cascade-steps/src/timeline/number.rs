//! Numbers as the files hold them: whole ones as integers, points in time without loss.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// Whole numbers below this are exact as `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Largest time, in ns or ms: 31 years. A timeline's sums of such times stay far from what an `f64` holds.
pub const MAX_TIME: f64 = 1e18;

/// What is wrong with a duration.
pub(crate) fn unfit(value: f64) -> Option<String> {
    let fits = (0.0..=MAX_TIME).contains(&value);
    (!fits).then(|| format!("is {value}; it must be a number from 0 to {MAX_TIME:e}"))
}

/// What is wrong with a difference of times.
pub(crate) fn far(value: f64) -> Option<String> {
    let fits = (-MAX_TIME..=MAX_TIME).contains(&value);
    (!fits).then(|| format!("is {value}; it must be a number within ±{MAX_TIME:e}"))
}

/// A point in time, in ns from an origin that the file chooses: a whole part and a fraction below 1.
///
/// Nanoseconds since 1970 do not fit an `f64`, whose step there is 256 ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Stamp {
    whole: i64,
    fraction: f64,
}

impl Stamp {
    /// A whole number of ns.
    pub fn from_ns(ns: i64) -> Self {
        Self {
            whole: ns,
            fraction: 0.0,
        }
    }

    /// This much later, in ns; earlier where negative.
    #[must_use]
    pub fn plus(self, ns: f64) -> Self {
        let sum = self.fraction + ns.fract();
        let carry = sum.floor();
        // `as` takes the nearest integer there is, which no time in range needs.
        let whole = self.whole.saturating_add(ns as i64).saturating_add(carry as i64);
        match sum - carry {
            // A tiny negative sum rounds up to 1.
            fraction if fraction >= 1.0 => Self::from_ns(whole.saturating_add(1)),
            fraction => Self { whole, fraction },
        }
    }

    /// From `earlier` to this, in ns.
    pub fn since(self, earlier: Self) -> f64 {
        self.whole.saturating_sub(earlier.whole) as f64 + (self.fraction - earlier.fraction)
    }
}

impl Serialize for Stamp {
    /// A fraction is rounded away where a JSON number, read as `f64`, could not hold it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.fraction == 0.0 {
            serializer.serialize_i64(self.whole)
        } else if (self.whole as f64).abs() >= EXACT {
            serializer.serialize_i64(self.whole.saturating_add(self.fraction.round() as i64))
        } else {
            serializer.serialize_f64(self.whole as f64 + self.fraction)
        }
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Time;
        impl Visitor<'_> for Time {
            type Value = Stamp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time in ns")
            }
            fn visit_i64<E: de::Error>(self, ns: i64) -> Result<Stamp, E> {
                Ok(Stamp::from_ns(ns))
            }
            fn visit_u64<E: de::Error>(self, ns: u64) -> Result<Stamp, E> {
                i64::try_from(ns)
                    .map(Stamp::from_ns)
                    .map_err(|e| E::custom(format_args!("beyond 292 years: {e}")))
            }
            fn visit_f64<E: de::Error>(self, ns: f64) -> Result<Stamp, E> {
                Ok(Stamp::default().plus(ns))
            }
        }
        deserializer.deserialize_any(Time)
    }
}

/// Writes a value as the files do: an `f64` that is whole as an integer.
pub(crate) struct Out<'a, T>(pub(crate) &'a T);

impl Serialize for Out<'_, f64> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = *self.0;
        // -0.0 stays a float: as an integer it would lose its sign.
        if number.fract() == 0.0 && number.abs() < EXACT && number.to_bits() != (-0.0_f64).to_bits() {
            serializer.serialize_i64(number as i64)
        } else {
            serializer.serialize_f64(number)
        }
    }
}

impl Serialize for Out<'_, Option<f64>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(number) => Out(number).serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

/// Writes a type as serde does.
macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl Serialize for Out<'_, $ty> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }
    )*};
}
plain!(bool, i64, u64, String, super::Extra);
plain!(
    Option<bool>,
    Option<i64>,
    Option<u64>,
    Option<String>,
    Option<Stamp>
);

impl<T: Serialize> Serialize for Out<'_, Vec<T>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
