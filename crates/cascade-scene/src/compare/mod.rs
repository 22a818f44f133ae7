//! Any columns side by side, a column being one GPU of one run: where they differ by kernel, by group and by step,
//! how far each is from real time, and how far its replicas lie apart.

pub mod csv;
pub mod difference;
pub mod lines;
pub mod mixed;
pub mod scatter;
pub mod spread;
pub mod steps;
#[cfg(test)]
pub(crate) mod testing;
pub mod waterfall;

use cascade_api::{KernelColumn, KernelColumns, TraceId};

use crate::format;

/// Most columns at once; more than this nobody reads.
pub const MAX_SIDES: usize = 8;

/// What a column's kernel times are.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The trace that its run simulates.
    pub trace: &'a TraceId,
    /// The run's kernels.
    pub kernels: &'a KernelColumns,
    /// The GPU's times.
    pub column: &'a KernelColumn,
}

/// What a column is called: `A`, `B`, … by its place.
pub fn letter(place: usize) -> String {
    let letters = 'A'..='Z';
    letters
        .into_iter()
        .nth(place)
        .map_or_else(|| (place + 1).to_string(), String::from)
}

/// A difference in the unit that fits, with its sign: `+1.20 µs`. What is no difference has none.
pub fn signed_ns(ns: f64) -> String {
    let sign = if ns < 0.0 {
        "−"
    } else if ns > 0.0 {
        "+"
    } else {
        ""
    };
    format!("{sign}{}", format::duration_ns(ns.abs()))
}

/// A relative difference, `(to - from) / from`; `None` where there is nothing to relate to.
pub fn relative(from: f64, to: f64) -> Option<f64> {
    let whole = from.is_finite() && to.is_finite() && from > 0.0;
    whole.then(|| (to - from) / from)
}
