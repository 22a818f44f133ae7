//! Per-kernel values of counters that count over the whole run.

use indexmap::IndexMap;

use super::{StatValue, Stats};

/// Counters that are never reset between kernels: `(prefix, suffixes left out)`.
///
/// Checked on logs of ten kernels: each key that begins with a prefix and ends in none of the suffixes
/// never falls from block to block.
pub const CUMULATIVE: &[(&str, &[&str])] = &[
    ("gpu_tot_sim_cycle", &[]),
    ("gpu_tot_sim_insn", &[]),
    ("gpu_tot_issued_cta", &[]),
    ("gpu_reg_bank_conflict_stalls", &[]),
    ("gpu_stall_", &[]),
    ("gpgpu_n_", &[]),
    ("gpgpu_stall_shd_mem[", &[]),
    ("L1I_total_cache_", &["_rate"]),
    ("L1D_total_cache_", &["_rate"]),
    ("L1C_total_cache_", &["_rate"]),
    ("L1T_total_cache_", &["_rate"]),
    ("L1D_cache_core[", &["Miss_rate"]),
    ("L2_total_cache_", &["_rate"]),
    ("L2_cache_bank[", &["Miss_rate"]),
    ("Total_core_cache_", &[]),
    ("L2_cache_stats_", &[]),
    ("traffic_breakdown_", &["(sizes)"]),
    ("total dram reads", &[]),
    ("total dram writes", &[]),
    ("icnt_total_pkts_", &[]),
    ("Req_Network_injected_packets_num", &[]),
    ("Reply_Network_injected_packets_num", &[]),
];

/// Counters of a memory channel (`DRAM[N]: <name>`) that are never reset; the other keys there are rates,
/// averages and constants.
pub const CUMULATIVE_DRAM: &[&str] = &[
    "n_cmd",
    "n_nop",
    "n_act",
    "n_pre",
    "n_ref_event",
    "n_req",
    "n_rd",
    "n_rd_L2_A",
    "n_write",
    "n_wr_bk",
    "n_activity",
    "total_CMD",
    "util_bw",
    "Wasted_Col",
    "Wasted_Row",
    "Idle",
    "Read",
    "Write",
    "L2_Alloc",
    "L2_WB",
    "n_ref",
    "total_req",
    "issued_total_row",
    "issued_total_col",
];

/// Whether a key is in [`CUMULATIVE`] or, for a memory channel, in [`CUMULATIVE_DRAM`].
#[must_use]
pub fn is_cumulative(key: &str) -> bool {
    if let Some((_, name)) = key.strip_prefix("DRAM[").and_then(|rest| rest.split_once("]: ")) {
        return CUMULATIVE_DRAM.contains(&name);
    }
    CUMULATIVE
        .iter()
        .any(|(prefix, not)| key.starts_with(prefix) && !not.iter().any(|suffix| key.ends_with(suffix)))
}

/// What one block added to each cumulative counter. `previous` is the block before, none for the first.
/// A counter that is new counts from 0; one that fell, or is no number in either block, is left out.
#[must_use]
pub fn per_block(previous: Option<&Stats>, current: &Stats) -> IndexMap<String, f64> {
    let mut differences = IndexMap::new();
    for (key, value) in current {
        let StatValue::Number(now) = value else { continue };
        let before = match previous.and_then(|stats| stats.get(key)) {
            None => 0.0,
            Some(StatValue::Number(before)) => *before,
            Some(StatValue::Text(_)) => continue,
        };
        if is_cumulative(key) && *now >= before {
            differences.insert(key.clone(), now - before);
        }
    }
    differences
}
