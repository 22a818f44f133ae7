//! Time: known cases, queueing theory, and rules over random loads.

use proptest::prelude::*;

use super::*;
use crate::metrics::{Collector, MetricsOptions, Report};
use crate::request::Request;
use crate::step_time::{Affine, Envelope, Provenance, StepCost};
use crate::workload::{Arrivals, Length, Lengths, List, Load, SharedPrefix, Workload};
use crate::{batch::Batch, scheduler::Rules};

const MS: u64 = 1_000_000;

fn engine() -> SchedulerConfig {
    SchedulerConfig {
        num_gpu_blocks: 20_001,
        max_num_seqs: 256,
        max_num_batched_tokens: 8192,
        enable_prefix_caching: false,
        ..SchedulerConfig::default()
    }
}

/// Keeps everything and checks that time never runs back.
#[derive(Default)]
struct Tape {
    requests: Vec<Record>,
    steps: Vec<StepRecord>,
    later: u64,
}

impl Sink for Tape {
    fn request(&mut self, record: &Record) {
        assert!(record.arrival_ns <= record.first_scheduled_ns && record.first_scheduled_ns <= record.end_ns);
        assert!(
            record
                .first_token_ns
                .is_none_or(|at| record.first_scheduled_ns < at)
        );
        self.requests.push(*record);
    }

    fn step(&mut self, step: &StepRecord) {
        let previous = self.steps.last().map_or(0, |step| step.end_ns);
        assert!(previous <= step.start_ns && step.start_ns < step.end_ns);
        self.steps.push(*step);
    }

    fn inter_token(&mut self, _: u64, count: u32) {
        self.later += u64::from(count);
    }
}

fn tape(config: &SchedulerConfig, time: &impl StepTime, source: &mut dyn Source) -> Tape {
    let mut tape = Tape::default();
    let totals = simulate(config, time, source, &mut tape, 1_000_000).unwrap();
    assert_eq!(totals.steps, tape.steps.len() as u64);
    tape
}

fn list(requests: &[(u64, u32, u32)]) -> List {
    let request = |(id, (arrival, prompt, output)): (usize, &(u64, u32, u32))| {
        Request::new(id as u64, *arrival, *prompt, *output)
    };
    List::new(requests.iter().enumerate().map(request).collect())
}

/// 10 ms on the GPU and 1 ms on the host for every step, gaps before decodes and prefills, and an envelope.
struct Profiled;

impl StepTime for Profiled {
    fn cost(&self, batch: &Batch) -> StepCost {
        let gap_ns = if batch.has_prefill() { 2_000_000 } else { 500_000 };
        let gpu = Provenance::Measured;
        StepCost {
            gpu_ns: 10 * MS,
            host_ns: MS,
            gap_ns,
            gpu,
            host: Provenance::AssumedHost,
        }
    }

    fn envelope(&self) -> Envelope {
        Envelope {
            before_ns: 3 * MS,
            after_ns: -(MS as i64) / 4,
        }
    }
}

#[test]
fn a_request_takes_its_steps_gaps_and_envelope() {
    let tape = tape(
        &engine(),
        &Profiled,
        &mut list(&[(5 * MS, 100, 3), (900 * MS, 10, 1), (2000 * MS, 10, 0)]),
    );
    let [a, b, c] = tape.requests[..] else {
        panic!("{:?}", tape.requests)
    };
    assert_eq!((a.first_scheduled_ns, a.first_token_ns), (8 * MS, Some(19 * MS)));
    // First token, two decodes after a gap each, and the envelope.
    assert_eq!(a.end_ns, 19 * MS + 2 * (MS / 2 + 11 * MS) - MS / 4);
    assert_eq!(a.tpot_ns(), Some((a.end_ns - 19 * MS) as f64 / 2.0));
    // The engine was idle: another envelope.
    assert_eq!(
        (b.ttft_ns(), b.e2e_ns(), b.tpot_ns()),
        (Some(14 * MS), 14 * MS - MS / 4, None)
    );
    // Without output the prefill is still computed.
    assert_eq!(
        (c.ttft_ns(), c.output_tokens, c.end_ns),
        (None, 0, 2014 * MS - MS / 4)
    );
}

#[test]
fn asynchronous_scheduling_hides_the_host_and_sees_arrivals_a_step_later() {
    let time = Affine {
        host_ns: 4 * MS,
        ..Affine::constant(10 * MS)
    };
    let requests = [(0, 16, 6), (15 * MS, 16, 2)];
    let sync = tape(&engine(), &time, &mut list(&requests));
    let config = SchedulerConfig {
        async_scheduling: true,
        ..engine()
    };
    let asynchronous = tape(&config, &time, &mut list(&requests));
    let starts = |tape: &Tape| {
        tape.steps
            .iter()
            .map(|step| step.start_ns / MS)
            .collect::<Vec<_>>()
    };
    assert_eq!(starts(&sync), [0, 14, 28, 42, 56, 70]);
    assert_eq!(starts(&asynchronous), [4, 14, 24, 34, 44, 54]);
    // It arrives in the second step: the third has it in one case, the fourth in the other.
    assert_eq!(sync.requests[0].first_scheduled_ns, 28 * MS);
    assert_eq!(asynchronous.requests[0].first_scheduled_ns, 34 * MS);
}

#[test]
fn limits_end_a_simulation_with_a_reason() {
    let config = engine();
    let run = |config: &SchedulerConfig, max| {
        simulate(
            config,
            &Affine::constant(MS),
            &mut list(&[(0, 10, 10)]),
            &mut Tape::default(),
            max,
        )
    };
    assert_eq!(run(&config, 9), Err(SimError::StepLimit { limit: 9 }));
    assert_eq!(
        run(&config, 10),
        Ok(Totals {
            steps: 10,
            end_ns: 10 * MS
        })
    );
    let config = SchedulerConfig {
        block_size: 0,
        ..config
    };
    assert_eq!(
        run(&config, 9),
        Err(SimError::Config(ConfigError::Zero { field: "block_size" }))
    );
}

fn report(config: &SchedulerConfig, time: &Affine, load: Load) -> Report {
    let mut collector = Collector::new(MetricsOptions::default());
    let mut source = Workload { seed: 3, load }.source().unwrap();
    simulate(config, time, source.as_mut(), &mut collector, DEFAULT_MAX_STEPS).unwrap();
    collector.report()
}

fn poisson(requests: u64, rate: f64, prompt: u32, output: u32) -> Load {
    let fixed = |tokens| Length::Fixed { tokens };
    let lengths = Lengths {
        prompt: fixed(prompt),
        output: fixed(output),
    };
    Load::Open {
        requests,
        arrivals: Arrivals::Poisson { rate },
        lengths,
        prefix: None,
    }
}

/// One sequence at a time and one step per request is an M/D/1 queue: its mean wait is ρD / 2(1 − ρ)
/// (Pollaczek and Khinchine).
#[test]
fn waits_of_an_md1_queue_match_theory() {
    let config = SchedulerConfig {
        max_num_seqs: 1,
        ..engine()
    };
    for load in [0.3, 0.5, 0.7] {
        let report = report(
            &config,
            &Affine::constant(10 * MS),
            poisson(400_000, load / 0.01, 1, 1),
        );
        let theory = load * 10.0 / (2.0 * (1.0 - load));
        assert!(
            (report.queue.mean / theory - 1.0).abs() < 0.02,
            "{load}: {} {theory}",
            report.queue.mean
        );
        assert!((report.gpu_busy / load - 1.0).abs() < 0.01);
    }
}

/// Requests in the engine, as steps count them, against rate times latency, as requests tell it.
#[test]
fn littles_law_holds() {
    let time = Affine {
        query_token_ns: 20_000.0,
        context_token_ns: 20.0,
        ..Affine::constant(5 * MS)
    };
    let small = SchedulerConfig {
        num_gpu_blocks: 400,
        max_num_seqs: 12,
        ..engine()
    };
    for (config, rate) in [(engine(), 4.0), (engine(), 12.0), (small, 9.0)] {
        let report = report(&config, &time, poisson(20_000, rate, 512, 128));
        let inside = report.mean_running + report.mean_waiting;
        let little = report.request_throughput * report.e2el.mean / 1e3;
        assert!((inside / little - 1.0).abs() < 0.02, "{rate}: {inside} {little}");
    }
}

fn load() -> impl Strategy<Value = Load> {
    let length = prop_oneof![
        (0u32..120).prop_map(|tokens| Length::Fixed { tokens }),
        (1u32..20, 20u32..200).prop_map(|(low, high)| Length::Uniform { low, high }),
    ];
    let lengths = (length.clone(), length).prop_map(|(prompt, output)| Lengths { prompt, output });
    let arrivals = prop_oneof![
        Just(Arrivals::AtOnce),
        (1.0..200.0).prop_map(|rate| Arrivals::Poisson { rate }),
        (1.0..200.0, 0.2..3.0).prop_map(|(rate, burstiness)| Arrivals::Gamma { rate, burstiness }),
        (1u64..9, 0.01..1.0).prop_map(|(size, period_s)| Arrivals::Burst { size, period_s }),
    ];
    let prefix = proptest::option::of(
        (1u32..80, 1u32..4).prop_map(|(tokens, groups)| SharedPrefix { tokens, groups }),
    );
    let open = (1u64..40, arrivals.clone(), lengths.clone(), prefix.clone()).prop_map(
        |(requests, arrivals, lengths, prefix)| Load::Open {
            requests,
            arrivals,
            lengths,
            prefix,
        },
    );
    let closed = (
        1u64..40,
        1u64..9,
        0.0..0.2,
        any::<bool>(),
        lengths.clone(),
        prefix,
    )
        .prop_map(
            |(requests, clients, think_s, random_think, lengths, prefix)| Load::ClosedLoop {
                requests,
                clients,
                think_s,
                random_think,
                lengths,
                prefix,
            },
        );
    let sessions = (1u64..8, arrivals, 0u32..60, lengths, 0.0..0.2).prop_map(
        |(sessions, arrivals, system_tokens, lengths, think_s)| Load::Sessions {
            sessions,
            arrivals,
            turns: Length::Uniform { low: 1, high: 5 },
            system_tokens,
            lengths,
            think_s,
        },
    );
    prop_oneof![open, closed, sessions]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every request ends once, with its tokens or a reason, and every token but the first has one gap.
    #[test]
    fn every_request_ends_once(
        load in load(), blocks in 20u32..200, seqs in 1u32..20, asynchronous in any::<bool>(),
        caching in any::<bool>(), reference in any::<bool>(), host_ns in 0..3 * MS,
    ) {
        let config = SchedulerConfig {
            rules: if reference { Rules::Reference } else { Rules::VllmV1 },
            num_gpu_blocks: blocks,
            max_num_seqs: seqs,
            max_num_batched_tokens: 128,
            enable_prefix_caching: caching,
            async_scheduling: asynchronous && !reference,
            ..engine()
        };
        let time = Affine { host_ns, query_token_ns: 1e4, ..Affine::constant(2 * MS) };
        let workload = Workload { seed: 1, load };
        let first = tape(&config, &time, workload.source().unwrap().as_mut());
        let mut ids: Vec<u64> = first.requests.iter().map(|record| record.id).collect();
        ids.sort_unstable();
        prop_assert!(ids.iter().enumerate().all(|(at, id)| at as u64 == *id), "{ids:?}");
        let finished = first.requests.iter().filter(|record| record.refusal.is_none());
        let later: u64 = finished.map(|record| u64::from(record.output_tokens.saturating_sub(1))).sum();
        let refused: u64 = first.requests.iter().filter(|r| r.refusal.is_some())
            .map(|record| u64::from(record.output_tokens.saturating_sub(1))).sum();
        prop_assert_eq!(first.later, later + refused);
        // And the same again gives the same.
        let again = tape(&config, &time, workload.source().unwrap().as_mut());
        prop_assert!(first.requests == again.requests && first.steps == again.steps);
    }
}

/// A profile's request alone in the simulation is what the profile predicts for it.
#[test]
fn one_request_agrees_with_the_prediction_of_one_request() {
    let profile = crate::profile::tests::h100();
    let roofline = crate::roofline::Roofline::new(&profile, crate::datasheet::Bound::Assumed);
    for (prompt, output) in [(6, 32), (1800, 200), (100, 1), (100, 0)] {
        let tape = tape(&engine(), &roofline, &mut list(&[(0, prompt, output)]));
        let predicted = crate::predict::simulate_request(&profile, prompt, output)
            .unwrap()
            .latency;
        assert_eq!(tape.requests[0].ttft_ns(), predicted.ttft_ns, "{prompt}/{output}");
        assert_eq!(tape.requests[0].e2e_ns(), predicted.e2e_ns, "{prompt}/{output}");
    }
}

/// Published for OPT-125m on an H100, 512/128 tokens, all at time 0, rules `reference`: requests, median TTFT,
/// ITL and E2E in ms, output tokens per second.
#[test]
fn published_batches_come_out() {
    let roofline =
        crate::roofline::Roofline::new(&crate::profile::tests::h100(), crate::datasheet::Bound::Assumed);
    let config = SchedulerConfig {
        rules: Rules::Reference,
        num_gpu_blocks: 106_267,
        ..engine()
    };
    for (count, ttft, itl, e2e, throughput) in [
        (1, 8.946, 8.125, 1040.662, 123.00),
        (8, 9.799, 8.125, 1041.514, 983.18),
        (64, 33.824, 8.549, 1122.326, 7194.53),
    ] {
        let mut collector = Collector::new(MetricsOptions::default());
        let mut load = list(&vec![(0, 512, 128); count]);
        simulate(&config, &roofline, &mut load, &mut collector, 1000).unwrap();
        let report = collector.report();
        let got = [
            report.ttft.median,
            report.itl.median,
            report.e2el.median,
            report.output_throughput,
        ];
        for (got, published) in got.into_iter().zip([ttft, itl, e2e, throughput]) {
            assert!(
                (got / published - 1.0).abs() < 0.005,
                "{count}: {got}, published {published}"
            );
        }
    }
}

#[test]
fn absurd_settings_are_refused_or_survived() {
    let run = |config: &SchedulerConfig, load| {
        let mut source = Workload { seed: 1, load }.source().unwrap();
        simulate(
            config,
            &Affine::constant(u64::MAX),
            source.as_mut(),
            &mut Collector::new(MetricsOptions::default()),
            50,
        )
    };
    // Requests centuries apart, steps that outlast time, more blocks than there is memory to name them.
    let config = SchedulerConfig {
        num_gpu_blocks: u32::MAX,
        enable_prefix_caching: true,
        ..engine()
    };
    assert_eq!(
        run(&config, poisson(5, 1e-300, 20, 3)).map(|totals| totals.end_ns),
        Ok(u64::MAX)
    );
    let error = |config| run(&config, poisson(1, 1.0, 1, 1)).unwrap_err().to_string();
    let wrong = SchedulerConfig {
        block_size: u32::MAX,
        ..engine()
    };
    assert_eq!(
        error(wrong),
        "scheduler: block_size is 4294967295: set it to at most 65536"
    );
    let wrong = SchedulerConfig {
        watermark: f64::NAN,
        ..engine()
    };
    assert_eq!(
        error(wrong),
        "scheduler: watermark is NaN: set it to a share from 0 to 1"
    );
    let turns = Length::Lognormal {
        mu: 1.0,
        sigma: 1.0,
        min: 1,
        max: 5000,
    };
    let lengths = Lengths {
        prompt: turns.clone(),
        output: turns.clone(),
    };
    let load = Load::Sessions {
        sessions: 1,
        arrivals: Arrivals::AtOnce,
        turns,
        system_tokens: 0,
        lengths,
        think_s: 0.0,
    };
    let error = Workload { seed: 1, load }
        .source()
        .err()
        .map(|error| error.to_string());
    assert_eq!(error.unwrap(), "turns is 5000: give a number from 1 to 1000");
}
