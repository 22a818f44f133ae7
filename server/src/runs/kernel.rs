//! One kernel of a sim, explained.

use cascade_api::{KernelDetail, SimId, counters, explain};

use super::Service;
use crate::error::Error;

impl Service {
    /// A kernel that a sim finished, with its statistics and what they say.
    pub async fn sim_kernel(&self, id: &SimId, index: &str) -> Result<KernelDetail, Error> {
        let sim = self.sim(id).await?;
        let missing = || Error::NoKernel {
            sim: id.clone(),
            index: index.to_owned(),
            done: sim.kernels_done,
        };
        let index = index.parse::<u64>().map_err(|_no_index| missing())?;
        // Counters of Accel-Sim run on from kernel to kernel, so the block before is needed too.
        let found = self.db.kernels_full(id, index.saturating_sub(1), 2).await?;
        let before = found.iter().find(|kernel| kernel.kernel_index + 1 == index);
        let stat = found.iter().find(|kernel| kernel.kernel_index == index);
        let stat = stat.ok_or_else(missing)?.clone();
        let explanation =
            explain(&stat.stats).or_else(|| counters(before.map(|kernel| &kernel.stats), &stat.stats));
        let (run, _) = self.run_record(&sim.run_id).await?;
        let trace = self.db.trace_get(&run.trace_id).await?;
        let real = match &trace {
            Some(trace) => self.real_timing(trace).await?,
            None => None,
        };
        let real_ns = usize::try_from(index)
            .ok()
            .and_then(|index| Some(real?.get(index)?.duration_ns));
        Ok(KernelDetail {
            stat,
            run_id: sim.run_id,
            replica: sim.replica,
            engine: sim.engine,
            gpu_config: self.gpu(&sim.gpu_config),
            sample: run.sample || trace.is_some_and(|trace| trace.sample),
            kernels_done: sim.kernels_done,
            real_ns,
            explanation,
        })
    }
}
