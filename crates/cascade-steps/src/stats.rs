//! Means and quantiles of measured numbers.

/// The mean; none of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The quantile `p` (0 to 1) with linear interpolation between the two nearest; none of nothing.
pub(crate) fn quantile(values: &mut [f64], p: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let place = p * last as f64;
    let below = place.floor();
    let low = *values.get(below as usize)?;
    let high = *values.get(last.min(below as usize + 1))?;
    Some(low + (high - low) * (place - below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&mut [4.0, 1.0, 2.0], 0.5), Some(2.0));
        assert_eq!(quantile(&mut [0.0, 10.0], 0.95), Some(9.5));
        assert_eq!(quantile(&mut [7.0], 0.95), Some(7.0));
        assert_eq!(quantile(&mut [], 0.5), None);
        assert_eq!(mean(&[1.0, 2.0]), Some(1.5));
        assert_eq!(mean(&[]), None);
    }
}
