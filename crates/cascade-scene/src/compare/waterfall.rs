//! The way from one column's time to another's: a bar for what each part adds or saves.

use cascade_api::{GroupDigest, StepDigest};

use super::csv;
use super::difference::Difference;
use super::lines::Lines;

/// Parts with a bar of their own; the others share one.
pub const MOST_BARS: usize = 10;
/// A remainder below this fraction of the longer total is rounding.
const NEGLIGIBLE: f64 = 1e-9;
/// The axis starts at 0 unless the whole movement stays above this fraction of its upper end.
const CUT_ABOVE: f64 = 0.5;
/// Room left of the lowest level on a cut axis, as a fraction of the movement.
const ROOM: f64 = 0.25;

/// What a bar stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole column.
    Total,
    /// What one part adds or saves.
    Part,
    /// What all smaller parts add or save together.
    Rest,
    /// What only one column has, or what no part accounts for.
    Other,
}

/// One bar, from `start_ns` to `end_ns`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// What it stands for.
    pub kind: Kind,
    /// Level before it; 0 for a total.
    pub start_ns: f64,
    /// Level after it.
    pub end_ns: f64,
}

impl Bar {
    /// What it adds, or saves where negative; a total's whole time.
    pub fn delta_ns(&self) -> f64 {
        self.end_ns - self.start_ns
    }
}

/// Bars from one total to the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waterfall {
    /// The first and the last are totals.
    pub bars: Vec<Bar>,
    /// Lower end of the axis in ns.
    pub low_ns: f64,
    /// Upper end of the axis in ns.
    pub high_ns: f64,
}

/// A part: its name, its time before and after.
type Part = (String, f64, f64);

impl Waterfall {
    /// From one column's kernels to the other's. `names` are what the totals are called.
    pub fn of_kernels(difference: &Difference, lines: &Lines, names: [&str; 2]) -> Self {
        let rows = difference.rows.iter();
        let part = |row| (difference.name(lines, row).to_owned(), row.from_ns, row.to_ns);
        let sum = |from: bool| -> f64 {
            let own = difference.alone.iter().filter(|alone| alone.from == from);
            own.map(|alone| alone.ns).sum()
        };
        let other = vec![
            (format!("Only in {}", names[0]), sum(true), 0.0),
            (format!("Only in {}", names[1]), 0.0, sum(false)),
        ];
        Self::new(
            names,
            [difference.from_ns, difference.to_ns],
            rows.map(part).collect(),
            other,
        )
    }

    /// From one mean step of `kind` to the other; `None` unless both have one.
    pub fn of_step(from: &StepDigest, to: &StepDigest, kind: &str, names: [&str; 2]) -> Option<Self> {
        let (a, b) = (StepParts::of(from, kind)?, StepParts::of(to, kind)?);
        let mut groups: Vec<&str> = from.groups.iter().map(|group| group.group.as_str()).collect();
        for group in &to.groups {
            if !groups.contains(&group.group.as_str()) {
                groups.push(&group.group);
            }
        }
        let part = |group: &str| (group.to_owned(), time(from, group, kind), time(to, group, kind));
        let parts = groups.into_iter().map(part);
        let parts = parts.chain([("Host".to_owned(), a.host_ns, b.host_ns)]);
        let unmodeled = "GPU time of no traced kernel".to_owned();
        let other = vec![(unmodeled, a.unmodeled_ns, b.unmodeled_ns)];
        Some(Self::new(names, [a.total_ns, b.total_ns], parts.collect(), other))
    }

    /// Orders the parts by what they change, adds the small ones up and puts what is left over into a bar.
    fn new(names: [&str; 2], totals: [f64; 2], mut parts: Vec<Part>, other: Vec<Part>) -> Self {
        let size = |(_, from, to): &Part| (to - from).abs();
        parts.retain(|part| size(part) > 0.0);
        parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let own = if parts.len() <= MOST_BARS + 1 {
            parts.len()
        } else {
            MOST_BARS
        };
        let rest = parts.split_off(own);
        let [from, to] = totals;
        let mut moves: Vec<(String, Kind, f64)> = parts
            .into_iter()
            .map(|(label, from, to)| (label, Kind::Part, to - from))
            .collect();
        if !rest.is_empty() {
            let sum = rest.iter().map(|(_, from, to)| to - from).sum();
            moves.push((format!("{} smaller parts", rest.len()), Kind::Rest, sum));
        }
        let other = other.into_iter().filter(|part| size(part) > 0.0);
        moves.extend(other.map(|(label, from, to)| (label, Kind::Other, to - from)));
        let left = moves.iter().fold(to - from, |left, (_, _, delta)| left - delta);
        if left.abs() > from.abs().max(to.abs()) * NEGLIGIBLE {
            moves.push(("Not split further".to_owned(), Kind::Other, left));
        }
        let total = |name: &str, end_ns| Bar {
            label: name.to_owned(),
            kind: Kind::Total,
            start_ns: 0.0,
            end_ns,
        };
        let mut bars = vec![total(names[0], from)];
        let mut level = from;
        for (label, kind, delta) in moves {
            let start_ns = level;
            level += delta;
            bars.push(Bar {
                label,
                kind,
                start_ns,
                end_ns: level,
            });
        }
        bars.push(total(names[1], to));
        let levels = || bars.iter().map(|bar| bar.end_ns);
        let high_ns = levels().fold(0.0, f64::max);
        let low = levels().fold(high_ns, f64::min);
        let low_ns = if low > high_ns * CUT_ABOVE {
            (low - (high_ns - low).max(high_ns * NEGLIGIBLE) * ROOM).max(0.0)
        } else {
            low.min(0.0)
        };
        Self {
            bars,
            low_ns,
            high_ns,
        }
    }

    /// The bars as comma-separated values.
    pub fn csv(&self) -> String {
        let head = ["part", "adds_ns", "level_ns"].map(String::from);
        let row = |bar: &Bar| {
            let adds = (bar.kind != Kind::Total).then(|| bar.delta_ns());
            vec![
                bar.label.clone(),
                csv::number(adds),
                csv::number(Some(bar.end_ns)),
            ]
        };
        csv::write(&head, self.bars.iter().map(row))
    }

    /// Where a bar is drawn: left edge and width in per cent of the axis.
    pub fn place(&self, bar: &Bar) -> (f64, f64) {
        let span = (self.high_ns - self.low_ns).max(f64::MIN_POSITIVE);
        let at = |ns: f64| ((ns - self.low_ns) / span * 100.0).clamp(0.0, 100.0);
        let (start, end) = (at(bar.start_ns), at(bar.end_ns));
        (start.min(end), (end - start).abs())
    }
}

/// The mean step of a kind.
struct StepParts {
    host_ns: f64,
    unmodeled_ns: f64,
    total_ns: f64,
}

impl StepParts {
    /// `None` without a busy time. The wall time is host and GPU busy time together.
    fn of(digest: &StepDigest, kind: &str) -> Option<Self> {
        let step = digest.kinds.iter().find(|step| step.kind == kind)?;
        let busy = step.gpu_busy_ns.simulated?;
        let host_ns = step.host_ns.unwrap_or(0.0);
        Some(Self {
            host_ns,
            unmodeled_ns: step.unmodeled_gpu_ns.unwrap_or(0.0),
            total_ns: step.wall_ns.simulated.unwrap_or(host_ns + busy),
        })
    }
}

/// A group's time in the mean step of a kind; 0 where it has none.
fn time(digest: &StepDigest, group: &str, kind: &str) -> f64 {
    let own = |found: &&GroupDigest| found.group == group;
    let group = digest.groups.iter().find(own);
    let ns = group.and_then(|group| group.step_ns.get(kind).copied());
    ns.unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
