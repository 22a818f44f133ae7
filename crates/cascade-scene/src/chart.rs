//! Data of the per-kernel bar charts: which bars there are, how high they may be and where the axis is marked.

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
    /// A chart of groups with an axis that fits, values in ns. A first series named `Real` is drawn as measured.
    pub fn of(series: Vec<String>, groups: Vec<Group>) -> Self {
        let top = groups
            .iter()
            .map(|group| highest(&group.values))
            .fold(0.0, f64::max);
        let ticks = ticks(top, TICKS);
        Self {
            series,
            groups,
            kernels_per_group: 1,
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

/// Which of `count` are shown where there is room for `room`: all, or some from the first to the last.
pub fn spread(count: usize, room: usize) -> Vec<usize> {
    let shown = count.min(room);
    let steps = shown.saturating_sub(1).max(1);
    (0..shown)
        .map(|at| at * count.saturating_sub(1) / steps)
        .collect()
}

/// The highest of some values; 0 without any.
fn highest(values: &[Option<f64>]) -> f64 {
    values.iter().flatten().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
