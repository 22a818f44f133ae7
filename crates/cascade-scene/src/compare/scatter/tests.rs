//! Points and agreement of hand-made columns and of the sample.

use cascade_api::{StepDigest, TraceId, TraceSummary};
use proptest::prelude::*;

use super::{Scatter, Source};
use crate::compare::testing::{kernel, run, sides, trace};
use crate::request::tests::{h100, h200};

fn source<'a>(run: &'a cascade_api::KernelColumns, id: &'a TraceId, trace: &'a TraceSummary) -> Source<'a> {
    Source {
        side: sides(id, run)[0],
        trace,
        digest: None,
    }
}

#[test]
fn launches_are_held_against_real_time_and_a_point_is_their_mean() {
    let kernels = [kernel("a", "A", 1), kernel("b", "B", 1)];
    let mut own = run(
        &kernels,
        &[0, 0, 1, 1],
        &[("H100", &[Some(11.0), Some(15.0), Some(10.0), None])],
    );
    own.real_ns = vec![Some(10.0), Some(10.0), Some(8.0), Some(5.0)];
    let (id, measured) = (TraceId::from("t"), trace("t", Some("H100")));
    let got = Scatter::new(&[source(&own, &id, &measured)]);
    assert_eq!(got.points.len(), 2);
    assert_eq!(
        (
            got.points[0].real_ns,
            got.points[0].simulated_ns,
            got.points[0].launches
        ),
        (10.0, 13.0, 2)
    );
    let agreement = got.columns[0].as_ref().unwrap();
    assert!((agreement.mean_abs_error - (0.1 + 0.5 + 0.25) / 3.0).abs() < 1e-12);
    assert_eq!(agreement.count, 3);
    assert!((agreement.within_inner - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(got.decades(), (0, 2));
}

#[test]
fn times_of_another_gpu_are_no_yardstick() {
    let kernels = [kernel("a", "A", 1)];
    let mut own = run(&kernels, &[0], &[("H200", &[Some(11.0)])]);
    own.real_ns = vec![Some(10.0)];
    let (id, measured) = (TraceId::from("t"), trace("t", Some("H100")));
    let got = Scatter::new(&[source(&own, &id, &measured)]);
    assert!(got.points.is_empty());
    assert!(got.columns[0].as_ref().unwrap_err().contains("another GPU"));
    assert_eq!(got.decades(), (0, 1));
}

#[test]
fn a_step_timeline_stands_in_with_its_groups() {
    let own = run(&[], &[], &[("SM90_H100", &[])]);
    let (id, plain) = (TraceId::from("t"), trace("t", None));
    let with = |digest: &StepDigest| {
        Scatter::new(&[Source {
            digest: Some(digest),
            ..source(&own, &id, &plain)
        }])
    };
    let got = with(&h100());
    assert_eq!(got.points.len(), 2);
    let agreement = got.columns[0].as_ref().unwrap();
    assert!(
        agreement.basis.contains("groups") && agreement.count == 2,
        "{agreement:?}"
    );
    assert!(with(&h200()).columns[0].is_err(), "a counterfactual has no error");
    assert!(Scatter::new(&[source(&own, &id, &plain)]).columns[0].is_err());
}

proptest! {
    #[test]
    fn every_point_lies_on_the_axes(times in prop::collection::vec((1e-3..1e12_f64, 1e-3..1e12_f64), 1..30)) {
        let kernels: Vec<_> = (0..times.len()).map(|n| kernel(&format!("k{n}"), "g", 1)).collect();
        let which: Vec<u32> = (0..times.len() as u32).collect();
        let (real, simulated): (Vec<_>, Vec<_>) = times.into_iter().map(|(a, b)| (Some(a), Some(b))).unzip();
        let mut own = run(&kernels, &which, &[("H100", &simulated)]);
        own.real_ns = real;
        let (id, measured) = (TraceId::from("t"), trace("t", Some("H100")));
        let got = Scatter::new(&[source(&own, &id, &measured)]);
        let (low, high) = got.decades();
        for point in &got.points {
            for ns in [point.real_ns, point.simulated_ns] {
                let place = libm::log10(ns);
                prop_assert!(f64::from(low) <= place + 1e-9 && place <= f64::from(high) + 1e-9);
            }
        }
    }
}
