//! The H100 profile, from the figures published for it.
//!
//! Published figures are whole ns, or whole cycles once a mean is multiplied by its count. Where figures were
//! rounded before they were published, the values here are ones that round to all of them.

use crate::build::{Config, Facts, Profile, STEPS, StepTimes, TRACED, Times, at, kernels};
use crate::codes::{GROUPS, Group, Role, code, names};
use crate::layout::{Kind, Model};
use crate::share::{DECODES, REPEATS, Spread, around, middle, ripple, split};

/// Measured kernel time of each group in a mean prefill, in ns.
const PREFILL: [i64; GROUPS] = [
    56_682, 95_584, 26_645, 49_258, 58_900, 60_288, 24_096, 30_773, 88_585, 85_151, 28_533,
];
/// The same in a mean decode step.
const DECODE: [i64; GROUPS] = [
    55_910, 69_689, 23_904, 49_028, 58_622, 59_908, 23_163, 30_474, 86_520, 85_398, 22_196,
];
/// The same over the four traced steps: the published mean of the 712 occurrences times the group's count.
const TRACED_SUM: [i64; GROUPS] = [
    225_087, 303_677, 98_496, 195_806, 234_013, 240_350, 93_120, 122_494, 349_055, 340_410, 95_071,
];
/// All kernels of each repeat's prefill. Derived: with these, simulated TTFT, ITL, request time and GPU busy time
/// all round to what is published.
const PREFILL_KERNELS: [i64; REPEATS] = [604_368, 604_595, 604_522];
/// All kernels of each repeat's decode steps. Derived likewise.
const DECODE_KERNELS: [i64; REPEATS] = [17_499_974, 17_509_337, 17_518_241];
/// Wall time of each repeat's prefill: published mean and median; the other two are derived.
const PREFILL_WALL: [i64; REPEATS] = [8_458_830, 8_222_794, 8_814_299];
/// Published sums of each repeat's walls and gaps.
const WALLS: [i64; REPEATS] = [252_179_409, 253_426_680, 254_077_620];
const GAPS: [i64; REPEATS] = [1_158_236, 1_109_083, 1_169_005];
/// Published medians of a decode step's wall and of the gap before it.
const WALL_P50: i64 = 7_848_008;
const GAP_P50: i64 = 35_911;
/// The host's share of the median decode step. Derived from the published prediction for 32 tokens.
const HOST_P50: i64 = 7_271_836;
/// GPU time that no kernel explains, in the prefills, in a decode step and in the last one. Derived from the
/// published busy times and predictions.
const PREFILL_UNMODELED: [i64; REPEATS] = [11_050, 10_651, 10_651];
const UNMODELED: i64 = 10_774;
const LAST_UNMODELED: i64 = 11_545;
/// Time in CUDA calls, published as means.
const CUDA_API: [i64; 2] = [1_637_063, 1_656_008];

/// The profile.
pub(crate) fn profile() -> Profile {
    let model = model();
    let groups = groups();
    let decode_walls = std::array::from_fn(|r| WALLS[r] - PREFILL_WALL[r]);
    let wall = around(WALL_P50, decode_walls, WALL_SPREAD);
    let gap = around(GAP_P50, GAPS, GAP_SPREAD);
    let steps = std::array::from_fn(|repeat| {
        let step = |step: usize| StepTimes {
            wall: match step {
                0 => PREFILL_WALL[repeat],
                _ => wall[repeat][step - 1],
            },
            gap: (step > 0).then(|| gap[repeat][step - 1]),
            unmodeled: unmodeled(repeat, step),
            cuda_api: Some(CUDA_API[usize::from(step > 0)]),
            kernels: kernels(
                &model.step(Kind::of(step)),
                &groups[repeat][step],
                repeat * STEPS + step,
            ),
        };
        (0..STEPS).map(step).collect()
    });
    Profile {
        name: "opt125m-h100-e2e",
        facts: FACTS,
        configs: vec![
            Config {
                name: "SM90_H100",
                mhz: 1980,
                column: 0,
            },
            Config {
                name: "SM90_H200",
                mhz: 1980,
                column: 1,
            },
        ],
        model,
        first_uid: 6214,
        requests: [
            request(320_608, -223_509, 8_636_344, 7_896_743, 253_435_384),
            request(279_947, -202_996, 8_382_869, 7_942_919, 254_613_360),
            request(279_940, -219_420, 8_864_829, 7_949_773, 255_307_791),
        ],
        steps,
    }
}

/// How decode walls and gaps lie around their medians: distributed, so that the mean error of a step's wall comes
/// out as published.
const WALL_SPREAD: Spread = Spread {
    low: 220_000.0,
    rise: (260_000.0, 240_000.0),
};
const GAP_SPREAD: Spread = Spread {
    low: 3_000.0,
    rise: (3_000.0, 4_000.0),
};

const fn request(pre: i64, post: i64, ttft: i64, itl: i64, e2e: i64) -> Times {
    Times {
        pre,
        post,
        ttft: Some(ttft),
        itl: Some(itl),
        e2e,
    }
}

/// GPU time that no kernel explains. The middle one of the three repeats has the derived value at each context.
fn unmodeled(repeat: usize, step: usize) -> i64 {
    let median = match step {
        0 => return PREFILL_UNMODELED[repeat],
        DECODES => LAST_UNMODELED,
        _ => UNMODELED,
    };
    let off = 20 * (7 + ripple(step));
    median + [off, 0, -off][(repeat + step) % REPEATS]
}

/// Sums of the groups in every step. Rows add up to the step's kernels, columns to the published means.
fn groups() -> [[[i64; GROUPS]; STEPS]; REPEATS] {
    let mut cells = [[[0; GROUPS]; STEPS]; REPEATS];
    let mut rows = rows();
    // Prefills: each group in proportion.
    for group in 0..GROUPS {
        let parts = split(PREFILL[group] * REPEATS as i64, &PREFILL_KERNELS);
        (0..REPEATS).for_each(|repeat| cells[repeat][0][group] = parts[repeat]);
    }
    (0..REPEATS).for_each(|repeat| close(&mut cells[repeat][0], PREFILL_KERNELS[repeat]));
    // Traced decodes: what the prefill leaves of the traced sum.
    for group in 0..GROUPS {
        let parts = split(TRACED_SUM[group] - cells[0][0][group], &[1_000, 1_003, 997]);
        for (part, step) in parts.into_iter().zip(&TRACED[1..]) {
            cells[0][*step][group] = part;
        }
    }
    for &step in &TRACED[1..] {
        rows[0][step] = cells[0][step].iter().sum();
    }
    // The other decodes share the rest of each group.
    let rest: Vec<(usize, usize)> = places()
        .filter(|&(r, s)| !(r == 0 && TRACED.contains(&s)))
        .collect();
    for group in (0..GROUPS).filter(|&g| g != at(Group::Elementwise)) {
        let traced: i64 = TRACED[1..].iter().map(|&step| cells[0][step][group]).sum();
        let weight =
            |&(r, s): &(usize, usize)| rows[r][s] * (2_000 + ripple(s * 11 + r * 5 + group * 3)) / 1_000;
        let weights: Vec<i64> = rest.iter().map(weight).collect();
        let parts = split(DECODE[group] * (REPEATS * DECODES) as i64 - traced, &weights);
        for (part, &(repeat, step)) in parts.into_iter().zip(&rest) {
            cells[repeat][step][group] = part;
        }
    }
    for (repeat, step) in rest {
        close(&mut cells[repeat][step], rows[repeat][step]);
    }
    cells
}

/// Puts what is left of a step's kernels on the many small elementwise ones.
fn close(cells: &mut [i64; GROUPS], sum: i64) {
    cells[at(Group::Elementwise)] += sum - cells.iter().sum::<i64>();
}

/// Kernel time of every decode step: each repeat's sum, spread over steps by some µs.
fn rows() -> [[i64; STEPS]; REPEATS] {
    let mut rows = [[0; STEPS]; REPEATS];
    let traced: i64 = TRACED_SUM.iter().sum::<i64>() - PREFILL_KERNELS[0];
    let (median_repeat, median_step) = middle();
    let fixed = WALL_P50 - HOST_P50 - unmodeled(median_repeat, median_step + 1);
    for (repeat, row) in rows.iter_mut().enumerate() {
        let is_fixed = |step: usize| (repeat, step) == (median_repeat, median_step + 1);
        let is_traced = |step: usize| repeat == 0 && TRACED.contains(&step);
        let open: Vec<usize> = (1..STEPS).filter(|&s| !is_fixed(s) && !is_traced(s)).collect();
        let mut sum = DECODE_KERNELS[repeat];
        sum -= if repeat == 0 { traced } else { 0 };
        if repeat == median_repeat {
            row[median_step + 1] = fixed;
            sum -= fixed;
        }
        // From -15 to 15, each once.
        let weight = |&step: &usize| 565_000 + 125 * (((step * 11 + repeat * 5) % DECODES) as i64 - 15);
        let weights: Vec<i64> = open.iter().map(weight).collect();
        for (step, part) in open.iter().zip(split(sum, &weights)) {
            row[*step] = part;
        }
    }
    rows
}

/// Every decode step as (repeat, step).
fn places() -> impl Iterator<Item = (usize, usize)> {
    (0..REPEATS).flat_map(|repeat| (1..STEPS).map(move |step| (repeat, step)))
}

/// The kernels of a step. Cycles of a group add up to its published mean over the 712 occurrences.
fn model() -> Model {
    use Group as G;
    use Role::{ByKind, Same};
    const GEMM: &str = "nvjet_hsh_256x8_64x6_2x1_v_bz_TNN";
    const GEMM_BIAS: &str = "nvjet_hsh_256x8_64x6_2x1_v_bz_bias_TNN";
    const GEMM_SPLIT: &str = "nvjet_hsh_128x8_64x10_2x1_v_bz_splitK_TNN";
    const GEMM_WIDE: &str = "nvjet_hsh_64x8_64x16_4x1_v_bz_TNT";
    const ATTENTION: &str = "_ZN7cutlass13device_kernelIN5flash11enable_sm90INS1_16FlashAttnFwdSm90INS1_25CollectiveMainloopFwdSm90ILi2EEENS1_21CollectiveEpilogueFwdENS1_36VarlenDynamicPersistentTileSchedulerEEEEEEEvNT_6ParamsE";
    const PREPARE: &str = "_ZN5flash32prepare_varlen_num_blocks_kernelILi1ELb1EEEviiiPKiS2_S2_iiiiiPi";
    let norm = ByKind {
        prefill: code(
            G::LayerNorm,
            names::LAYER_NORM,
            ("6x1x1", "256x1x1"),
            10,
            [10_106, 10_102],
        ),
        decode: code(
            G::LayerNorm,
            names::LAYER_NORM,
            ("1x1x1", "256x1x1"),
            10,
            [10_103, 10_099],
        ),
    };
    let residual = ByKind {
        prefill: code(
            G::Elementwise,
            names::ADD,
            ("5x1x1", "128x1x1"),
            128,
            [6_160, 6_155],
        ),
        decode: code(
            G::Elementwise,
            names::ADD,
            ("1x1x1", "128x1x1"),
            128,
            [6_290, 6_291],
        ),
    };
    let index_select = Same(code(
        G::Other,
        names::INDEX_SELECT,
        ("6x1x1", "128x1x1"),
        36,
        [11_139, 11_089],
    ));
    let small =
        |name, grid, weight, cycles| Same(code(G::Elementwise, name, (grid, "128x1x1"), weight, cycles));
    let fill = small(names::FILL, "1x1x1", 125, [6_120, 6_120]);
    let add_long = small(names::ADD_LONG, "1x1x1", 130, [6_310, 6_310]);
    let mul = small(names::MUL, "99x1x1", 150, [6_402, 6_402]);
    let compare = small(names::COMPARE, "99x1x1", 155, [6_540, 6_540]);
    let choose = small(names::WHERE, "99x1x1", 160, [6_905, 6_905]);
    Model {
        head: vec![
            fill,
            add_long,
            Same(code(G::Other, PREPARE, ("1x1x1", "1024x1x1"), 24, [7_580, 7_570])),
            index_select,
            ByKind {
                prefill: code(
                    G::Elementwise,
                    names::CAST_LONG,
                    ("6x1x1", "128x1x1"),
                    140,
                    [6_450, 6_448],
                ),
                decode: code(
                    G::Elementwise,
                    names::CAST_LONG,
                    ("1x1x1", "128x1x1"),
                    140,
                    [6_432, 6_429],
                ),
            },
            index_select,
            add_long,
        ],
        layer: vec![
            norm,
            Same(code(G::Qkv, GEMM_BIAS, ("2x9x1", "384x1x1"), 10, [9_786, 9_771])),
            ByKind {
                prefill: code(
                    G::KvWrite,
                    names::KV_WRITE,
                    ("6x1x1", "512x1x1"),
                    10,
                    [8_229, 8_227],
                ),
                decode: code(
                    G::KvWrite,
                    names::KV_WRITE,
                    ("1x1x1", "512x1x1"),
                    10,
                    [8_022, 8_022],
                ),
            },
            ByKind {
                prefill: code(
                    G::Attention,
                    ATTENTION,
                    ("1x12x1", "384x1x1"),
                    10,
                    [14_501, 14_503],
                ),
                decode: code(
                    G::Attention,
                    ATTENTION,
                    ("132x1x1", "384x1x1"),
                    10,
                    [13_286, 13_286],
                ),
            },
            ByKind {
                prefill: code(
                    G::Elementwise,
                    names::COPY,
                    ("9x1x1", "128x1x1"),
                    132,
                    [6_010, 6_004],
                ),
                decode: code(
                    G::Elementwise,
                    names::COPY,
                    ("2x1x1", "128x1x1"),
                    132,
                    [6_180, 6_180],
                ),
            },
            Same(code(G::OutProj, GEMM, ("2x3x1", "384x1x1"), 10, [8_832, 8_831])),
            residual,
            norm,
            Same(code(
                G::MlpUp,
                GEMM_BIAS,
                ("2x12x1", "384x1x1"),
                10,
                [10_821, 10_684],
            )),
            ByKind {
                prefill: code(
                    G::Elementwise,
                    names::RELU,
                    ("18x1x1", "128x1x1"),
                    142,
                    [6_620, 6_614],
                ),
                decode: code(
                    G::Elementwise,
                    names::RELU,
                    ("3x1x1", "128x1x1"),
                    142,
                    [6_680, 6_680],
                ),
            },
            Same(code(
                G::MlpDown,
                GEMM_SPLIT,
                ("2x6x4", "384x1x1"),
                10,
                [10_273, 10_282],
            )),
            Same(code(
                G::SplitK,
                names::SPLIT_K,
                ("24x1x1", "32x16x1"),
                10,
                [7_269, 7_269],
            )),
            residual,
        ],
        tail: vec![
            norm,
            ByKind {
                prefill: code(G::Other, names::GATHER, ("6x1x1", "96x1x1"), 30, [8_542, 8_446]),
                decode: code(G::Other, names::GATHER, ("1x1x1", "96x1x1"), 30, [8_506, 8_486]),
            },
            small(names::TO_FLOAT, "50x1x1", 175, [9_432, 9_432]),
            Same(code(
                G::LmHead,
                GEMM_WIDE,
                ("2x66x1", "384x1x1"),
                10,
                [52_002, 55_296],
            )),
            fill,
            mul,
            compare,
            choose,
            mul,
            compare,
            choose,
            Same(code(
                G::Other,
                names::ARG_MAX,
                ("1x1x1", "512x1x1"),
                80,
                [29_300, 29_210],
            )),
            mul,
            add_long,
            fill,
        ],
    }
}

const FACTS: Facts = Facts {
    run_name: "e2e-plan-v1",
    gpu_name: "NVIDIA H100 80GB HBM3",
    gpu: "H100",
    arch: "sm_90",
    sm_mhz: 1980,
    mem_mhz: Some(2619),
    note: "means, sums and medians are the published ones; single steps and launches are spread around them by rule",
    exact: &[
        "real TTFT, mean ITL and request time of each steady repeat",
        "sums of step walls and of gaps of each steady repeat; median decode wall and gap; median and mean prefill wall",
        "mean GPU busy, host and CUDA API time of a prefill and of a decode step",
        "kernel counts and measured time of each kernel group in a mean prefill and a mean decode step",
        "measured and simulated mean time of each group over the 712 traced occurrences, H100 and H200",
        "simulated request time of each steady repeat, H100 and H200",
        "31 simulated kernels; 31 exact, 681 dedup and 16,376 identical launches",
        "uids 6217, 6221, 6222, 6226, 6229, 6231, 6379, 6577, 6579 and 6580; cycles of attention and KV write by step kind",
    ],
    derived: &[
        "pre-first-step and post-last-step time of each repeat",
        "prefill walls of repeats 2 and 3; kernel time of each repeat; GPU time that no kernel explains",
        "simulated cycles of both layer norms, of uid 6217 and of uid 6379, from the published disagreements",
    ],
    distributed: &[
        "walls, gaps and group times of single decode steps; times of single launches; start offsets; points in time",
        "simulated cycles of the small elementwise kernels and of the other kernels, within the group's mean",
        "kernel names, grids and blocks: of the kind that the libraries have, in an order that agrees with the uids",
    ],
    missing: &[
        "all times of the warm-up repeat; times under the profiler; median ITL; queue times",
        "instruction counts of simulated kernels and the simulator's options, the launch latency among them",
    ],
    // The launch latency in force is not published; configurations of this GPU have one of these two.
    corrections: &[
        (
            "constant fitted to the A100 sample's requests (1.5275 us) removed",
            1_527.5,
        ),
        (
            "launch constant of 3,000 cycles removed, if that was in force",
            3_000.0 / 1.98,
        ),
        (
            "launch constant of 5,000 cycles removed, if that was in force",
            5_000.0 / 1.98,
        ),
    ],
};
