//! Links, sliders and scenarios.

use cascade_api::ScenarioCreate;
use cascade_api::validate::Validate;
use proptest::prelude::*;

use super::*;

/// A text that a field takes: a number in its range, one of its choices, or any text.
fn valid(field: &Field, seed: f64) -> String {
    match field.kind {
        Kind::Text => format!("some, text & {seed} = ü%"),
        Kind::Choice(choices) => choices[(seed * choices.len() as f64) as usize].0.to_owned(),
        Kind::Number { .. } => value_at(&field.kind, (seed * PLACES).floor()),
    }
}

proptest! {
    #[test]
    fn a_link_carries_the_whole_state(seeds in prop::collection::vec(0.0..1.0_f64, FIELDS.len()), file: Option<String>) {
        let mut state = State::default();
        state.file = file;
        for (field, seed) in FIELDS.iter().zip(seeds) {
            state.set(field.key, &valid(field, seed));
            prop_assert_eq!(state.problem(field.key), None, "{:?} {:?}", field.key, state.get(field.key));
        }
        let (read, problems) = State::read(&state.link());
        prop_assert_eq!(problems, vec![]);
        prop_assert_eq!(read, state);
    }

    #[test]
    fn any_link_is_read_or_told_wrong(text in "\\PC{0,200}") {
        let (state, problems) = State::read(&text);
        prop_assert!(state != State::default() || state.link() == "v=1");
        prop_assert!(problems.iter().all(|problem| !problem.text.is_empty()));
    }

    #[test]
    fn every_state_without_a_problem_is_a_scenario_of_the_api(seeds in prop::collection::vec(0.0..1.0_f64, FIELDS.len())) {
        let mut state = State::default();
        for (field, seed) in FIELDS.iter().zip(seeds).filter(|(field, _)| field.kind != Kind::Text) {
            state.set(field.key, &valid(field, seed));
        }
        let body = state.scenario(0).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
        // The file's text comes in the worker.
        if state.get(Key::Load) != "file" {
            let read = ScenarioCreate::validate(body);
            prop_assert!(read.is_ok(), "{:?}", read);
        }
    }
}

#[test]
fn a_link_is_as_short_as_what_was_changed() {
    let mut state = State::default();
    assert_eq!(state.link(), "v=1");
    state.set(Key::Rate, "20");
    state.set(Key::Gpus, "SM90_H100,SM90_H200");
    assert_eq!(state.link(), "v=1&gpus=SM90_H100,SM90_H200&rate=20");
    state.set(Key::Rate, Key::Rate.field().default);
    assert_eq!(state.link(), "v=1&gpus=SM90_H100,SM90_H200");
}

#[test]
fn a_bad_link_says_what_is_wrong_with_it() {
    let told = |link: &str| -> Vec<String> {
        let (state, problems) = State::read(link);
        assert!(state.problems().is_empty() || link.contains("rate"), "{link}");
        problems.into_iter().map(|problem| problem.text).collect()
    };
    assert!(told("?v=2&rate=3")[0].contains("version “2”"));
    assert!(told("v=1&colour=red")[0].contains("“colour”"));
    assert!(told("v=1&load=sideways")[0].contains("“sideways” is none of poisson"));
    assert!(told(&format!("v=1&config={}", "x".repeat(MAX_LINK_BYTES)))[0].contains("16384 bytes"));
    // A wrong number is shown in its field.
    let (state, problems) = State::read("v=1&rate=fast");
    assert_eq!((state.get(Key::Rate), problems.len()), ("fast", 0));
    assert_eq!(state.problem(Key::Rate).unwrap(), "“fast” is not a number.");
    assert_eq!(state.problems()[0].key, Some(Key::Rate));
}

#[test]
fn a_slider_and_its_field_agree() {
    for field in FIELDS {
        let Kind::Number { min, max, .. } = field.kind else {
            continue;
        };
        assert_eq!(place(&field.kind, min), 0.0, "{}", field.label);
        assert_eq!(place(&field.kind, max), PLACES, "{}", field.label);
        let mut last = f64::NEG_INFINITY;
        for at in 0..=1000 {
            let value: f64 = value_at(&field.kind, f64::from(at)).parse().unwrap();
            assert!(
                last <= value && min <= value && value <= max,
                "{} at {at}: {value}",
                field.label
            );
            last = value;
        }
    }
}

#[test]
fn prices_stay_with_their_gpus() {
    let mut state = State::default();
    state.set(Key::Gpus, "a,b,c");
    state.set_price(0, "1");
    state.set_price(2, "3,5");
    state.toggle_gpu("b");
    assert_eq!((state.get(Key::Gpus), state.get(Key::Prices)), ("a,c", "1,3.5"));
    state.toggle_gpu("a");
    state.toggle_gpu("d");
    assert_eq!((state.gpus().len(), state.price(0)), (2, Ok(Some(3.5))));
    assert_eq!(state.price(1), Ok(None));
    state.set_price(1, "cheap");
    assert_eq!(state.problems()[0].key, Some(Key::Prices));
}

#[test]
fn a_preset_is_known_again_whatever_else_is_set() {
    let mut state = State::default();
    assert!(PRESETS[0].is_in(&state));
    state.set(Key::Seqs, "16");
    for preset in PRESETS {
        preset.apply(&mut state);
        assert_eq!(state.get(Key::Seqs), "16");
        let found: Vec<_> = PRESETS.iter().filter(|preset| preset.is_in(&state)).collect();
        assert_eq!(found, [&preset]);
        state.scenario(0).unwrap();
    }
}

#[test]
fn charts_hold_every_point_and_their_tables_are_short() {
    let figures = Figures {
        quantiles: [(0..QUANTILES).map(|q| q as f64).collect(), vec![], vec![], vec![]],
        per_step: StepLines {
            steps_per_point: 3,
            prefill: vec![4.0, 0.0],
            decode: vec![1.0, 2.0],
            ..StepLines::default()
        },
        ..Figures::default()
    };
    let sides = [(0, "H100", &figures)];
    let chart = cdf(&sides, Latency::Ttft);
    assert_eq!(
        (chart.places[0].len(), chart.y_ticks.last()),
        (QUANTILES, Some(&1.0))
    );
    assert_eq!(chart.rows(11).len(), 11);
    assert!(cdf(&sides, Latency::Tpot).is_empty());
    let chart = per_step(&figures, PerStep::Batch);
    assert_eq!(chart.title, "Tokens of a step, means of 3 steps");
    assert_eq!(
        (&chart.places[0], chart.y_ticks.last()),
        (&vec![0.0, 3.0], Some(&5.0))
    );
}
