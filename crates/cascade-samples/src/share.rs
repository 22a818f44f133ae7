//! Spreading a published sum over the parts it is a sum of.

/// Steps of one kind that share a published median: three repeats of 31 decode steps.
pub(crate) const DECODES: usize = 31;
/// Repeats that count.
pub(crate) const REPEATS: usize = 3;

/// Splits a sum over parts in proportion to their weights, in whole ns; the parts add up to it exactly.
pub(crate) fn split(sum: i64, weights: &[i64]) -> Vec<i64> {
    let all: i128 = weights.iter().map(|&w| i128::from(w)).sum();
    let mut done = 0;
    let mut weight: i128 = 0;
    let part = |w: &i64| {
        weight += i128::from(*w);
        // Rounding the running sum keeps each part within 1 of its share.
        let upto = i64::try_from((i128::from(sum) * weight).div_euclid(all)).unwrap_or(i64::MAX);
        let part = upto - done;
        done = upto;
        part
    };
    weights.iter().map(part).collect()
}

/// A whole number from -6 to 6 that looks unordered but is always the same for the same place.
pub(crate) fn ripple(place: usize) -> i64 {
    // A permutation of 0..13 by a multiplier without a common factor, shifted each round.
    let at = (place * 5 + place / 13 * 3) % 13;
    at as i64 - 6
}

/// How far values lie from their median: below it by up to `low`, above it by `rise.0 z + rise.1 z²` for a
/// rank `z` from 0 to 1. Step times have a longer tail above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) rise: (f64, f64),
}

/// Values for each decode step of each repeat with a given median over all and a given sum in each repeat, in ns.
///
/// Ranks are dealt out so that each repeat gets every third; a repeat's values above the median are then
/// stretched to make its sum right, which leaves the median alone.
pub(crate) fn around(median: i64, sums: [i64; REPEATS], spread: Spread) -> [[i64; DECODES]; REPEATS] {
    let mut values = [[0; DECODES]; REPEATS];
    let half = (REPEATS * DECODES / 2) as f64;
    for (repeat, values) in values.iter_mut().enumerate() {
        let z = |step: usize| (rank(step * REPEATS + repeat) as f64 - half) / half;
        let above = |z: f64| spread.rise.0 * z + spread.rise.1 * z * z;
        let lower = |z: f64| (spread.low * z).round() as i64;
        let (mut low_sum, mut high_sum) = (0, 0.0);
        for z in (0..DECODES).map(z) {
            match z < 0.0 {
                true => low_sum += lower(z),
                false => high_sum += above(z),
            }
        }
        let stretch = (sums[repeat] - median * DECODES as i64 - low_sum) as f64 / high_sum;
        for (step, value) in values.iter_mut().enumerate() {
            let z = z(step);
            let off = match z < 0.0 {
                true => lower(z),
                false => (stretch * above(z)).round() as i64,
            };
            *value = median + off;
        }
        let rest = sums[repeat] - values.iter().sum::<i64>();
        if let Some(largest) = values.iter_mut().max() {
            *largest += rest;
        }
    }
    values
}

/// The place of the `n`th of all decode steps in the order of their values, from 0.
pub(crate) fn rank(n: usize) -> usize {
    let all = REPEATS * DECODES;
    (n * 34 + 11) % all
}

/// The repeat and step (both from 0) whose value is the median.
pub(crate) fn middle() -> (usize, usize) {
    let all = REPEATS * DECODES;
    let n = (0..all).find(|&n| rank(n) == all / 2).unwrap_or(0);
    (n % REPEATS, n / REPEATS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_follow_their_weights() {
        assert_eq!(split(100, &[1, 1, 2]), [25, 25, 50]);
        let parts = split(1_000_003, &[3, 5, 7, 11, 13]);
        assert_eq!(parts.iter().sum::<i64>(), 1_000_003);
        assert!((parts[4] - 333_334).abs() <= 1);
    }

    #[test]
    fn values_have_their_median_and_sums() {
        let spread = Spread {
            low: 200.0,
            rise: (250.0, 300.0),
        };
        let sums = [31 * 7_900 + 1_000, 31 * 7_900 + 1_900, 31 * 7_900 + 2_222];
        let values = around(7_900, sums, spread);
        for (values, sum) in values.iter().zip(sums) {
            assert_eq!(values.iter().sum::<i64>(), sum);
        }
        let mut all: Vec<i64> = values.concat();
        let (repeat, step) = middle();
        assert_eq!(values[repeat][step], 7_900);
        all.sort_unstable();
        assert_eq!(all[46], 7_900);
    }
}
