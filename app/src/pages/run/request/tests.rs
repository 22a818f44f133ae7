//! What the server renders of predicted requests.

use cascade_api::{CorrectionDigest, Engine, KindDigest, RealSim, RequestDigest, StepDigest};
use cascade_scene::request::{COUNTERFACTUAL, Column};
use leptos::prelude::*;

use super::corrections::Corrections;
use super::notes;
use super::tiles::Tiles;

/// The HTML of a view.
fn html<V: IntoView>(view: impl FnOnce() -> V) -> String {
    Owner::new().with(|| view().to_html()).replace('\u{a0}', " ")
}

/// Measured and simulated ms; a counterfactual keeps both without the error.
fn pair(real: f64, simulated: f64, counterfactual: bool) -> RealSim {
    RealSim {
        real: Some(real),
        simulated: Some(simulated),
        error: (!counterfactual).then_some(simulated - real),
        error_pct: (!counterfactual).then_some((simulated - real) / real * 100.0),
    }
}

fn column(counterfactual: bool) -> Column {
    let correction = |sample: &str, worse: &[&str]| CorrectionDigest {
        label: format!("{sample} one"),
        sample: sample.into(),
        worse: worse.iter().map(|group| (*group).to_owned()).collect(),
        ..CorrectionDigest::default()
    };
    Column {
        label: "SM90_H100".into(),
        gpu: "SM90_H100".into(),
        engine: Engine::Replay,
        replicas: 1,
        digest: StepDigest {
            counterfactual,
            note: Some("reconstructed from published statistics".into()),
            mean: RequestDigest {
                e2e_ms: pair(254.45, 262.14, counterfactual),
                ..RequestDigest::default()
            },
            kinds: vec![KindDigest {
                kind: "decode".into(),
                wall_ns: pair(7.894e6, 8.135e6, counterfactual),
                ..KindDigest::default()
            }],
            corrections: vec![
                correction("none", &[]),
                correction("in-sample", &["lm_head GEMM"]),
            ],
            ..StepDigest::default()
        },
    }
}

#[test]
fn a_tile_holds_the_prediction_against_the_real_gpu() {
    let tile = html(|| view! { <Tiles columns=Memo::new(|_| vec![column(false)]) /> });
    for part in [
        "262.14 ms",
        "real 254.45 ms",
        "+7.69 ms (+3.02 %)",
        "Decode step",
        "recorded",
    ] {
        assert!(tile.contains(part), "{part}: {tile}");
    }
}

#[test]
fn a_counterfactual_tile_shows_no_error_and_says_why() {
    let tile = html(|| view! { <Tiles columns=Memo::new(|_| vec![column(true)]) /> });
    assert!(
        tile.contains(COUNTERFACTUAL) && tile.contains("262.14 ms"),
        "{tile}"
    );
    assert!(!tile.contains(" %") && !tile.contains("254.45"), "{tile}");
}

#[test]
fn where_numbers_come_from_is_said_once() {
    let said = html(|| notes(&[column(false), column(false)]));
    assert_eq!(said.matches("reconstructed").count(), 1, "{said}");
}

#[test]
fn corrections_stand_beside_the_raw_result_with_their_basis() {
    let table = html(|| view! { <Corrections digest=column(false).digest /> });
    for part in [">raw<", ">in-sample<", "lm_head GEMM"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let none = html(|| view! { <Corrections digest=StepDigest::default() /> });
    assert!(!none.contains("<table"), "{none}");
}
