//! Charts of hand-made tables.

use super::{BarChart, Hue, ticks};
use cascade_api::{Comparison, ComparisonRow};
use indexmap::IndexMap;
use proptest::prelude::*;

/// A table with one GPU; a row is (name, real, simulated).
fn table(rows: &[(&str, Option<f64>, Option<f64>)]) -> Comparison {
    let rows = rows
        .iter()
        .zip(0..)
        .map(|((name, real_ns, sim), kernel_index)| ComparisonRow {
            kernel_index,
            kernel_name: (*name).to_owned(),
            real_ns: *real_ns,
            sim_ns: IndexMap::from([("H100".into(), *sim)]),
        });
    Comparison {
        has_real_timing: rows.clone().any(|row| row.real_ns.is_some()),
        configs: vec!["H100".into()],
        rows: rows.collect(),
        engines: IndexMap::new(),
    }
}

#[test]
fn a_thousand_kernels_share_groups_and_no_peak_is_lost() {
    let mut rows = vec![("k", None, Some(10.0)); 1000];
    rows[777] = ("k", None, Some(5000.0));
    let chart = BarChart::by_launch(&table(&rows), 800.0, 4.0);
    assert_eq!(chart.kernels_per_group, 10);
    assert_eq!(chart.groups.len(), 100);
    let peak = &chart.groups[77];
    assert_eq!((peak.label.as_str(), peak.values[0]), ("770–779", Some(5000.0)));
    assert!(chart.top_ns >= 5000.0);
}

#[test]
fn a_few_kernels_each_have_their_own_bars() {
    let chart = BarChart::by_launch(
        &table(&[("_Z6vecAddPdS_S_i", Some(2.0), Some(3.0)), ("b", None, None)]),
        800.0,
        4.0,
    );
    assert_eq!(chart.series, ["Real", "H100"]);
    assert_eq!([chart.color(0), chart.color(1)], [Hue::Real, Hue::Gpu(0)]);
    assert_eq!(chart.groups[0].label, "0 vecAdd");
    assert_eq!(chart.groups[0].values, [Some(2.0), Some(3.0)]);
    assert_eq!(chart.groups[1].values, [None, None]);
    assert!(BarChart::by_launch(&table(&[]), 800.0, 4.0).is_empty());
}

#[test]
fn launches_of_one_kernel_add_up_and_the_small_ones_stand_together() {
    let rows = [
        ("a", None, Some(1.0)),
        ("b", None, Some(5.0)),
        ("a", None, Some(3.0)),
        ("c", None, Some(0.5)),
        ("d", None, None),
    ];
    let chart = BarChart::by_name(&table(&rows), 2);
    let found: Vec<_> = chart
        .groups
        .iter()
        .map(|g| (g.label.as_str(), g.values[0]))
        .collect();
    assert_eq!(
        found,
        [
            ("b", Some(5.0)),
            ("a × 2", Some(4.0)),
            ("2 kernels more", Some(0.5))
        ]
    );
}

proptest! {
    #[test]
    fn marks_are_few_rise_evenly_and_reach_the_top(top in 1e-3_f64..1e15) {
        let marks = ticks(top, 5);
        prop_assert!((2..=7).contains(&marks.len()), "{marks:?}");
        prop_assert_eq!(marks[0], 0.0);
        prop_assert!(marks.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(*marks.last().unwrap() >= top * (1.0 - 1e-9));
        prop_assert!(marks[marks.len() - 2] < top);
    }
}
