//! Columns brought to common lines: by position where they ran the same kernels, else by which kernel it is.

use std::collections::BTreeMap;

use cascade_api::{ColumnKernel, TraceId};

use super::Side;
use crate::kernel_name::readable;
use crate::{format, group};

/// What makes two kernels the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Their position: the columns ran the same trace, kernel by kernel.
    Position,
    /// Readable name, grid and block; all launches of a kernel are added up.
    Identity,
}

impl Pairing {
    /// The rule as the page says it.
    pub const fn says(self) -> &'static str {
        match self {
            Self::Position => {
                "Kernels are paired by position: both columns ran the same trace, launch by launch."
            }
            Self::Identity => {
                "Kernels are paired by readable name, grid and block, with all launches of each added up: the columns \
                 did not run the same launches in the same order."
            }
        }
    }
}

/// One kernel that some column ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its readable name.
    pub name: String,
    /// Its name as recorded.
    pub recorded: String,
    /// Grid and block, if known: `12 × 1 × 1 / 128 × 1 × 1`.
    pub shape: String,
    /// Which of [`Lines::groups`] it belongs to.
    pub group: usize,
}

/// One column's part of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Its time in ns; `None` where the column has none.
    pub ns: Option<f64>,
    /// Launches behind it.
    pub launches: u32,
}

/// Every column's times on common lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// How kernels were paired.
    pub pairing: Pairing,
    /// The kernels that any column ran.
    pub kernels: Vec<Kernel>,
    /// Their groups, by name.
    pub groups: Vec<String>,
    /// For each line, which of `kernels` it is.
    line_kernel: Vec<usize>,
    /// `sides` cells for each line.
    cells: Vec<Cell>,
    sides: usize,
}

/// What a kernel is known by across runs.
type Key = (String, Option<(u32, u32, u32)>, Option<(u32, u32, u32)>);

impl Lines {
    /// Brings the columns together.
    pub fn new(sides: &[Side<'_>]) -> Self {
        let mut known = Known::default();
        let indexes: Vec<Vec<usize>> = sides
            .iter()
            .map(|side| {
                side.kernels
                    .kernels
                    .iter()
                    .map(|kernel| known.index(kernel))
                    .collect()
            })
            .collect();
        let kernel_at = |side: usize, launch: usize| -> Option<usize> {
            let which = *sides.get(side)?.kernels.launches.get(launch)?;
            indexes.get(side)?.get(which as usize).copied()
        };
        let length = sides.iter().map(|side| side.kernels.launches.len()).max();
        let length = length.unwrap_or(0);
        // The first column that has a position says which kernel it is.
        let first = |launch| (0..sides.len()).find_map(|side| kernel_at(side, launch));
        let traces: Vec<&TraceId> = sides.iter().map(|side| side.trace).collect();
        let alike = traces.windows(2).all(|pair| pair.first() == pair.last())
            && (0..length).all(|launch| {
                let mut found = (0..sides.len()).filter_map(|side| kernel_at(side, launch));
                let one = found.next();
                found.all(|other| Some(other) == one)
            });
        let (pairing, line_kernel, cells) = if alike {
            let cell = |launch: usize, side: &Side<'_>| {
                let ns = side.column.median_ns.get(launch).copied().flatten();
                Cell {
                    ns,
                    launches: u32::from(ns.is_some()),
                }
            };
            let cells = (0..length).flat_map(|launch| sides.iter().map(move |side| cell(launch, side)));
            let kernels = (0..length).map(|launch| first(launch).unwrap_or(0));
            (Pairing::Position, kernels.collect(), cells.collect())
        } else {
            let mut cells = vec![Cell::default(); known.kernels.len() * sides.len()];
            for (s, side) in sides.iter().enumerate() {
                for (launch, ns) in side.column.median_ns.iter().enumerate() {
                    let at = kernel_at(s, launch).map(|kernel| kernel * sides.len() + s);
                    if let (Some(cell), Some(ns)) = (at.and_then(|at| cells.get_mut(at)), ns) {
                        cell.ns = Some(cell.ns.unwrap_or(0.0) + ns);
                        cell.launches += 1;
                    }
                }
            }
            (Pairing::Identity, (0..known.kernels.len()).collect(), cells)
        };
        Self {
            pairing,
            kernels: known.kernels,
            groups: known.groups,
            line_kernel,
            cells,
            sides: sides.len(),
        }
    }

    /// How many columns there are.
    pub const fn sides(&self) -> usize {
        self.sides
    }

    /// Each line with the place of its kernel in [`Self::kernels`] and a cell for each column.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[Cell])> {
        let cells = self.cells.chunks_exact(self.sides.max(1));
        self.line_kernel.iter().copied().zip(cells)
    }

    /// Time and launches of a whole column.
    pub fn total(&self, side: usize) -> Cell {
        let mut total = Cell {
            ns: Some(0.0),
            launches: 0,
        };
        for cell in self.iter().filter_map(|(_, cells)| cells.get(side)) {
            total.ns = Some(total.ns.unwrap_or(0.0) + cell.ns.unwrap_or(0.0));
            total.launches += cell.launches;
        }
        total
    }
}

/// The kernels found so far.
#[derive(Default)]
struct Known {
    kernels: Vec<Kernel>,
    groups: Vec<String>,
    by_key: BTreeMap<Key, usize>,
    by_group: BTreeMap<String, usize>,
}

impl Known {
    /// The place of a kernel, which is added if it is new.
    fn index(&mut self, kernel: &ColumnKernel) -> usize {
        let key = (readable(&kernel.name), kernel.grid, kernel.block);
        if let Some(at) = self.by_key.get(&key) {
            return *at;
        }
        let name = group::name(&kernel.group, &kernel.name);
        let group = match self.by_group.get(&name) {
            Some(at) => *at,
            None => {
                self.groups.push(name.clone());
                self.by_group.insert(name, self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        let shape = match (kernel.grid, kernel.block) {
            (Some(grid), Some(block)) => format!("{} / {}", format::dim3(grid), format::dim3(block)),
            (Some(only), None) | (None, Some(only)) => format::dim3(only),
            (None, None) => String::new(),
        };
        self.kernels.push(Kernel {
            name: key.0.clone(),
            recorded: kernel.name.clone(),
            shape,
            group,
        });
        self.by_key.insert(key, self.kernels.len() - 1);
        self.kernels.len() - 1
    }
}
