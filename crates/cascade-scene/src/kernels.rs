//! The kernels of a run as columns: one time for each kernel position and sim, medians over a GPU's sims made on
//! demand. It holds runs of 100,000 kernels, fills slice by slice, and grows with the live events.

use cascade_api::{Comparison, ComparisonRow, Engine, GpuName, KernelSlice, RunDetail, SimId};
use indexmap::{IndexMap, IndexSet};

use crate::chart::{BarChart, GPU_COLORS, Group, spread};
use crate::comparison::{ColumnTotal, error};
use crate::engine;
use crate::format;
use crate::kernel_name::readable;

/// One GPU's column: the times of its sims.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    gpu: GpuName,
    engines: Vec<Engine>,
    sims: Vec<SimId>,
    /// For each sim, its times by position; NaN where it has none yet.
    times: Vec<Vec<f64>>,
}

/// What the rows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Position in launch order.
    Index,
    /// Readable name.
    Name,
    /// Measured time.
    Real,
    /// Simulated time on the GPU of this column.
    Gpu(usize),
    /// Relative error of the GPU of this column.
    Error(usize),
}

/// All kernels of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernels {
    columns: Vec<Column>,
    names: IndexSet<String>,
    readable: Vec<String>,
    /// For each position the place of its name.
    name: Vec<u32>,
    /// Measured times by position, NaN where there is none; empty without real timing.
    real: Vec<f64>,
    has_real: bool,
    /// Rows that there are on the server, at least as many as here.
    rows: usize,
}

impl Kernels {
    /// No kernels yet of the run's sims.
    pub fn new(run: &RunDetail) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let entries = run.summary.entries.iter().map(|entry| &entry.gpu_config);
        for gpu in entries.chain(run.sims.iter().map(|sim| &sim.gpu_config)) {
            if columns.iter().all(|column| column.gpu != *gpu) {
                columns.push(Column {
                    gpu: gpu.clone(),
                    engines: Vec::new(),
                    sims: Vec::new(),
                    times: Vec::new(),
                });
            }
        }
        for sim in &run.sims {
            let column = columns.iter_mut().find(|column| column.gpu == sim.gpu_config);
            if let Some(column) = column {
                column.sims.push(sim.id.clone());
                column.times.push(Vec::new());
                if !column.engines.contains(&sim.engine) {
                    column.engines.push(sim.engine);
                }
            }
        }
        Self {
            columns,
            has_real: run.trace.has_real_timing,
            ..Self::default()
        }
    }

    /// Puts a slice of the server's table in its place.
    pub fn put(&mut self, slice: &KernelSlice) {
        self.rows = self.rows.max(usize::try_from(slice.rows).unwrap_or(usize::MAX));
        self.has_real = slice.has_real_timing;
        let Ok(from) = usize::try_from(slice.from) else {
            return;
        };
        let names: Vec<u32> = slice.names.iter().map(|name| self.intern(name)).collect();
        for (at, name) in (from..).zip(&slice.name) {
            if let Some(name) = usize::try_from(*name).ok().and_then(|name| names.get(name)) {
                self.set_name(at, *name);
            }
        }
        for (at, ns) in (from..).zip(&slice.real_ns) {
            put(&mut self.real, at, *ns);
        }
        for sim in &slice.sims {
            if let Some(times) = self.times_of(&sim.sim_id) {
                for (at, ns) in (from..).zip(&sim.ns) {
                    // A time that came by an event in the meantime stays.
                    if ns.is_some() {
                        put(times, at, *ns);
                    }
                }
            }
        }
        self.rows = self.rows.max(self.name.len());
    }

    /// Adds a kernel that a sim finished. A sim that the run does not have is passed over.
    pub fn add(&mut self, sim: &SimId, index: u64, name: &str, ns: Option<f64>) {
        let Ok(at) = usize::try_from(index) else { return };
        // One position further is new; a hole is what a slice still brings.
        if at >= self.name.len() {
            let name = self.intern(name);
            self.set_name(at, name);
        }
        self.rows = self.rows.max(self.name.len());
        if let (Some(times), Some(ns)) = (self.times_of(sim), ns) {
            put(times, at, Some(ns));
        }
    }

    /// The first position that a slice has to be asked for: where some sim has a hole before its end, or where
    /// fewer rows are here than there are. `done` says how many kernels each sim has finished.
    pub fn missing(&self, done: &[(SimId, u64)]) -> Option<u64> {
        let mut first = (self.name.len() < self.rows).then_some(self.name.len());
        for column in &self.columns {
            for (sim, times) in column.sims.iter().zip(&column.times) {
                let done = done.iter().find(|(id, _)| id == sim).map_or(0, |(_, done)| *done);
                let done = usize::try_from(done).unwrap_or(usize::MAX);
                let hole = times.iter().take(done).position(|ns| ns.is_nan());
                let end = (times.len() < done).then_some(times.len());
                if let Some(at) = hole.or(end) {
                    first = Some(first.map_or(at, |first| first.min(at)));
                }
            }
        }
        first.map(|at| at as u64)
    }

    fn times_of(&mut self, sim: &SimId) -> Option<&mut Vec<f64>> {
        self.columns.iter_mut().find_map(|column| {
            let at = column.sims.iter().position(|id| id == sim)?;
            column.times.get_mut(at)
        })
    }

    fn intern(&mut self, name: &str) -> u32 {
        let at = match self.names.get_index_of(name) {
            Some(at) => at,
            None => {
                self.readable.push(readable(name));
                self.names.insert_full(name.to_owned()).0
            }
        };
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn set_name(&mut self, at: usize, name: u32) {
        if self.name.len() <= at && at < MAX_ROWS {
            self.name.resize(at + 1, name);
        }
        if let Some(slot) = self.name.get_mut(at) {
            *slot = name;
        }
    }

    /// Rows that are here.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether no kernel has finished.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Rows that there are, here or still to come.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the trace came with measured times.
    pub const fn has_real(&self) -> bool {
        self.has_real
    }

    /// The GPUs, in the order of the columns.
    pub fn gpus(&self) -> impl Iterator<Item = (&GpuName, &[Engine])> {
        self.columns
            .iter()
            .map(|column| (&column.gpu, column.engines.as_slice()))
    }

    /// A row's name as the simulator has it, and as people read it.
    pub fn name(&self, row: usize) -> Option<(&str, &str)> {
        let at = usize::try_from(*self.name.get(row)?).ok()?;
        Some((self.names.get_index(at)?, self.readable.get(at)?))
    }

    /// A row's measured time in ns.
    pub fn real_ns(&self, row: usize) -> Option<f64> {
        self.real.get(row).copied().filter(|ns| !ns.is_nan())
    }

    /// A row's simulated time in ns: the median over the column's sims.
    pub fn ns(&self, row: usize, column: usize) -> Option<f64> {
        let column = self.columns.get(column)?;
        let mut found = column
            .times
            .iter()
            .filter_map(|times| times.get(row).copied().filter(|ns| !ns.is_nan()));
        let first = found.next()?;
        let Some(second) = found.next() else {
            return Some(first);
        };
        let mut all: Vec<f64> = [first, second].into_iter().chain(found).collect();
        all.sort_unstable_by(f64::total_cmp);
        let (low, high) = (all.get((all.len() - 1) / 2)?, all.get(all.len() / 2)?);
        Some(f64::midpoint(*low, *high))
    }

    /// Each column in figures, over the rows that are here.
    pub fn totals(&self) -> Vec<ColumnTotal> {
        let total = |(at, column): (usize, &Column)| {
            let (mut kernels, mut sim_ns, mut errors, mut with_real) = (0, 0.0, 0.0, 0_u32);
            for row in 0..self.len() {
                let Some(ns) = self.ns(row, at) else { continue };
                kernels += 1;
                sim_ns += ns;
                if let Some(error) = error(ns, self.real_ns(row)) {
                    errors += error.abs();
                    with_real += 1;
                }
            }
            ColumnTotal {
                gpu: column.gpu.clone(),
                kernels,
                sim_ns,
                mean_abs_error: (with_real > 0).then(|| errors / f64::from(with_real)),
            }
        };
        self.columns.iter().enumerate().map(total).collect()
    }

    /// The rows whose name holds `filter`, ordered by `key`; `None` when that is every row in launch order.
    pub fn order(&self, (key, descending): (Key, bool), filter: &str) -> Option<Vec<u32>> {
        let filter = filter.trim().to_lowercase();
        if filter.is_empty() && key == Key::Index && !descending {
            return None;
        }
        let matches: Vec<bool> = self
            .names
            .iter()
            .zip(&self.readable)
            .map(|(name, readable)| {
                filter.is_empty()
                    || readable.to_lowercase().contains(&filter)
                    || name.to_lowercase().contains(&filter)
            })
            .collect();
        let shown = |name: &u32| usize::try_from(*name).ok().and_then(|at| matches.get(at)) == Some(&true);
        let rows = (0_u32..)
            .zip(&self.name)
            .filter(|(_, name)| shown(name))
            .map(|(row, _)| row);
        let mut rows: Vec<u32> = rows.collect();
        let number = |row: u32| -> Option<f64> {
            let row = row as usize;
            match key {
                Key::Index | Key::Name => None,
                Key::Real => self.real_ns(row),
                Key::Gpu(column) => self.ns(row, column),
                Key::Error(column) => error(self.ns(row, column)?, self.real_ns(row)),
            }
        };
        match key {
            Key::Index => {}
            Key::Name => {
                // Names are few and rows are many: order the names once.
                let mut places: Vec<usize> = (0..self.readable.len()).collect();
                places.sort_by_key(|at| self.readable.get(*at));
                let mut rank = vec![0_usize; places.len()];
                for (place, at) in places.into_iter().enumerate() {
                    if let Some(slot) = rank.get_mut(at) {
                        *slot = place;
                    }
                }
                let of = |row: u32| {
                    let rank = self
                        .name
                        .get(row as usize)
                        .and_then(|name| rank.get(*name as usize));
                    rank.map_or(f64::NAN, |rank| *rank as f64)
                };
                rows = ordered(rows.into_iter().map(|row| (of(row), row)).collect(), false);
            }
            Key::Real | Key::Gpu(_) | Key::Error(_) => {
                let keyed = rows.into_iter().map(|row| (number(row).unwrap_or(f64::NAN), row));
                return Some(ordered(keyed.collect(), descending));
            }
        }
        if descending {
            rows.reverse();
        }
        Some(rows)
    }

    /// Kernels in launch order, on a chart `width` pixels wide whose bars are at least `min_bar` pixels.
    ///
    /// Where they do not fit, neighbours share a group that shows the slowest of them: a peak never disappears.
    pub fn by_launch(&self, width: f64, min_bar: f64) -> BarChart {
        let (series, charted) = (self.series(), self.charted());
        // One bar's width is left between groups.
        let group_px = min_bar.max(1.0) * (series.len() + 1) as f64;
        let fit = ((width / group_px).floor() as usize).max(1);
        let per_group = self.len().div_ceil(fit).max(1);
        let group = |from: usize| {
            let to = (from + per_group).min(self.len());
            let label = match self.name(from) {
                Some((_, name)) if per_group == 1 => format!("{} {name}", format::launch(from as u64)),
                _ => format!("{}–{to}", format::launch(from as u64)),
            };
            let mut values = vec![None; series.len()];
            for row in from..to {
                self.fold(row, &charted, &mut values, f64::max);
            }
            Group { label, values }
        };
        let groups = (0..self.len()).step_by(per_group).map(group).collect();
        let mut chart = BarChart::of(series, groups);
        chart.kernels_per_group = per_group;
        chart
    }

    /// Time of all launches of each kernel together, the `most` slowest names; the rest add up in a last group.
    pub fn by_name(&self, most: usize) -> BarChart {
        let (series, charted) = (self.series(), self.charted());
        // Different names can read alike, as templates of one function do.
        let mut groups: IndexMap<&str, (u64, Vec<Option<f64>>)> = IndexMap::new();
        for row in 0..self.len() {
            let Some((_, name)) = self.name(row) else { continue };
            let (launches, values) = groups
                .entry(name)
                .or_insert_with(|| (0, vec![None; series.len()]));
            *launches += 1;
            self.fold(row, &charted, values, |sum, ns| sum + ns);
        }
        let highest = |values: &[Option<f64>]| values.iter().flatten().copied().fold(0.0, f64::max);
        let keyed = (0..)
            .zip(groups.values())
            .map(|(at, (_, values))| (highest(values), at));
        let mut order = ordered(keyed.collect(), true);
        let rest = order.split_off(most.min(order.len()));
        let at = |at: &u32| groups.get_index(*at as usize);
        let rest: Vec<_> = rest.iter().filter_map(at).collect();
        let mut groups: Vec<Group> = order
            .iter()
            .filter_map(at)
            .map(|(name, (launches, values))| Group {
                label: match launches {
                    1 => (*name).to_owned(),
                    n => format!("{name} × {}", format::count(*n)),
                },
                values: values.clone(),
            })
            .collect();
        if !rest.is_empty() {
            let mut values = vec![None; series.len()];
            for (_, (_, own)) in &rest {
                for (sum, ns) in values.iter_mut().zip(own) {
                    *sum = merged(*sum, *ns, |sum, ns| sum + ns);
                }
            }
            let label = format!("{} more", format::plural(rest.len() as u64, "kernel"));
            groups.push(Group { label, values });
        }
        BarChart::of(series, groups)
    }

    /// A chart without bars, for its series and their colours.
    pub fn legend(&self) -> BarChart {
        BarChart::of(self.series(), Vec::new())
    }

    /// The GPUs that charts show: all, or as many as there are colours, from the first to the last.
    pub fn charted(&self) -> Vec<usize> {
        spread(self.columns.len(), GPU_COLORS)
    }

    /// What the charts' bars stand for: real time where there is any, then the GPUs.
    fn series(&self) -> Vec<String> {
        let real = self.has_real.then(|| "Real".to_owned());
        let gpus = self.charted().into_iter().filter_map(|at| self.columns.get(at));
        let gpus = gpus.map(|column| engine::column(&column.gpu, &column.engines));
        real.into_iter().chain(gpus).collect()
    }

    /// Folds a row's times into `values`, in the order of [`Self::series`] for the GPUs `charted`.
    fn fold(&self, row: usize, charted: &[usize], values: &mut [Option<f64>], with: fn(f64, f64) -> f64) {
        let real = self.has_real.then(|| self.real_ns(row));
        let gpus = charted.iter().map(|column| self.ns(row, *column));
        for (value, ns) in values.iter_mut().zip(real.into_iter().chain(gpus)) {
            *value = merged(*value, ns, with);
        }
    }

    /// The rows that are here, as the API's comparison has them.
    pub fn comparison(&self) -> Comparison {
        let row = |row: usize| ComparisonRow {
            kernel_index: row as u64,
            kernel_name: self.name(row).map_or("", |(name, _)| name).to_owned(),
            real_ns: self.real_ns(row),
            sim_ns: (0..)
                .zip(&self.columns)
                .map(|(at, column)| (column.gpu.clone(), self.ns(row, at)))
                .collect(),
        };
        Comparison {
            has_real_timing: self.has_real,
            configs: self.columns.iter().map(|column| column.gpu.clone()).collect(),
            rows: (0..self.len()).map(row).collect(),
            engines: self
                .columns
                .iter()
                .map(|column| (column.gpu.clone(), column.engines.clone()))
                .collect(),
        }
    }
}

/// Rows that a page holds at most; an index beyond is a mistake of some simulator.
const MAX_ROWS: usize = 4_000_000;

/// Puts a time in its place; places in between have none.
fn put(times: &mut Vec<f64>, at: usize, ns: Option<f64>) {
    if times.len() <= at && at < MAX_ROWS {
        times.resize(at + 1, f64::NAN);
    }
    if let Some(slot) = times.get_mut(at) {
        *slot = ns.unwrap_or(f64::NAN);
    }
}

/// Places in the order of what they are sorted by, equal ones as they came; what has no number stands last either
/// way. One sort for all orders: each more would be 4 KB of the page's module.
fn ordered(mut keyed: Vec<(f64, u32)>, descending: bool) -> Vec<u32> {
    keyed.sort_by(|(a, _), (b, _)| match (a.is_nan(), b.is_nan()) {
        (false, false) if descending => b.total_cmp(a),
        (false, false) => a.total_cmp(b),
        (a, b) => a.cmp(&b),
    });
    keyed.into_iter().map(|(_, place)| place).collect()
}

/// Both together, or the one that there is.
fn merged(a: Option<f64>, b: Option<f64>, with: fn(f64, f64) -> f64) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(with(a, b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests;
