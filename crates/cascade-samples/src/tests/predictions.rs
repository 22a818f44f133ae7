//! What the request model makes of the profiles, from medians over the repeats: `request-simulation`, "Reported
//! predictions". Only the requests that need no roofline are here.

use super::*;

/// Predicted TTFT, mean ITL and request time in ms, for 32 tokens and for 128 after a prompt of 128.
fn predict(sample: &str, config: &str) -> [f64; 5] {
    let (real, simulated, _) = replay(sample, config);
    let kernels = |s: &cascade_steps::Step| s.kernels.iter().map(|k| k.duration_ns).sum::<f64>();
    let of = |kind: &'static str| simulated.steady().filter(move |s| s.kind == kind);
    let host = |kind| median(of(kind).map(|s| s.baseline_wall_ns.unwrap() - s.gpu_busy_ns.unwrap()));
    let requests = || real.requests.iter().filter(|r| !r.warmup);
    let pre = median(requests().map(|r| r.pre_first_step_ns.unwrap()));
    let post = median(requests().map(|r| r.post_last_step_ns.unwrap()));
    let gap = median(of("decode").filter_map(|s| s.baseline_gap_before_ns));
    // Kernels and unexplained GPU time of a step, each the median of the repeats at that step.
    let gpu = |step: i64| {
        let at = || simulated.steady().filter(|s| s.step == step);
        median(at().map(kernels)) + median(at().map(|s| s.gpu_busy_ns.unwrap() - kernels(s)))
    };
    let ttft = pre + host("prefill") + gpu(0);
    let decode = |step: i64| host("decode") + gap + gpu(step);
    let decodes: f64 = (1..=31).map(decode).sum();
    // Past the profiled contexts the last one's times hold.
    let longer = 127.0 * decode(31);
    [
        ttft,
        decodes / 31.0,
        ttft + decodes + post,
        longer / 127.0,
        ttft + longer + post,
    ]
    .map(|ns| ns / 1e6)
}

#[test]
fn requests_of_the_profiled_shape() {
    let rows = [
        (
            H100,
            "SM90_H100",
            ["8.946", "8.125", "260.593", "8.125", "1040.662"],
        ),
        (
            A100,
            "SM80_A100",
            ["8.190", "7.139", "229.340", "7.139", "914.664"],
        ),
    ];
    for (sample, config, published) in rows {
        for (value, published) in predict(sample, config).into_iter().zip(published) {
            rounds(value, published);
        }
    }
}

#[test]
fn a_long_prompt_is_bound_by_its_matrix_products() {
    // 1,024 tokens on the H100: 2 FLOP for each of 84,934,656 weights and token at 0.7 of 989 TFLOP/s, against the
    // simulated time of the four projections of 12 layers.
    let roofline = 2.0 * 84_934_656.0 * 1_024.0 / (0.7 * 989e12) * 1e3;
    let floor = 12.0 * (9_786.0 + 8_832.0 + 10_821.0 + 10_273.0) / 1_980e3;
    rounds(predict(H100, "SM90_H100")[0] + roofline - floor, "8.956");
}
