//! What step timing needs of a log: each kernel's cycles, and two of the simulator's options.

use std::collections::BTreeSet;
use std::sync::Arc;

use cascade_accelsim::log::LogEvent;
use cascade_steps::SimKernel;

/// Kernels as they finished, and options as they were in force.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) kernels: Vec<SimKernel>,
    names: BTreeSet<Arc<str>>,
    clock_domains: Option<String>,
    launch_latency: Option<String>,
}

impl Seen {
    /// Takes one event of the log.
    pub(crate) fn take(&mut self, event: LogEvent) {
        match event {
            LogEvent::Options { mut options } => {
                self.clock_domains = options.swap_remove("-gpgpu_clock_domains");
                self.launch_latency = options.swap_remove("-gpgpu_kernel_launch_latency");
            }
            LogEvent::Kernel(block) => {
                // Where kernels overlap, a block's cycles are those of several.
                let cycles = block.gpu_sim_cycle.filter(|_| !block.overlaps() && block.complete);
                for (uid, name) in block.uids.iter().zip(&block.names) {
                    let name = self.interned(name);
                    self.kernels.push(SimKernel {
                        uid: *uid,
                        name,
                        cycles,
                    });
                }
            }
            _ => {}
        }
    }

    /// The first of `-gpgpu_clock_domains`, in MHz.
    pub(crate) fn core_clock_mhz(&self) -> Option<f64> {
        let first = self.clock_domains.as_deref()?.split(':').next()?;
        first.trim().parse().ok().filter(|mhz: &f64| mhz.is_finite() && *mhz > 0.0)
    }

    /// `-gpgpu_kernel_launch_latency`: cycles that the simulator adds to every kernel.
    pub(crate) fn launch_latency_cycles(&self) -> Option<u64> {
        self.launch_latency.as_deref()?.trim().parse().ok()
    }

    /// One copy of each name, however many launches it has.
    fn interned(&mut self, name: &str) -> Arc<str> {
        match self.names.get(name) {
            Some(known) => known.clone(),
            None => {
                let name: Arc<str> = name.into();
                self.names.insert(name.clone());
                name
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cascade_accelsim::log::Parser;

    use super::Seen;

    #[test]
    fn kernels_and_options_are_kept_and_overlapping_kernels_have_no_cycles_of_their_own() {
        let text = "GPGPU-Sim: Configuration options:\n\n\
                    -gpgpu_clock_domains 1980:1980:1980:3106 # clocks\n\
                    -gpgpu_kernel_launch_latency                 3000 # cycles\n\
                    launching kernel name: a uid: 1\n\
                    kernel_name = a \nkernel_launch_uid = 1 \ngpu_sim_cycle = 6174\n\
                    gpgpu_simulation_time = 0 days\n\
                    kernel_name = a b \nkernel_launch_uid = 2 3 \ngpu_sim_cycle = 10\n\
                    gpgpu_simulation_time = 0 days\n";
        let mut seen = Seen::default();
        let mut parser = Parser::new();
        parser.push(text.as_bytes(), &mut |event| seen.take(event));
        parser.finish(&mut |event| seen.take(event));
        let kernels: Vec<_> = seen.kernels.iter().map(|k| (k.uid, &*k.name, k.cycles)).collect();
        assert_eq!(kernels, [(1, "a", Some(6174)), (2, "a", None), (3, "b", None)]);
        assert_eq!(seen.core_clock_mhz(), Some(1980.0));
        assert_eq!(seen.launch_latency_cycles(), Some(3000));
    }
}
