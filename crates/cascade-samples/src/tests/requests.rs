//! Requests and steps: `sample-analysis`, "Full-request result" to "Replay errors".

use super::*;

/// One steady repeat as published: real and simulated request time, and the rest of its row.
type Row = (&'static str, &'static str);

fn e2e(sample: &str, config: &str, rows: [Row; 3], digits: [Row; 3], means: Row, error: &str) {
    let (_, _, compared) = replay(sample, config);
    for ((request, row), fine) in compared.requests.iter().zip(rows).zip(digits) {
        rounds(request.e2e_ms.real, row.0);
        rounds(request.e2e_ms.simulated, row.1);
        rounds(request.e2e_ms.real, fine.0);
        rounds(request.e2e_ms.simulated, fine.1);
    }
    let real = mean(compared.requests.iter().map(|r| r.e2e_ms.real.unwrap()));
    let simulated = mean(compared.requests.iter().map(|r| r.e2e_ms.simulated.unwrap()));
    rounds(real, means.0);
    rounds(simulated, means.1);
    rounds(100.0 * (simulated / real - 1.0), error);
}

#[test]
fn h100_requests() {
    e2e(
        H100,
        "SM90_H100",
        [
            ("253.435", "261.134"),
            ("254.613", "262.302"),
            ("255.308", "262.988"),
        ],
        [
            ("253.435384", "261.133918"),
            ("254.613360", "262.302298"),
            ("255.307791", "262.987898"),
        ],
        ("254.45", "262.14"),
        "3.02",
    );
}

#[test]
fn a100_requests() {
    e2e(
        A100,
        "SM80_A100",
        [
            ("222.429", "229.943"),
            ("221.967", "229.441"),
            ("221.853", "229.356"),
        ],
        [
            ("222.428868", "229.943469"),
            ("221.967065", "229.440732"),
            ("221.853422", "229.355994"),
        ],
        ("222.083118", "229.580065"),
        "3.375739",
    );
}

#[test]
fn h200_requests_have_no_measured_side_of_their_own() {
    let (_, simulated, _) = replay(H100, "SM90_H200");
    let steady: Vec<_> = simulated.requests.iter().filter(|r| !r.warmup).collect();
    for (request, e2e) in steady.iter().zip(["261.154211", "262.322591", "263.008191"]) {
        rounds(request.e2e_ms, e2e);
    }
    rounds(mean(steady.iter().map(|r| r.e2e_ms.unwrap())), "262.16");
}

#[test]
fn h100_first_token_and_inter_token_rows() {
    let (_, _, compared) = replay(H100, "SM90_H100");
    let rows = [
        (
            "8.636344", "8.636", "8.987", "7.896743", "7.897", "8.141", "7.699", "3.04",
        ),
        (
            "8.382869", "8.383", "8.710", "7.942919", "7.943", "8.187", "7.689", "3.02",
        ),
        (
            "8.864829", "8.865", "9.302", "7.949773", "7.950", "8.191", "7.680", "3.01",
        ),
    ];
    for (request, row) in compared.requests.iter().zip(rows) {
        rounds(request.ttft_ms.real, row.0);
        rounds(request.ttft_ms.real, row.1);
        rounds(request.ttft_ms.simulated, row.2);
        rounds(request.itl_ms_mean.real, row.3);
        rounds(request.itl_ms_mean.real, row.4);
        rounds(request.itl_ms_mean.simulated, row.5);
        rounds(request.e2e_ms.error, row.6);
        rounds(request.e2e_ms.error_pct, row.7);
        assert_eq!(request.itl_ms_p50.real, None);
    }
    let of = |pick: fn(&cascade_steps::compare_steps::RequestErrors) -> Option<f64>| {
        mean(compared.requests.iter().map(|r| pick(r).unwrap()))
    };
    let ttft = (of(|r| r.ttft_ms.real), of(|r| r.ttft_ms.simulated));
    let itl = (of(|r| r.itl_ms_mean.real), of(|r| r.itl_ms_mean.simulated));
    rounds(ttft.0, "8.63");
    rounds(ttft.1, "9.00");
    rounds(100.0 * (ttft.1 / ttft.0 - 1.0), "4.3");
    rounds(itl.0, "7.93");
    rounds(itl.1, "8.17");
    rounds(100.0 * (itl.1 / itl.0 - 1.0), "3.06");
}

#[test]
fn h100_sums_of_walls_and_gaps() {
    let timeline = real(H100);
    let rows = [
        ("252.179409", "1.158236"),
        ("253.426680", "1.109083"),
        ("254.077620", "1.169005"),
    ];
    for (repeat, (walls, gaps)) in (1..).zip(rows) {
        let of = || timeline.steps.iter().filter(|s| s.repeat == repeat);
        let wall: f64 = of().map(|s| s.baseline_wall_ns.unwrap()).sum();
        let gap: f64 = of().filter_map(|s| s.baseline_gap_before_ns).sum();
        rounds(wall / 1e6, walls);
        rounds(gap / 1e6, gaps);
        assert_eq!(of().filter(|s| s.baseline_gap_before_ns.is_none()).count(), 1);
    }
}

#[test]
fn h100_mean_steps() {
    let (real, simulated, _) = replay(H100, "SM90_H100");
    let (_, h200, _) = replay(H100, "SM90_H200");
    let rows = [
        (
            "prefill", 3, "8.498641", "8.458830", "0.615279", "7.883362", "1.637063", "822.679", "823.136",
        ),
        (
            "decode", 93, "7.894492", "7.848008", "0.575611", "7.318881", "1.656008", "816.980", "817.620",
        ),
    ];
    for (kind, count, wall, p50, busy, host, api, h100_busy, h200_busy) in rows {
        let of = |t: &Timeline, pick: fn(&cascade_steps::Step) -> Option<f64>| -> Vec<f64> {
            let steps = t.steady().filter(|s| s.kind == kind);
            steps.map(|s| pick(s).unwrap()).collect()
        };
        let walls = of(&real, |s| s.baseline_wall_ns);
        assert_eq!(walls.len(), count);
        rounds(mean(walls.clone()) / 1e6, wall);
        rounds(median(walls) / 1e6, p50);
        rounds(mean(of(&real, |s| s.gpu_busy_ns)) / 1e6, busy);
        rounds(mean(of(&real, |s| s.host_ns)) / 1e6, host);
        rounds(mean(of(&real, |s| s.cuda_api_ns)) / 1e6, api);
        rounds(mean(of(&simulated, |s| s.gpu_busy_ns)) / 1e3, h100_busy);
        rounds(mean(of(&h200, |s| s.gpu_busy_ns)) / 1e3, h200_busy);
    }
    let gaps = || real.steady().filter_map(|s| s.baseline_gap_before_ns);
    rounds(mean(gaps()) / 1e6, "0.036950");
    rounds(median(gaps()) / 1e6, "0.035911");
    let decodes = || real.steady().filter(|s| s.kind == "decode");
    let busy = mean(decodes().map(|s| s.gpu_busy_ns.unwrap()));
    rounds(
        100.0 * busy / mean(decodes().map(|s| s.baseline_wall_ns.unwrap())),
        "7.29",
    );
}

#[test]
fn step_errors_and_coverage() {
    let rows = [
        (
            H100,
            "SM90_H100",
            17_088,
            "98.13",
            "3.040",
            "41.676",
            Some("240.307"),
        ),
        (A100, "SM80_A100", 14_724, "98.2570", "3.394", "24.141", None),
    ];
    for (sample, config, kernels, covered, wall, busy, ns) in rows {
        let (real, simulated, compared) = replay(sample, config);
        let coverage = &simulated.summary["simulation"]["coverage"];
        assert_eq!(coverage["kernels"], kernels);
        assert_eq!(coverage["simulated_kernels"], kernels);
        rounds(coverage["gpu_time_fraction"].as_f64().unwrap() * 100.0, covered);
        rounds(compared.summary.wall_ns.mean_abs_error_pct, wall);
        rounds(compared.summary.gpu_busy_ns.mean_abs_error_pct, busy);
        if let Some(ns) = ns {
            rounds(compared.summary.wall_ns.mean_abs_error.map(|e| e / 1e3), ns);
            rounds(compared.summary.gpu_busy_ns.mean_abs_error.map(|e| e / 1e3), ns);
        }
        let steady = real.steady().count();
        assert_eq!((real.steps.len(), steady), (128, 96));
        // Each repeat has as many kernels: 5,696 and 4,908.
        for repeat in 1..=3 {
            let of = real.steps.iter().filter(|s| s.repeat == repeat);
            assert_eq!(of.map(|s| s.kernels.len()).sum::<usize>(), kernels / 3);
        }
    }
}

#[test]
fn parts_of_a_repeat_add_up_to_its_request() {
    for sample in [H100, A100] {
        let timeline = real(sample);
        for request in timeline.requests.iter().filter(|r| !r.warmup) {
            let steps: Vec<_> = timeline
                .steps
                .iter()
                .filter(|s| s.repeat == request.repeat)
                .collect();
            let walls: f64 = steps.iter().map(|s| s.baseline_wall_ns.unwrap()).sum();
            let gaps: f64 = steps.iter().filter_map(|s| s.baseline_gap_before_ns).sum();
            let parts =
                request.pre_first_step_ns.unwrap() + walls + gaps + request.post_last_step_ns.unwrap();
            // On the H100 the published parts fall short of the published request by 0.64 to 0.65 µs.
            let short = request.e2e_ms.unwrap() * 1e6 - parts;
            let most = if sample == H100 { 650.0 } else { 1.0 };
            assert!(
                (-1.0..=most).contains(&short),
                "{sample} {}: {short} ns",
                request.repeat
            );
            for step in steps {
                let kernels: f64 = step.kernels.iter().map(|k| k.duration_ns).sum();
                assert!(kernels < step.gpu_busy_ns.unwrap());
                assert!(step.gpu_busy_ns.unwrap() < step.baseline_wall_ns.unwrap());
            }
        }
    }
}
