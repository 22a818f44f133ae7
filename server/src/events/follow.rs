//! What a page still has to be told of a run: changes put together, each sim at most once, without what a page
//! does not show.

use std::sync::{Mutex, PoisonError};

use cascade_api::{FinishedKernel, LiveBatch, RunEvent, SimId};
use indexmap::{IndexMap, IndexSet};
use tokio::sync::Notify;

/// Lines that one batch tells at most; of more, the last.
const MAX_LINES: usize = 2_000;
/// Kernels that may wait to be told; a page that is so far behind starts over.
const MAX_KERNELS: usize = 100_000;

/// One page that follows a run.
#[derive(Debug)]
pub struct Follower {
    /// The run's sims, by place.
    sims: IndexSet<SimId>,
    /// The sim whose log it wants.
    log: Option<SimId>,
    waiting: Mutex<Waiting>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    sims: IndexMap<SimId, cascade_api::SimSummary>,
    names: IndexSet<String>,
    kernels: Vec<FinishedKernel>,
    log: std::collections::VecDeque<String>,
    skipped: u64,
    /// Too much came at once: what is here is not all.
    lost: bool,
}

impl Follower {
    /// Follows a run with these sims, and the log of one of them.
    pub fn new(sims: impl IntoIterator<Item = SimId>, log: Option<SimId>) -> Self {
        Self {
            sims: sims.into_iter().collect(),
            log,
            waiting: Mutex::default(),
            news: Notify::new(),
        }
    }

    /// Takes an event in.
    pub(super) fn tell(&self, event: &RunEvent) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            RunEvent::Sim { sim } => {
                let mut sim = (**sim).clone();
                sim.log_tail = Vec::new();
                waiting.sims.insert(sim.id.clone(), sim);
            }
            RunEvent::Kernel { stat } => {
                let Some(place) = self.sims.get_index_of(&stat.sim_id) else {
                    return;
                };
                if waiting.kernels.len() >= MAX_KERNELS {
                    waiting.lost = true;
                    return;
                }
                let name = match waiting.names.get_index_of(&stat.kernel_name) {
                    Some(name) => name,
                    None => waiting.names.insert_full(stat.kernel_name.clone()).0,
                };
                let (Ok(place), Ok(name)) = (u32::try_from(place), u32::try_from(name)) else {
                    return;
                };
                let kernel = FinishedKernel(place, stat.kernel_index, name, stat.sim_time_ns);
                waiting.kernels.push(kernel);
            }
            RunEvent::Log { sim_id, lines } if self.log.as_ref() == Some(sim_id) => {
                waiting.log.extend(lines.iter().cloned());
                let over = waiting.log.len().saturating_sub(MAX_LINES);
                waiting.log.drain(..over);
                waiting.skipped += over as u64;
            }
            RunEvent::Log { .. } | RunEvent::Snapshot { .. } | RunEvent::Lagged { .. } => return,
        }
        drop(waiting);
        self.news.notify_one();
    }

    /// Waits until there is something to tell.
    pub async fn news(&self) {
        self.news.notified().await;
    }

    /// All that waits. `None` where it is not all: start over.
    pub fn take(&self) -> Option<LiveBatch> {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        (!waiting.lost).then(|| LiveBatch {
            sims: waiting.sims.into_values().collect(),
            names: waiting.names.into_iter().collect(),
            kernels: waiting.kernels,
            log: waiting.log.into(),
            log_skipped: waiting.skipped,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cascade_api::KernelStat;
    use indexmap::IndexMap;

    fn kernel(sim: &str, index: u64) -> RunEvent {
        RunEvent::Kernel {
            stat: Box::new(KernelStat {
                sim_id: sim.into(),
                kernel_index: index,
                kernel_name: format!("k{}", index % 2),
                kernel_launch_uid: None,
                gpu_sim_cycle: None,
                gpu_sim_insn: None,
                gpu_ipc: None,
                sim_time_ns: Some(index as f64),
                stats: IndexMap::new(),
            }),
        }
    }

    fn lines(sim: &str, lines: std::ops::Range<usize>) -> RunEvent {
        RunEvent::Log {
            sim_id: sim.into(),
            lines: lines.map(|n| n.to_string()).collect(),
        }
    }

    #[tokio::test]
    async fn what_came_in_between_is_told_once() {
        let follower = Follower::new(["a".into(), "b".into()], Some("b".into()));
        for event in [
            kernel("b", 0),
            kernel("a", 1),
            kernel("b", 2),
            kernel("x", 3),
            lines("a", 0..5),
            lines("b", 0..2),
        ] {
            follower.tell(&event);
        }
        follower.news().await;
        let batch = follower.take().unwrap();
        assert_eq!(batch.names, ["k0", "k1"]);
        let kernel = |sim, index, name| FinishedKernel(sim, index, name, Some(index as f64));
        assert_eq!(batch.kernels, [kernel(1, 0, 0), kernel(0, 1, 1), kernel(1, 2, 0)]);
        assert_eq!((batch.log.join(" ").as_str(), batch.log_skipped), ("0 1", 0));
        assert_eq!(follower.take(), Some(LiveBatch::default()));
    }

    #[test]
    fn it_holds_no_more_than_its_limits() {
        let follower = Follower::new(["a".into()], Some("a".into()));
        follower.tell(&lines("a", 0..MAX_LINES));
        follower.tell(&lines("a", 0..10));
        let batch = follower.take().unwrap();
        assert_eq!((batch.log.len(), batch.log_skipped), (MAX_LINES, 10));
        for index in 0..=MAX_KERNELS as u64 {
            follower.tell(&kernel("a", index));
        }
        assert_eq!(follower.take(), None);
        assert_eq!(follower.take(), Some(LiveBatch::default()), "it starts over");
    }
}
