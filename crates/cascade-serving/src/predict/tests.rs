//! Tests against the predictions that the product publishes, and of the band.

mod samples;

use proptest::prelude::*;

use super::*;
use crate::datasheet::{Efficiency, datasheet};
use crate::facts::builtin;
use crate::profile::HostTime;
use crate::profile::tests::h100;

/// A published estimate: prompt, output, TTFT, mean ITL and E2E in ms.
type Row = (u32, u32, f64, f64, f64);

/// Published for OPT-125m on an H100.
const PUBLISHED: [Row; 4] = [
    (6, 32, 8.946, 8.125, 260.593),
    (128, 128, 8.946, 8.125, 1040.662),
    (1024, 256, 8.956, 8.125, 2080.732),
    (1800, 200, 9.228, 8.125, 1625.977),
];

fn near(got_ns: f64, published_ms: f64, what: &str) {
    let error = got_ns / 1e6 / published_ms - 1.0;
    println!(
        "{what}: {:.3} ms, published {published_ms}, {:+.3} %",
        got_ns / 1e6,
        error * 100.0
    );
    assert!(
        error.abs() < 0.005,
        "{what}: {} ms, published {published_ms}",
        got_ns / 1e6
    );
}

fn row_comes_out(profile: &PerfProfile, (prompt, output, ttft, itl, e2e): Row) {
    let latency = simulate_request(profile, prompt, output).unwrap().latency;
    let times = [
        latency.ttft_ns.unwrap() as f64,
        latency.itl_mean_ns.unwrap(),
        latency.e2e_ns as f64,
    ];
    for ((got, published), what) in times
        .into_iter()
        .zip([ttft, itl, e2e])
        .zip(["TTFT", "ITL", "E2E"])
    {
        near(
            got,
            published,
            &format!("{} {prompt}/{output} {what}", profile.gpu.gpu),
        );
    }
}

#[test]
fn published_requests_come_out() {
    for row in PUBLISHED {
        row_comes_out(&h100(), row);
    }
}

/// Eight prompts of 512 tokens at once: one step of 4,096 tokens. 64: the third step of 8,192 tokens holds the
/// median first token, after the decodes of the first two; then 64 decodes of a median context of 576.
fn batches_come_out(profile: &PerfProfile) {
    let roofline = Roofline::new(profile, Bound::Assumed);
    let host = *roofline.host();
    let wall = |batch: &Batch| roofline.step(batch).wall_ns() as f64;
    let pre = host.pre_first_step_ns.unwrap() as f64;
    let prompts = |decodes: u32, context, whole, rest| {
        let mut batch = Batch::default();
        (0..decodes).for_each(|_| batch.push(1, context, false, true));
        (0..whole).for_each(|_| batch.push(512, 512, true, true));
        batch.push(rest, rest, true, false);
        batch
    };
    near(pre + wall(&prompts(0, 0, 7, 512)), 9.799, "8 x 512/128 TTFT");

    let mut third = prompts(31, 514, 15, 465);
    third.push(16, 512, true, true);
    let steps = [prompts(0, 0, 15, 512), prompts(16, 513, 15, 496), third];
    assert!(steps.iter().all(|batch| batch.query_tokens == 8192));
    let walls: f64 = steps.iter().map(wall).sum();
    near(
        pre + walls + 2.0 * host.gap_ns(true) as f64,
        33.824,
        "64 x 512/128 TTFT",
    );

    let itl = wall(&Batch::decodes(64, 64 * 576)) + host.gap_ns(false) as f64;
    near(itl, 8.549, "64 x 512/128 ITL");
}

#[test]
fn published_batches_come_out() {
    batches_come_out(&h100());
    batches_come_out(&samples::sample("opt125m-h100-e2e", "SM90_H100"));
}

#[test]
fn the_shape_that_was_profiled_is_all_measured() {
    let prediction = simulate_request(&h100(), 6, 32).unwrap();
    let counts = prediction.provenance_counts;
    assert_eq!(
        (
            counts.measured,
            counts.interpolated,
            counts.extrapolated,
            counts.assumed_host
        ),
        (32, 0, 0, 32)
    );
    assert_eq!(prediction.steps_below_weight_read, 0);
    // Only the host and the floors are in it, so efficiencies do not matter.
    assert_eq!(
        (prediction.low, prediction.high),
        (prediction.latency, prediction.latency)
    );
}

#[test]
fn no_output_and_one_output() {
    let profile = h100();
    let Latency {
        ttft_ns,
        itl_mean_ns,
        itl_p50_ns,
        e2e_ns,
    } = simulate_request(&profile, 6, 0).unwrap().latency;
    assert_eq!((ttft_ns, itl_mean_ns, itl_p50_ns), (None, None, None));
    let one = simulate_request(&profile, 6, 1).unwrap().latency;
    assert_eq!((one.itl_mean_ns, one.e2e_ns), (None, e2e_ns));
    assert!(
        one.ttft_ns.unwrap() > e2e_ns,
        "the envelope after the last step is negative"
    );
}

#[test]
fn requests_that_do_not_fit_are_refused() {
    let error = |prompt, output| simulate_request(&h100(), prompt, output).unwrap_err().to_string();
    assert_eq!(error(0, 1), "prompt_tokens is 0; a request has at least 1");
    assert_eq!(
        error(2000, 49),
        "prompt and output are 2049 tokens together; at most 2048 fit (the model's longest sequence)"
    );
}

proptest! {
    #[test]
    fn the_band_holds_the_estimate_and_efficiencies_move_it(prompt in 1_u32..8000, output in 0_u32..100) {
        let (model, gpu) = (builtin("meta-llama/Llama-3.1-8B").unwrap(), datasheet("SM90_H100").unwrap());
        let host = HostTime { prefill_ns: 500_000, decode_ns: 200_000, ..HostTime::default() };
        let profile = PerfProfile::from_datasheet(model, gpu, Efficiency::default(), host).unwrap();
        let Prediction { latency, low, high, .. } = simulate_request(&profile, prompt, output).unwrap();
        prop_assert!(low.e2e_ns < latency.e2e_ns && latency.e2e_ns < high.e2e_ns);
        prop_assert!(low.ttft_ns <= latency.ttft_ns && latency.ttft_ns <= high.ttft_ns);
    }

    #[test]
    fn further_tokens_take_further_time(prompt in 1_u32..1000, output in 1_u32..1000) {
        let profile = h100();
        let e2e = |output| simulate_request(&profile, prompt, output).unwrap().latency.e2e_ns;
        prop_assert!(e2e(output) < e2e(output + 1));
    }
}
