//! Digests with the published means of the OPT-125m sample on an H100 and, counterfactually, an H200.

use std::collections::BTreeMap;

use cascade_api::{
    DilutionDigest, Engine, GroupDigest, KindDigest, RealSim, RequestDigest, SimId, SimStepDigest, StepDigest,
};

use super::{columns, dilution, figure, problems, provenance};

/// Measured and simulated, with the error between them.
pub(crate) fn pair(real: f64, simulated: f64) -> RealSim {
    RealSim {
        real: Some(real),
        simulated: Some(simulated),
        error: Some(simulated - real),
        error_pct: Some((simulated - real) / real * 100.0),
    }
}

/// One group: name, launches in a step, mean real and simulated ns.
fn group(name: &str, per_step: f64, real: f64, simulated: f64) -> GroupDigest {
    GroupDigest {
        group: name.into(),
        launches: (per_step * 96.0) as u64,
        mean_ns: pair(real, simulated),
        per_step: BTreeMap::from([("decode".into(), per_step)]),
        step_ns: BTreeMap::from([("decode".into(), per_step * simulated)]),
        real_step_ns: BTreeMap::from([("decode".into(), per_step * real)]),
        provenance: BTreeMap::from([("exact".into(), 4), ("dedup".into(), 12)]),
    }
}

/// The H100, with two groups that leave some busy time over.
pub(crate) fn h100() -> StepDigest {
    StepDigest {
        real_gpu: Some("NVIDIA H100 80GB HBM3".into()),
        mean: RequestDigest {
            ttft_ms: pair(8.63, 9.0),
            itl_ms: pair(7.93, 8.17),
            e2e_ms: pair(254.45, 262.14),
            ..RequestDigest::default()
        },
        kinds: vec![
            KindDigest {
                kind: "prefill".into(),
                steps: 3,
                wall_ns: pair(8_498_641.0, 8_706_041.0),
                ..KindDigest::default()
            },
            KindDigest {
                kind: "decode".into(),
                steps: 93,
                wall_ns: pair(7_894_492.0, 8_135_861.0),
                gpu_busy_ns: pair(575_611.0, 816_980.0),
                host_ns: Some(7_318_881.0),
                gap_before_ns: Some(36_950.0),
                unmodeled_gpu_ns: Some(10_760.0),
                mean_abs_error_pct: Some(3.04),
            },
        ],
        groups: vec![
            group("lm_head GEMM", 1.0, 30_623.5, 26_263.6),
            group("Small elementwise", 63.0, 1_385.1, 3_231.2),
        ],
        provenance: BTreeMap::from([
            ("identical".into(), 16_376),
            ("dedup".into(), 681),
            ("exact".into(), 31),
        ]),
        dilution: Some(DilutionDigest {
            gpu_share: 0.0729,
            gpu_error_pct: 41.68,
            step_error_pct: 3.04,
        }),
        ..StepDigest::default()
    }
}

/// The H200: what was measured on the H100 stays in the digest, without errors.
pub(crate) fn h200() -> StepDigest {
    let mut digest = StepDigest {
        counterfactual: true,
        dilution: None,
        ..h100()
    };
    digest.mean.e2e_ms.simulated = Some(262.16);
    let mean = [
        &mut digest.mean.e2e_ms,
        &mut digest.mean.ttft_ms,
        &mut digest.mean.itl_ms,
    ];
    let kinds = digest
        .kinds
        .iter_mut()
        .flat_map(|kind| [&mut kind.wall_ns, &mut kind.gpu_busy_ns]);
    let groups = digest.groups.iter_mut().map(|group| &mut group.mean_ns);
    for value in mean.into_iter().chain(kinds).chain(groups) {
        (value.error, value.error_pct) = (None, None);
    }
    digest
}

/// What one sim says.
pub(crate) fn sim(id: u64, gpu: &str, replica: u32, digest: StepDigest) -> SimStepDigest {
    SimStepDigest {
        sim_id: SimId::from_bits(id),
        gpu_config: gpu.into(),
        replica,
        engine: Engine::Replay,
        digest: Some(digest),
        problem: None,
    }
}

#[test]
fn replicas_that_agree_share_a_column_and_others_are_numbered() {
    let mut other = h100();
    other.mean.e2e_ms.simulated = Some(300.0);
    let broken = SimStepDigest {
        digest: None,
        problem: Some("requests: missing".into()),
        ..sim(9, "SM90_H200", 1, h200())
    };
    let sims = [
        sim(1, "SM90_H100", 0, h100()),
        sim(2, "SM90_H100", 1, h100()),
        sim(3, "SM90_H100", 2, other),
        sim(4, "SM90_H200", 0, h200()),
        broken,
    ];
    let found: Vec<_> = columns(&sims)
        .into_iter()
        .map(|column| (column.label, column.replicas))
        .collect();
    let expected = [
        ("SM90_H100 (replay) #0", 2),
        ("SM90_H100 (replay) #2", 1),
        ("SM90_H200 (replay)", 1),
    ];
    assert_eq!(found, expected.map(|(label, n)| (label.to_owned(), n)));
    assert_eq!(
        problems(&sims),
        [("SM90_H200 #1".into(), "requests: missing".into())]
    );
}

#[test]
fn a_prediction_stands_against_the_measured_value() {
    let figures = figure::headline(&h100());
    let request = &figures[0];
    assert_eq!(
        (
            request.simulated.as_str(),
            request.real.as_deref(),
            request.verdict.as_str()
        ),
        (
            "262.14\u{a0}ms",
            Some("254.45\u{a0}ms"),
            "+7.69\u{a0}ms (+3.02\u{a0}%)"
        )
    );
    let names: Vec<_> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names[3..], ["Prefill step", "Decode step"]);
}

#[test]
fn a_counterfactual_has_no_error_anywhere() {
    for figure in figure::headline(&h200()) {
        assert_eq!(
            (figure.real, figure.verdict.as_str()),
            (None, super::COUNTERFACTUAL)
        );
        assert!(figure.simulated.ends_with("ms"), "{}", figure.simulated);
    }
    assert_eq!(dilution(&h200()), None);
}

#[test]
fn a_sample_is_known_by_its_note() {
    let noted = |note: Option<&str>| StepDigest {
        note: note.map(str::to_owned),
        ..h100()
    };
    let is_sample = |digest| columns(&[sim(1, "SM90_H100", 0, digest)])[0].is_sample();
    assert!(is_sample(noted(Some(
        "Reconstructed from published statistics: means are the published ones"
    ))));
    assert!(!is_sample(noted(Some("times of synthetic passes are assigned"))));
    assert!(!is_sample(noted(None)));
}

#[test]
fn host_time_that_hides_the_gpu_error_is_called_out_with_its_numbers() {
    let text = dilution(&h100()).unwrap().replace('\u{a0}', " ");
    for part in ["7.3 %", "+41.7 %", "+3.0 %"] {
        assert!(text.contains(part), "{text}");
    }
    let mut busy = h100();
    busy.dilution = Some(DilutionDigest {
        gpu_share: 0.95,
        gpu_error_pct: 10.0,
        step_error_pct: 9.5,
    });
    assert_eq!(
        dilution(&busy),
        None,
        "a GPU that is busy all the time hides nothing"
    );
}

#[test]
fn provenance_lists_what_was_simulated_first_and_adds_up() {
    let rows = provenance(&h100());
    let names: Vec<_> = rows.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["exact", "dedup", "identical"]);
    assert_eq!(rows.iter().map(|(_, _, n, _)| n).sum::<u64>(), 17_088);
    let shares: f64 = rows.iter().map(|(.., share)| share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
}
