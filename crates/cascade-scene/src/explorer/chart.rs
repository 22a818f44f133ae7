//! The explorer's charts as lines: distributions, what happens over time, and what steps are made of.

use super::answer::Figures;
use super::metric::Latency;
use crate::chart::{GPU_COLORS, Hue, ticks};
use crate::format;
use crate::group::places;

/// Marks on an axis aim at this number.
const TICKS: usize = 5;

/// How an axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// Seconds.
    Seconds,
    /// A share of 1.
    Share,
    /// Anything else.
    Count,
}

impl Unit {
    /// A value as an axis or a table shows it.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Ms => format::duration_ns(value * 1e6),
            Self::Seconds => format::duration_ns(value * 1e9),
            Self::Share => format!("{:.0}\u{a0}%", value * 100.0),
            Self::Count => format::compact(value),
        }
    }
}

/// One line, or one layer where a chart is stacked.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub hue: Hue,
    /// Heights, one for each place of the chart; none leaves a gap.
    pub heights: Vec<Option<f64>>,
}

/// Lines over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows, for screen readers and as the table's name.
    pub title: String,
    /// Name of the axis below.
    pub x_name: &'static str,
    /// How the axis below counts.
    pub x_unit: Unit,
    /// How the axis on the left counts.
    pub y_unit: Unit,
    /// Marks of the axis below; the last is its end.
    pub x_ticks: Vec<f64>,
    /// Marks on the left; the last is the top.
    pub y_ticks: Vec<f64>,
    /// Each line's places along the axis below.
    pub places: Vec<Vec<f64>>,
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether each line stands on those before it.
    pub stacked: bool,
}

impl Chart {
    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.lines
            .iter()
            .all(|line| line.heights.iter().flatten().next().is_none())
    }

    /// Rows of the table behind it: the place, then each line's height. At most `most`, evenly picked.
    pub fn rows(&self, most: usize) -> Vec<(String, Vec<String>)> {
        let first = self.places.first().map_or(&[][..], Vec::as_slice);
        let every = first.len().div_ceil(most.max(1)).max(1);
        let row = |(at, place): (usize, &f64)| {
            let cell = |line: &Line| {
                let height = line.heights.get(at).copied().flatten();
                height.map_or(format::NONE.to_owned(), |height| self.y_unit.text(height))
            };
            (self.x_unit.text(*place), self.lines.iter().map(cell).collect())
        };
        first.iter().enumerate().step_by(every).map(row).collect()
    }

    fn new(
        title: String,
        x: (&'static str, Unit),
        y_unit: Unit,
        lines: Vec<(Vec<f64>, Line)>,
        stacked: bool,
    ) -> Self {
        let (places, lines): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
        let right = places.iter().flatten().copied().fold(0.0, f64::max);
        let top = if stacked {
            let count = lines
                .iter()
                .map(|line: &Line| line.heights.len())
                .max()
                .unwrap_or(0);
            let sum = |at| {
                lines
                    .iter()
                    .filter_map(|line| line.heights.get(at).copied().flatten())
                    .sum()
            };
            (0..count).map(sum).fold(0.0, f64::max)
        } else {
            let all = lines.iter().flat_map(|line| line.heights.iter().flatten());
            all.copied().fold(0.0, f64::max)
        };
        Self {
            title,
            x_name: x.0,
            x_unit: x.1,
            y_unit,
            x_ticks: ticks(right, TICKS),
            y_ticks: ticks(top, TICKS),
            places,
            lines,
            stacked,
        }
    }
}

/// A side's colour by its place.
fn hue(side: usize) -> Hue {
    Hue::Gpu(side % GPU_COLORS)
}

/// The share of requests whose latency is at most so long.
pub fn cdf(sides: &[(usize, &str, &Figures)], latency: Latency) -> Chart {
    let line = |(at, gpu, figures): &(usize, &str, &Figures)| {
        let [ttft, tpot, e2e, queue] = &figures.quantiles;
        let values = match latency {
            Latency::Ttft => ttft,
            Latency::Tpot => tpot,
            Latency::E2e => e2e,
            Latency::Queue => queue,
        };
        let last = values.len().saturating_sub(1).max(1) as f64;
        let heights = (0..values.len()).map(|at| Some(at as f64 / last)).collect();
        let line = Line {
            name: (*gpu).to_owned(),
            hue: hue(*at),
            heights,
        };
        (values.clone(), line)
    };
    let title = format!("Share of requests with at most this {}", latency.name());
    let lines = sides.iter().map(line).collect();
    Chart::new(title, (latency.name(), Unit::Ms), Unit::Share, lines, false)
}

/// What can be shown over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Output tokens per second.
    Throughput,
    /// Time to first token by arrival.
    Ttft,
    /// End-to-end latency by arrival.
    E2e,
    /// Running requests.
    Running,
    /// Waiting requests.
    Waiting,
    /// KV blocks in use.
    Kv,
}

impl Over {
    /// Every choice with its name.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Throughput, "Tokens/s"),
        (Self::Ttft, "TTFT"),
        (Self::E2e, "E2E"),
        (Self::Running, "Running"),
        (Self::Waiting, "Waiting"),
        (Self::Kv, "KV use"),
    ];
}

/// Means over time.
pub fn over_time(sides: &[(usize, &str, &Figures)], over: Over) -> Chart {
    let all = |values: &[f64]| values.iter().copied().map(Some).collect();
    let line = |(at, gpu, figures): &(usize, &str, &Figures)| {
        let time = &figures.time;
        let heights: Vec<Option<f64>> = match over {
            Over::Throughput => all(&time.throughput),
            Over::Ttft => time.ttft_ms.clone(),
            Over::E2e => time.e2e_ms.clone(),
            Over::Running => all(&time.running),
            Over::Waiting => all(&time.waiting),
            Over::Kv => all(&time.kv),
        };
        let line = Line {
            name: (*gpu).to_owned(),
            hue: hue(*at),
            heights,
        };
        (time.at_s.clone(), line)
    };
    let (title, unit) = match over {
        Over::Throughput => ("Output tokens per second over time", Unit::Count),
        Over::Ttft => (
            "Mean time to first token of the requests that arrived then",
            Unit::Ms,
        ),
        Over::E2e => (
            "Mean end-to-end latency of the requests that arrived then",
            Unit::Ms,
        ),
        Over::Running => ("Running requests over time", Unit::Count),
        Over::Waiting => ("Waiting requests over time", Unit::Count),
        Over::Kv => ("Share of the KV blocks in use over time", Unit::Share),
    };
    let lines = sides.iter().map(line).collect();
    Chart::new(title.to_owned(), ("Time", Unit::Seconds), unit, lines, false)
}

/// What can be shown of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerStep {
    /// Prefill and decode tokens.
    Batch,
    /// Time by group of kernels, and host time.
    Time,
    /// KV blocks in use.
    Kv,
}

impl PerStep {
    /// Every choice with its name.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Batch, "Batch"),
        (Self::Time, "Time by group"),
        (Self::Kv, "KV blocks"),
    ];
}

/// What a GPU's steps are made of.
pub fn per_step(figures: &Figures, what: PerStep) -> Chart {
    let steps = &figures.per_step;
    let every = steps.steps_per_point.max(1);
    let layer = |name: &str, hue, values: &[f64], scale: f64| {
        let places = (0..values.len() as u64).map(|at| (at * every) as f64).collect();
        let heights = values.iter().map(|value| Some(value * scale)).collect();
        let name = name.to_owned();
        (places, Line { name, hue, heights })
    };
    let (title, unit, lines) = match what {
        PerStep::Batch => (
            "Tokens of a step",
            Unit::Count,
            vec![
                layer("Decode tokens", Hue::Gpu(1), &steps.decode, 1.0),
                layer("Prefill tokens", Hue::Gpu(0), &steps.prefill, 1.0),
            ],
        ),
        PerStep::Time => {
            let no_group = |name: &str| match name {
                "host" => Some(Hue::Host),
                "unattributed" => Some(Hue::Unmodeled),
                _ => None,
            };
            let names = steps.parts.iter().map(String::as_str);
            let groups: Vec<&str> = names.filter(|name| no_group(name).is_none()).collect();
            let mut places = places(&groups, GPU_COLORS).into_iter();
            let parts = steps.parts.iter().zip(&steps.part_ns).filter_map(|(name, ns)| {
                let hue = no_group(name).or_else(|| places.next().map(Hue::Gpu))?;
                Some(layer(name, hue, ns, 1e-6))
            });
            ("Time of a step by part", Unit::Ms, parts.collect())
        }
        PerStep::Kv => (
            "KV blocks in use after a step was scheduled",
            Unit::Count,
            vec![layer("KV blocks", Hue::Gpu(2), &steps.kv_blocks, 1.0)],
        ),
    };
    let title = match every {
        1 => title.to_owned(),
        _ => format!("{title}, means of {every} steps"),
    };
    Chart::new(title, ("Step", Unit::Count), unit, lines, true)
}
