//! Typed ids: a trace's name can never be passed where a sim's id is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
    TraceId
);
id!(
    /// A run's id: `run-` and 12 hex digits.
    RunId
);
id!(
    /// A sim's id: `sim-` and 12 hex digits; a simulator receives it as `CASCADE_SIM_ID`.
    SimId
);
id!(
    /// The name of a GPU config, such as `SM90_H100`.
    GpuName
);

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
