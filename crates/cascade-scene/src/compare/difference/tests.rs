//! Differences of hand-made and random columns.

use std::time::Instant;

use cascade_api::{ColumnKernel, TraceId};
use proptest::prelude::*;

use super::{Difference, Level, Order};
use crate::compare::lines::{Lines, Pairing};
use crate::compare::testing::{kernel, run, sides};

fn kernels() -> Vec<ColumnKernel> {
    vec![
        kernel("gemm", "GEMM", 8),
        kernel("norm", "Layer norm", 2),
        kernel("gemm", "GEMM", 16),
    ]
}

#[test]
fn columns_of_one_trace_are_paired_by_position() {
    let trace = TraceId::from("t");
    let run = run(
        &kernels(),
        &[0, 1, 2, 0],
        &[
            ("H100", &[Some(10.0), Some(4.0), Some(6.0), Some(10.0)]),
            ("H200", &[Some(7.0), Some(5.0), Some(6.0), None]),
        ],
    );
    let lines = Lines::new(&sides(&trace, &run));
    assert_eq!(lines.pairing, Pairing::Position);
    let launches = Difference::new(&lines, 0, 1, Level::Launch);
    let deltas: Vec<f64> = launches.rows.iter().map(super::Row::delta_ns).collect();
    assert_eq!(
        deltas,
        [-3.0, 1.0, 0.0],
        "what H200 has not finished is not compared"
    );
    assert_eq!((launches.from_ns, launches.to_ns), (30.0, 18.0));
    assert_eq!(launches.alone.len(), 1);
    assert!(launches.alone[0].from && launches.alone[0].ns == 10.0);

    let csv = launches.csv(&lines, &[1], ["A".into(), "B".into()]);
    let text: Vec<&str> = csv.lines().collect();
    assert_eq!(
        text[0],
        "launch,kernel,recorded_name,shape,group,launches_A,launches_B,ns_A,ns_B,difference_ns,relative"
    );
    assert_eq!(
        text[1],
        "2,norm,norm,2 × 1 × 1 / 128 × 1 × 1,Layer norm,1,1,4,5,1,0.25"
    );
    assert_eq!(text[2], ",gemm,gemm,8 × 1 × 1 / 128 × 1 × 1,GEMM,1,,10,,,");

    let groups = Difference::new(&lines, 0, 1, Level::Group);
    let gemm = groups
        .rows
        .iter()
        .find(|row| groups.name(&lines, row) == "GEMM")
        .unwrap();
    assert_eq!((gemm.from_ns, gemm.to_ns, gemm.launches), (16.0, 13.0, (2, 2)));
    assert_eq!(gemm.relative(), Some(-0.1875));
}

#[test]
fn other_traces_are_paired_by_name_grid_and_block() {
    let (one, two) = (TraceId::from("t"), TraceId::from("u"));
    let a = run(
        &kernels(),
        &[0, 0, 1],
        &[("H100", &[Some(3.0), Some(3.0), Some(1.0)])],
    );
    let b = run(&kernels()[..1], &[0], &[("A100", &[Some(9.0)])]);
    let sides = [sides(&one, &a)[0], sides(&two, &b)[0]];
    let lines = Lines::new(&sides);
    assert_eq!(lines.pairing, Pairing::Identity);
    let got = Difference::new(&lines, 0, 1, Level::Kernel);
    assert_eq!(got.rows.len(), 1);
    assert_eq!(got.rows[0].launches, (2, 1));
    assert_eq!((got.rows[0].from_ns, got.rows[0].to_ns), (6.0, 9.0));
    assert_eq!(got.alone.len(), 1);
    assert_eq!(lines.kernels[got.alone[0].kernel].name, "norm");
    assert!(!Level::Launch.fits(lines.pairing));
}

#[test]
fn the_same_trace_with_other_kernels_at_a_position_is_not_paired_by_position() {
    let trace = TraceId::from("t");
    let a = run(&kernels(), &[0, 1], &[("H100", &[Some(3.0), Some(1.0)])]);
    let b = run(&kernels(), &[1, 0], &[("H100", &[Some(1.0), Some(4.0)])]);
    let both = [sides(&trace, &a)[0], sides(&trace, &b)[0]];
    assert_eq!(Lines::new(&both).pairing, Pairing::Identity);
}

#[test]
fn rows_are_sorted_by_size_and_found_by_group() {
    let trace = TraceId::from("t");
    let run = run(
        &kernels(),
        &[0, 1, 2],
        &[
            ("H100", &[Some(10.0), Some(4.0), Some(0.0)]),
            ("H200", &[Some(5.0), Some(12.0), Some(1.0)]),
        ],
    );
    let lines = Lines::new(&sides(&trace, &run));
    let got = Difference::new(&lines, 0, 1, Level::Launch);
    assert_eq!(got.arranged(&lines, "", Order::Delta, true), [1, 0, 2]);
    assert_eq!(got.arranged(&lines, "", Order::Delta, false), [2, 0, 1]);
    assert_eq!(
        got.arranged(&lines, "", Order::Relative, false),
        [0, 1, 2],
        "a row that cannot be related is last"
    );
    assert_eq!(got.arranged(&lines, "LAYER", Order::Place, false), [1]);
    assert_eq!(got.arranged(&lines, "16 ×", Order::Place, false), [2]);
}

proptest! {
    #[test]
    fn every_level_adds_up_to_the_whole_difference(
        which in prop::collection::vec(0_u32..3, 1..40),
        seed in prop::collection::vec((prop::option::of(0.0..1e6_f64), prop::option::of(0.0..1e6_f64)), 40),
        other in any::<bool>(),
    ) {
        let (a, b): (Vec<_>, Vec<_>) = seed.into_iter().take(which.len()).unzip();
        let (one, two) = (TraceId::from("t"), TraceId::from(if other { "u" } else { "t" }));
        let first = run(&kernels(), &which, &[("A", &a)]);
        let second = run(&kernels(), &which, &[("B", &b)]);
        let lines = Lines::new(&[sides(&one, &first)[0], sides(&two, &second)[0]]);
        for level in Level::ALL.into_iter().filter(|level| level.fits(lines.pairing)) {
            let got = Difference::new(&lines, 0, 1, level);
            let rows: f64 = got.rows.iter().map(super::Row::delta_ns).sum();
            let alone: f64 = got.alone.iter().map(|alone| if alone.from { -alone.ns } else { alone.ns }).sum();
            let whole = got.to_ns - got.from_ns;
            prop_assert!((rows + alone - whole).abs() <= 1e-9 * (got.from_ns + got.to_ns).max(1.0));
            prop_assert!((got.from_ns - lines.total(0).ns.unwrap()).abs() <= 1e-6);
            let mut places = got.arranged(&lines, "", Order::Delta, true);
            places.sort_unstable();
            prop_assert_eq!(places, (0..got.rows.len()).collect::<Vec<_>>());
        }
    }
}

#[test]
fn four_columns_of_a_hundred_thousand_kernels_are_compared_in_time() {
    let kernels: Vec<_> = (0..300)
        .map(|n| kernel(&format!("kernel_{n}"), &format!("group {}", n % 9), n))
        .collect();
    let which: Vec<u32> = (0..100_000).map(|i| i % 300).collect();
    let times: Vec<Option<f64>> = (0..100_000).map(|i| Some(f64::from(i % 977) + 1.0)).collect();
    let names = ["A", "B", "C", "D"].map(|gpu| (gpu, times.as_slice()));
    let trace = TraceId::from("t");
    let run = run(&kernels, &which, &names);
    let start = Instant::now();
    let lines = Lines::new(&sides(&trace, &run));
    let mut rows = 0;
    for level in Level::ALL {
        let got = Difference::new(&lines, 0, 3, level);
        rows += got.arranged(&lines, "kernel", Order::Delta, true).len();
    }
    let took = start.elapsed();
    assert_eq!(rows, 300 + 100_000);
    // The crate is optimised in every profile; 200 ms is what a page may take, the rest is for busy machines.
    println!("lines and three levels of 4 x 100,000 kernels: {took:?}");
    assert!(took.as_millis() < 1_000, "{took:?}");
}
