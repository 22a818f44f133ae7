//! Tests of corrections against the published tables of the OPT-125m sample.

use std::sync::Arc;

use super::*;
use crate::Provenance;
use crate::testing::{shape, step};
use crate::timeline::{Kernel, Shape};

/// Name, grid-Y, launches a step, measured mean in µs, simulated mean in cycles at 1980 MHz: the sample's table
/// over its traced launches.
pub(crate) const GROUPS: [(&str, u32, usize, f64, f64); 11] = [
    ("nvjet_qkv", 9, 12, 4.689312, 9786.0),
    ("FlashAttnFwdSm90", 1, 12, 6.326604, 13589.75),
    ("reshape_and_cache_flash_kernel", 1, 12, 2.052, 8073.75),
    ("nvjet_out", 3, 12, 4.079292, 8832.0),
    ("nvjet_up", 12, 12, 4.875271, 10821.0),
    ("nvjet_down", 6, 12, 5.007292, 10273.0),
    ("splitKreduce_kernel", 1, 12, 1.94, 7269.0),
    ("nvjet_head", 66, 1, 30.6235, 52002.0),
    ("vectorized_elementwise_kernel", 1, 63, 1.385139, 6397.849),
    ("layer_norm_kernel", 1, 25, 3.4041, 10103.75),
    ("indexSelectSmallIndex", 1, 5, 4.75355, 13534.6),
];

/// The steady repeats of the H100 sample from its published sums; each step's kernels have the groups' means.
pub(crate) fn h100() -> (Timeline, Timeline) {
    let e2e = [(253.435, 261.134), (254.613, 262.302), (255.308, 262.988)];
    let (mut real, mut simulated) = (Timeline::default(), Timeline::default());
    real.meta.insert("model".to_owned(), "facebook/opt-125m".into());
    real.meta
        .insert("gpu_name".to_owned(), "NVIDIA H100 80GB HBM3".into());
    let shapes = GROUPS.map(|(name, grid_y, ..)| {
        Arc::new(Shape {
            grid: Some(format!("1x{grid_y}x1")),
            ..(*shape(name)).clone()
        })
    });
    for (repeat, (real_ms, simulated_ms)) in (1..).zip(e2e) {
        for number in 0..32 {
            let mut before = step(repeat, number, 0, 0, &Vec::new());
            let (wall, busy, grown) = match number {
                0 => (8_498_641.0, 615_279.0, 822_679.0),
                _ => (7_894_492.0, 575_611.0, 816_980.0),
            };
            before.baseline_wall_ns = Some(wall);
            before.gpu_busy_ns = Some(busy);
            before.host_ns = Some(wall - busy);
            let launches = shapes
                .iter()
                .zip(GROUPS)
                .flat_map(|(s, g)| std::iter::repeat_n((s, g), g.2));
            let launches = launches.enumerate();
            before.kernels = launches
                .map(|(seq, (shape, g))| Kernel::new(seq as i64, Arc::clone(shape), g.3 * 1e3, None))
                .collect();
            let mut after = before.clone();
            after.baseline_wall_ns = Some(wall - busy + grown);
            after.gpu_busy_ns = Some(grown);
            let traced = repeat == 1 && [0, 2, 10, 26].contains(&number);
            let cycles = GROUPS.iter().flat_map(|g| std::iter::repeat_n(g.4, g.2));
            for (kernel, cycles) in after.kernels.iter_mut().zip(cycles) {
                kernel.duration_ns = cycles / 1980.0 * 1e3;
                kernel.provenance = Some(if traced {
                    Provenance::Dedup(6217)
                } else {
                    Provenance::Identical
                });
            }
            real.steps.push(before);
            simulated.steps.push(after);
        }
        let request = |ms| Request {
            repeat,
            e2e_ms: Some(ms),
            num_output_tokens: Some(32),
            ..Request::default()
        };
        real.requests.push(request(real_ms));
        simulated.requests.push(request(simulated_ms));
    }
    (real, simulated)
}

/// The constant fitted to the A100's request times, in ns.
fn a100_fit() -> f64 {
    let e2e = [
        (222.428868, 229.943469),
        (221.967065, 229.440732),
        (221.853422, 229.355994),
    ];
    let (mut real, mut simulated) = (Timeline::default(), Timeline::default());
    let one = shape("k");
    for (repeat, (real_ms, simulated_ms)) in (1..).zip(e2e) {
        let mut before = step(repeat, 0, 0, 0, &Vec::new());
        before.kernels = (0..14_724 / 3)
            .map(|seq| Kernel::new(seq, Arc::clone(&one), 1.0, None))
            .collect();
        let mut after = before.clone();
        after
            .kernels
            .iter_mut()
            .for_each(|k| k.provenance = Some(Provenance::Identical));
        for (timeline, step, ms) in [
            (&mut real, before, real_ms),
            (&mut simulated, after, simulated_ms),
        ] {
            timeline.steps.push(step);
            timeline.requests.push(Request {
                repeat,
                e2e_ms: Some(ms),
                ..Request::default()
            });
        }
    }
    fit_constant_ns(&real, &simulated).unwrap().unwrap()
}

#[test]
fn the_published_rows_come_out() {
    let fit = a100_fit();
    assert!((fit - 1527.5).abs() < 0.1, "{fit}");
    let corrections = [
        Correction::none(),
        Correction::constant("A100 fit, same time", Sample::OutOfSample, fit),
        Correction::launch_constant(3000, 1980.0),
        Correction::launch_constant(5000, 1980.0),
    ];
    let (real, simulated) = h100();
    let rows = calibrate(&real, &simulated, &corrections, true).unwrap();
    // Group error, weighted error, decode GPU busy in µs, its error, request error; per cent.
    let published = [
        (42.4, 42.1, 817.0, 41.9, 3.02),
        (19.9, 19.1, 545.1, -5.3, -0.40),
        (20.0, 19.2, 547.3, -4.9, -0.37),
        (38.0, 37.7, 367.5, -36.2, -2.63),
    ];
    for (row, (group, weighted, busy, busy_error, e2e_error)) in rows.iter().zip(published) {
        let near = |value: Option<f64>, wanted: f64, rounding: f64| {
            assert!(
                (value.unwrap() - wanted).abs() <= rounding,
                "{}: {value:?} {wanted}",
                row.label
            );
        };
        near(row.group_error_pct, group, 0.05);
        near(row.weighted_error_pct, weighted, 0.05);
        near(row.gpu_busy_ns.simulated.map(|ns| ns / 1e3), busy, 0.05);
        near(row.gpu_busy_ns.error_pct, busy_error, 0.05);
        near(row.e2e_ms.error_pct, e2e_error, 0.005);
    }
    let labels: Vec<(&str, &str)> = rows
        .iter()
        .map(|r| (r.label.as_str(), r.sample.as_str()))
        .collect();
    assert_eq!(labels[0], ("none", "none"));
    assert_eq!(
        labels[2],
        ("launch constant of 3,000 cycles removed", "out-of-sample")
    );
    // Every GEMM and attention gets worse, as does the projection that was already too fast.
    assert!(rows[0].worse.is_empty());
    let worse = [
        "QKV GEMM",
        "Attention",
        "Out-proj GEMM",
        "MLP up GEMM",
        "MLP down GEMM",
        "lm_head GEMM",
    ];
    assert_eq!(rows[2].worse, worse);
}

#[test]
fn no_time_falls_below_0_and_another_gpu_shows_no_error() {
    let (real, simulated) = h100();
    let all = [Correction::constant("all", Sample::OutOfSample, 1e9)];
    let rows = calibrate(&real, &simulated, &all, false).unwrap();
    let kernels: f64 = GROUPS.iter().map(|g| g.2 as f64 * g.4 / 1980.0 * 1e3).sum();
    let busy = rows[0].gpu_busy_ns;
    assert!((busy.simulated.unwrap() - (816_980.0 - kernels)).abs() < 1e-3);
    assert_eq!(
        (busy.error, rows[0].e2e_ms.error_pct, rows[0].group_error_pct),
        (None, None, None)
    );
    assert!(rows[0].worse.is_empty());
}

#[test]
fn a_measured_t0_takes_the_constants_place() {
    let correction = Correction::measured_t0(5000, 1410.0, 900.0);
    assert!((correction.subtract_ns - (5000.0 / 1.41 - 900.0)).abs() < 1e-9);
    assert_eq!(
        correction.label,
        "launch constant of 5,000 cycles removed, measured T0 of 900 ns added"
    );
    assert_eq!(thousands(1_002_003), "1,002,003");
}
