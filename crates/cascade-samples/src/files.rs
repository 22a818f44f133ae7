//! A profile as the files of a trace.

use std::sync::Arc;

use cascade_steps::{
    Kernel, MappedKernel, Provenance, Request, Shape, SimDuration, SimDurations, Stamp, Step, Timeline,
};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::build::{Config, Profile, STEPS, Simulated, StepTimes, TRACED};
use crate::layout::Kind;
use crate::{File, PROVENANCE, log, metadata};

/// The first repeat is warm-up.
const WARM_UP: i64 = 0;
/// The repeat whose steps were traced.
const TRACED_REPEAT: i64 = 1;
/// Points in time start here, and repeats this far from each other: nobody published when they ran.
const REPEAT_EVERY_NS: i64 = 1_000_000_000;
/// Tokens of the prompt, and tokens made.
pub(crate) const PROMPT_TOKENS: u64 = 6;
pub(crate) const OUTPUT_TOKENS: u64 = 32;

/// Every file of the sample.
pub(crate) fn all(profile: &Profile) -> serde_json::Result<Vec<File>> {
    let simulated = profile.simulated();
    let launches = launches(profile, &simulated);
    let packed = |name: String, bytes: Vec<u8>| File {
        name,
        bytes,
        packed: true,
    };
    let mut files = vec![
        File {
            name: "metadata.json".to_owned(),
            bytes: lined(serde_json::to_vec_pretty(&metadata::metadata(
                profile,
                simulated.len(),
            ))?),
            packed: false,
        },
        packed(
            "corrected_timeline.json".to_owned(),
            lined(serde_json::to_vec(&timeline(profile))?),
        ),
        packed(
            "kernel_mapping.json".to_owned(),
            lined(serde_json::to_vec(&mapping(&launches))?),
        ),
    ];
    for config in &profile.configs {
        let durations = durations(config, &launches);
        files.push(packed(
            format!("sim_durations.{}.json", config.name),
            lined(serde_json::to_vec(&durations)?),
        ));
        files.push(packed(
            format!("accelsim.{}.log", config.name),
            log::log(profile, config, &simulated).into_bytes(),
        ));
    }
    Ok(files)
}

fn lined(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(b'\n');
    bytes
}

/// One steady launch and the simulated kernel that stands for it.
struct Launch {
    repeat: i64,
    step: usize,
    seq: usize,
    by: Simulated,
    provenance: Provenance,
}

fn launches(profile: &Profile, simulated: &[Simulated]) -> Vec<Launch> {
    let mut launches = Vec::new();
    for repeat in 0..profile.steps.len() {
        let repeat = repeat as i64 + TRACED_REPEAT;
        for step in 0..STEPS {
            let codes = profile.model.step(Kind::of(step));
            for (seq, code) in codes.iter().enumerate() {
                let Some(by) = Profile::stands_for(simulated, code) else {
                    continue;
                };
                let provenance = match (repeat == TRACED_REPEAT && TRACED.contains(&step), by) {
                    (true, by) if (by.step, by.seq) == (step, seq) => Provenance::Exact,
                    (true, by) => Provenance::Dedup(by.uid),
                    (false, _) => Provenance::Identical,
                };
                launches.push(Launch {
                    repeat,
                    step,
                    seq,
                    by,
                    provenance,
                });
            }
        }
    }
    launches
}

fn note() -> IndexMap<String, Value> {
    IndexMap::from([("provenance".to_owned(), json!(PROVENANCE))])
}

/// `kernel_mapping.json`; a list has no place for a note but its first row.
fn mapping(launches: &[Launch]) -> Vec<MappedKernel> {
    let row = |(at, launch): (usize, &Launch)| MappedKernel {
        uid: launch.by.uid,
        name: launch.by.code.name.to_owned(),
        repeat: launch.repeat,
        step: launch.step as i64,
        seq: launch.seq as i64,
        provenance: Some(launch.provenance.to_string()),
        extra: match at {
            0 => IndexMap::from([("note".to_owned(), json!(PROVENANCE))]),
            _ => IndexMap::new(),
        },
    };
    launches.iter().enumerate().map(row).collect()
}

/// `sim_durations.json` of one config.
fn durations(config: &Config, launches: &[Launch]) -> SimDurations {
    let row = |launch: &Launch| {
        let cycles = launch.by.code.cycles[config.column];
        SimDuration {
            repeat: launch.repeat,
            step: launch.step as i64,
            seq: launch.seq as i64,
            duration_ns: cycles as f64 * 1_000.0 / f64::from(config.mhz),
            provenance: launch.provenance,
            uid: Some(launch.by.uid),
            cycles: Some(cycles),
            extra: IndexMap::new(),
        }
    };
    SimDurations {
        engine: Some("accel-sim".to_owned()),
        gpu_config: Some(config.name.to_owned()),
        core_clock_mhz: Some(f64::from(config.mhz)),
        durations: launches.iter().map(row).collect(),
        extra: note(),
    }
}

/// `corrected_timeline.json`.
fn timeline(profile: &Profile) -> Timeline {
    let mut steps: Vec<Step> = (0..STEPS).map(warm_up).collect();
    let mut requests = vec![Request {
        repeat: WARM_UP,
        warmup: true,
        num_output_tokens: Some(OUTPUT_TOKENS),
        ..Request::default()
    }];
    for (at, (times, of_repeat)) in profile.requests.iter().zip(&profile.steps).enumerate() {
        let repeat = at as i64 + TRACED_REPEAT;
        let arrival = Stamp::from_ns(repeat * REPEAT_EVERY_NS);
        let first = arrival.plus(times.pre as f64);
        let mut clock = first;
        for (number, step_times) in of_repeat.iter().enumerate() {
            let start = clock.plus(step_times.gap.unwrap_or(0) as f64);
            clock = start.plus(step_times.wall as f64);
            steps.push(step(profile, repeat, number, step_times, (start, clock)));
        }
        let ms = |ns: i64| ns as f64 / 1e6;
        requests.push(Request {
            repeat,
            ttft_ms: times.ttft.map(ms),
            itl_ms_mean: times.itl.map(ms),
            e2e_ms: Some(ms(times.e2e)),
            num_output_tokens: Some(OUTPUT_TOKENS),
            arrival_ns: Some(arrival),
            pre_first_step_ns: Some(times.pre as f64),
            post_last_step_ns: Some(times.post as f64),
            first_step_start_ns: Some(first),
            last_step_end_ns: Some(clock),
            first_token_ns: times.ttft.map(|ttft| arrival.plus(ttft as f64)),
            last_token_ns: times.ttft.map(|_| arrival.plus(times.e2e as f64)),
            ..Request::default()
        });
    }
    Timeline {
        meta: metadata::meta(profile),
        steps,
        requests,
        ..Timeline::default()
    }
}

/// A step of the warm-up repeat: it ran, and no time of it was published.
fn warm_up(number: usize) -> Step {
    Step {
        step: number as i64,
        repeat: WARM_UP,
        warmup: true,
        kind: Kind::of(number).name().to_owned(),
        num_reqs: Some(1),
        num_scheduled_tokens: Some(tokens(number)),
        ..Step::default()
    }
}

fn tokens(number: usize) -> u64 {
    match Kind::of(number) {
        Kind::Prefill => PROMPT_TOKENS,
        Kind::Decode => 1,
    }
}

fn step(
    profile: &Profile,
    repeat: i64,
    number: usize,
    times: &StepTimes,
    (start, end): (Stamp, Stamp),
) -> Step {
    let codes = profile.model.step(Kind::of(number));
    // Launches are spread evenly over the step: none overlaps the next.
    let every = times.wall / (codes.len() as i64 + 2);
    let kernel = |(seq, (code, &ns)): (usize, (&crate::codes::Code, &i64))| {
        let shape = Shape {
            name: code.name.to_owned(),
            grid: Some(code.grid.to_owned()),
            block: Some(code.block.to_owned()),
        };
        let offset = every * (seq as i64 + 1);
        Kernel::new(seq as i64, Arc::new(shape), ns as f64, Some(offset as f64))
    };
    Step {
        step: number as i64,
        repeat,
        kind: Kind::of(number).name().to_owned(),
        num_reqs: Some(1),
        num_scheduled_tokens: Some(tokens(number)),
        baseline_wall_ns: Some(times.wall as f64),
        gpu_busy_ns: Some(times.busy() as f64),
        cuda_api_ns: times.cuda_api.map(|ns| ns as f64),
        host_ns: Some((times.wall - times.busy()) as f64),
        kernels: codes.iter().zip(&times.kernels).enumerate().map(kernel).collect(),
        baseline_wall_start_ns: Some(start),
        baseline_wall_end_ns: Some(end),
        baseline_gap_before_ns: times.gap.map(|ns| ns as f64),
        ..Step::default()
    }
}
