//! The real-against-simulated table, which grows while sims finish kernels.
//!
//! The server sends the table as it stands; from then on each `kernel` event adds one time, and a row shows the
//! median over a GPU's replicas, as the server's own table does.

use std::collections::BTreeMap;

use cascade_api::{Comparison, ComparisonRow, GpuName, KernelStat, RunDetail, SimId};
use indexmap::IndexMap;

/// A [`Comparison`] with the single times behind its medians.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelTable {
    table: Comparison,
    gpus: BTreeMap<SimId, GpuName>,
    /// Times of one kernel position on one GPU, by sim.
    times: BTreeMap<(u64, GpuName), BTreeMap<SimId, f64>>,
}

impl KernelTable {
    /// The table as the server sent it; live events need [`Self::reset`] first.
    pub fn new(table: Comparison) -> Self {
        Self {
            table,
            ..Self::default()
        }
    }

    /// Starts over from a snapshot. Real times, which a snapshot lacks, are kept.
    pub fn reset(&mut self, run: &RunDetail, kernels: &[KernelStat]) {
        self.gpus = run
            .sims
            .iter()
            .map(|sim| (sim.id.clone(), sim.gpu_config.clone()))
            .collect();
        self.times.clear();
        for sim in &run.sims {
            if !self.table.configs.contains(&sim.gpu_config) {
                self.table.configs.push(sim.gpu_config.clone());
            }
        }
        self.table.engines = IndexMap::new();
        for sim in &run.sims {
            let engines = self.table.engines.entry(sim.gpu_config.clone()).or_default();
            if !engines.contains(&sim.engine) {
                engines.push(sim.engine);
            }
        }
        self.table.rows.retain(|row| row.real_ns.is_some());
        for row in &mut self.table.rows {
            row.sim_ns = empty_cells(&self.table.configs);
        }
        for stat in kernels {
            self.add(stat);
        }
    }

    /// Adds a kernel that a sim finished. A sim that no snapshot named is passed over.
    pub fn add(&mut self, stat: &KernelStat) {
        let Some(gpu) = self.gpus.get(&stat.sim_id) else {
            return;
        };
        let rows = &mut self.table.rows;
        let at = match rows.binary_search_by_key(&stat.kernel_index, |row| row.kernel_index) {
            Ok(at) => at,
            Err(at) => {
                rows.insert(
                    at,
                    ComparisonRow {
                        kernel_index: stat.kernel_index,
                        kernel_name: stat.kernel_name.clone(),
                        real_ns: None,
                        sim_ns: empty_cells(&self.table.configs),
                    },
                );
                at
            }
        };
        let Some(ns) = stat.sim_time_ns else { return };
        let times = self.times.entry((stat.kernel_index, gpu.clone())).or_default();
        times.insert(stat.sim_id.clone(), ns);
        let middle = median(times.values().copied().collect());
        if let Some(row) = rows.get_mut(at) {
            row.sim_ns.insert(gpu.clone(), middle);
        }
    }

    /// The table as it stands.
    pub const fn table(&self) -> &Comparison {
        &self.table
    }
}

/// One GPU's column in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnTotal {
    /// The GPU.
    pub gpu: GpuName,
    /// Kernels with a simulated time.
    pub kernels: usize,
    /// Sum of the simulated times in ns.
    pub sim_ns: f64,
    /// Mean of |simulated − real| / real over the kernels that have both; `None` without any.
    pub mean_abs_error: Option<f64>,
}

/// Totals of each GPU's column, in column order.
pub fn totals(table: &Comparison) -> Vec<ColumnTotal> {
    let column = |gpu: &GpuName| {
        let cells = table.rows.iter().filter_map(|row| {
            let ns = row.sim_ns.get(gpu).copied().flatten()?;
            Some((ns, error(ns, row.real_ns)))
        });
        let (mut kernels, mut sim_ns, mut errors, mut with_real) = (0, 0.0, 0.0, 0_u32);
        for (ns, error) in cells {
            kernels += 1;
            sim_ns += ns;
            if let Some(error) = error {
                errors += error.abs();
                with_real += 1;
            }
        }
        ColumnTotal {
            gpu: gpu.clone(),
            kernels,
            sim_ns,
            mean_abs_error: (with_real > 0).then(|| errors / f64::from(with_real)),
        }
    };
    table.configs.iter().map(column).collect()
}

/// (simulated − real) / real; `None` without a real time to hold it against.
pub fn error(sim_ns: f64, real_ns: Option<f64>) -> Option<f64> {
    let real = real_ns.filter(|ns| *ns > 0.0)?;
    Some((sim_ns - real) / real)
}

/// The middle value; the mean of the two middle ones for an even number.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let high = values.get(values.len() / 2).copied()?;
    let low = values.get((values.len() - 1) / 2).copied()?;
    Some(f64::midpoint(low, high))
}

/// A row without times yet.
fn empty_cells(gpus: &[GpuName]) -> IndexMap<GpuName, Option<f64>> {
    gpus.iter().map(|gpu| (gpu.clone(), None)).collect()
}

#[cfg(test)]
mod tests;
