//! Data of the per-kernel bar charts: which bars there are, how high they may be and where the axis is marked.

use cascade_api::{Comparison, ComparisonRow, GpuName};

use crate::engine;
use crate::format;
use crate::kernel_name::readable;

/// Marks on an axis aim at this number.
const TICKS: usize = 5;

/// Name of the series of measured times.
const REAL: &str = "Real";
/// Colours for GPUs before they repeat.
pub const GPU_COLORS: usize = 8;

/// A place in the theme's palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// Measured time.
    Real,
    /// One of the GPUs, or of the kernel groups of a step, below [`GPU_COLORS`].
    Gpu(usize),
    /// Host time.
    Host,
    /// The gap before a step.
    Gap,
    /// GPU time that no kernel explains.
    Unmodeled,
    /// What is left when the largest parts have a colour each.
    Rest,
}

impl Hue {
    /// Its name in the style sheet: `series-real`, `series-0`, `part-host`.
    pub fn name(self) -> String {
        match self {
            Self::Real => "series-real".to_owned(),
            Self::Gpu(n) => format!("series-{n}"),
            Self::Host => "part-host".to_owned(),
            Self::Gap => "part-gap".to_owned(),
            Self::Unmodeled => "part-unmodeled".to_owned(),
            Self::Rest => "part-rest".to_owned(),
        }
    }
}

/// A bar chart: groups of bars, one bar for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// What the bars of a group stand for: `Real` or a GPU's name.
    pub series: Vec<String>,
    /// Groups from left to right.
    pub groups: Vec<Group>,
    /// Kernels that share a group, so that bars stay wide enough to see; 1 when each has its own.
    pub kernels_per_group: usize,
    /// Upper end of the axis in ns: the last mark.
    pub top_ns: f64,
    /// Marks on the axis in ns, from 0 up.
    pub ticks: Vec<f64>,
}

/// The bars of one kernel, or of a few that stand together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name under the bars.
    pub label: String,
    /// Heights in ns, in series order; `None` where there is no time yet.
    pub values: Vec<Option<f64>>,
}

impl BarChart {
    /// Kernels in launch order, on a chart `width` pixels wide whose bars are at least `min_bar` pixels.
    ///
    /// Where they do not fit, neighbours share a group that shows the slowest of them: a peak never disappears.
    pub fn by_launch(table: &Comparison, width: f64, min_bar: f64) -> Self {
        let series = series(table);
        // One bar's width is left between groups.
        let group_px = min_bar.max(1.0) * (series.len() + 1) as f64;
        let fit = ((width / group_px).floor() as usize).max(1);
        let per_group = table.rows.len().div_ceil(fit).max(1);
        let group = |rows: &[ComparisonRow]| {
            let (first, last) = (rows.first()?, rows.last()?);
            let label = if per_group == 1 {
                format!("{} {}", first.kernel_index, readable(&first.kernel_name))
            } else {
                format!("{}–{}", first.kernel_index, last.kernel_index)
            };
            let mut values = vec![None; series.len()];
            for row in rows {
                for (value, new) in values.iter_mut().zip(cells(table, row.real_ns, &row.sim_ns)) {
                    *value = larger(*value, new);
                }
            }
            Some(Group { label, values })
        };
        let groups = table.rows.chunks(per_group).filter_map(group).collect();
        Self::new(series, groups, per_group)
    }

    /// Time of all launches of each kernel together, the `most` slowest names; the rest add up in a last group.
    pub fn by_name(table: &Comparison, most: usize) -> Self {
        let series = series(table);
        let mut groups: Vec<(Group, u64)> = Vec::new();
        for row in &table.rows {
            let label = readable(&row.kernel_name);
            let at = groups
                .iter()
                .position(|(group, _)| group.label == label)
                .unwrap_or_else(|| {
                    let values = vec![None; series.len()];
                    groups.push((Group { label, values }, 0));
                    groups.len() - 1
                });
            if let Some((group, launches)) = groups.get_mut(at) {
                *launches += 1;
                for (sum, new) in group
                    .values
                    .iter_mut()
                    .zip(cells(table, row.real_ns, &row.sim_ns))
                {
                    *sum = added(*sum, new);
                }
            }
        }
        groups.sort_by(|(a, _), (b, _)| highest(&b.values).total_cmp(&highest(&a.values)));
        let rest = groups.split_off(most.min(groups.len()));
        let mut groups: Vec<Group> = groups
            .into_iter()
            .map(|(group, launches)| Group {
                label: times(group.label, launches),
                ..group
            })
            .collect();
        if !rest.is_empty() {
            let mut values = vec![None; series.len()];
            for (group, _) in &rest {
                for (sum, new) in values.iter_mut().zip(&group.values) {
                    *sum = added(*sum, *new);
                }
            }
            let label = format!("{} more", format::plural(rest.len() as u64, "kernel"));
            groups.push(Group { label, values });
        }
        Self::new(series, groups, 1)
    }

    /// A chart of groups that stand for something else than kernels, values in ns. A first series named `Real` is
    /// drawn as measured.
    pub fn of(series: Vec<String>, groups: Vec<Group>) -> Self {
        Self::new(series, groups, 1)
    }

    /// Finds the axis for the groups.
    fn new(series: Vec<String>, groups: Vec<Group>, kernels_per_group: usize) -> Self {
        let top = groups
            .iter()
            .map(|group| highest(&group.values))
            .fold(0.0, f64::max);
        let ticks = ticks(top, TICKS);
        Self {
            series,
            groups,
            kernels_per_group,
            top_ns: ticks.last().copied().unwrap_or(1.0),
            ticks,
        }
    }

    /// Which colour a series has: real time its own, the GPUs theirs in turn, whether or not there is real time.
    pub fn color(&self, series: usize) -> Hue {
        let real = self.series.first().is_some_and(|name| name == REAL);
        match series.checked_sub(usize::from(real)) {
            Some(gpu) => Hue::Gpu(gpu % GPU_COLORS),
            None => Hue::Real,
        }
    }

    /// Whether there is a bar to draw.
    pub fn is_empty(&self) -> bool {
        self.groups
            .iter()
            .all(|group| group.values.iter().all(Option::is_none))
    }
}

/// Round marks from 0 to at least `top`: steps of 1, 2 or 5 times a power of ten, about `target` of them.
pub fn ticks(top: f64, target: usize) -> Vec<f64> {
    if !top.is_finite() || top <= 0.0 {
        return vec![0.0, 1.0];
    }
    let raw = top / target.max(1) as f64;
    let mut power = 1.0;
    while power * 10.0 <= raw {
        power *= 10.0;
    }
    while power > raw {
        power /= 10.0;
    }
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|n| n * power)
        .into_iter()
        .find(|step| *step >= raw);
    let step = step.unwrap_or(10.0 * power);
    let count = (top / step).ceil() as usize;
    (0..=count).map(|i| i as f64 * step).collect()
}

/// The series of a table: real time where there is any, then the GPUs.
fn series(table: &Comparison) -> Vec<String> {
    let real = table.has_real_timing.then(|| REAL.to_owned());
    let gpu = |gpu| engine::column(gpu, table.engines.get(gpu).map_or(&[], Vec::as_slice));
    real.into_iter().chain(table.configs.iter().map(gpu)).collect()
}

/// A row's values in the order of [`series`].
fn cells<'a>(
    table: &'a Comparison,
    real_ns: Option<f64>,
    sim_ns: &'a indexmap::IndexMap<GpuName, Option<f64>>,
) -> impl Iterator<Item = Option<f64>> + 'a {
    let real = table.has_real_timing.then_some(real_ns);
    real.into_iter()
        .chain(table.configs.iter().map(|gpu| sim_ns.get(gpu).copied().flatten()))
}

/// `name` with how often it was launched.
fn times(name: String, launches: u64) -> String {
    if launches > 1 {
        format!("{name} × {}", format::count(launches))
    } else {
        name
    }
}

/// The larger of two values that may be missing.
fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => a.or(b),
    }
}

/// The sum of two values that may be missing.
fn added(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        _ => a.or(b),
    }
}

/// The highest of some values; 0 without any.
fn highest(values: &[Option<f64>]) -> f64 {
    values.iter().flatten().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
