//! One kernel's statistics block.

use std::io::{self, Write};

use super::{Origin, Totals};
use crate::estimate::KernelEstimate;
use crate::l1::CycleStats;

/// Writes the block from `kernel_name` to `gpgpu_silicon_slowdown`.
pub(super) fn write(
    out: &mut impl Write,
    kernel: &KernelEstimate,
    (uid, origin): (u64, Origin),
    totals: &Totals,
    elapsed_s: f64,
) -> io::Result<()> {
    let ipc = |insts: u64, cycles: u64| {
        if cycles == 0 {
            0.0
        } else {
            insts as f64 / cycles as f64
        }
    };
    writeln!(out, "Destroy streams for kernel {uid}: size 0")?;
    writeln!(out, "kernel_name = {} ", kernel.name)?;
    writeln!(out, "kernel_launch_uid = {uid} ")?;
    writeln!(out, "kernel_stream_id = {}", kernel.stream_id)?;
    writeln!(out, "gpu_sim_cycle = {}", kernel.cycles)?;
    writeln!(out, "gpu_sim_insn = {}", kernel.thread_insts)?;
    writeln!(out, "gpu_ipc = {:12.4}", ipc(kernel.thread_insts, kernel.cycles))?;
    writeln!(out, "gpu_tot_sim_cycle = {}", totals.cycles)?;
    writeln!(out, "gpu_tot_sim_insn = {}", totals.thread_insts)?;
    writeln!(
        out,
        "gpu_tot_ipc = {:12.4}",
        ipc(totals.thread_insts, totals.cycles)
    )?;
    writeln!(out, "gpu_tot_issued_cta = {}", totals.ctas)?;
    writeln!(
        out,
        "gpu_occupancy = {:.4}% ",
        kernel.occupancy.resident_share * 100.0
    )?;
    writeln!(out, "gpgpu_n_tot_thrd_icount = {}", totals.warp_insts * 32)?;
    writeln!(out, "gpgpu_n_tot_w_icount = {}", totals.warp_insts)?;
    writeln!(out, "cascade_provenance = {origin}")?;
    writeln!(out, "cascade_cached = {}", u8::from(origin.cached))?;
    for (name, value) in kernel_stats(kernel) {
        writeln!(out, "cascade_engine_{name} = {value}")?;
    }
    times(out, kernel, totals, elapsed_s)
}

/// What only this engine knows about a kernel: names without `cascade_engine_`, and values as the log has them.
pub fn kernel_stats(kernel: &KernelEstimate) -> Vec<(String, String)> {
    let mut stats = Vec::new();
    let mut key = |name: &str, value: String| stats.push((name.to_owned(), value));
    key("level", kernel.level.as_str().to_owned());
    if let Some(why) = &kernel.fallback {
        key("fallback", why.replace('\n', " "));
    }
    key("l2_start", kernel.l2_start().as_str().to_owned());
    key("provenance", kernel.provenance.as_str().to_owned());
    key("gpu", kernel.gpu.clone());
    key("gpu_facts_hash", kernel.facts_hash.clone());
    key("status", kernel.status.as_str().to_owned());
    if !kernel.status_note.is_empty() {
        key("status_note", kernel.status_note.replace('\n', " "));
    }
    if let Some(version) = kernel.other_arch {
        key("other_arch", format!("sm_{version}"));
    }
    key("kernel_id", kernel.kernel_id.to_string());
    key("time_ns", format!("{:.3}", kernel.time_ns));
    key("t0_cycles", format!("{:.1}", kernel.t0_cycles));
    key("fill_cycles", format!("{:.1}", kernel.fill_cycles));
    key("body_cycles", format!("{:.1}", kernel.body_cycles));
    for bound in &kernel.bounds {
        key(
            &format!("bound_{}", bound.kind.as_str()),
            format!("{:.1}", bound.cycles),
        );
    }
    key("winning_bound", kernel.winner.as_str().to_owned());
    let occupancy = &kernel.occupancy;
    key("ctas_per_sm", occupancy.ctas_per_sm.to_string());
    key("limited_by", occupancy.limited_by.as_str().to_owned());
    key("ctas_on_busiest_sm", occupancy.ctas_on_busiest_sm.to_string());
    key("waves", occupancy.waves.to_string());
    key("warp_insts", kernel.warp_insts.to_string());
    key("blocks_traced", kernel.blocks.to_string());
    key("blocks_in_grid", kernel.blocks_in_grid.to_string());
    key("sectors", kernel.sectors.to_string());
    key("l2_bytes", kernel.l2_bytes.to_string());
    key("dram_bytes", kernel.dram_bytes.to_string());
    let exact = match kernel.footprint_exact {
        true => "exact",
        false => "estimated",
    };
    key("footprint", exact.to_owned());
    key("coverage", format!("{:.6}", kernel.coverage));
    key("unknown_opcodes", kernel.unknown_opcodes.len().to_string());
    let list: Vec<_> = kernel
        .unknown_opcodes
        .iter()
        .map(|(name, count)| format!("{name}:{count}"))
        .collect();
    if !list.is_empty() {
        key("unknown_opcode_list", list.join(" "));
    }
    if let Some(stats) = &kernel.cycle_stats {
        cycle_stats(&mut key, stats);
    }
    stats
}

/// What level 1 knows: stalls in warp-cycles, cache hits, bandwidths reached.
fn cycle_stats(key: &mut impl FnMut(&str, String), stats: &CycleStats) {
    key("issue_cycles", stats.issue_cycles.to_string());
    for (stall, cycles) in &stats.stalls {
        key(&format!("stall_{}", stall.as_str()), cycles.to_string());
    }
    key("l1_sectors", stats.l1_sectors.to_string());
    key("l1_hits", stats.l1_hits.to_string());
    key("l1_hit_rate", rate(stats.l1_hits, stats.l1_sectors));
    key("l2_sectors", stats.l2_sectors.to_string());
    key("l2_hits", stats.l2_hits.to_string());
    key("l2_hit_rate", rate(stats.l2_hits, stats.l2_sectors));
    if stats.l2_merged_sectors > 0 {
        key("l2_merged_sectors", stats.l2_merged_sectors.to_string());
    }
    key("l2_warm_sectors", stats.l2_warm_sectors.to_string());
    key("dram_read_bytes", stats.dram_read_bytes.to_string());
    key("dram_write_bytes", stats.dram_write_bytes.to_string());
    key("l2_share", format!("{:.4}", stats.l2_share));
    key("l2_peak_gb_s", format!("{:.1}", stats.l2_peak_gb_s));
    key("l2_gb_s", format!("{:.1}", stats.l2_peak_gb_s * stats.l2_share));
    key("dram_share", format!("{:.4}", stats.dram_share));
    key("dram_peak_gb_s", format!("{:.1}", stats.dram_peak_gb_s));
    key(
        "dram_gb_s",
        format!("{:.1}", stats.dram_peak_gb_s * stats.dram_share),
    );
    key("issue_share", format!("{:.4}", stats.issue_share));
    key(
        "predicates_inferred",
        u8::from(stats.predicates_inferred).to_string(),
    );
    key("mbarriers_inferred", stats.mbarriers_inferred.to_string());
    key("sampled_fraction", format!("{:.4}", stats.sampled_fraction));
    key("sampling_error", format!("{:.4}", stats.sampling_error));
}

/// A share with four digits; 0 of nothing.
fn rate(part: u64, whole: u64) -> String {
    format!("{:.4}", part as f64 / whole.max(1) as f64)
}

/// The lines about wall-clock time, from the seconds that the caller hands in.
fn times(out: &mut impl Write, kernel: &KernelEstimate, totals: &Totals, elapsed_s: f64) -> io::Result<()> {
    // Accel-Sim counts whole seconds and never less than one; its rates follow from that.
    let seconds = if elapsed_s.is_finite() {
        elapsed_s.max(1.0) as u64
    } else {
        1
    };
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (hours, minutes, rest) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    writeln!(out)?;
    writeln!(
        out,
        "gpgpu_simulation_time = {days} days, {hours} hrs, {minutes} min, {rest} sec ({seconds} sec)"
    )?;
    // This engine is done in milliseconds, so its rates use the exact time.
    let exact = if elapsed_s.is_finite() && elapsed_s > 0.0 {
        elapsed_s
    } else {
        1.0
    };
    writeln!(
        out,
        "gpgpu_simulation_rate = {} (inst/sec)",
        (totals.thread_insts as f64 / exact) as u64
    )?;
    let cycle_rate = ((totals.cycles as f64 / exact) as u64).max(1);
    writeln!(out, "gpgpu_simulation_rate = {cycle_rate} (cycle/sec)")?;
    let clock_hz = if kernel.time_ns > 0.0 {
        kernel.cycles as f64 / kernel.time_ns * 1e9
    } else {
        0.0
    };
    writeln!(
        out,
        "gpgpu_silicon_slowdown = {}x",
        (clock_hz / cycle_rate as f64) as u64
    )?;
    writeln!(out)
}
