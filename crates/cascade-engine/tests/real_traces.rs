//! Real and synthetic traces with reference cycles: instruction counts must match, times are printed beside
//! the reference and only have to be sane. Nothing here may be used to tune the engine.
//!
//! The data is not part of the repository: `CASCADE_SHARED_DATA` names its folder, or it lies at
//! `../shared/data` beside the workspace; without it the tests say so and pass.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test prints what it measures and may panic"
)]

use std::fs::File;
use std::path::{Path, PathBuf};

use cascade_accelsim::config::{Config, GpuConfig, Source};
use cascade_accelsim::trace::{
    self, BlockSink, BlockSource, KernelHeader, OpcodeTable, ThreadBlock, TraceError,
};
use cascade_engine::{Engine, GpuModel, KernelEstimate, L2State, Level, Options, gpu};

fn data() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder =
        std::env::var_os("CASCADE_SHARED_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "skipped: no real traces at {} (set CASCADE_SHARED_DATA)",
        folder.display()
    );
    None
}

fn model(name: &str) -> GpuModel {
    gpu::builtin()
        .expect("valid")
        .into_iter()
        .find(|gpu| gpu.name == name)
        .expect("built in")
}

fn open(file: &Path) -> Box<dyn BlockSource> {
    let name = file.display().to_string();
    trace::open(File::open(file).expect(&name), &name).expect(&name)
}

fn simulate_at(level: Level, source: &mut dyn BlockSource, gpu: &GpuModel) -> KernelEstimate {
    let options = Options {
        level,
        allow_other_arch: true,
        ..Options::default()
    };
    Engine::simulate_kernel(source, gpu, &options).expect("simulates")
}

fn simulate(file: &Path, gpu: &GpuModel) -> KernelEstimate {
    simulate_at(Level::L0, &mut *open(file), gpu)
}

fn kernel_file(folder: &Path) -> Option<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    files.into_iter().find(|file| {
        file.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("kernel-1"))
    })
}

#[test]
fn instruction_counts_of_real_traces() {
    let Some(data) = data() else { return };
    for (folder, gpu, warp, thread) in [
        ("vectoradd-gtx1080-v4", "SM7_QV100", 344, Some(10_516)),
        ("matrixmul-gtx1080-v4", "SM7_QV100", 4_416, Some(139_264)),
        ("vectoradd-a100-v5", "SM80_A100", 26_601, None),
        ("bfs-a100-v3", "SM80_A100", 1_799, Some(45_316)),
        ("ffma-h100-v5", "SM90_H100", 1_328, Some(42_432)),
        ("atax-h100-v5", "SM90_H100", 60, None),
        ("atax-h100-v6", "SM90_H100", 60, None),
    ] {
        let file = kernel_file(&data.join("traces").join(folder)).expect(folder);
        let estimate = simulate(&file, &model(gpu));
        assert_eq!(estimate.warp_insts, warp, "{folder}");
        assert!(
            thread.is_none_or(|thread| thread == estimate.thread_insts),
            "{folder}: {}",
            estimate.thread_insts
        );
        assert_eq!(estimate.coverage, 1.0, "{folder}: {:?}", estimate.unknown_opcodes);
        println!(
            "{folder:24} {gpu:12} {} cycles, {}",
            estimate.cycles,
            estimate.winner.as_str()
        );
    }
}

/// Cycles that a real H100 PCIe took for this kernel. It runs at another clock and has other memory than the
/// SXM5 model, so only the order of magnitude is asserted.
#[test]
fn the_one_trace_with_real_cycles() {
    let Some(data) = data() else { return };
    let folder = data.join("traces/ffma-h100-v5");
    let real: f64 = std::fs::read_to_string(folder.join("gt"))
        .expect("gt")
        .trim()
        .parse()
        .expect("a number");
    let estimate = simulate(&kernel_file(&folder).expect("a kernel"), &model("SM90_H100"));
    let error = (estimate.cycles as f64 / real - 1.0) * 100.0;
    println!(
        "ffma-h100-v5: {} cycles (body {:.0}, T0 {:.0}), real {real}: {error:+.1} %",
        estimate.cycles, estimate.body_cycles, estimate.t0_cycles
    );
    assert!(error.abs() < 75.0);
    // 1,328 instructions, most of which need the one before: at least four cycles each for the FFMA part.
    assert!(
        estimate.body_cycles > 4_000.0 && estimate.body_cycles < 7_000.0,
        "{}",
        estimate.body_cycles
    );
}

/// One row of the reference: trace folder, config (full text) and cycles of its first kernel.
fn reference(data: &Path) -> Vec<(String, String, f64)> {
    let text = std::fs::read_to_string(data.join("accel-sim-reference.csv")).expect("reference");
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        // Rows whose first column is quoted are of other trace files than those at hand.
        let fields: Vec<_> = line.split(',').collect();
        let numbers: Vec<f64> = fields
            .iter()
            .skip(2)
            .filter_map(|field| field.trim().parse().ok())
            .collect();
        if let (Some(folder), Some(config), Some(1.0), Some(cycles)) =
            (fields.first(), fields.get(1), numbers.first(), numbers.get(1))
        {
            rows.push(((*folder).to_owned(), (*config).to_owned(), *cycles));
        }
    }
    rows
}

/// The GPU that a config folder of the data describes, and its launch constant in cycles.
fn config_model(data: &Path, config: &str) -> Option<(GpuModel, f64)> {
    let folder = config.trim_end_matches(".adapted").trim_end_matches(".filtered");
    let read =
        |file: &str| std::fs::read(data.join("gpu-configs").join(folder).join(file)).unwrap_or_default();
    let (gpgpusim, trace) = (read("gpgpusim.config"), read("trace.config"));
    let sources = [
        Source {
            name: "gpgpusim.config",
            text: &gpgpusim,
        },
        Source {
            name: "trace.config",
            text: &trace,
        },
    ];
    let config = GpuConfig::new(&Config::read(&sources, &mut |file| Err(format!("no {file}")))).ok()?;
    let name = folder.split('.').next().unwrap_or(folder);
    Some((
        GpuModel::from_gpgpusim(name, &config).expect(folder),
        f64::from(config.kernel_launch_latency),
    ))
}

/// Accel-Sim's cycles for the same traces, without its launch constant, against the body (which has no `T0`
/// in it) on a GPU read from the same config.
#[test]
fn accel_sim_reference() {
    let Some(data) = data() else { return };
    let mut errors = Vec::new();
    for (folder, config, cycles) in &reference(&data) {
        let file = kernel_file(&data.join(folder))
            .filter(|file| file.extension().is_none_or(|kind| kind != "trace"));
        let (Some((gpu, launch)), Some(file)) = (config_model(&data, config), file) else {
            continue;
        };
        let estimate = simulate(&file, &gpu);
        let error = estimate.body_cycles / (cycles - launch) - 1.0;
        println!(
            "{folder:28} {config:28} Accel-Sim {:8} body {:8.0} ({:+6.1} %) {}",
            cycles - launch,
            estimate.body_cycles,
            error * 100.0,
            estimate.winner.as_str()
        );
        assert!(
            estimate.body_cycles < cycles * 20.0 && estimate.cycles > 0,
            "{folder} on {config}: {estimate:?}"
        );
        errors.push(error.abs());
    }
    assert!(
        errors.len() > 50,
        "only {} rows of the reference were understood",
        errors.len()
    );
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or_default();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    println!(
        "body against Accel-Sim's, {} rows: mean {:.1} %, median {:.1} %",
        errors.len(),
        mean * 100.0,
        median * 100.0
    );
}

/// Where the configs at hand disagree with the built-in facts: the A100 config's DRAM clock must be among it.
#[test]
fn disagreements_of_real_configs() {
    let Some(data) = data() else { return };
    for config in [
        "SM75_RTX2060",
        "SM7_QV100",
        "SM80_A100.values",
        "SM86_RTX3070",
        "SM90_H100.v2025.values",
        "SM90_H200.values",
    ] {
        let (config_gpu, _) = config_model(&data, config).expect(config);
        let found = gpu::disagreements(&model(&config_gpu.name), &config_gpu);
        for one in &found {
            println!(
                "{config}: {} facts {} config {} {}",
                one.key, one.facts, one.config, one.unit
            );
        }
        let bandwidth = found.iter().any(|one| one.key == "chip.dram_bandwidth");
        assert_eq!(
            bandwidth,
            config.contains("A100") || config.contains("H100"),
            "{config}"
        );
    }
}

/// A trace whose warps end after so many instructions.
struct Cut<'a> {
    source: &'a mut dyn BlockSource,
    length: usize,
}

impl BlockSource for Cut<'_> {
    fn header(&self) -> &KernelHeader {
        self.source.header()
    }
    fn header_text(&self) -> &[u8] {
        self.source.header_text()
    }
    fn opcodes(&self) -> &OpcodeTable {
        self.source.opcodes()
    }
    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        let more = self.source.next_block(block)?;
        block
            .warps
            .iter_mut()
            .for_each(|warp| warp.instrs.truncate(self.length));
        Ok(more)
    }
    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError> {
        self.source.copy_block(sink)
    }
}

/// The real H100 against level 1: in all, and for one iteration of the loop, which no overhead touches.
#[test]
fn level_1_and_the_one_trace_with_real_cycles() {
    let Some(data) = data() else { return };
    let folder = data.join("traces/ffma-h100-v5");
    let file = kernel_file(&folder).expect("a kernel");
    let real: f64 = std::fs::read_to_string(folder.join("gt"))
        .expect("gt")
        .trim()
        .parse()
        .expect("a number");
    let gpu = model("SM90_H100");
    let whole = simulate_at(Level::L1, &mut *open(&file), &gpu);
    let mut block = ThreadBlock::default();
    assert!(open(&file).next_block(&mut block).expect("a block"));
    let instrs = &block.warps.first().expect("a warp").instrs;
    // The loop starts where the program goes back to.
    let turns: Vec<usize> = instrs
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| matches!(pair, [a, b] if b.pc < a.pc))
        .map(|(i, _)| i + 1)
        .collect();
    let cut = |length| {
        let mut source = open(&file);
        let mut source = Cut {
            source: &mut *source,
            length,
        };
        simulate_at(Level::L1, &mut source, &gpu).body_cycles
    };
    let (first, last) = (*turns.first().expect("a loop"), *turns.last().expect("a loop"));
    let turn = (cut(last) - cut(first)) / (turns.len() as f64 - 1.0);
    println!(
        "ffma-h100-v5 at level 1: {} cycles (body {:.0}, T0 {:.0}), real {real}: {:+.1} %; {} turns of {turn:.1} cycles",
        whole.cycles,
        whole.body_cycles,
        whole.t0_cycles,
        (whole.cycles as f64 / real - 1.0) * 100.0,
        turns.len() + 1,
    );
    // 128 dependent multiply-adds of four cycles and a little more.
    assert!((512.0..560.0).contains(&turn), "{turn}");
}

/// Level 1 beside Accel-Sim without its launch constant, on the same configs: printed as a table for
/// `docs/engine.md`. Nothing is tuned to it; what is asserted is that every trace runs.
#[test]
fn level_1_beside_accel_sim() {
    let Some(data) = data() else { return };
    let mut errors = Vec::new();
    for (folder, config, cycles) in &reference(&data) {
        let file = kernel_file(&data.join(folder))
            .filter(|file| file.extension().is_none_or(|kind| kind != "trace"));
        let (Some((gpu, launch)), Some(file)) = (config_model(&data, config), file) else {
            continue;
        };
        let estimate = simulate_at(Level::L1, &mut *open(&file), &gpu);
        let error = estimate.body_cycles / (cycles - launch) - 1.0;
        println!(
            "| {} | {config} | {:.0} | {:.0} | {:+.0} % | {} |",
            folder.trim_start_matches("traces/").trim_start_matches("traces-"),
            cycles - launch,
            estimate.body_cycles,
            error * 100.0,
            estimate.winner.as_str()
        );
        assert!(estimate.body_cycles > 0.0, "{folder} on {config}");
        errors.push(error.abs());
    }
    assert!(errors.len() > 50, "only {} rows were understood", errors.len());
    errors.sort_by(f64::total_cmp);
    println!(
        "level 1 against Accel-Sim, {} rows: mean {:.1} %, median {:.1} %",
        errors.len(),
        errors.iter().sum::<f64>() / errors.len() as f64 * 100.0,
        errors.get(errors.len() / 2).copied().unwrap_or_default() * 100.0
    );
}

/// Kernels of one program, one after the other: later ones find in L2 what earlier ones left.
#[test]
fn level_1_carries_l2_from_kernel_to_kernel() {
    let Some(data) = data() else { return };
    let (gpu, launch) = config_model(&data, "SM80_A100.values").expect("a config");
    let mut state = L2State::cold(&gpu);
    let options = Options {
        level: Level::L1,
        ..Options::default()
    };
    for (kernel, accel_sim) in [(1, 13_448.0), (2, 5_824.0), (12, 5_731.0), (14, 5_606.0)] {
        let file = data.join(format!("traces/bfs-a100-v3/kernel-{kernel}.traceg"));
        let cold = simulate_at(Level::L1, &mut *open(&file), &gpu);
        let warm =
            Engine::simulate_next_kernel(&mut *open(&file), &gpu, &options, &mut state).expect("simulates");
        println!(
            "bfs kernel {kernel}: Accel-Sim {:.0}, cold {:.0}, after the others {:.0}",
            accel_sim - launch,
            cold.body_cycles,
            warm.body_cycles
        );
        assert!(warm.body_cycles <= cold.body_cycles && warm.dram_bytes <= cold.dram_bytes);
    }
}
