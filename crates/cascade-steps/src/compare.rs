//! Real against simulated time, kernel by kernel.

use cascade_api::{Comparison, ComparisonRow, Engine, GpuName, KernelStat, RealKernel};
use indexmap::{IndexMap, IndexSet};

/// The kernels one sim finished, in order of completion.
#[derive(Clone, Debug, PartialEq)]
pub struct SimTimes {
    /// The GPU it simulates.
    pub gpu_config: GpuName,
    /// The program that makes its numbers.
    pub engine: Engine,
    /// Its kernels; `stats` are not read.
    pub kernels: Vec<KernelStat>,
}

/// Lines kernels up by position: row `i` holds the `i`th measured kernel and, for each GPU, the median of
/// the `i`th simulated kernel over the sims of that GPU.
///
/// `configs` are the run's GPUs in entry order; repeats are left out. `sims` are in the order in which a
/// row's name is looked for. `real` is ordered by kernel id.
pub fn compare(configs: &[GpuName], sims: &[SimTimes], real: Option<&[RealKernel]>) -> Comparison {
    let configs: Vec<GpuName> = configs
        .iter()
        .collect::<IndexSet<_>>()
        .into_iter()
        .cloned()
        .collect();
    let last = sims
        .iter()
        .flat_map(|sim| &sim.kernels)
        .map(|k| k.kernel_index.saturating_add(1));
    let simulated = usize::try_from(last.max().unwrap_or(0)).unwrap_or(usize::MAX);
    let measured = real.map_or(0, <[_]>::len);
    // A hole in a log can leave an index far beyond what was stored; rows stop at what can exist.
    let most = sims.iter().map(|sim| sim.kernels.len()).sum::<usize>();
    let length = simulated.min(most.max(1)).max(measured);

    let mut names: Vec<Option<&str>> = vec![None; length];
    let mut times: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); length]; configs.len()];
    for sim in sims {
        let Some(config) = configs.iter().position(|c| *c == sim.gpu_config) else {
            continue;
        };
        for kernel in &sim.kernels {
            let Ok(row) = usize::try_from(kernel.kernel_index) else {
                continue;
            };
            if let Some(name) = names.get_mut(row) {
                name.get_or_insert(&kernel.kernel_name);
            }
            let cell = times.get_mut(config).and_then(|column| column.get_mut(row));
            if let (Some(cell), Some(ns)) = (cell, kernel.sim_time_ns) {
                cell.push(ns);
            }
        }
    }

    let row = |i: usize| {
        let real = real.and_then(|rows| rows.get(i));
        let simulated_name = names.get(i).copied().flatten().unwrap_or_default();
        let real_name = real
            .map(|r| r.kernel_name.as_str())
            .filter(|name| !name.is_empty());
        let cells = times
            .iter_mut()
            .map(|column| column.get_mut(i).and_then(|t| median(t)));
        ComparisonRow {
            kernel_index: i as u64,
            kernel_name: real_name.unwrap_or(simulated_name).to_owned(),
            real_ns: real.map(|r| r.duration_ns),
            sim_ns: configs.iter().cloned().zip(cells).collect(),
        }
    };
    let rows = (0..length).map(row).collect();
    Comparison {
        has_real_timing: real.is_some(),
        rows,
        engines: engines(&configs, sims),
        configs,
    }
}

fn engines(configs: &[GpuName], sims: &[SimTimes]) -> IndexMap<GpuName, Vec<Engine>> {
    let of = |config: &GpuName| {
        let mut engines: Vec<Engine> = sims
            .iter()
            .filter(|sim| sim.gpu_config == *config)
            .map(|sim| sim.engine)
            .collect();
        engines.sort_unstable();
        engines.dedup();
        engines
    };
    configs
        .iter()
        .map(|config| (config.clone(), of(config)))
        .collect()
}

/// The middle value, or the mean of the two middle ones.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = values.get(middle)?;
    match values.len() % 2 {
        1 => Some(*upper),
        _ => Some((values.get(middle.checked_sub(1)?)? + upper) / 2.0),
    }
}

#[cfg(test)]
mod tests;
