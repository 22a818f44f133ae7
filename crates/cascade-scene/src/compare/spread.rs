//! How far a column's replicas lie apart.

use cascade_api::ReplicaTotal;

use super::relative;

/// The replicas' total times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Replicas that are counted: those that finished as many kernels as any.
    pub replicas: usize,
    /// Replicas that finished fewer kernels, or none.
    pub behind: usize,
    /// The fastest, in ns.
    pub min_ns: f64,
    /// The middle one, in ns.
    pub median_ns: f64,
    /// The slowest, in ns.
    pub max_ns: f64,
    /// Coefficient of variation: sample standard deviation over mean; `None` for a single replica.
    pub variation: Option<f64>,
}

impl Spread {
    /// The spread of a column; `None` while no replica has finished a kernel.
    pub fn of(replicas: &[ReplicaTotal]) -> Option<Self> {
        let most = replicas
            .iter()
            .map(|replica| replica.kernels)
            .max()
            .filter(|n| *n > 0)?;
        let full = replicas.iter().filter(|replica| replica.kernels == most);
        let mut totals: Vec<f64> = full.map(|replica| replica.total_ns).collect();
        totals.sort_by(f64::total_cmp);
        let (min_ns, max_ns) = (*totals.first()?, *totals.last()?);
        let high = totals.get(totals.len() / 2)?;
        let low = totals.get((totals.len() - 1) / 2)?;
        Some(Self {
            replicas: totals.len(),
            behind: replicas.len() - totals.len(),
            min_ns,
            median_ns: f64::midpoint(*low, *high),
            max_ns,
            variation: variation(&totals),
        })
    }
}

impl Spread {
    /// The fastest and the slowest relative to the median.
    pub fn ends(&self) -> (f64, f64) {
        let part = |ns| relative(self.median_ns, ns).unwrap_or(0.0);
        (part(self.min_ns), part(self.max_ns))
    }

    /// The farther of both ends.
    pub fn reach(&self) -> f64 {
        let (low, high) = self.ends();
        low.abs().max(high.abs())
    }
}

/// Sample standard deviation over mean; `None` below two values or around a mean of 0.
fn variation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (count - 1.0)).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replica(kernels: u64, total_ns: f64) -> ReplicaTotal {
        ReplicaTotal { kernels, total_ns }
    }

    #[test]
    fn a_replica_that_is_behind_does_not_count() {
        let spread = Spread::of(&[replica(3, 10.0), replica(1, 2.0), replica(3, 14.0)]).unwrap();
        assert_eq!((spread.replicas, spread.behind), (2, 1));
        assert_eq!(
            (spread.min_ns, spread.median_ns, spread.max_ns),
            (10.0, 12.0, 14.0)
        );
        let variation = spread.variation.unwrap();
        assert!((variation - 8.0_f64.sqrt() / 12.0).abs() < 1e-12, "{variation}");
        assert_eq!(spread.ends(), (-1.0 / 6.0, 1.0 / 6.0));
        assert_eq!(Spread::of(&[replica(0, 0.0)]), None);
        assert_eq!(Spread::of(&[replica(1, 5.0)]).unwrap().variation, None);
    }

    proptest! {
        #[test]
        fn the_median_lies_between_the_ends_and_equal_replicas_do_not_vary(
            totals in prop::collection::vec(1.0..1e9_f64, 1..9), copies in 2_usize..9,
        ) {
            let all: Vec<_> = totals.iter().map(|total| replica(7, *total)).collect();
            let spread = Spread::of(&all).unwrap();
            prop_assert!(spread.min_ns <= spread.median_ns && spread.median_ns <= spread.max_ns);
            let same = Spread::of(&vec![all[0]; copies]).unwrap();
            prop_assert!(same.variation.unwrap() < 1e-9);
        }
    }
}
