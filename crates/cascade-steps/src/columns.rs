//! A run's kernel times column by column, with each kernel's name, launch shape and role written once.

use cascade_api::{
    ColumnKernel, GpuName, KernelColumn, KernelColumns, KernelLaunch, KernelStat, RealKernel, ReplicaTotal,
};
use indexmap::{IndexMap, IndexSet};

use crate::{Role, Shape, SimTimes, Traced};

/// Puts what sims finished into columns.
///
/// `configs` are the run's GPUs in entry order (repeats are left out), `launches` the trace's list and `model`
/// its model, from which roles are guessed. A kernel gets its grid and block from the launch whose number is its
/// uid, else from the launch at its position; both only where the name agrees.
pub fn columns(
    configs: &[GpuName],
    sims: &[SimTimes],
    launches: &[KernelLaunch],
    model: Option<&str>,
    real: Option<&[RealKernel]>,
) -> KernelColumns {
    let configs: IndexSet<&GpuName> = configs.iter().collect();
    let last = sims.iter().flat_map(|sim| &sim.kernels);
    let last = last.map(|kernel| kernel.kernel_index.saturating_add(1)).max();
    // A hole in a log can leave an index far beyond what was stored; positions stop at what can exist.
    let stored = sims.iter().map(|sim| sim.kernels.len()).sum::<usize>();
    let length = usize::try_from(last.unwrap_or(0))
        .unwrap_or(usize::MAX)
        .min(stored);

    let mut at: Vec<Option<&KernelStat>> = vec![None; length];
    for kernel in sims.iter().flat_map(|sim| &sim.kernels) {
        if let Some(slot) = position(kernel).and_then(|i| at.get_mut(i)) {
            slot.get_or_insert(kernel);
        }
    }
    let (kernels, launches) = kernels(&at, launches, model);
    let column = |gpu: &&GpuName| {
        let own: Vec<&SimTimes> = sims.iter().filter(|sim| sim.gpu_config == **gpu).collect();
        column(gpu, &own, length)
    };
    KernelColumns {
        kernels,
        launches,
        real_ns: real.map_or_else(Vec::new, |real| {
            (0..length)
                .map(|i| real.get(i).map(|row| row.duration_ns))
                .collect()
        }),
        columns: configs.iter().map(column).collect(),
    }
}

/// Where a kernel stands, if this machine can count so far.
fn position(kernel: &KernelStat) -> Option<usize> {
    usize::try_from(kernel.kernel_index).ok()
}

/// The distinct kernels, and which of them runs at each position.
fn kernels(
    at: &[Option<&KernelStat>],
    launches: &[KernelLaunch],
    model: Option<&str>,
) -> (Vec<ColumnKernel>, Vec<u32>) {
    let traced = Traced::new(launches);
    type Size = Option<(u32, u32, u32)>;
    let mut distinct: IndexMap<(&str, Size, Size), ()> = IndexMap::new();
    let mut which = Vec::with_capacity(at.len());
    for (i, kernel) in (0..).zip(at) {
        let name = kernel.map_or("", |kernel| kernel.kernel_name.trim());
        let launch = traced.find(kernel.and_then(|kernel| kernel.kernel_launch_uid), i, name);
        let key = (name, launch.map(|l| l.grid), launch.map(|l| l.block));
        let entry = distinct.entry(key);
        which.push(u32::try_from(entry.index()).unwrap_or(u32::MAX));
        entry.or_insert(());
    }
    let kernel = |(name, grid, block): (&str, Size, Size)| {
        let shape = Shape::new(name, grid, block);
        ColumnKernel {
            group: Role::of(&shape, model).label().to_owned(),
            name: shape.name,
            grid,
            block,
        }
    };
    (distinct.into_keys().map(kernel).collect(), which)
}

/// One GPU's times over its sims.
fn column(gpu: &GpuName, sims: &[&SimTimes], length: usize) -> KernelColumn {
    let mut engines: Vec<_> = sims.iter().map(|sim| sim.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(sims.len()); length];
    for kernel in sims.iter().flat_map(|sim| &sim.kernels) {
        let cell = position(kernel).and_then(|i| times.get_mut(i));
        if let (Some(cell), Some(ns)) = (cell, kernel.sim_time_ns) {
            cell.push(ns);
        }
    }
    for cell in &mut times {
        cell.sort_unstable_by(f64::total_cmp);
    }
    let ends = |cell: &Vec<f64>| Some((*cell.first()?, *cell.last()?));
    let differ = times.iter().filter_map(ends).any(|(least, most)| least < most);
    let spread = |of: fn((f64, f64)) -> f64| match differ {
        true => times.iter().map(|cell| ends(cell).map(of)).collect(),
        false => Vec::new(),
    };
    let total = |sim: &&SimTimes| {
        let own = sim.kernels.iter().filter_map(|kernel| kernel.sim_time_ns);
        let add = |sum: ReplicaTotal, ns| ReplicaTotal {
            kernels: sum.kernels + 1,
            total_ns: sum.total_ns + ns,
        };
        own.fold(ReplicaTotal::default(), add)
    };
    KernelColumn {
        gpu_config: gpu.clone(),
        engines,
        replicas: sims.iter().map(total).collect(),
        median_ns: times.iter().map(|cell| middle(cell)).collect(),
        min_ns: spread(|(least, _)| least),
        max_ns: spread(|(_, most)| most),
    }
}

/// The middle of sorted values; the mean of the two middle ones for an even number.
fn middle(sorted: &[f64]) -> Option<f64> {
    let high = sorted.get(sorted.len() / 2)?;
    let low = sorted.get(sorted.len().checked_sub(1)? / 2)?;
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
mod tests;
