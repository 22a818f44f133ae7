//! Rates, lengths and content of the loads.

use super::*;
use crate::scheduler::SchedulerConfig;
use crate::sim::{Record, Sink, StepRecord, simulate};
use crate::step_time::Affine;

fn lengths(prompt: u32, output: u32) -> Lengths {
    Lengths {
        prompt: Length::Fixed { tokens: prompt },
        output: Length::Fixed { tokens: output },
    }
}

fn arrivals(arrivals: Arrivals, requests: u64) -> Vec<f64> {
    let load = Load::Open {
        requests,
        arrivals,
        lengths: lengths(5, 1),
        prefix: None,
    };
    let mut source = Workload { seed: 11, load }.source().unwrap();
    std::iter::from_fn(|| source.pop())
        .map(|request| request.arrival_ns as f64 / 1e9)
        .collect()
}

/// Mean and coefficient of variation of the gaps.
fn gaps(times: &[f64]) -> (f64, f64) {
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / gaps.len() as f64;
    (mean, variance.sqrt() / mean)
}

#[test]
fn arrivals_have_their_rate_and_burstiness() {
    assert_eq!(arrivals(Arrivals::AtOnce, 3), [0.0, 0.0, 0.0]);
    assert_eq!(arrivals(Arrivals::Fixed { rate: 4.0 }, 4), [0.0, 0.25, 0.5, 0.75]);
    assert_eq!(
        arrivals(
            Arrivals::Burst {
                size: 2,
                period_s: 3.0
            },
            5
        ),
        [0.0, 0.0, 3.0, 3.0, 6.0]
    );
    let cases = [
        (Arrivals::Poisson { rate: 20.0 }, 1.0),
        (
            Arrivals::Gamma {
                rate: 20.0,
                burstiness: 0.25,
            },
            2.0,
        ),
        (
            Arrivals::Gamma {
                rate: 20.0,
                burstiness: 16.0,
            },
            0.25,
        ),
    ];
    for (process, variation) in cases {
        let (mean, cv) = gaps(&arrivals(process.clone(), 50_000));
        assert!(
            (mean * 20.0 - 1.0).abs() < 0.02 && (cv / variation - 1.0).abs() < 0.03,
            "{process:?} {mean} {cv}"
        );
    }
    // The mean of 1 / rate over the first and the last fortieth.
    for (shape, first, last) in [
        (RampShape::Linear, 0.0503, 1.0125e-3),
        (RampShape::Exponential, 0.0945, 1.059e-3),
    ] {
        let times = arrivals(
            Arrivals::Ramp {
                from_rate: 10.0,
                to_rate: 1000.0,
                shape,
            },
            40_000,
        );
        let got = (gaps(&times[..1000]).0 / first, gaps(&times[39_000..]).0 / last);
        assert!(
            (got.0 - 1.0).abs() < 0.1 && (got.1 - 1.0).abs() < 0.1,
            "{shape:?} {got:?}"
        );
    }
}

#[test]
fn lognormal_lengths_have_their_median_and_limits() {
    let length = Length::Lognormal {
        mu: 6.0,
        sigma: 1.0,
        min: 10,
        max: 5000,
    };
    let mut random = crate::random::Random::new(1, 1);
    let mut draws: Vec<u32> = (0..20_001).map(|_| length.draw(&mut random)).collect();
    draws.sort_unstable();
    assert!(f64::from(draws[10_000].abs_diff(403)) < 20.0, "{}", draws[10_000]);
    assert!(draws[0] >= 10 && draws[20_000] <= 5000);
}

/// Most requests in the engine at once, and the records.
#[derive(Default)]
struct Seen {
    records: Vec<Record>,
    most: u32,
}

impl Sink for Seen {
    fn request(&mut self, record: &Record) {
        self.records.push(*record);
    }
    fn step(&mut self, step: &StepRecord) {
        self.most = self.most.max(step.running + step.waiting);
    }
    fn inter_token(&mut self, _: u64, _: u32) {}
}

fn run(load: Load) -> Seen {
    let config = SchedulerConfig {
        num_gpu_blocks: 5000,
        ..SchedulerConfig::default()
    };
    let mut seen = Seen::default();
    let mut source = Workload { seed: 5, load }.source().unwrap();
    simulate(
        &config,
        &Affine::constant(1_000_000),
        source.as_mut(),
        &mut seen,
        1_000_000,
    )
    .unwrap();
    seen
}

#[test]
fn a_closed_loop_has_one_request_per_client() {
    let load = |think_s| Load::ClosedLoop {
        requests: 100,
        clients: 7,
        think_s,
        random_think: false,
        lengths: lengths(20, 10),
        prefix: None,
    };
    let seen = run(load(0.0));
    assert_eq!((seen.records.len(), seen.most), (100, 7));
    let seen = run(load(0.5));
    // A client's requests start an answer and a pause apart.
    let starts: Vec<u64> = seen.records.iter().map(|record| record.arrival_ns).collect();
    assert_eq!((starts[0], starts[7]), (0, 510_000_000));
}

#[test]
fn each_turn_of_a_session_finds_what_was_said_before_in_the_cache() {
    let seen = run(Load::Sessions {
        sessions: 3,
        arrivals: Arrivals::Fixed { rate: 1.0 },
        turns: Length::Fixed { tokens: 3 },
        system_tokens: 64,
        lengths: lengths(100, 40),
        think_s: 0.1,
    });
    assert_eq!(seen.records.len(), 9);
    let of = |prompt| {
        seen.records
            .iter()
            .filter(move |record| record.prompt_tokens == prompt)
    };
    assert_eq!([164, 304, 444].map(|prompt| of(prompt).count()), [3, 3, 3]);
    // All but the very first share the system prompt; later turns all that is computed of the turns before,
    // which is everything but the last token of an answer, in whole blocks.
    assert_eq!(
        of(164).map(|record| record.cached_tokens).collect::<Vec<_>>(),
        [0, 64, 64]
    );
    assert!(of(304).all(|record| record.cached_tokens == (164 + 39) / 16 * 16));
    assert!(of(444).all(|record| record.cached_tokens == (304 + 39) / 16 * 16));
}

#[test]
fn shared_prefixes_are_found_by_group() {
    let prefix = Some(SharedPrefix {
        tokens: 160,
        groups: 4,
    });
    let arrivals = Arrivals::Fixed { rate: 10.0 };
    let seen = run(Load::Open {
        requests: 200,
        arrivals,
        lengths: lengths(50, 5),
        prefix,
    });
    let missed = seen
        .records
        .iter()
        .filter(|record| record.cached_tokens == 0)
        .count();
    assert_eq!(missed, 4);
    assert!(
        seen.records
            .iter()
            .all(|record| record.prompt_tokens == 210 && record.cached_tokens % 160 == 0)
    );
}

#[test]
fn workloads_are_plain_json_and_errors_name_the_field() {
    let text = r#"{"seed": 42, "load": {"kind": "open", "requests": 10,
        "arrivals": {"process": "gamma", "rate": 2.0, "burstiness": 0.0},
        "lengths": {"prompt": {"dist": "uniform", "low": 1, "high": 9}, "output": {"dist": "fixed", "tokens": 4}}}}"#;
    let mut workload: Workload = serde_json::from_str(text).unwrap();
    let error = |workload: &Workload| workload.source().err().map(|error| error.to_string());
    assert_eq!(
        error(&workload).unwrap(),
        "burstiness is 0: give a number above 0"
    );
    let Load::Open {
        requests, arrivals, ..
    } = &mut workload.load
    else {
        panic!()
    };
    *arrivals = Arrivals::AtOnce;
    *requests = 0;
    assert_eq!(
        error(&workload).unwrap(),
        "requests is 0: give a number from 1 to 100000000"
    );
    let misspelt = serde_json::from_str::<Workload>(&text.replace("burstiness", "burst"));
    assert!(misspelt.unwrap_err().to_string().contains("burst"));
}
