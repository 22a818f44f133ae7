//! Which runs are a sweep, and what it comes to.

use cascade_api::{ComparisonRow, Engine, GpuChange, GpuDerived};

use super::*;

fn gpu(name: &str, changes: &[(&str, f64, f64)]) -> GpuConfig {
    let mut gpu = GpuConfig::missing(name.into());
    gpu.derived = (!changes.is_empty()).then(|| GpuDerived {
        base: "BASE".into(),
        changes: changes
            .iter()
            .map(|&(key, from, to)| (key.to_owned(), GpuChange { from, to }))
            .collect(),
    });
    gpu
}

fn table(kernels: &[&[(&str, Option<f64>)]]) -> Comparison {
    let row = |cells: &&[(&str, Option<f64>)]| ComparisonRow {
        kernel_index: 0,
        kernel_name: "k".to_owned(),
        real_ns: None,
        sim_ns: cells.iter().map(|(name, ns)| ((*name).into(), *ns)).collect(),
    };
    Comparison {
        configs: kernels[0].iter().map(|(name, _)| (*name).into()).collect(),
        rows: kernels.iter().map(row).collect(),
        ..Comparison::default()
    }
}

#[test]
fn a_sweep_is_ordered_by_its_value_and_the_base_takes_its_place() {
    let gpus = [
        gpu("BASE", &[]),
        gpu("BIG", &[("chip.sms", 132.0, 264.0)]),
        gpu("SMALL", &[("chip.sms", 132.0, 66.0)]),
        gpu("OTHER", &[]),
    ];
    let table = table(&[
        &[
            ("BIG", Some(60.0)),
            ("SMALL", Some(200.0)),
            ("BASE", Some(100.0)),
            ("OTHER", None),
        ],
        &[
            ("BIG", Some(5.0)),
            ("SMALL", None),
            ("BASE", Some(5.0)),
            ("OTHER", None),
        ],
    ]);
    let found = Sensitivity::of(&gpus, &table).expect("a sweep");
    assert_eq!(
        (found.key.as_str(), found.against.as_str(), found.kernels),
        ("chip.sms", "BASE", 1)
    );
    let points: Vec<_> = found
        .points
        .iter()
        .map(|p| (p.gpu.as_str(), p.value, p.ns))
        .collect();
    assert_eq!(
        points,
        [
            ("SMALL", 66.0, 200.0),
            ("BASE", 132.0, 100.0),
            ("BIG", 264.0, 60.0)
        ]
    );
    assert_eq!(found.against_ns, 100.0);
    let told = found.told().expect("several points");
    assert_eq!(
        told.replace('\u{a0}', " "),
        "From 66 to 264, 4.00 times as much, the time changes by −70.0 %; in proportion it would change by −75.0 %."
    );
    assert_eq!(found.chart().groups[0].label, "66");
}

#[test]
fn a_change_that_all_share_is_not_what_is_swept() {
    let shared = ("chip.core_clock", 1980.0, 1500.0);
    let gpus = [
        gpu("A", &[shared, ("chip.sms", 132.0, 66.0)]),
        gpu("B", &[shared, ("chip.sms", 132.0, 264.0)]),
    ];
    let both = table(&[&[("A", Some(2.0)), ("B", Some(1.0))]]);
    assert_eq!(Sensitivity::of(&gpus, &both).expect("a sweep").key, "chip.sms");
    // With the clock changed in both, the one of 132 SMs would not be the base either.
    let gpus = [
        gpu("A", &[shared, ("chip.sms", 132.0, 132.0)]),
        gpu("B", &[shared, ("chip.sms", 132.0, 264.0)]),
    ];
    let found = Sensitivity::of(&gpus, &both).expect("a sweep");
    assert_eq!((found.against.as_str(), found.against_ns), ("A", 2.0));
    // Two engines are no sweep of one value.
    let mut mixed = both.clone();
    mixed.engines = [
        ("A".into(), vec![Engine::AccelSim]),
        ("B".into(), vec![Engine::Cascade]),
    ]
    .into_iter()
    .collect();
    assert_eq!(Sensitivity::of(&gpus, &mixed), None);
    // Two values differ: no chart of one of them would be true.
    let gpus = [gpu("A", &[shared]), gpu("B", &[("chip.sms", 132.0, 264.0)])];
    assert_eq!(Sensitivity::of(&gpus, &both), None);
}

#[test]
fn other_runs_and_unfinished_ones_have_no_chart() {
    let known = [gpu("A", &[]), gpu("B", &[])];
    assert_eq!(
        Sensitivity::of(&known, &table(&[&[("A", Some(1.0)), ("B", Some(1.0))]])),
        None
    );
    let swept = [
        gpu("A", &[("chip.sms", 2.0, 1.0)]),
        gpu("B", &[("chip.sms", 2.0, 3.0)]),
    ];
    assert_eq!(
        Sensitivity::of(&swept, &table(&[&[("A", Some(1.0)), ("B", None)]])),
        None
    );
    assert_eq!(Sensitivity::of(&swept[..1], &table(&[&[("A", Some(1.0))]])), None);
}
