//! Asks and answers as the page has them.

use std::collections::BTreeMap;

use cascade_scene::explorer::{
    Answer, Ask, Column, Figures, GPUS, Key, MODELS, Metric, POINTS, PRESETS, QUANTILES, ROWS, Side, SideAsk,
    SideBase, State,
};
use cascade_serving::{datasheet::datasheets, facts::builtin_names};

use crate::Engine;

/// The asks of a state on built-in models, as the page makes them.
fn sides(state: &State) -> Vec<SideAsk> {
    let side = |(at, gpu): (usize, String)| SideAsk {
        gpu,
        base: SideBase::Model {
            name: "meta-llama/Llama-3.1-8B".to_owned(),
        },
        scenario: state.scenario(at).unwrap(),
    };
    state.gpus().into_iter().enumerate().map(side).collect()
}

fn ran(engine: &mut Engine, state: &State) -> Vec<Side> {
    let ask = serde_json::to_string(&Ask::Run { sides: sides(state) }).unwrap();
    match serde_json::from_str(&engine.handle(&ask)).unwrap() {
        Answer::Ran { sides, .. } => sides,
        other => panic!("{other:?}"),
    }
}

fn figures(side: &Side) -> &Figures {
    side.result.as_ref().unwrap()
}

#[test]
fn the_page_offers_what_there_is() {
    let gpus: Vec<String> = datasheets().map(|sheet| sheet.gpu).collect();
    assert_eq!(GPUS.to_vec(), gpus);
    assert_eq!(MODELS.to_vec(), builtin_names().collect::<Vec<_>>());
}

#[test]
fn each_preset_gives_bounded_figures_on_each_gpu() {
    let mut engine = Engine::new(|| 0.0);
    for preset in PRESETS {
        let mut state = State::default();
        preset.apply(&mut state);
        let sides = ran(&mut engine, &state);
        assert_eq!(sides.len(), 2);
        for side in &sides {
            let figures = figures(side);
            assert_eq!(figures.values.len(), Metric::ALL.len());
            assert!(
                figures.quantiles.iter().all(|q| q.len() == QUANTILES),
                "{}",
                preset.name
            );
            assert_eq!(figures.time.at_s.len(), POINTS);
            assert!(figures.per_step.prefill.len() <= POINTS);
            assert_eq!(figures.refused, 0);
            let p50 = Metric::TtftP50.of(&figures.values).unwrap();
            assert!(
                (p50 - figures.quantiles[0][50]).abs() <= 1e-3 * p50,
                "the chart and the card agree"
            );
        }
        let throughput = |at: usize| Metric::TpotP50.of(&figures(&sides[at]).values).unwrap();
        assert!(throughput(0) < throughput(1), "an H100 is faster than an A100");
    }
}

#[test]
fn what_goes_over_time_adds_up() {
    let mut engine = Engine::new(|| 0.0);
    let sides = ran(&mut engine, &State::default());
    let figures = figures(&sides[0]);
    let time = &figures.time;
    let width = time.at_s.last().unwrap() / POINTS as f64;
    let tokens: f64 = time.throughput.iter().map(|rate| rate * width).sum();
    let emitted = Metric::OutputRate.of(&figures.values).unwrap() * time.at_s.last().unwrap();
    assert!((tokens / emitted - 1.0).abs() < 0.01, "{tokens} {emitted}");
    let waited: f64 = figures.waits_ms.iter().map(|(_, ms)| ms).sum();
    assert!(waited > 0.0);
}

#[test]
fn bands_hold_the_value_between_them() {
    let mut engine = Engine::new(|| 0.0);
    let sides = ran(&mut engine, &State::default());
    let Answer::Bands { bands } = engine.answer(Ask::Bands) else {
        panic!()
    };
    for (side, band) in sides.iter().zip(bands) {
        let (low, high) = band.unwrap();
        for metric in Metric::ALL {
            let of = |values| metric.of(values);
            let value = of(&figures(side).values);
            assert!(of(&low) <= value && value <= of(&high), "{metric:?}");
        }
        assert!(Metric::TpotP50.of(&low) < Metric::TpotP50.of(&high));
    }
}

#[test]
fn the_table_is_sorted_paged_and_says_why_requests_waited() {
    let mut engine = Engine::new(|| 0.0);
    let mut state = State::default();
    state.set(Key::Seqs, "4");
    ran(&mut engine, &state);
    let mut page = |by, descending, page| {
        let ask = Ask::Rows {
            side: 0,
            by,
            descending,
            page,
        };
        let Answer::Rows { rows, total, page } = engine.answer(ask) else {
            panic!()
        };
        (rows, total, page)
    };
    let (rows, total, _) = page(Column::Queue, true, 0);
    assert_eq!((rows.len(), total), (ROWS, 300));
    assert!(rows.windows(2).all(|pair| pair[0].queue_ms >= pair[1].queue_ms));
    assert!(rows[0].why.starts_with("max running requests"), "{}", rows[0].why);
    let (last, _, shown) = page(Column::Number, false, 999);
    assert_eq!((shown, last.last().unwrap().id.as_str()), (11, "request-299"));

    let Answer::Text { text } = engine.answer(Ask::Csv { side: 1 }) else {
        panic!()
    };
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 301);
    let fields = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == fields));

    let Answer::Text { text } = engine.answer(Ask::Export) else {
        panic!()
    };
    let all: Vec<BTreeMap<String, serde_json::Value>> = serde_json::from_str(&text).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[0]["outcome"]["requests"].as_array().unwrap().len(), 300);
}

#[test]
fn what_cannot_run_is_told_at_its_field_and_leaves_the_others_alone() {
    let mut engine = Engine::new(|| 0.0);
    let mut state = State::default();
    state.set(Key::Gpus, "SM89_RTX4090,SM90_H100");
    let mut asked = sides(&state);
    asked[0].base = SideBase::Model {
        name: "meta-llama/Llama-3.1-70B".to_owned(),
    };
    let Answer::Ran { sides, .. } = engine.answer(Ask::Run { sides: asked }) else {
        panic!()
    };
    let refusal = sides[0].result.as_ref().unwrap_err();
    assert_eq!(refusal.path, "scheduler.gpu_memory_utilization", "{refusal:?}");
    assert!(sides[1].result.is_ok());
    assert!(matches!(
        engine.answer(Ask::Csv { side: 0 }),
        Answer::Failed { .. }
    ));

    state.set(Key::Load, "file");
    let refusal = ran(&mut engine, &state)[0].result.clone().unwrap_err();
    assert!(refusal.problem.contains("Drop a trace file"));
    engine.answer(Ask::File {
        text: "arrival_s,prompt_tokens,output_tokens\n0,oops,3\n".to_owned(),
    });
    let refusal = ran(&mut engine, &state)[0].result.clone().unwrap_err();
    assert!(refusal.problem.contains(":2: "), "{refusal:?}");
    engine.answer(Ask::File {
        text: "arrival_s,prompt_tokens,output_tokens\n0,100,3\n1.5,20,4\n".to_owned(),
    });
    assert_eq!(figures(&ran(&mut engine, &state)[1]).requests, 2);
    assert!(engine.handle("{").contains("could not read"));
}
