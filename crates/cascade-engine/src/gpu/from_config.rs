//! A GPU description from an Accel-Sim configuration, and where it disagrees with the facts.

use std::collections::BTreeMap;

use cascade_accelsim::config::{GpuConfig, Latency as Timing, arch_from_name};

use super::fact::Fact;
use super::model::{Chip, Latency, SmCore, Tensor, TensorType, UnitFacts, Units};
use super::{GpuFileError, GpuModel, Status};

/// Bytes that GPGPU-Sim moves per L2 slice and L2 cycle, and per DRAM clock and channel in its simple model.
const SECTOR_BYTES: f64 = 32.0;
/// Relative difference from which a config and the facts are said to disagree.
pub const DISAGREEMENT: f64 = 0.1;

/// A fact on which a config and the GPU's facts differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// Dotted key such as `chip.dram_bandwidth`.
    pub key: String,
    /// The facts' value.
    pub facts: f64,
    /// The config's value.
    pub config: f64,
    /// Unit of both.
    pub unit: String,
}

/// Every fact on which `config` is more than 10 % away from `facts`. Left out: what the config does not say,
/// latencies of units, which GPGPU-Sim counts without its own pipeline, and the memory clock, which it counts
/// by other conventions (bandwidth is compared).
pub fn disagreements(facts: &GpuModel, config: &GpuModel) -> Vec<Disagreement> {
    let mut theirs = BTreeMap::new();
    config.each_fact(&mut |key, fact, _| {
        let unit_latency = key.starts_with("units.") && key.ends_with(".latency");
        let left_out = fact.is_assumed() || unit_latency || key == "chip.memory_clock";
        if !left_out {
            theirs.insert(key, fact.value);
        }
    });
    let mut found = Vec::new();
    facts.each_fact(&mut |key, fact, _| {
        if let Some(config) = theirs.get(&key)
            && (config - fact.value).abs() > DISAGREEMENT * fact.value.abs()
        {
            found.push(Disagreement {
                key,
                facts: fact.value,
                config: *config,
                unit: fact.unit.clone(),
            });
        }
    });
    found
}

impl GpuModel {
    /// A GPU as an Accel-Sim config describes it, its trace.config included. `name` is the config's name,
    /// such as `SM86_RTX3070`. Its kernel launch latency is quoted in `status_note` and never added to a time.
    ///
    /// # Errors
    /// No SM number in name or config, or a value out of range; names config and key.
    pub fn from_gpgpusim(name: &str, config: &GpuConfig) -> Result<Self, GpuFileError> {
        let fail = |key: String, problem: String| GpuFileError::Value {
            file: name.to_owned(),
            key,
            problem,
        };
        let named = arch_from_name(name).and_then(|arch| arch.strip_prefix("sm_")?.parse().ok());
        let capability = config
            .compute_capability
            .map(|(major, minor)| major.saturating_mul(10).saturating_add(minor));
        let sm = named.or(capability).ok_or_else(|| {
            fail(
                "sm".to_owned(),
                "is unknown: name the config SM<number>_… or set -gpgpu_compute_capability_major".to_owned(),
            )
        })?;
        let model = Self {
            name: name.to_owned(),
            title: format!("{name}, from its Accel-Sim configuration"),
            sm,
            status: Status::Unvalidated,
            status_note: format!(
                "Values of an Accel-Sim configuration; its kernel launch constant of {} cycles is not added.",
                config.kernel_launch_latency
            ),
            chip: chip(config),
            sm_core: sm_core(config),
            latency: latency(config),
            units: units(config),
            tensor: tensor(config, sm),
            derived: None,
        };
        model.validate().map_err(|(key, problem)| fail(key, problem))?;
        Ok(model)
    }
}

fn set(value: f64, unit: &str, option: &str) -> Fact {
    Fact::new(value, unit, format!("gpgpusim.config: {option}"))
}

fn assumed(value: f64, unit: &str, why: &str) -> Fact {
    Fact::new(value, unit, format!("assumed: {why}"))
}

fn chip(config: &GpuConfig) -> Chip {
    let clocks = config.clocks;
    let channels = f64::from(config.n_mem);
    let slices = channels * f64::from(config.sub_partitions);
    let bandwidth = if config.simple_dram_model {
        set(
            channels * SECTOR_BYTES * clocks.dram_mhz / 1e3,
            "GB/s",
            "one 32-byte request per channel and DRAM clock (-gpgpu_simple_dram_model)",
        )
    } else {
        let bytes = f64::from(config.dram_bus_bytes)
            * f64::from(config.chips_per_channel)
            * f64::from(config.dram_data_ratio);
        set(
            channels * bytes * clocks.dram_mhz / 1e3,
            "GB/s",
            "-gpgpu_n_mem x bus width x data rate x DRAM clock",
        )
    };
    Chip {
        sms: set(
            f64::from(config.sms()),
            "SM",
            "-gpgpu_n_clusters x -gpgpu_n_cores_per_cluster",
        ),
        core_clock: set(clocks.core_mhz, "MHz", "-gpgpu_clock_domains"),
        memory_clock: set(clocks.dram_mhz, "MHz", "-gpgpu_clock_domains"),
        dram_bandwidth: bandwidth,
        dram_efficiency: assumed(1.0, "ratio", "the config's DRAM is taken at its peak"),
        l2_size: set(config.l2_bytes() as f64, "bytes", "-gpgpu_cache:dl2 x slices"),
        l2_bandwidth: set(
            slices * SECTOR_BYTES * clocks.l2_mhz / clocks.core_mhz,
            "B/clk",
            "32 bytes per L2 slice and L2 clock",
        ),
        kernel_overhead: assumed(
            1000.0,
            "ns",
            "an empty kernel is expected to take 0.7 to 1.2 us on the GPU",
        ),
        cta_launch_interval: assumed(
            1.0,
            "cycles",
            "one CTA per SM and cycle, the rule that GPGPU-Sim uses",
        ),
    }
}

fn sm_core(config: &GpuConfig) -> SmCore {
    let l1_bytes = config.unified_l1d_kb.map_or_else(
        || config.dl1.as_ref().map_or(0.0, |cache| cache.bytes() as f64) + f64::from(config.shmem_bytes),
        |kb| f64::from(kb) * 1024.0,
    );
    let port = if config.network_mode == 2 {
        let bytes = f64::from(config.flit_bytes) * config.clocks.icnt_mhz / config.clocks.core_mhz;
        set(bytes, "B/clk", "-icnt_flit_size per interconnect clock")
    } else {
        assumed(64.0, "B/clk", "one 64-byte read port to L2 per SM")
    };
    SmCore {
        schedulers: set(
            f64::from(config.schedulers),
            "schedulers",
            "-gpgpu_num_sched_per_core",
        ),
        max_warps: set(
            f64::from(config.threads / config.warp_size.max(1)),
            "warps",
            "-gpgpu_shader_core_pipeline",
        ),
        max_ctas: set(f64::from(config.max_ctas), "CTAs", "-gpgpu_shader_cta"),
        registers: set(
            f64::from(config.registers),
            "registers",
            "-gpgpu_shader_registers",
        ),
        register_unit: assumed(256.0, "registers", "as in NVIDIA's occupancy calculator"),
        shared_memory: set(f64::from(config.shmem_bytes), "bytes", "-gpgpu_shmem_size"),
        shared_reserved: assumed(0.0, "bytes", "GPGPU-Sim keeps nothing of a CTA's shared memory"),
        l1_size: set(l1_bytes, "bytes", "-gpgpu_unified_l1d_size"),
        shared_banks: set(f64::from(config.smem_banks), "banks", "-gpgpu_shmem_num_banks"),
        l1_bandwidth: assumed(128.0, "B/clk", "one 128-byte line a cycle"),
        l2_port: port,
        agu_interval: assumed(0.0, "cycles", "GPGPU-Sim has no address generation limit"),
        lsu_interval: assumed(
            1.0,
            "cycles",
            "GPGPU-Sim issues one memory instruction per SM and cycle",
        ),
    }
}

/// GPGPU-Sim adds its L2 and DRAM delays in core cycles; the interconnect comes on top and is not here.
fn latency(config: &GpuConfig) -> Latency {
    let l1 = f64::from(config.l1_latency);
    let l2 = l1 + f64::from(config.l2_rop_latency);
    Latency {
        l1: set(l1, "cycles", "-gpgpu_l1_latency"),
        shared: set(f64::from(config.smem_latency), "cycles", "-gpgpu_smem_latency"),
        l2: set(l2, "cycles", "-gpgpu_l1_latency + -gpgpu_l2_rop_latency"),
        dram: set(
            l2 + f64::from(config.dram_latency),
            "cycles",
            "-gpgpu_l1_latency + -gpgpu_l2_rop_latency + -dram_latency",
        ),
        constant: assumed(30.0, "cycles", "a constant-cache hit"),
        special: assumed(20.0, "cycles", "special registers such as S2R"),
    }
}

fn units(config: &GpuConfig) -> Units {
    let schedulers = f64::from(config.schedulers);
    let unit = |timing: Timing, units: u32, what: &str| {
        // A unit count of 0 stands for units that share another's pipeline.
        let per_scheduler = if units == 0 {
            1.0
        } else {
            f64::from(units) / schedulers
        };
        let source = format!("trace.config: {what}");
        UnitFacts {
            latency: Fact::new(f64::from(timing.latency), "cycles", source.as_str()),
            interval: Fact::new(
                f64::from(timing.initiation.max(1)) / per_scheduler,
                "cycles",
                source,
            ),
        }
    };
    let special = |name: &str| {
        let found = config.trace.specialized.iter().find(|unit| unit.name == name);
        found.map_or_else(
            || UnitFacts {
                latency: assumed(4.0, "cycles", "no specialised unit of this name"),
                interval: assumed(1.0, "cycles", "no specialised unit of this name"),
            },
            |found| unit(found.latency, found.units, &format!("specialised unit {name}")),
        )
    };
    let (trace, counts) = (&config.trace, config.units);
    Units {
        int: unit(trace.int, counts.int, "int"),
        imad: unit(
            trace.int,
            counts.int,
            "int (GPGPU-Sim has no separate multiply pipe)",
        ),
        fp32: unit(trace.sp, counts.sp, "sp"),
        half: unit(trace.sp, counts.sp, "sp (GPGPU-Sim runs half precision there)"),
        fp64: unit(trace.dp, counts.dp, "dp"),
        sfu: unit(trace.sfu, counts.sfu, "sfu"),
        uniform: special("UDP"),
        branch: special("BRA"),
    }
}

/// GPGPU-Sim gives every matrix instruction one initiation interval. It fits the FP16 form that compilers
/// use on each architecture; other types get NVIDIA's usual ratios to FP16.
fn tensor(config: &GpuConfig, sm: u32) -> Tensor {
    let timing = config.trace.tensor;
    let macs = match sm {
        ..=74 => 256.0,
        75..=79 => 1024.0,
        _ => 2048.0,
    };
    let placeholder = timing.initiation < 2;
    let fp16 = if placeholder {
        1024.0
    } else {
        macs / f64::from(timing.initiation) * f64::from(config.schedulers)
    };
    let rate = |share: f64| {
        if placeholder {
            let text = format!(
                "the config's tensor entry {},{} is a placeholder",
                timing.latency, timing.initiation
            );
            return assumed(fp16 * share, "MAC/clk/SM", &text);
        }
        if share != 1.0 {
            return assumed(
                fp16 * share,
                "MAC/clk/SM",
                "NVIDIA's usual ratio to the FP16 rate",
            );
        }
        Fact::new(fp16, "MAC/clk/SM", "trace.config: initiation interval of tensor")
    };
    use TensorType::*;
    let mut rates = BTreeMap::from([(Fp16F32, rate(1.0)), (Fp16F16, rate(1.0))]);
    if sm >= 75 {
        rates.extend([(Int8, rate(2.0)), (Int4, rate(4.0)), (B1, rate(16.0))]);
    }
    if sm >= 80 {
        rates.extend([(Bf16, rate(1.0)), (Tf32, rate(0.5)), (Fp64, rate(1.0 / 16.0))]);
    }
    if sm >= 89 {
        rates.insert(Fp8, rate(2.0));
    }
    Tensor {
        latency: Fact::new(f64::from(timing.latency), "cycles", "trace.config: tensor"),
        sync_efficiency: assumed(1.0, "ratio", "the config's rate is that of mma.sync"),
        rates,
    }
}
