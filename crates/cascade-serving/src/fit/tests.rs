//! Fits to a made run, whose step time is known, and to two real ones.

use super::replay::Replay;
use super::*;
use crate::scheduler::SchedulerConfig;
use crate::testing::shared_data;

const META: &str = r#"{"engine_kwargs": {"max_num_seqs": 16, "max_num_batched_tokens": 512, "max_model_len": null},
    "kv_cache": {"num_gpu_blocks": 700, "block_size": 16, "enable_prefix_caching": true}}"#;
const TICKS: &str = "t,prompt_throughput,gen_throughput,running,waiting,kv_cache_pct\n";

/// A run as an engine with this step time would record it.
fn made(time: &Affine) -> MeasuredRun {
    let mut run = MeasuredRun::parse(META, "", TICKS).unwrap();
    run.requests = (0..60_u32)
        .map(|i| MeasuredRequest {
            prompt_tokens: 40 + i * 37 % 700,
            output_tokens: 20 + i * 53 % 170,
            queued_ns: u64::from(i) * 70_000_000,
            first_token_ns: 0,
            last_token_ns: 0,
        })
        .collect();
    let replay = Replay::of(&run, time).unwrap();
    for record in &replay.records {
        let request = &mut run.requests[record.id as usize];
        request.first_token_ns = record.first_token_ns.unwrap();
        request.last_token_ns = record.end_ns;
    }
    run.ticks = (1..=run.duration_ns() / 1_000_000_000)
        .map(|t| Tick {
            t: t as f64,
            prompt_throughput: 800.0,
            gen_throughput: 300.0,
            running: 10.0,
        })
        .collect();
    run
}

#[test]
fn a_known_step_time_is_found() {
    let time = affine([9e6, 40e3, 150.0, 60e3]);
    let run = made(&time);
    let fit = fit(&run, run.duration_ns() / 2).unwrap();
    // A step takes about 11 ms: on average a token is in the right place by less than half a step.
    assert!(fit.off_ms < 5.0, "{fit:?}");
    let worst = *compare(&run, &fit.time).unwrap().worst().unwrap();
    assert!(worst.error_percent().abs() < 1.0, "{worst:?} {fit:?}");
    // What the right answer is held against: half the time per step is seen to be wrong.
    let half = Affine {
        step_ns: 4.5e6,
        ..time
    };
    let worst = *compare(&run, &half).unwrap().worst().unwrap();
    assert!(worst.error_percent() < -20.0, "{worst:?}");
}

#[test]
fn nothing_after_the_end_of_the_part_is_looked_at() {
    let mut run = made(&affine([9e6, 40e3, 150.0, 60e3]));
    let until = run.duration_ns() / 2;
    let before = fit(&run, until).unwrap();
    for request in &mut run.requests {
        for ns in [&mut request.first_token_ns, &mut request.last_token_ns] {
            if *ns >= until {
                *ns *= 3;
            }
        }
    }
    run.ticks.retain(|tick| tick.t * 1e9 < until as f64);
    assert_eq!(fit(&run, until).unwrap(), before);
}

#[test]
fn a_part_without_tokens_is_refused() {
    let run = made(&affine([9e6, 40e3, 150.0, 60e3]));
    assert_eq!(fit(&run, 1), Err(FitError::TooFew { tokens: 0 }));
}

#[test]
fn coefficients_are_not_negative() {
    let rows = [([1.0, 5.0, 0.0, 0.0], 10.0), ([1.0, 10.0, 0.0, 0.0], 5.0)];
    let [step, token, ..] = squares::nonnegative(&rows);
    assert_eq!((step, token), (7.5, 0.0));
    let rows = [([1.0, 5.0, 0.0, 0.0], 11.0), ([1.0, 10.0, 0.0, 0.0], 21.0)];
    let [step, token, ..] = squares::nonnegative(&rows);
    assert!(
        (step - 1.0).abs() < 1e-6 && (token - 2.0).abs() < 1e-6,
        "{step} {token}"
    );
}

#[test]
fn what_is_wrong_with_a_file_is_named() {
    let row = |first: f64| {
        format!(
            r#"{{"input_toks": 3, "output_toks": 2, "queued_ts": 5.0, "first_token_ts": {first}, "last_token_ts": 7.0}}"#
        )
    };
    let run = MeasuredRun::parse(META, &row(6.0), TICKS).unwrap();
    assert_eq!(run.requests[0].first_token_ns, 1_000_000_000);
    let expected = SchedulerConfig {
        num_gpu_blocks: 700,
        max_num_seqs: 16,
        max_num_batched_tokens: 512,
        async_scheduling: true,
        ..SchedulerConfig::default()
    };
    assert_eq!(run.config, expected);
    let error = |meta: &str, requests: &str, ticks: &str| {
        MeasuredRun::parse(meta, requests, ticks).unwrap_err().to_string()
    };
    let late = format!("{}\n{}", row(6.0), row(8.0));
    assert!(error(META, &late, TICKS).starts_with("requests.jsonl, line 2: queued,"));
    assert!(error(META, "{}", TICKS).starts_with("requests.jsonl, line 1: missing field"));
    assert!(error("{}", "", TICKS).starts_with("meta.json: missing field `engine_kwargs`"));
    assert!(error(META, "", &format!("{TICKS}1.0,x")).starts_with("timeseries.csv, line 2"));
    assert!(error(META, "", "a,b").starts_with("timeseries.csv, line 1"));
}

/// Greatest errors measured in percent of TTFT, TPOT and E2E over mean, p50, p90 and p99, rounded up: fitted to
/// the first third of the first run and asked about all of the second.
const MEASURED: [(&str, &str, [f64; 3]); 4] = [
    (RTX4090, RTX4090, [1.9, 4.1, 4.6]),
    (PRO6000, PRO6000, [4.6, 3.2, 3.7]),
    (RTX4090, PRO6000, [352.0, 149.0, 207.0]),
    (PRO6000, RTX4090, [44.0, 36.0, 42.0]),
];
const RTX4090: &str = "RTX4090__Llama-3.1-8B";
const PRO6000: &str = "RTXPRO6000__Llama-3.1-8B";

#[test]
fn real_runs_are_told_as_well_as_stated() {
    let Some(folder) = shared_data("vllm-measured") else {
        return;
    };
    let read = |name: &str| {
        let [meta, requests, ticks] = ["meta.json", "requests.jsonl", "timeseries.csv"]
            .map(|file| std::fs::read_to_string(folder.join(name).join(file)).unwrap());
        let mut run = MeasuredRun::parse(&meta, &requests, &ticks).unwrap();
        if run.config.num_gpu_blocks == 0 {
            // The run does not tell; more than its 128 sequences ever hold.
            run.config.num_gpu_blocks = 33_500;
        }
        assert_eq!(run.requests.len(), 300);
        run
    };
    let runs = [RTX4090, PRO6000].map(|name| {
        let run = read(name);
        let time = fit(&run, run.duration_ns() / 3).unwrap().time;
        (name, run, time)
    });
    let find = |wanted: &str| runs.iter().find(|(name, ..)| *name == wanted).unwrap();
    for (fitted, asked, bounds) in MEASURED {
        let comparison = compare(&find(asked).1, &find(fitted).2).unwrap();
        assert_eq!(comparison.lines.len(), 12);
        for line in &comparison.lines {
            let metric = ["TTFT", "TPOT", "E2E"]
                .iter()
                .position(|name| *name == line.metric)
                .unwrap();
            assert!(
                line.error_percent().abs() <= bounds[metric],
                "{fitted} asked about {asked}: {line:?} is off by {} %",
                line.error_percent()
            );
        }
    }
}
