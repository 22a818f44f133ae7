//! What step timing needs of a log: each kernel's cycles, and two of the simulator's options.

use cascade_accelsim::log::{self, LogEvent};
use cascade_api::{Engine, KernelStat, StatValue};
use cascade_engine::report::SIMULATOR;
use cascade_steps::PROVENANCE_KEY;
use indexmap::IndexMap;

/// Kernels as they finished, and options as they were in force.
#[derive(Debug, Default)]
pub struct Seen {
    kernels: Vec<KernelStat>,
    simulator: Option<String>,
    clock_domains: Option<String>,
    launch_latency: Option<String>,
}

impl Seen {
    /// Takes one event of the log.
    pub fn take(&mut self, event: LogEvent) {
        match event {
            LogEvent::Banner(banner) => {
                self.simulator.get_or_insert(banner.name);
            }
            LogEvent::Options { mut options } => {
                self.clock_domains = options.swap_remove("-gpgpu_clock_domains");
                self.launch_latency = options.swap_remove("-gpgpu_kernel_launch_latency");
            }
            LogEvent::Kernel(mut block) => {
                // Where kernels overlap, a block's cycles are those of several.
                let cycles = block
                    .gpu_sim_cycle
                    .filter(|_| !block.overlaps() && block.complete);
                let origin = match block.stats.swap_remove(PROVENANCE_KEY) {
                    Some(log::StatValue::Text(origin)) => Some(StatValue::Text(origin)),
                    _ => None,
                };
                for (uid, name) in block.uids.iter().zip(&block.names) {
                    let mut kernel = kernel(*uid, name, cycles);
                    kernel
                        .stats
                        .extend(origin.clone().map(|origin| (PROVENANCE_KEY.to_owned(), origin)));
                    self.kernels.push(kernel);
                }
            }
            _ => {}
        }
    }

    /// The finished kernels, with uid, name and cycles.
    pub fn kernels(&self) -> &[KernelStat] {
        &self.kernels
    }

    /// The engine that wrote the log, by the name it gives itself; none where it gives none.
    pub fn engine(&self) -> Option<Engine> {
        Some(match self.simulator.as_deref()? {
            SIMULATOR => Engine::Cascade,
            _ => Engine::AccelSim,
        })
    }

    /// The first of `-gpgpu_clock_domains`, in MHz.
    pub fn core_clock_mhz(&self) -> Option<f64> {
        let first = self.clock_domains.as_deref()?.split(':').next()?;
        first
            .trim()
            .parse()
            .ok()
            .filter(|mhz: &f64| mhz.is_finite() && *mhz > 0.0)
    }

    /// `-gpgpu_kernel_launch_latency`: cycles that the simulator adds to every kernel.
    pub fn launch_latency_cycles(&self) -> Option<u64> {
        self.launch_latency.as_deref()?.trim().parse().ok()
    }
}

fn kernel(uid: u64, name: &str, cycles: Option<u64>) -> KernelStat {
    KernelStat {
        sim_id: String::new().into(),
        kernel_index: 0,
        kernel_name: name.to_owned(),
        kernel_launch_uid: Some(uid),
        gpu_sim_cycle: cycles,
        gpu_sim_insn: None,
        gpu_ipc: None,
        sim_time_ns: None,
        stats: IndexMap::default(),
    }
}

#[cfg(test)]
mod tests {
    use cascade_accelsim::log::Parser;
    use cascade_api::Engine;
    use cascade_steps::PROVENANCE_KEY;

    use super::Seen;

    #[test]
    fn kernels_and_options_are_kept_and_overlapping_kernels_have_no_cycles_of_their_own() {
        let text = "        *** cascade-engine Simulator Version 0.1.0  [build cascade-engine-0.1.0_level-L0] ***\n\
                    GPGPU-Sim: Configuration options:\n\n\
                    -gpgpu_clock_domains 1980:1980:1980:3106 # clocks\n\
                    -gpgpu_kernel_launch_latency                 3000 # cycles\n\
                    launching kernel name: a uid: 1\n\
                    kernel_name = a \nkernel_launch_uid = 1 \ngpu_sim_cycle = 6174\ncascade_provenance = dedup:1\n\
                    gpgpu_simulation_time = 0 days\n\
                    kernel_name = a b \nkernel_launch_uid = 2 3 \ngpu_sim_cycle = 10\n\
                    gpgpu_simulation_time = 0 days\n";
        let mut seen = Seen::default();
        let mut parser = Parser::new();
        parser.push(text.as_bytes(), &mut |event| seen.take(event));
        drop(parser.finish(&mut |event| seen.take(event)));
        let kernels: Vec<_> = seen
            .kernels
            .iter()
            .map(|k| (k.kernel_launch_uid, &*k.kernel_name, k.gpu_sim_cycle))
            .collect();
        assert_eq!(
            kernels,
            [
                (Some(1), "a", Some(6174)),
                (Some(2), "a", None),
                (Some(3), "b", None)
            ]
        );
        assert!(seen.kernels[0].stats.contains_key(PROVENANCE_KEY));
        assert_eq!(seen.engine(), Some(Engine::Cascade));
        assert_eq!(seen.core_clock_mhz(), Some(1980.0));
        assert_eq!(seen.launch_latency_cycles(), Some(3000));
    }
}
