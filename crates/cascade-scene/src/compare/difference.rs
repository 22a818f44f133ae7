//! Where one column is faster or slower than another: by group, by kernel, by launch.

use std::cmp::Ordering;

use super::lines::{Cell, Lines, Pairing};
use super::{csv, relative};
use crate::format;

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// All launches of a kernel group.
    Group,
    /// All launches of a kernel.
    Kernel,
    /// One launch; only where kernels are paired by position.
    Launch,
}

impl Level {
    /// Every level, coarse to fine.
    pub const ALL: [Self; 3] = [Self::Group, Self::Kernel, Self::Launch];

    /// As the address and the switch name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Kernel => "kernel",
            Self::Launch => "launch",
        }
    }

    /// Whether rows can be told apart at this level.
    pub fn fits(self, pairing: Pairing) -> bool {
        self != Self::Launch || pairing == Pairing::Position
    }
}

/// One row: what both columns have in common of a group, a kernel or a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Place of the group, the kernel or the launch.
    pub place: usize,
    /// Place of the kernel; `None` for a group.
    pub kernel: Option<usize>,
    /// Launches in the column that is compared with, and in the other.
    pub launches: (u32, u32),
    /// Time in the column that is compared with, in ns.
    pub from_ns: f64,
    /// Time in the other, in ns.
    pub to_ns: f64,
}

impl Row {
    /// How much longer it takes, in ns.
    pub fn delta_ns(&self) -> f64 {
        self.to_ns - self.from_ns
    }

    /// The same relative to the column that is compared with.
    pub fn relative(&self) -> Option<f64> {
        relative(self.from_ns, self.to_ns)
    }
}

/// What only one of the two columns has a time for.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    /// Place of the kernel.
    pub kernel: usize,
    /// Whether it is the column that is compared with.
    pub from: bool,
    /// Its launches.
    pub launches: u32,
    /// Its time in ns.
    pub ns: f64,
}

/// Two columns against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What rows stand for.
    pub level: Level,
    /// What both have, in order of place.
    pub rows: Vec<Row>,
    /// What only one has, the longest first.
    pub alone: Vec<Alone>,
    /// All of the column that is compared with, in ns.
    pub from_ns: f64,
    /// All of the other, in ns.
    pub to_ns: f64,
}

impl Difference {
    /// Compares column `to` with column `from`.
    pub fn new(lines: &Lines, from: usize, to: usize, level: Level) -> Self {
        let places = match level {
            Level::Group => lines.groups.len(),
            Level::Kernel => lines.kernels.len(),
            Level::Launch => 0,
        };
        let mut sums: Vec<Option<Row>> = vec![None; places];
        let mut rows = Vec::new();
        let mut alone: Vec<[Cell; 2]> = vec![[Cell::default(); 2]; lines.kernels.len()];
        let (mut from_ns, mut to_ns) = (0.0, 0.0);
        for (line, (kernel, cells)) in lines.iter().enumerate() {
            let (Some(a), Some(b)) = (cells.get(from), cells.get(to)) else {
                continue;
            };
            from_ns += a.ns.unwrap_or(0.0);
            to_ns += b.ns.unwrap_or(0.0);
            let (Some(a_ns), Some(b_ns)) = (a.ns, b.ns) else {
                for (sum, cell) in alone.get_mut(kernel).into_iter().flatten().zip([a, b]) {
                    if let Some(ns) = cell.ns {
                        sum.ns = Some(sum.ns.unwrap_or(0.0) + ns);
                        sum.launches += cell.launches;
                    }
                }
                continue;
            };
            let place = match level {
                Level::Group => lines.kernels.get(kernel).map_or(0, |kernel| kernel.group),
                Level::Kernel => kernel,
                Level::Launch => line,
            };
            let row = Row {
                place,
                kernel: (level != Level::Group).then_some(kernel),
                launches: (a.launches, b.launches),
                from_ns: a_ns,
                to_ns: b_ns,
            };
            match sums.get_mut(place) {
                Some(Some(sum)) => {
                    sum.launches.0 += row.launches.0;
                    sum.launches.1 += row.launches.1;
                    sum.from_ns += row.from_ns;
                    sum.to_ns += row.to_ns;
                }
                Some(empty) => *empty = Some(row),
                None => rows.push(row),
            }
        }
        rows.extend(sums.into_iter().flatten());
        let lone = |(kernel, cells): (usize, [Cell; 2])| {
            let own = cells.into_iter().zip([true, false]);
            own.filter_map(move |(cell, from)| {
                Some(Alone {
                    kernel,
                    from,
                    launches: cell.launches,
                    ns: cell.ns?,
                })
            })
        };
        let mut alone: Vec<Alone> = alone.into_iter().enumerate().flat_map(lone).collect();
        alone.sort_by(|a, b| b.ns.total_cmp(&a.ns));
        Self {
            level,
            rows,
            alone,
            from_ns,
            to_ns,
        }
    }

    /// What a row is called.
    pub fn name<'a>(&self, lines: &'a Lines, row: &Row) -> &'a str {
        let group = lines.groups.get(row.place).filter(|_| row.kernel.is_none());
        let kernel = row.kernel.and_then(|at| lines.kernels.get(at));
        kernel
            .map(|kernel| kernel.name.as_str())
            .or(group.map(String::as_str))
            .unwrap_or_default()
    }

    /// Places of the rows whose name, recorded name, shape or group holds `text` in any case, in the order asked for.
    pub fn arranged(&self, lines: &Lines, text: &str, order: Order, descending: bool) -> Vec<usize> {
        let text = text.trim().to_lowercase();
        let holds = |part: &str| part.to_lowercase().contains(&text);
        let groups: Vec<bool> = lines.groups.iter().map(|group| holds(group)).collect();
        let in_group = |group: usize| groups.get(group).copied().unwrap_or_default();
        let kernels: Vec<bool> = lines
            .kernels
            .iter()
            .map(|kernel| {
                in_group(kernel.group)
                    || [&kernel.name, &kernel.recorded, &kernel.shape]
                        .iter()
                        .any(|part| holds(part))
            })
            .collect();
        let shown = |row: &Row| {
            text.is_empty()
                || match row.kernel {
                    Some(kernel) => kernels.get(kernel).copied().unwrap_or_default(),
                    None => in_group(row.place),
                }
        };
        let mut found: Vec<(usize, &Row)> = self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| shown(row))
            .collect();
        found.sort_by(|(_, a), (_, b)| {
            let way = match order {
                Order::Place => a.place.cmp(&b.place),
                Order::Name => self.name(lines, a).cmp(self.name(lines, b)),
                Order::Launches => a.launches.cmp(&b.launches),
                Order::From => a.from_ns.total_cmp(&b.from_ns),
                Order::To => a.to_ns.total_cmp(&b.to_ns),
                Order::Delta => a.delta_ns().abs().total_cmp(&b.delta_ns().abs()),
                Order::Relative => {
                    // Without a relation a row is last either way.
                    let size = |row: &Row| row.relative().map(f64::abs);
                    return match (size(a), size(b)) {
                        (Some(a), Some(b)) => turned(a.total_cmp(&b), descending),
                        (a, b) => b.is_some().cmp(&a.is_some()),
                    };
                }
            };
            turned(way, descending)
        });
        found.into_iter().map(|(at, _)| at).collect()
    }
}

impl Difference {
    /// The rows at `places` and then what only one column has, as comma-separated values. `names` are the columns'.
    pub fn csv(&self, lines: &Lines, places: &[usize], names: [String; 2]) -> String {
        let [from, to] = names;
        let head = ["launch", "kernel", "recorded_name", "shape", "group"].map(String::from);
        let counts = [format!("launches_{from}"), format!("launches_{to}")];
        let times = [
            format!("ns_{from}"),
            format!("ns_{to}"),
            "difference_ns".into(),
            "relative".into(),
        ];
        let about = |kernel: Option<usize>| -> [String; 4] {
            let Some(kernel) = kernel.and_then(|at| lines.kernels.get(at)) else {
                return Default::default();
            };
            let group = lines.groups.get(kernel.group).cloned().unwrap_or_default();
            [
                kernel.name.clone(),
                kernel.recorded.clone(),
                kernel.shape.clone(),
                group,
            ]
        };
        let row = |row: &Row| {
            let launch = (self.level == Level::Launch).then(|| format::launch(row.place as u64));
            let mut about = about(row.kernel);
            if let ([.., group], None) = (&mut about, row.kernel) {
                *group = self.name(lines, row).to_owned();
            }
            let counts = [row.launches.0, row.launches.1].map(|count| count.to_string());
            let times = [
                Some(row.from_ns),
                Some(row.to_ns),
                Some(row.delta_ns()),
                row.relative(),
            ];
            let head = std::iter::once(launch.unwrap_or_default()).chain(about);
            head.chain(counts).chain(times.map(csv::number)).collect()
        };
        let alone = |alone: &Alone| {
            let count = alone.launches.to_string();
            let ns = csv::number(Some(alone.ns));
            let none = String::new;
            let (counts, times) = match alone.from {
                true => ([count, none()], [ns, none()]),
                false => ([none(), count], [none(), ns]),
            };
            let head = std::iter::once(none()).chain(about(Some(alone.kernel)));
            head.chain(counts).chain(times).chain([none(), none()]).collect()
        };
        let shown = places.iter().filter_map(|place| self.rows.get(*place));
        let head: Vec<String> = head.into_iter().chain(counts).chain(times).collect();
        csv::write(&head, shown.map(row).chain(self.alone.iter().map(alone)))
    }
}

/// What rows can be sorted by. Differences go by size, whatever their sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Position, or order of first appearance.
    Place,
    /// Name.
    Name,
    /// Launches.
    Launches,
    /// Time in the column that is compared with.
    From,
    /// Time in the other.
    To,
    /// Absolute difference.
    Delta,
    /// Relative difference.
    Relative,
}

/// An order, the other way round if asked for.
fn turned(order: Ordering, descending: bool) -> Ordering {
    if descending { order.reverse() } else { order }
}

#[cfg(test)]
mod tests;
