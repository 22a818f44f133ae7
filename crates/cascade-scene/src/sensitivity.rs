//! What one value of a GPU does to a workload: a run on GPUs that differ in nothing else, by that value.

use std::collections::BTreeSet;

use cascade_api::{Comparison, GpuConfig, GpuName};

use crate::chart::{BarChart, Group};
use crate::format;

/// Simulated time by the size of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The value's dotted key, such as `chip.sms`.
    pub key: String,
    /// What the others are held against: the base, or a GPU that differs from it in nothing; where the run has
    /// neither, the GPU with the smallest value.
    pub against: GpuName,
    /// Its time, in simulated ns.
    pub against_ns: f64,
    /// Kernels that every GPU has finished; only they count.
    pub kernels: usize,
    /// From the smallest value up.
    pub points: Vec<Point>,
}

/// One GPU of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The GPU.
    pub gpu: GpuName,
    /// The value, in the unit of its key.
    pub value: f64,
    /// All counted kernels together, in simulated ns.
    pub ns: f64,
}

impl Sensitivity {
    /// The run's GPUs by the one value in which they differ; `None` where they are not such GPUs, where several
    /// engines made their numbers, or where no kernel has been finished by all. GPUs of the run that have nothing
    /// to do with the sweep are left out.
    pub fn of(gpus: &[GpuConfig], table: &Comparison) -> Option<Self> {
        let chosen: Vec<&GpuConfig> = table
            .configs
            .iter()
            .filter_map(|name| gpus.iter().find(|gpu| gpu.name == *name))
            .collect();
        let base = chosen
            .iter()
            .find_map(|gpu| Some(gpu.derived.as_ref()?.base.clone()))?;
        let family: Vec<&GpuConfig> = chosen
            .into_iter()
            .filter(|gpu| {
                gpu.name == base || gpu.derived.as_ref().is_some_and(|derived| derived.base == base)
            })
            .collect();
        let keys: BTreeSet<&String> = family
            .iter()
            .flat_map(|gpu| gpu.derived.iter().flat_map(|derived| derived.changes.keys()))
            .collect();
        // What a GPU that does not change a value has is what another says to have changed it from.
        let value = |gpu: &GpuConfig, key: &String| {
            let changes = |gpu: &GpuConfig| gpu.derived.as_ref()?.changes.get(key).copied();
            let own = changes(gpu).map(|change| change.to);
            own.or_else(|| original(&family, key))
        };
        let mut varied = keys.into_iter().filter(|key| {
            let mut sizes = family.iter().map(|gpu| value(gpu, key));
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        });
        let (key, None) = (varied.next()?, varied.next()) else {
            return None;
        };
        let engines: BTreeSet<_> = family
            .iter()
            .filter_map(|gpu| table.engines.get(&gpu.name))
            .flatten()
            .map(|engine| engine.as_str())
            .collect();
        if engines.len() > 1 {
            return None;
        }
        let whole = |row: &&cascade_api::ComparisonRow| {
            family
                .iter()
                .all(|gpu| row.sim_ns.get(&gpu.name).is_some_and(Option::is_some))
        };
        let rows: Vec<_> = table.rows.iter().filter(whole).collect();
        if rows.is_empty() {
            return None;
        }
        let point = |gpu: &&GpuConfig| {
            Some(Point {
                gpu: gpu.name.clone(),
                value: value(gpu, key)?,
                ns: rows
                    .iter()
                    .filter_map(|row| row.sim_ns.get(&gpu.name).copied().flatten())
                    .sum(),
            })
        };
        let mut points: Vec<Point> = family.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.value.total_cmp(&b.value));
        let unchanged = |gpu: &&&GpuConfig| match &gpu.derived {
            Some(derived) => derived.changes.values().all(|change| change.from == change.to),
            None => true,
        };
        let same = family.iter().find(unchanged);
        let same = same.and_then(|same| points.iter().find(|point| point.gpu == same.name));
        let reference = same.or(points.first())?;
        Some(Self {
            against: reference.gpu.clone(),
            against_ns: reference.ns,
            key: key.clone(),
            kernels: rows.len(),
            points,
        })
    }

    /// A bar for each point.
    pub fn chart(&self) -> BarChart {
        let groups = self.points.iter().map(|point| Group {
            label: point.value.to_string(),
            values: vec![Some(point.ns)],
        });
        BarChart::of(vec!["Simulated time".to_owned()], groups.collect())
    }

    /// What the value's growth from the smallest to the largest does, beside what it would do in proportion: where
    /// nothing else limited the time. `None` with one size of the value.
    pub fn told(&self) -> Option<String> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        let growth = last.value / first.value;
        let change = last.ns / first.ns - 1.0;
        if !(growth > 1.0 && growth.is_finite() && change.is_finite()) {
            return None;
        }
        let changed = format::deviation(change);
        let said = match format::is_zero(&changed) {
            true => "the time stays the same".to_owned(),
            false => format!("the time changes by {changed}"),
        };
        // A latency is a time itself; sizes, clocks and bandwidths are what work is divided by.
        let takes = ["latency", "interval", "overhead"];
        let proportion = match takes.iter().any(|word| self.key.contains(word)) {
            true => growth,
            false => 1.0 / growth,
        };
        Some(format!(
            "From {} to {}, {growth:.2} times as much, {said}; in proportion it would change by {}.",
            first.value,
            last.value,
            format::deviation(proportion - 1.0)
        ))
    }
}

/// What the base has: what one of the others says to have changed it from.
fn original(family: &[&GpuConfig], key: &str) -> Option<f64> {
    let change = |gpu: &&GpuConfig| Some(gpu.derived.as_ref()?.changes.get(key)?.from);
    family.iter().find_map(change)
}

#[cfg(test)]
mod tests;
