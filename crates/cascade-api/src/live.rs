//! What a run's page follows: the same changes as the event stream tells, put together and without what a page
//! does not show.

use serde::{Deserialize, Serialize};

use crate::{GpuName, RunDetail, SimId, SimSummary};

/// One event of `GET /api/runs/{id}/live`, told apart by its `type`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum LiveEvent {
    /// The run as it was at connect time; always first.
    Snapshot {
        /// The run with every sim, `log_tail` emptied.
        run: Box<RunDetail>,
        /// Bytes that the followed sim's log had; its later lines come in batches. 0 without such a sim.
        log_bytes: u64,
    },
    /// What changed since the event before.
    Batch(LiveBatch),
}

impl LiveEvent {
    /// Reads an event: its `type` first, then the one kind of event that it names. serde's own way buffers the event
    /// in between, which takes a second copy of all code that reads a run: a tenth of what a browser loads for it.
    ///
    /// # Errors
    /// When `text` is no event.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Kind {
            Snapshot,
            Batch,
        }
        #[derive(Deserialize)]
        struct Tag {
            #[serde(rename = "type")]
            kind: Kind,
        }
        #[derive(Deserialize)]
        struct Snapshot {
            run: Box<RunDetail>,
            log_bytes: u64,
        }
        Ok(match serde_json::from_str::<Tag>(text)?.kind {
            Kind::Snapshot => {
                let Snapshot { run, log_bytes } = serde_json::from_str(text)?;
                Self::Snapshot { run, log_bytes }
            }
            Kind::Batch => Self::Batch(serde_json::from_str(text)?),
        })
    }
}

/// Changes of a fifth of a second or more, each sim at most once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveBatch {
    /// Sims that changed, as they are now, `log_tail` emptied; replace your copies.
    pub sims: Vec<SimSummary>,
    /// Names of the kernels that follow, each once.
    pub names: Vec<String>,
    /// Kernels that finished, each a list of four: the position of its sim in the snapshot's `run.sims`, its index,
    /// the position of its name in `names`, its simulated time in ns.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Option<f64>>>))]
    pub kernels: Vec<FinishedKernel>,
    /// New lines of the followed sim.
    pub log: Vec<String>,
    /// Lines that were left out before those of `log`: a log may grow faster than anybody reads.
    pub log_skipped: u64,
}

/// A finished kernel as a list of four: the position of its sim in the snapshot's `run.sims`, its index, the
/// position of its name in the batch's `names`, its simulated time in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedKernel(pub u32, pub u64, pub u32, pub Option<f64>);

/// Some rows of a run's table of kernels, by columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelSlice {
    /// Rows of the whole table as it is now.
    pub rows: u64,
    /// Position of the first row here.
    pub from: u64,
    /// False until the trace has real timing.
    pub has_real_timing: bool,
    /// Kernel names that occur here, each once.
    pub names: Vec<String>,
    /// For each row the position of its name in `names`.
    pub name: Vec<u32>,
    /// Measured durations in ns; empty where the rows have none.
    pub real_ns: Vec<Option<f64>>,
    /// Simulated times, sim by sim.
    pub sims: Vec<SimColumn>,
    /// Each GPU's kernels added up; empty where that would take long, as for a run of many kernels.
    pub totals: Vec<GpuTotal>,
}

/// One sim's times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SimColumn {
    /// The sim.
    pub sim_id: SimId,
    /// `sim_time_ns` of the slice's rows, up to the last that the sim has finished; `null` where it has no time.
    pub ns: Vec<Option<f64>>,
}

/// One GPU's kernels added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GpuTotal {
    /// The GPU.
    pub gpu_config: GpuName,
    /// Kernels with a simulated time.
    pub kernels: u64,
    /// Sum of the medians in ns.
    pub sim_ns: f64,
    /// Mean of |simulated − real| / real over the kernels that have both; `null` without any.
    pub mean_abs_error: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::{FinishedKernel, LiveBatch, LiveEvent};

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let batch = LiveEvent::Batch(LiveBatch {
            names: vec!["gemm".into()],
            kernels: vec![FinishedKernel(1, 2, 0, Some(3.5)), FinishedKernel(0, 1, 0, None)],
            log_skipped: 4,
            ..LiveBatch::default()
        });
        let text = serde_json::to_string(&batch).unwrap();
        assert!(text.starts_with(r#"{"type":"batch""#), "{text}");
        assert_eq!(LiveEvent::read(&text).unwrap(), batch);
        for broken in [
            "",
            "{}",
            r#"{"type":"sims"}"#,
            r#"{"type":"snapshot","log_bytes":1}"#,
        ] {
            LiveEvent::read(broken).unwrap_err();
        }
    }
}
