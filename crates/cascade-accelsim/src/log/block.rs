//! The block that is open: from `kernel_name` to the end of its statistics.

use super::stats::Collector;
use super::{KernelBlock, Totals};

/// Kernels named in one block at most.
const MAX_NAMES: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    pub(super) line: u64,
    pub(super) collector: Collector,
}

impl OpenBlock {
    /// Builds the event. `totals` are the run's so far and are brought up to date.
    pub(super) fn close(
        self,
        index: usize,
        finished: Option<(u64, Option<String>)>,
        complete: bool,
        totals: &mut Totals,
    ) -> KernelBlock {
        let stats = self.collector.stats;
        let number = |key: &str| stats.get(key).and_then(super::StatValue::number);
        let text = |key: &str| match stats.get(key) {
            Some(super::StatValue::Text(text)) => text.clone(),
            Some(super::StatValue::Number(number)) => number.to_string(),
            None => String::new(),
        };
        for (total, key) in [
            (&mut totals.gpu_tot_sim_cycle, "gpu_tot_sim_cycle"),
            (&mut totals.gpu_tot_sim_insn, "gpu_tot_sim_insn"),
            (&mut totals.gpu_tot_ipc, "gpu_tot_ipc"),
            (&mut totals.sim_rate_ips, "gpgpu_simulation_rate"),
        ] {
            *total = number(key).or(*total);
        }
        let uids: Vec<u64> = text("kernel_launch_uid")
            .split_whitespace()
            .take(MAX_NAMES)
            .filter_map(|uid| uid.parse().ok())
            .collect();
        let names = text("kernel_name");
        // A demangled name has blanks, so a list is only split where several kernels are numbered.
        let names = match (names.trim(), uids.len()) {
            ("", _) => Vec::new(),
            (name, 1) => vec![name.to_owned()],
            (list, 0) if list.contains(['(', '<']) => vec![list.to_owned()],
            (list, _) => list
                .split_whitespace()
                .take(MAX_NAMES)
                .map(str::to_owned)
                .collect(),
        };
        let own = |key: &str| number(key).map(whole);
        let own_cycles = own("start_cycle").zip(own("end_cycle"));
        let (finished_uid, finished_name) = finished.unzip();
        KernelBlock {
            index,
            line: self.line,
            names,
            uids,
            stream: text("kernel_stream_id")
                .parse()
                .ok()
                .filter(|&stream| stream != u64::MAX && stream != NO_STREAM),
            finished_uid,
            finished_name: finished_name.flatten(),
            gpu_sim_cycle: number("gpu_sim_cycle").map(whole),
            gpu_sim_insn: number("gpu_sim_insn").map(whole),
            gpu_ipc: number("gpu_ipc"),
            totals: *totals,
            own_cycles,
            complete,
            dropped_keys: self.collector.dropped,
            stats,
        }
    }
}

/// 2^64-1, the simulator's "no stream", after a trip through a double.
const NO_STREAM: u64 = 18_446_744_073_709_551_615;

/// A counter; Rust's cast saturates, so a damaged number cannot wrap.
fn whole(number: f64) -> u64 {
    number.round() as u64
}
