//! Invented traces, runs and events that show every state a page can be in.

use cascade_api::{
    ColumnKernel, Comparison, ComparisonRow, Engine, FinishedKernel, GpuConfig, KernelColumn, KernelColumns,
    KernelLaunch, KernelSlice, KernelStat, LiveBatch, ReplicaTotal, RunDetail, RunEntry, RunFile, RunSummary,
    SimColumn, SimFile, SimId, SimMetrics, SimState, SimSummary, Timestamp, TraceDetail, TraceId, TraceState,
    TraceSummary, run_state, sim_counts,
};
use indexmap::IndexMap;

/// Kernels of the larger trace.
const KERNELS: u64 = 1_204;
/// Kernel names in the order of a transformer layer.
const NAMES: [&str; 6] = [
    "_ZN4vllm15rms_norm_kernelIN3c104HalfEEEvPT_PKS3_S5_fii",
    "_ZN7cutlass7Kernel2I66cutlass_80_tensorop_s16816gemm_f16_64x64_sliced1x2_ldg8_f16f_tn_al8EEvNT_6ParamsE",
    "_ZN4vllm23rotary_embedding_kernelIN3c104HalfELb1EEEvPKlPT_S6_PKS5_illi",
    "flash_fwd_splitkv_kernel",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, std::array<char*, 3> >(int)",
    "_Z19silu_and_mul_kernelI6__halfEvPT_PKS1_i",
];

/// A point in time so many seconds before the newest one.
fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_979_400 - seconds) * 1_000_000)
}

fn summary(id: &str, state: TraceState, kernels: u64) -> TraceSummary {
    TraceSummary {
        id: id.into(),
        state,
        error: None,
        waiting_for: (state == TraceState::Uploading).then(|| "metadata.json".into()),
        created_at: ago(4_000),
        updated_at: ago(3_900),
        model: Some("facebook/opt-125m".into()),
        layers: vec!["model.decoder.layers.0".into()],
        source_gpu: Some("NVIDIA H100 80GB HBM3".into()),
        trace_gpu_arch: "sm_90".into(),
        suggested_sim_config: Some("SM90_H100".into()),
        real_gpu_config: Some("SM90_H100".into()),
        sample_sim_configs: vec!["SM90_H200".into()],
        sample_set: None,
        kernel_count: kernels,
        bytes: kernels * 345_678,
        has_real_timing: true,
        has_step_timeline: true,
        sample: false,
        synthetic: false,
    }
}

pub(crate) fn traces() -> Vec<TraceSummary> {
    let mut failed = summary("llama-broken", TraceState::Failed, 0);
    failed.error =
        Some("post-processing failed: kernel-12.trace:4071: a memory instruction without addresses".into());
    let synthetic = TraceSummary {
        synthetic: true,
        has_step_timeline: false,
        source_gpu: None,
        model: Some("opt-125m-like".into()),
        ..summary("synth-opt", TraceState::Ready, 24)
    };
    let sample = TraceSummary {
        sample: true,
        sample_set: Some("opt125m".into()),
        ..summary("opt125m-h100-e2e", TraceState::Ready, 180)
    };
    let a100 = TraceSummary {
        source_gpu: Some("NVIDIA A100-SXM4-80GB".into()),
        trace_gpu_arch: "sm_80".into(),
        suggested_sim_config: Some("SM80_A100".into()),
        real_gpu_config: Some("SM80_A100".into()),
        sample_sim_configs: Vec::new(),
        sample: true,
        sample_set: Some("opt125m".into()),
        ..summary("opt125m-a100-e2e", TraceState::Ready, 153)
    };
    vec![
        summary("qwen2.5-0.5b-decode", TraceState::Uploading, 311),
        summary("mistral-prefill", TraceState::Processing, 96),
        summary("opt-125m-hello", TraceState::Ready, KERNELS),
        failed,
        synthetic,
        sample,
        a100,
    ]
}

pub(crate) fn trace(id: &TraceId) -> Option<TraceDetail> {
    let summary = traces().into_iter().find(|trace| trace.id == *id)?;
    let ready = summary.state == TraceState::Ready;
    let kernels = (0..summary.kernel_count)
        .filter(|_| ready)
        .map(|kernel_id| KernelLaunch {
            kernel_id: kernel_id + 1,
            name: name(kernel_id),
            grid: (108, 1 + (kernel_id % 4) as u32, 1),
            block: (128, 1, 1),
            instructions: (kernel_id % 97 != 96).then_some(71_974 + kernel_id * 1_311),
        });
    let metadata = serde_json::json!({"model": summary.model, "gpu": summary.source_gpu, "prompts": ["Hello, my name is"]});
    Some(TraceDetail {
        kernels: kernels.collect(),
        warnings: Vec::new(),
        metadata: metadata.as_object().cloned(),
        summary,
    })
}

pub(crate) fn gpus() -> Vec<GpuConfig> {
    let gpu = |name: &str, arch: &str, mhz| GpuConfig {
        name: name.into(),
        arch: arch.into(),
        core_clock_mhz: mhz,
        engines: vec![Engine::Cascade],
        notes: Vec::new(),
        derived: None,
    };
    vec![
        gpu("SM75_RTX2060", "sm_75", 1365.0),
        gpu("SM80_A100", "sm_80", 1410.0),
        gpu("SM86_RTX3070", "sm_86", 1132.0),
        gpu("SM90_H100", "sm_90", 1755.0),
        gpu("SM90_H200", "sm_90", 1755.0),
    ]
}

fn name(index: u64) -> String {
    NAMES[(index % 6) as usize].to_owned()
}

/// A sim that is `done` kernels far.
fn sim(run: &str, number: u64, gpu: &str, replica: u32, state: SimState, done: u64) -> SimSummary {
    let started = state != SimState::Pending && state != SimState::Launching;
    let total = |per_kernel: f64| (done > 0).then_some(done as f64 * per_kernel);
    SimSummary {
        id: SimId::from_bits(number),
        run_id: run.into(),
        gpu_config: gpu.into(),
        replica,
        engine: Engine::Cascade,
        state,
        error: None,
        launcher_ref: Some("64418".into()),
        created_at: ago(90),
        started_at: started.then(|| ago(88)),
        finished_at: state.is_terminal().then(|| ago(12)),
        last_heartbeat_at: started.then(|| ago(2)),
        exit_code: None,
        kernels_done: done,
        kernels_total: KERNELS,
        current_kernel: started.then(|| name(done)),
        latest: SimMetrics {
            gpu_tot_sim_cycle: total(9_120.0),
            gpu_tot_sim_insn: total(3_150_000.0),
            gpu_tot_ipc: (done > 0).then_some(345.4),
            sim_rate_ips: (done > 0).then_some(81_200_000.0),
        },
        log_tail: (0..20)
            .map(|n| format!("gpu_tot_sim_cycle = {}", 9_120 * (done + n)))
            .collect(),
    }
}

fn run(id: &str, trace_id: &str, sims: Vec<SimSummary>) -> RunDetail {
    let mut entries: Vec<RunEntry> = Vec::new();
    for sim in &sims {
        match entries
            .iter_mut()
            .find(|entry| entry.gpu_config == sim.gpu_config)
        {
            Some(entry) => entry.count += 1,
            None => entries.push(RunEntry {
                gpu_config: sim.gpu_config.clone(),
                count: 1,
            }),
        }
    }
    let trace = traces()
        .into_iter()
        .find(|trace| trace.id.as_str() == trace_id)
        .expect("a trace of the list");
    RunDetail {
        summary: RunSummary {
            id: id.into(),
            trace_id: trace_id.into(),
            created_at: ago(90),
            state: run_state(sims.iter().map(|sim| sim.state)),
            entries,
            sim_counts: sim_counts(sims.iter().map(|sim| sim.state)),
            sample: false,
            replay: sims.iter().any(|sim| sim.engine == Engine::Replay),
            synthetic: trace.synthetic,
        },
        trace,
        sims,
    }
}

pub(crate) fn runs() -> Vec<RunDetail> {
    use SimState::*;
    let mut failed = sim("run-a", 5, "SM90_H200", 1, Failed, 17);
    failed.error = Some(
        "Accel-Sim stopped at kernel 17: the trace uses opcode UTMALDG, which this simulator does not know"
            .into(),
    );
    let mut lost = sim("run-a", 3, "SM90_H100", 2, Lost, 230);
    lost.error = Some("no heartbeat for 60 s".into());
    let active = vec![
        sim("run-a", 1, "SM90_H100", 0, Running, 640),
        sim("run-a", 2, "SM90_H100", 1, Succeeded, KERNELS),
        lost,
        sim("run-a", 4, "SM90_H200", 0, Launching, 0),
        failed,
    ];
    let replays = vec![SimSummary {
        engine: Engine::Replay,
        ..sim("run-d", 9, "SM90_H100", 0, Succeeded, 24)
    }];
    let bundled = |id: &str, trace: &str, gpus: &[&str]| {
        let sims = gpus.iter().zip(20..).map(|(gpu, number)| SimSummary {
            engine: Engine::Replay,
            kernels_total: 180,
            ..sim(id, number, gpu, 0, Succeeded, 180)
        });
        let mut run = run(id, trace, sims.collect());
        run.summary.sample = true;
        run
    };
    vec![
        run("run-a", "opt-125m-hello", active),
        run(
            "run-b",
            "opt-125m-hello",
            vec![
                sim("run-b", 6, "SM90_H100", 0, Succeeded, KERNELS),
                sim("run-b", 7, "SM90_H200", 0, Succeeded, KERNELS),
            ],
        ),
        run(
            "run-c",
            "synth-opt",
            vec![sim("run-c", 8, "SM90_H100", 0, Cancelled, 3)],
        ),
        run("run-d", "synth-opt", replays),
        bundled(
            "run-sample-opt125m-h100-e2e",
            "opt125m-h100-e2e",
            &["SM90_H100", "SM90_H200"],
        ),
        bundled("run-sample-opt125m-a100-e2e", "opt125m-a100-e2e", &["SM80_A100"]),
    ]
}

/// The time of one kernel on one GPU, with one that stands out.
fn time_ns(gpu: &str, index: u64) -> f64 {
    let base = [4_200.0, 38_000.0, 6_100.0, 21_000.0, 3_000.0, 5_200.0][(index % 6) as usize];
    let wobble = 1.0 + 0.08 * ((index * 7 % 13) as f64 / 13.0 - 0.5);
    let gpu = if gpu == "SM90_H200" { 0.86 } else { 1.0 };
    base * wobble * gpu * if index == 777 { 6.0 } else { 1.0 }
}

fn stat(sim: &SimSummary, index: u64) -> KernelStat {
    let ns = time_ns(sim.gpu_config.as_str(), index);
    KernelStat {
        sim_id: sim.id.clone(),
        kernel_index: index,
        kernel_name: name(index),
        kernel_launch_uid: Some(index + 1),
        gpu_sim_cycle: Some((ns * 1.755) as u64),
        gpu_sim_insn: Some(3_150_000),
        gpu_ipc: Some(345.4),
        sim_time_ns: Some(ns),
        stats: IndexMap::new(),
    }
}

pub(crate) fn kernels(run: &RunDetail) -> Vec<KernelStat> {
    run.sims
        .iter()
        .flat_map(|sim| (0..sim.kernels_done).map(move |index| stat(sim, index)))
        .collect()
}

pub(crate) fn comparison(run: &RunDetail) -> Comparison {
    let gpus: Vec<_> = run
        .summary
        .entries
        .iter()
        .map(|entry| entry.gpu_config.clone())
        .collect();
    let done = |gpu| {
        run.sims
            .iter()
            .filter(|sim| sim.gpu_config == gpu)
            .map(|sim| sim.kernels_done)
            .max()
    };
    let row = |kernel_index| ComparisonRow {
        kernel_index,
        kernel_name: name(kernel_index),
        real_ns: Some(time_ns("", kernel_index) * 0.96),
        sim_ns: gpus
            .iter()
            .map(|gpu| {
                let reached = done(gpu.clone()).is_some_and(|done| kernel_index < done);
                (gpu.clone(), reached.then(|| time_ns(gpu.as_str(), kernel_index)))
            })
            .collect(),
    };
    let engines = gpus.iter().map(|gpu| {
        let mut engines: Vec<_> = run
            .sims
            .iter()
            .filter(|sim| sim.gpu_config == *gpu)
            .map(|sim| sim.engine)
            .collect();
        engines.dedup();
        (gpu.clone(), engines)
    });
    Comparison {
        has_real_timing: true,
        rows: (0..run.trace.kernel_count).map(row).collect(),
        engines: engines.collect(),
        configs: gpus.clone(),
    }
}

pub(crate) fn columns(run: &RunDetail) -> KernelColumns {
    let kinds = NAMES.len() as u64;
    let kernel = |n: u64| ColumnKernel {
        name: name(n),
        grid: Some((108, 1 + (n % 4) as u32, 1)),
        block: Some((128, 1, 1)),
        group: [
            "Layer norm",
            "GEMM",
            "Other setup/index/reduction",
            "Attention",
            "Small elementwise",
            "Small elementwise",
        ][(n % kinds) as usize]
            .to_owned(),
    };
    let table = comparison(run);
    let column = |gpu: &cascade_api::GpuName| {
        let sims = run.sims.iter().filter(|sim| sim.gpu_config == *gpu);
        let replica = |sim: &SimSummary| ReplicaTotal {
            kernels: sim.kernels_done,
            total_ns: (0..sim.kernels_done).map(|i| time_ns(gpu.as_str(), i)).sum(),
        };
        KernelColumn {
            gpu_config: gpu.clone(),
            engines: table.engines.get(gpu).cloned().unwrap_or_default(),
            replicas: sims.map(replica).collect(),
            median_ns: table
                .rows
                .iter()
                .map(|row| row.sim_ns.get(gpu).copied().flatten())
                .collect(),
            min_ns: Vec::new(),
            max_ns: Vec::new(),
        }
    };
    KernelColumns {
        // Names repeat every six launches and grids every four.
        kernels: (0..12).map(kernel).collect(),
        launches: (0..table.rows.len() as u32).map(|i| i % 12).collect(),
        real_ns: table.rows.iter().map(|row| row.real_ns).collect(),
        columns: table.configs.iter().map(column).collect(),
    }
}

pub(crate) fn files(run: &RunDetail) -> Vec<RunFile> {
    let names = [
        ("kernel-stats.csv", 81_234),
        ("gpgpu_inst_stats.txt", 12_345_678),
        ("accelsim.log.gz", 402_113),
    ];
    let finished = run.sims.iter().filter(|sim| sim.state.is_terminal());
    let of = |sim: &SimSummary| {
        names.map(|(name, size)| RunFile {
            file: SimFile {
                name: name.into(),
                size,
                content_type: "text/plain".into(),
                created_at: ago(11),
            },
            sim_id: sim.id.clone(),
            gpu_config: sim.gpu_config.clone(),
            replica: sim.replica,
        })
    };
    finished.flat_map(of).collect()
}

/// Rows of a run's table, from `from` on.
pub(crate) fn slice(run: &RunDetail, from: u64, rows: u64) -> KernelSlice {
    let table = comparison(run);
    let to = from.saturating_add(rows).min(table.rows.len() as u64);
    let shown = || table.rows.iter().skip(from as usize).take((to - from) as usize);
    let times = |sim: &SimSummary| {
        let finished = from..to.min(sim.kernels_done);
        finished.map(|index| stat(sim, index).sim_time_ns).collect()
    };
    KernelSlice {
        rows: table.rows.len() as u64,
        from,
        has_real_timing: true,
        names: NAMES.map(String::from).to_vec(),
        name: (from..to).map(|index| (index % 6) as u32).collect(),
        real_ns: shown().map(|row| row.real_ns).collect(),
        sims: run
            .sims
            .iter()
            .map(|sim| SimColumn {
                sim_id: sim.id.clone(),
                ns: times(sim),
            })
            .collect(),
        totals: Vec::new(),
    }
}

/// The next changes of a run: its first running sim finishes a kernel and prints some lines.
pub(crate) fn step(run: &mut RunDetail, n: u64) -> LiveBatch {
    let at = run
        .sims
        .iter()
        .position(|sim| sim.state == SimState::Running)
        .unwrap_or(0);
    let sim = &mut run.sims[at];
    let index = sim.kernels_done.min(sim.kernels_total - 1);
    sim.kernels_done = index + 1;
    sim.current_kernel = Some(name(index + 1));
    sim.last_heartbeat_at = Some(ago(0));
    LiveBatch {
        names: vec![name(index)],
        kernels: vec![FinishedKernel(at as u32, index, 0, stat(sim, index).sim_time_ns)],
        log: (0..12)
            .map(|line| format!("step {n} line {line}: gpu_sim_cycle = 9120"))
            .collect(),
        log_skipped: 0,
        sims: vec![sim.clone()],
    }
}
