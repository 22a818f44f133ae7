//! The dump of effective options, in GPGPU-Sim's layout: name, value right-aligned, ` # `, description.

use std::io::{self, Write};

use crate::engine::Options;
use crate::gpu::GpuModel;

/// Writes GPGPU-Sim's own options where one means the same as a fact, then every fact with its source.
pub(super) fn write(out: &mut impl Write, gpu: &GpuModel, options: &Options, trace: &str) -> io::Result<()> {
    let chip = &gpu.chip;
    let sm = &gpu.sm_core;
    let core = chip.core_clock.value;
    let clocks = format!("{core}:{core}:{core}:{}", chip.memory_clock.value);
    line(out, "-trace", trace, "kernel list")?;
    line(
        out,
        "-gpgpu_clock_domains",
        &clocks,
        "MHz <core>:<interconnect>:<L2>:<DRAM>; this engine has one clock for all but DRAM",
    )?;
    line(
        out,
        "-gpgpu_n_clusters",
        &chip.sms.value.to_string(),
        "streaming multiprocessors",
    )?;
    line(out, "-gpgpu_n_cores_per_cluster", "1", "cores of a cluster")?;
    line(
        out,
        "-gpgpu_shader_core_pipeline",
        &format!("{}:32", sm.max_warps.value * 32.0),
        "threads of an SM:threads of a warp",
    )?;
    line(
        out,
        "-gpgpu_shader_cta",
        &sm.max_ctas.value.to_string(),
        "CTAs of an SM",
    )?;
    line(
        out,
        "-gpgpu_shader_registers",
        &sm.registers.value.to_string(),
        "registers of an SM",
    )?;
    line(
        out,
        "-gpgpu_shmem_size",
        &sm.shared_memory.value.to_string(),
        "bytes of shared memory of an SM",
    )?;
    line(
        out,
        "-gpgpu_num_sched_per_core",
        &sm.schedulers.value.to_string(),
        "warp schedulers of an SM",
    )?;
    line(
        out,
        "-gpgpu_occupancy_sm_number",
        &gpu.sm.to_string(),
        "SM number",
    )?;
    line(
        out,
        "-gpgpu_kernel_launch_latency",
        "0",
        "never added by this engine; see -cascade_engine_chip.kernel_overhead",
    )?;
    line(out, "-cascade_engine_gpu", &gpu.name, &gpu.title)?;
    line(
        out,
        "-cascade_engine_gpu_facts_hash",
        &gpu.facts_hash(),
        "of all values below",
    )?;
    line(
        out,
        "-cascade_engine_status",
        gpu.status.as_str(),
        &gpu.status_note,
    )?;
    line(
        out,
        "-cascade_engine_level",
        options.level.as_str(),
        "how closely kernels are modelled",
    )?;
    line(
        out,
        "-cascade_engine_allow_other_arch",
        if options.allow_other_arch { "1" } else { "0" },
        "time traces of other architectures",
    )?;
    line(
        out,
        "-cascade_engine_cold",
        if options.cold { "1" } else { "0" },
        "empty L2 before each kernel; level 0 always does",
    )?;
    line(
        out,
        "-cascade_engine_sample",
        if options.sample { "1" } else { "0" },
        "leave out the middle of long steady grids",
    )?;
    line(
        out,
        "-cascade_engine_sample_sms",
        &options.sample_sms.unwrap_or(1).to_string(),
        "simulate the blocks of every n-th SM",
    )?;
    let mut result = Ok(());
    gpu.each_fact(&mut |key, fact, _| {
        if result.is_ok() {
            result = line(
                out,
                &format!("-cascade_engine_{key}"),
                &fact.value.to_string(),
                &format!("{}; {}", fact.unit, fact.source),
            );
        }
    });
    result
}

fn line(out: &mut impl Write, name: &str, value: &str, description: &str) -> io::Result<()> {
    writeln!(out, "{name:<20} {value:>20} # {description}")
}
