//! Where a simulated duration came from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where a simulated duration came from. In JSON: `exact`, `dedup:6579`, `identical`, `interp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provenance {
    /// This very launch was simulated.
    Exact,
    /// Another traced launch stood for it: the one with this uid.
    Dedup(u64),
    /// Taken from a traced launch of the same shape in another step.
    Identical,
    /// Interpolated over context between traced steps.
    Interp,
}

impl Provenance {
    /// The label without a uid, as counts are kept by.
    pub fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Dedup(_) => "dedup",
            Self::Identical => "identical",
            Self::Interp => "interp",
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dedup(uid) => write!(f, "dedup:{uid}"),
            other => f.write_str(other.label()),
        }
    }
}

/// Text that names no provenance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of exact, dedup:<uid>, identical, interp")]
pub struct ProvenanceError(String);

impl FromStr for Provenance {
    type Err = ProvenanceError;

    fn from_str(text: &str) -> Result<Self, ProvenanceError> {
        let wrong = || ProvenanceError(text.to_owned());
        match text {
            "exact" => Ok(Self::Exact),
            "identical" => Ok(Self::Identical),
            "interp" => Ok(Self::Interp),
            _ => {
                let uid = text.strip_prefix("dedup:").and_then(|uid| uid.parse().ok());
                uid.map(Self::Dedup).ok_or_else(wrong)
            }
        }
    }
}

impl Serialize for Provenance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Provenance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
