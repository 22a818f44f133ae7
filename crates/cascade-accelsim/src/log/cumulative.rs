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
];

/// Whether a key is in [`CUMULATIVE`].
#[must_use]
pub fn is_cumulative(key: &str) -> bool {
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
