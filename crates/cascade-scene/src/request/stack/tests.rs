//! Stacks of the sample and of steps with many groups.

use super::{Hue, StackChart};
use crate::request::tests::{h100, h200, sim};
use crate::request::{Column, columns};
use cascade_api::{GroupDigest, StepDigest};
use std::collections::BTreeMap;

fn both() -> Vec<Column> {
    columns(&[sim(1, "SM90_H100", 0, h100()), sim(2, "SM90_H200", 0, h200())])
}

#[test]
fn the_bars_are_the_real_gpu_and_each_simulated_one_and_reach_the_wall_time() {
    let chart = StackChart::new(&both(), "decode", false);
    let labels: Vec<_> = chart.bars.iter().map(|bar| bar.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "Real NVIDIA H100 80GB HBM3",
            "SM90_H100 (replay)",
            "SM90_H200 (replay)"
        ]
    );
    let gap = 36_950.0;
    assert!((chart.bars[0].total_ns() - (7_894_492.0 + gap)).abs() < 1.0);
    assert!((chart.bars[1].total_ns() - (8_135_861.0 + gap)).abs() < 1.0);
    assert!(chart.top_ns >= chart.bars[1].total_ns());
    assert_eq!(chart.layers[0].hue, Hue::Gap);
    assert_eq!(
        chart.layers[2].name, "Small elementwise",
        "the largest group first"
    );
}

#[test]
fn gpu_time_only_leaves_host_and_gap_out() {
    let chart = StackChart::new(&both(), "decode", true);
    assert!(
        chart
            .layers
            .iter()
            .all(|layer| layer.hue != Hue::Host && layer.hue != Hue::Gap)
    );
    assert!((chart.bars[0].total_ns() - 575_611.0).abs() < 1.0);
    assert!((chart.bars[1].total_ns() - 816_980.0).abs() < 1.0);
    assert_eq!(chart.unit().text(816_980.0), "817.0\u{a0}µs");
    let whole = StackChart::new(&both(), "decode", false);
    assert_eq!(whole.unit().text(816_980.0), "0.817\u{a0}ms");
}

#[test]
fn a_kind_without_gpu_time_has_no_bars() {
    assert!(StackChart::new(&both(), "prefill", false).bars.is_empty());
    assert!(StackChart::new(&[], "decode", false).bars.is_empty());
}

#[test]
fn many_groups_keep_the_largest_apart_and_lose_no_time() {
    let group = |n: u32| GroupDigest {
        group: format!("group {n:02}"),
        step_ns: BTreeMap::from([("decode".into(), f64::from(n) * 1000.0)]),
        ..GroupDigest::default()
    };
    let mut digest = StepDigest {
        groups: (1..=20).map(group).collect(),
        ..h100()
    };
    digest.kinds.remove(0);
    let chart = StackChart::new(&columns(&[sim(1, "SM90_H100", 0, digest)]), "decode", true);
    let names: Vec<_> = chart.layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names[0], "group 20");
    assert_eq!(names[7], "13 smaller groups");
    assert!((chart.bars[1].total_ns() - 816_980.0).abs() < 1.0);
}

#[test]
fn a_place_on_a_bar_finds_its_layer() {
    let chart = StackChart::new(&both(), "decode", false);
    let bar = &chart.bars[0];
    assert_eq!(bar.layer_at(0.0), Some(0));
    assert_eq!(bar.layer_at(36_951.0), Some(1));
    assert_eq!(bar.layer_at(bar.total_ns() + 1.0), None);
}
