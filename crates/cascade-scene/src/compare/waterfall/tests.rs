//! Waterfalls of random columns and of the sample's steps.

use cascade_api::TraceId;
use proptest::prelude::*;

use super::{Kind, MOST_BARS, Waterfall};
use crate::compare::difference::{Difference, Level};
use crate::compare::lines::Lines;
use crate::compare::testing::{kernel, run, sides};
use crate::request::tests::{h100, h200};

/// The bars between the totals, and that each starts where the one before it ends.
fn checked(fall: &Waterfall) -> f64 {
    let first = fall.bars.first().unwrap();
    let last = fall.bars.last().unwrap();
    assert_eq!((first.kind, last.kind), (Kind::Total, Kind::Total));
    let between = &fall.bars[1..fall.bars.len() - 1];
    let mut level = first.end_ns;
    for bar in between {
        assert_eq!(bar.start_ns, level, "{bar:?}");
        level = bar.end_ns;
    }
    let sum: f64 = between.iter().map(super::Bar::delta_ns).sum();
    let whole = last.end_ns - first.end_ns;
    let scale = first.end_ns.max(last.end_ns).max(1.0);
    assert!((sum - whole).abs() <= 1e-9 * scale, "{sum} is not {whole}");
    assert!((level - last.end_ns).abs() <= 1e-9 * scale);
    sum
}

proptest! {
    #[test]
    fn the_bars_add_up_to_the_difference(
        times in prop::collection::vec((prop::option::of(0.0..1e7_f64), prop::option::of(0.0..1e7_f64)), 1..60),
        kinds in 1_u32..40,
    ) {
        let kernels: Vec<_> = (0..kinds).map(|n| kernel(&format!("k{n}"), &format!("g{}", n % 15), n)).collect();
        let which: Vec<u32> = (0..times.len() as u32).map(|i| i % kinds).collect();
        let (a, b): (Vec<_>, Vec<_>) = times.into_iter().unzip();
        let trace = TraceId::from("t");
        let run = run(&kernels, &which, &[("A", &a), ("B", &b)]);
        let lines = Lines::new(&sides(&trace, &run));
        for level in [Level::Group, Level::Kernel] {
            let fall = Waterfall::of_kernels(&Difference::new(&lines, 0, 1, level), &lines, ["A", "B"]);
            checked(&fall);
            prop_assert!(fall.bars.len() <= MOST_BARS + 6);
            let parts: Vec<f64> = fall.bars.iter().filter(|bar| bar.kind == Kind::Part)
                .map(|bar| bar.delta_ns().abs()).collect();
            prop_assert!(parts.windows(2).all(|pair| pair[0] >= pair[1] - 1e-6), "largest first: {parts:?}");
            for bar in &fall.bars {
                let (left, width) = fall.place(bar);
                prop_assert!(left >= 0.0 && left + width <= 100.000_001, "{left} {width}");
            }
        }
    }
}

#[test]
fn a_small_movement_between_long_totals_is_drawn_on_a_cut_axis() {
    let trace = TraceId::from("t");
    let kernels = [kernel("a", "A", 1), kernel("b", "B", 1)];
    let times: [(&str, &[Option<f64>]); 2] = [
        ("H100", &[Some(1000.0), Some(1000.0)]),
        ("H200", &[Some(990.0), Some(1004.0)]),
    ];
    let run = run(&kernels, &[0, 1], &times);
    let lines = Lines::new(&sides(&trace, &run));
    let fall = Waterfall::of_kernels(&Difference::new(&lines, 0, 1, Level::Group), &lines, ["A", "B"]);
    assert_eq!(checked(&fall), -6.0);
    assert!(fall.low_ns > 1900.0, "{}", fall.low_ns);
    assert_eq!(fall.bars[1].label, "A", "the larger movement comes first");
    assert!(fall.place(&fall.bars[1]).1 > 50.0);
}

#[test]
fn a_step_splits_into_groups_host_and_what_is_not_split() {
    let mut to = h200();
    let decode = to.kinds.iter_mut().find(|kind| kind.kind == "decode").unwrap();
    decode.gpu_busy_ns.simulated = Some(800_000.0);
    decode.wall_ns.simulated = Some(7_318_881.0 + 800_000.0);
    to.groups[0].step_ns.insert("decode".into(), 20_000.0);
    let fall = Waterfall::of_step(&h100(), &to, "decode", ["A", "B"]).unwrap();
    assert!((checked(&fall) - (800_000.0 - 816_980.0)).abs() < 1e-3);
    assert_eq!(fall.bars[1].label, "lm_head GEMM");
    assert!(fall.bars.iter().any(|bar| bar.label == "Not split further"));
    assert_eq!(Waterfall::of_step(&h100(), &to, "warm-up", ["A", "B"]), None);
}
