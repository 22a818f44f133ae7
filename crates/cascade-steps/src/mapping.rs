//! `kernel_mapping.json`: which kernel of a sim's log stands for which kernel of the timeline.

use serde::{Deserialize, Deserializer};

use crate::timeline::{Read, Shapes, record};

/// The file that comes with a trace.
pub const MAPPING: &str = "kernel_mapping.json";

/// The most bytes of a mapping that are read: about five million kernels.
pub const MAX_MAPPING_BYTES: usize = 1 << 30;

record! {
    /// One traced kernel and the launch that its simulated time replaces.
    #[derive(Default)]
    MappedKernel {
        /// Its launch uid in the sim's log.
        must uid: u64,
        /// Its name in the sim's log.
        must name: String,
        /// The repeat of the launch.
        must repeat: i64,
        /// The step of the launch.
        must step: i64,
        /// The `seq` of the launch in its step.
        must seq: i64,
        /// What the mapping's maker says of the time: `exact`, `dedup:<uid>`, `identical` or `interp`.
        maybe provenance: Option<String>,
    }
}

impl<'de> Deserialize<'de> for MappedKernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer, &mut Shapes::default())
    }
}

/// Why a file is no mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MAPPING}: {0}")]
pub struct MappingError(String);

/// Reads `kernel_mapping.json`.
///
/// # Errors
/// Text that is no list of mapped kernels; the row and the field are named.
pub fn parse_mapping(json: &[u8]) -> Result<Vec<MappedKernel>, MappingError> {
    if json.len() > MAX_MAPPING_BYTES {
        let bytes = json.len();
        return Err(MappingError(format!(
            "{bytes} bytes are more than the {MAX_MAPPING_BYTES} that are read"
        )));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let rows = Vec::<MappedKernel>::read(&mut deserializer, &mut Shapes::default());
    let rows = rows.and_then(|rows| deserializer.end().map(|()| rows));
    rows.map_err(|e| MappingError(e.to_string()))
}
