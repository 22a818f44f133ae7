//! Typed ids: a trace's name can never be passed where a sim's id is meant.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps a text that is known to be an id.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The text as it goes on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

id!(
    /// A trace's id: the profiler's run name, which is also its directory under the bucket's prefix.
    #[derive(PartialOrd, Ord)]
    TraceId
);
id!(
    /// A run's id: `run-` and 12 hex digits.
    #[derive(PartialOrd, Ord)]
    RunId
);
id!(
    /// A sim's id: `sim-` and 12 hex digits; a simulator receives it as `CASCADE_SIM_ID`.
    #[derive(PartialOrd, Ord)]
    SimId
);
id!(
    /// The name of a GPU config, such as `SM90_H100`. Names are in the order of their text, but parts between `_`
    /// that are numbers come before words, in the order of the numbers, as the GPUs of a sweep need it.
    GpuName
);

impl GpuName {
    /// The order of two names, as [`Ord`] has it.
    pub fn compare(a: &str, b: &str) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let parts = |name| str::split_inclusive(name, '_').map(Part::of);
        parts(a).cmp(parts(b))
    }
}

impl Ord for GpuName {
    fn cmp(&self, other: &Self) -> Ordering {
        Self::compare(&self.0, &other.0)
    }
}

impl PartialOrd for GpuName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A part of a name, compared from the first field on: numbers come before words, and of numbers that are the same the
/// text decides, so that parts are equal only where their texts are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    /// Digits, with a `p` for the point as sweeps write it: `900`, `3p35`.
    Number {
        /// How many digits the whole has, without zeros in front: the longer one is larger.
        digits: usize,
        whole: &'a str,
        /// Without zeros at the end.
        fraction: &'a str,
        text: &'a str,
    },
    /// Anything else, with the `_` that ends it.
    Word(&'a str),
}

impl<'a> Part<'a> {
    fn of(text: &'a str) -> Self {
        let plain = text.strip_suffix('_').unwrap_or(text);
        let (whole, fraction) = plain.split_once('p').unwrap_or((plain, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !(is_number(whole) && is_number(fraction)) {
            return Self::Word(text);
        }
        let whole = whole.trim_start_matches('0');
        Self::Number {
            digits: whole.len(),
            whole,
            fraction: fraction.trim_end_matches('0'),
            text,
        }
    }
}

impl RunId {
    /// The id made of 48 random bits that the caller drew.
    pub fn from_bits(bits: u64) -> Self {
        Self(format!("run-{:012x}", bits & 0xffff_ffff_ffff))
    }
}

impl SimId {
    /// The id made of 48 random bits that the caller drew.
    pub fn from_bits(bits: u64) -> Self {
        Self(format!("sim-{:012x}", bits & 0xffff_ffff_ffff))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::GpuName;

    #[test]
    fn gpus_of_a_sweep_are_in_order_of_their_value() {
        let sorted = [
            "SM75_RTX2060",
            "SM7_QV100",
            "SM90_H100",
            "SM90_H100_dram_bandwidth_900",
            "SM90_H100_dram_bandwidth_1000",
            "SM90_H100_dram_bandwidth_x",
            "SM90_H100_efficiency_0p5",
            "SM90_H100_efficiency_0p25x",
            "SM90_H100_tdp_3p35",
            "SM90_H100_tdp_3p8",
            "SM90_H200",
        ]
        .map(GpuName::from);
        let mut names = sorted.to_vec();
        names.reverse();
        names.sort();
        assert_eq!(names, sorted);
    }

    proptest! {
        #[test]
        fn names_have_one_order(a in "[_0159pHx]{0,6}", b in "[_0159pHx]{0,6}", c in "[_0159pHx]{0,6}") {
            let compare = |a: &str, b: &str| GpuName::compare(a, b);
            prop_assert_eq!(compare(&a, &b).is_eq(), a == b);
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }
}
