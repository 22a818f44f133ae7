//! The groups of the sample.

use super::{GroupOrder, error_bar, largest_error, rows, sort};
use crate::request::tests::{h100, h200};
use proptest::prelude::*;

#[test]
fn shares_are_of_the_simulated_step_and_a_counterfactual_shows_no_real_time() {
    let found = rows(&h100());
    let shares: f64 = found.iter().filter_map(|row| row.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    assert_eq!(found[0].real_ns, Some(30_623.5));
    assert_eq!(found[0].provenance, "4 exact, 12 dedup");
    for row in rows(&h200()) {
        assert_eq!((row.real_ns, row.error_pct), (None, None));
    }
}

#[test]
fn a_missing_value_is_last_in_both_directions() {
    let mut table = rows(&h100());
    table[0].error_pct = None;
    for descending in [false, true] {
        sort(&mut table, GroupOrder::Error, descending);
        assert_eq!(table[1].group, "lm_head GEMM");
    }
    sort(&mut table, GroupOrder::Group, true);
    assert_eq!(table[0].group, "lm_head GEMM");
    sort(&mut table, GroupOrder::Launches, true);
    assert_eq!(table[0].group, "Small elementwise");
}

#[test]
fn error_bars_start_in_the_middle() {
    let largest = largest_error(&rows(&h100()));
    assert_eq!(error_bar(largest, largest), (50.0, 50.0));
    assert_eq!(error_bar(-largest / 2.0, largest), (25.0, 25.0));
    assert_eq!(largest_error(&[]), 0.0);
    assert_eq!(error_bar(0.0, 0.0), (50.0, 0.0));
}

proptest! {
    #[test]
    fn an_error_bar_stays_on_its_track(error in -1e6_f64..1e6, largest in 0.0_f64..1e6) {
        let (left, width) = error_bar(error, largest);
        prop_assert!(left >= 0.0 && width >= 0.0 && left + width <= 100.0 + 1e-9);
    }
}
