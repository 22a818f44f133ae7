//! Against the textbook formulas over the plain list of values.

use proptest::prelude::*;

use super::*;

/// NumPy's linear percentile.
fn plain(sorted: &[u64], q: f64) -> f64 {
    let rank = q / 100.0 * (sorted.len() - 1) as f64;
    let low = rank.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] as f64 + (sorted[high] - sorted[low]) as f64 * (rank - low as f64)
}

proptest! {
    #[test]
    fn matches_the_plain_list(pushes in proptest::collection::vec((0u64..2000, 1u32..5), 1..60), q in 0.0..100.0) {
        let mut distribution = Distribution::default();
        let mut list = Vec::new();
        for (value, times) in pushes {
            distribution.push(value * 1_000_000, times);
            list.extend(std::iter::repeat_n(value * 1_000_000, times as usize));
        }
        list.sort_unstable();
        let stats = distribution.stats(&[q]);
        let mean = list.iter().sum::<u64>() as f64 / list.len() as f64;
        let variance = list.iter().map(|x| (*x as f64 - mean).powi(2)).sum::<f64>() / list.len() as f64;
        prop_assert_eq!(stats.count as usize, list.len());
        prop_assert!((stats.mean * 1e6 - mean).abs() < 1.0);
        prop_assert!((stats.std * 1e6 - variance.sqrt()).abs() < 1.0);
        prop_assert!((stats.percentiles[0].value * 1e6 - plain(&list, q)).abs() < 1.0);
        prop_assert!((stats.median * 1e6 - plain(&list, 50.0)).abs() < 1.0);
        prop_assert_eq!((stats.max, stats.min), (list[list.len() - 1] as f64 / 1e6, list[0] as f64 / 1e6));
    }

    #[test]
    fn rounding_is_within_its_bound(value in any::<u64>()) {
        prop_assert!(round(value).abs_diff(value) as f64 <= value as f64 / 2048.0);
    }
}

#[test]
fn too_many_values_are_rounded_and_say_so() {
    let mut distribution = Distribution::default();
    let count = 3 * EXACT_VALUES as u64;
    for value in 0..count {
        distribution.push(value * 1001 % count * 1000, 1);
    }
    let stats = distribution.stats(&[99.0]);
    assert!(stats.rounded && distribution.values.len() < EXACT_VALUES);
    let exact = 0.99 * (count - 1) as f64 * 1e-3;
    assert!((stats.percentiles[0].value / exact - 1.0).abs() < 5e-4);
}
