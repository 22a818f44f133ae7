//! The live stream of one run.

use serde::{Deserialize, Serialize};

use crate::{KernelStat, RunDetail, SimId, SimSummary};

/// One event of `GET /api/runs/{id}/events`, told apart by its `type`.
///
/// A `snapshot` always comes first. For one log chunk the order is `log`, the `kernel`s it completed, `sim`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RunEvent {
    /// The run as it was at connect time.
    Snapshot {
        /// The run with every sim.
        run: Box<RunDetail>,
        /// Every finished kernel, `stats` emptied.
        kernels: Vec<KernelStat>,
    },
    /// A sim changed: state, heartbeat, progress or metrics.
    Sim {
        /// The whole sim; replace your copy.
        sim: Box<SimSummary>,
    },
    /// New output of one sim.
    Log {
        /// The sim it came from.
        sim_id: SimId,
        /// The chunk, as the simulator sent it.
        lines: Vec<String>,
    },
    /// A kernel finished on one sim.
    Kernel {
        /// Its statistics, `stats` included.
        stat: Box<KernelStat>,
    },
    /// The subscriber fell too far behind; the stream ends here. Connect again for a new snapshot.
    Lagged {
        /// Events that were not sent.
        missed: u64,
    },
}
