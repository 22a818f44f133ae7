//! Many times, and their mean, deviation and percentiles.

use serde::{Deserialize, Serialize};

/// Different values kept exactly. Beyond that, values are rounded to [`ROUNDED_BITS`] significant bits.
pub const EXACT_VALUES: usize = 1 << 20;
/// Significant bits of a rounded value: it is off by at most one part in 2^11, 0.05 %.
pub const ROUNDED_BITS: u32 = 11;

/// A distribution of times in ns.
///
/// Mean and deviation are always exact. Percentiles are, as long as there are no more than [`EXACT_VALUES`]
/// different values.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    /// Value and how often; sorted and merged now and then.
    values: Vec<(u64, u64)>,
    count: u64,
    sum: u128,
    squares: u128,
    rounded: bool,
}

/// What a distribution comes to, in ms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Number of values.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the population.
    pub std: f64,
    /// Smallest value.
    pub min: f64,
    /// 50th percentile.
    pub median: f64,
    /// Largest value.
    pub max: f64,
    /// The percentiles asked for, interpolated linearly between ranks, as NumPy's default.
    pub percentiles: Vec<Percentile>,
    /// Percentiles are off by up to 0.05 %, since there were too many values to keep.
    pub rounded: bool,
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Which, from 0 to 100.
    pub q: f64,
    /// Its value in ms.
    pub value: f64,
}

impl Distribution {
    /// Adds `value` ns, `times` times.
    pub fn push(&mut self, value: u64, times: u32) {
        let times = u64::from(times);
        self.count += times;
        let total = u128::from(value) * u128::from(times);
        self.sum += total;
        self.squares = self
            .squares
            .saturating_add(total.saturating_mul(u128::from(value)));
        let value = if self.rounded { round(value) } else { value };
        match self.values.last_mut() {
            Some(last) if last.0 == value => last.1 += times,
            _ => {
                self.values.push((value, times));
                if self.values.len() >= 2 * EXACT_VALUES {
                    self.compact();
                }
            }
        }
    }

    fn compact(&mut self) {
        merge(&mut self.values);
        if self.values.len() > EXACT_VALUES {
            self.rounded = true;
            self.values
                .iter_mut()
                .for_each(|(value, _)| *value = round(*value));
            merge(&mut self.values);
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sums the distribution up, with percentiles `qs` (0 to 100).
    pub fn stats(&mut self, qs: &[f64]) -> Stats {
        merge(&mut self.values);
        let count = self.count as f64;
        if self.count == 0 {
            return Stats::default();
        }
        let mean = self.sum as f64 / count;
        // n·Σx² − (Σx)² without a difference of rounded numbers, as far as 128 bits go.
        let n = u128::from(self.count);
        let spread = match (n.checked_mul(self.squares), self.sum.checked_mul(self.sum)) {
            (Some(a), Some(b)) => a.saturating_sub(b) as f64 / (count * count),
            _ => (self.squares as f64 / count - mean * mean).max(0.0),
        };
        let percentile = |q: &f64| Percentile {
            q: *q,
            value: self.percentile(*q) / 1e6,
        };
        Stats {
            count: self.count,
            mean: mean / 1e6,
            std: spread.sqrt() / 1e6,
            min: self.percentile(0.0) / 1e6,
            median: self.percentile(50.0) / 1e6,
            max: self.percentile(100.0) / 1e6,
            percentiles: qs.iter().map(percentile).collect(),
            rounded: self.rounded,
        }
    }

    /// Percentile `q` of the merged values, in ns.
    fn percentile(&self, q: f64) -> f64 {
        let rank = q.clamp(0.0, 100.0) / 100.0 * (self.count - 1) as f64;
        let (low, part) = (rank.floor() as u64, rank - rank.floor());
        let mut passed = 0;
        let mut values = self.values.iter();
        while let Some((value, times)) = values.next() {
            passed += times;
            if passed > low {
                let next = if passed > low + 1 {
                    *value
                } else {
                    values.next().map_or(*value, |next| next.0)
                };
                return *value as f64 + (next - value) as f64 * part;
            }
        }
        0.0
    }
}

/// Sorts by value and adds up equal ones.
fn merge(values: &mut Vec<(u64, u64)>) {
    values.sort_unstable();
    values.dedup_by(|next, kept| {
        let equal = next.0 == kept.0;
        if equal {
            kept.1 += next.1;
        }
        equal
    });
}

/// The middle of the values that have the same first [`ROUNDED_BITS`] bits.
fn round(value: u64) -> u64 {
    let drop = (u64::BITS - value.leading_zeros()).saturating_sub(ROUNDED_BITS);
    (value >> drop << drop) | (1 << drop >> 1)
}

#[cfg(test)]
mod tests;
