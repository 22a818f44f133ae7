//! The A100 profile, from the few figures published for it.
//!
//! No time by kernel group was published for this GPU, measured or simulated: only request times, coverage and
//! mean errors, and what the request model predicts from the profile. Simulated cycles are chosen to meet those, and
//! each measured kernel gets its share of a step's measured time in proportion to its cycles, so an error by group
//! says nothing here.

use crate::build::{Config, Facts, Profile, STEPS, StepTimes, Times};
use crate::codes::{Code, Group, Role, code, names};
use crate::layout::{Kind, Model};
use crate::share::{DECODES, REPEATS, Spread, around, middle, ripple, split};

/// Published request times of the steady repeats, and by how much the simulated ones are longer, in ns.
const E2E: [i64; REPEATS] = [222_428_868, 221_967_065, 221_853_422];
const E2E_ERROR: [i64; REPEATS] = [7_514_601, 7_473_667, 7_502_572];
/// By how much a decode step's kernels are over-predicted: derived from the published error of GPU busy time.
const DECODE_ERROR: i64 = 231_900;
/// GPU time of a step that no kernel explains: derived from the published coverage.
const UNMODELED: i64 = 16_906;
/// Host time of the prefills. The median is derived from the published prediction of TTFT.
const PREFILL_HOST: [i64; REPEATS] = [6_598_300, 6_546_272, 6_505_300];
/// Host time of the median decode step. Derived from the published predictions for 32 and 256 tokens.
const HOST_P50: i64 = 5_903_798;
/// Before the first step and after the last; the medians are derived from the predictions too.
const PRE: [i64; REPEATS] = [280_600, 280_300, 280_100];
const POST: [i64; REPEATS] = [-155_000, -152_800, -149_100];
/// Sums and median of the gaps: not published here, so those of the H100 profile.
const GAPS: [i64; REPEATS] = [1_158_236, 1_109_083, 1_169_005];
const GAP_P50: i64 = 35_911;
/// The core clock of the config, in MHz.
const MHZ: u32 = 1410;

/// How decode walls and gaps lie around their medians: distributed, so that the mean error of a step's wall comes
/// out as published.
const WALL_SPREAD: Spread = Spread {
    low: 200_000.0,
    rise: (200_000.0, 100_000.0),
};
const GAP_SPREAD: Spread = Spread {
    low: 3_000.0,
    rise: (3_000.0, 4_000.0),
};

/// The profile.
pub(crate) fn profile() -> Profile {
    let model = model();
    let codes = [Kind::Prefill, Kind::Decode].map(|kind| model.step(kind));
    let [prefill_cycles, decode_cycles] = [cycles(&codes[0]), cycles(&codes[1])];
    let simulated = to_ns(prefill_cycles + decode_cycles * DECODES as u64);
    // Measured kernel time of each step: simulated time less its error.
    let measured = |repeat: usize| {
        let decode = to_ns(decode_cycles) - DECODE_ERROR;
        let prefill = simulated - E2E_ERROR[repeat] - decode * DECODES as i64;
        let (median_repeat, median_step) = middle();
        let mut rows = vec![prefill];
        rows.extend((0..DECODES).map(|step| {
            // From -15 to 15, each once, so that the sum stays; the median step has none.
            let at = (step * 11 + repeat * 5) % DECODES;
            let zero = (median_step * 11 + repeat * 5) % DECODES;
            let off = if repeat == median_repeat {
                DECODES - zero
            } else {
                0
            };
            let centred = ((at + off + DECODES / 2) % DECODES) as i64 - 15;
            decode + 125 * centred
        }));
        rows
    };
    let kernels: [Vec<i64>; REPEATS] = std::array::from_fn(measured);
    let prefill_wall = |r: usize| PREFILL_HOST[r] + kernels[r][0] + UNMODELED;
    let gap = around(GAP_P50, GAPS, GAP_SPREAD);
    let sums = std::array::from_fn(|r| E2E[r] - PRE[r] - POST[r] - GAPS[r] - prefill_wall(r));
    let (median_repeat, median_step) = middle();
    let median = HOST_P50 + kernels[median_repeat][median_step + 1] + UNMODELED;
    let wall = around(median, sums, WALL_SPREAD);
    let steps = std::array::from_fn(|repeat| {
        let step = |step: usize| StepTimes {
            wall: match step {
                0 => prefill_wall(repeat),
                _ => wall[repeat][step - 1],
            },
            gap: (step > 0).then(|| gap[repeat][step - 1]),
            unmodeled: UNMODELED,
            cuda_api: None,
            kernels: by_cycles(
                &codes[usize::from(step > 0)],
                kernels[repeat][step],
                repeat * STEPS + step,
            ),
        };
        (0..STEPS).map(step).collect()
    });
    let request = |r: usize| Times {
        pre: PRE[r],
        post: POST[r],
        ttft: None,
        itl: None,
        e2e: E2E[r],
    };
    Profile {
        name: "opt125m-a100-e2e",
        facts: FACTS,
        configs: vec![Config {
            name: "SM80_A100",
            mhz: MHZ,
            column: 0,
        }],
        first_uid: 1,
        requests: std::array::from_fn(request),
        steps,
        model,
    }
}

/// Simulated cycles of a step's kernels.
fn cycles(codes: &[Code]) -> u64 {
    codes.iter().map(|code| code.cycles[0]).sum()
}

/// Cycles as whole ns.
fn to_ns(cycles: u64) -> i64 {
    (cycles as f64 * 1_000.0 / f64::from(MHZ)).round() as i64
}

/// Times of a step's kernels, each in proportion to its cycles, give or take half a per cent.
fn by_cycles(codes: &[Code], sum: i64, salt: usize) -> Vec<i64> {
    let weight = |(at, code): (usize, &Code)| code.cycles[0] as i64 * (1_000 + ripple(at + salt));
    split(sum, &codes.iter().enumerate().map(weight).collect::<Vec<_>>())
}

/// The kernels of a step: 165 in a prefill, 153 in a decode, which make the published 624 traced and 14,724 steady
/// launches. The twelve more are taken to be split-K reductions.
fn model() -> Model {
    use Group as G;
    use Role::{ByKind, Prefill, Same};
    const QKV: &str = "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x6_tn";
    const OUT: &str = "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x5_tn";
    const UP: &str = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_64x4_tn";
    const DOWN: &str = "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_tn";
    const LM_HEAD: &str = "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_stages_64x6_tn";
    const ATTENTION: &str = "_ZN5flash24flash_fwd_splitkv_kernelI23Flash_fwd_kernel_traitsILi64ELi64ELi256ELi4EEEEvNS_16Flash_fwd_paramsE";
    let one = |group, name, shape, cycles| code(group, name, shape, 10, [cycles, 0]);
    let both = |group, name, prefill: (&'static str, u64), decode: (&'static str, u64), block| ByKind {
        prefill: one(group, name, (prefill.0, block), prefill.1),
        decode: one(group, name, (decode.0, block), decode.1),
    };
    let small = |name, grid, cycles| Same(one(G::Elementwise, name, (grid, "128x1x1"), cycles));
    let norm = both(
        G::LayerNorm,
        names::LAYER_NORM,
        ("6x1x1", 8_400),
        ("1x1x1", 8_350),
        "256x1x1",
    );
    let residual = both(
        G::Elementwise,
        names::ADD,
        ("5x1x1", 6_050),
        ("1x1x1", 6_030),
        "128x1x1",
    );
    let index_select = Same(one(G::Other, names::INDEX_SELECT, ("6x1x1", "128x1x1"), 10_400));
    let fill = small(names::FILL, "1x1x1", 5_900);
    let add_long = small(names::ADD_LONG, "1x1x1", 6_000);
    let mul = small(names::MUL, "99x1x1", 6_080);
    let compare = small(names::COMPARE, "99x1x1", 6_150);
    let choose = small(names::WHERE, "99x1x1", 6_250);
    let copy = small(names::COPY, "2x1x1", 6_500);
    Model {
        head: vec![
            fill,
            add_long,
            index_select,
            both(
                G::Elementwise,
                names::CAST_LONG,
                ("6x1x1", 6_200),
                ("1x1x1", 6_150),
                "128x1x1",
            ),
            index_select,
            add_long,
        ],
        layer: vec![
            norm,
            both(G::Qkv, QKV, ("36x1x1", 17_600), ("36x1x2", 15_200), "128x1x1"),
            both(
                G::KvWrite,
                names::KV_WRITE,
                ("6x1x1", 6_900),
                ("1x1x1", 6_700),
                "512x1x1",
            ),
            both(
                G::Attention,
                ATTENTION,
                ("1x1x12", 17_500),
                ("1x2x12", 16_870),
                "128x1x1",
            ),
            both(G::OutProj, OUT, ("12x1x1", 14_200), ("12x1x2", 12_600), "128x1x1"),
            residual,
            norm,
            both(G::MlpUp, UP, ("24x1x1", 20_100), ("24x1x2", 16_100), "128x1x1"),
            both(
                G::Elementwise,
                names::RELU,
                ("18x1x1", 6_400),
                ("3x1x1", 6_350),
                "128x1x1",
            ),
            both(
                G::MlpDown,
                DOWN,
                ("12x1x4", 20_600),
                ("12x1x1", 17_300),
                "128x1x1",
            ),
            Prefill(one(G::SplitK, names::SPLIT_K, ("24x1x1", "32x16x1"), 7_000)),
            residual,
        ],
        tail: vec![
            norm,
            both(
                G::Other,
                names::GATHER,
                ("6x1x1", 8_100),
                ("1x1x1", 8_050),
                "96x1x1",
            ),
            small(names::TO_FLOAT, "50x1x1", 8_300),
            Same(one(G::LmHead, LM_HEAD, ("786x1x1", "128x1x1"), 71_000)),
            fill,
            mul,
            compare,
            choose,
            mul,
            compare,
            choose,
            Same(one(G::Other, names::ARG_MAX, ("1x1x1", "512x1x1"), 26_000)),
            copy,
            copy,
            fill,
        ],
    }
}

const FACTS: Facts = Facts {
    run_name: "e2e-a100-plan-v1",
    gpu_name: "NVIDIA A100-SXM4-80GB",
    gpu: "A100-80GB",
    arch: "sm_80",
    sm_mhz: 1155,
    mem_mhz: None,
    note: "request times, coverage and mean errors are the published ones; no time of a kernel group is known, so \
           kernel times are spread by rule and errors by group say nothing",
    exact: &[
        "real and simulated request time of each steady repeat",
        "33 simulated kernels; 33 exact, 591 dedup and 14,100 identical launches; all 14,724 steady launches covered",
        "the clock of the conversion, 1410 MHz, which is not the profiled median of 1155 MHz",
    ],
    derived: &[
        "165 kernels in a prefill and 153 in a decode step",
        "mean kernel time of a step and GPU time that no kernel explains, from coverage and the error of GPU busy time",
        "median host time, pre-first-step and post-last-step time, from what the request model predicts",
    ],
    distributed: &[
        "simulated cycles of every kernel, within what the predictions leave",
        "measured kernel times: in proportion to simulated cycles, so an error by kernel group says nothing",
        "walls of single steps, kernel names, grids, blocks, uids, start offsets and points in time; gaps as on the H100",
    ],
    missing: &[
        "all times of the warm-up repeat; times under the profiler; TTFT, ITL, CUDA API and queue times",
        "instruction counts of simulated kernels and the simulator's options, the launch latency among them",
    ],
    corrections: &[
        (
            "constant fitted to the H100 sample's requests (1.350 us) removed",
            1_350.0,
        ),
        (
            "launch constant of 5,000 cycles removed, if that was in force",
            5_000.0 / 1.41,
        ),
    ],
};
