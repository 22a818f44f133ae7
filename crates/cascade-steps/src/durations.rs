//! `sim_durations.json`: simulated times of launches, and where each came from.
//!
//! The file is ours: `{"engine", "gpu_config", "core_clock_mhz", "durations": [{"repeat", "step", "seq",
//! "duration_ns", "provenance", "uid", "cycles"}]}`. `uid` and `cycles` are those of the simulated kernel that
//! gave the time; they are absent where no one kernel did.

use serde::{Deserialize, Deserializer};

use crate::Provenance;
use crate::timeline::{Out, Read, Shapes, record};

/// The file's name.
pub const DURATIONS: &str = "sim_durations.json";

/// The most bytes of a file of durations that are read: about ten million launches.
pub const MAX_DURATIONS_BYTES: usize = 2 << 30;

record! {
    /// Simulated times, each for one launch of a timeline.
    #[derive(Default)]
    SimDurations {
        /// The program that made them, as the wire names it.
        null engine: Option<String>,
        /// The GPU that was simulated.
        null gpu_config: Option<String>,
        /// The clock that turned cycles into time, in MHz.
        null core_clock_mhz: Option<f64>,
        /// One for each launch, in any order.
        must durations: Vec<SimDuration>,
    }
}

record! {
    /// The simulated time of one launch.
    SimDuration {
        /// The repeat of the launch.
        must repeat: i64,
        /// The step of the launch.
        must step: i64,
        /// The `seq` of the launch in its step.
        must seq: i64,
        /// The time, in ns.
        must duration_ns: f64,
        /// Where it came from.
        must provenance: Provenance,
        /// The simulated kernel that gave it.
        maybe uid: Option<u64>,
        /// Cycles of that kernel.
        maybe cycles: Option<u64>,
    }
}

impl<'de> Read<'de> for Provenance {
    fn read<D: Deserializer<'de>>(deserializer: D, _: &mut Shapes) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl serde::Serialize for Out<'_, Provenance> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Why a file holds no simulated times.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{DURATIONS}: {0}")]
pub struct DurationsError(String);

impl SimDurations {
    /// Reads `sim_durations.json`.
    ///
    /// # Errors
    /// Text of another shape; the row and the field are named.
    pub fn parse(json: &[u8]) -> Result<Self, DurationsError> {
        if json.len() > MAX_DURATIONS_BYTES {
            let bytes = json.len();
            return Err(DurationsError(format!(
                "{bytes} bytes are more than the {MAX_DURATIONS_BYTES} that are read"
            )));
        }
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let read = Self::read(&mut deserializer, &mut Shapes::default());
        let read = read.and_then(|read| deserializer.end().map(|()| read));
        read.map_err(|e| DurationsError(e.to_string()))
    }
}
