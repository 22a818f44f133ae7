//! The tables of a GPU description; one struct per table of a `gpus/*.toml` file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::fact::{Fact, Rule, fact_table};

fact_table! {
    /// The whole chip.
    Chip {
        /// Streaming multiprocessors.
        sms: "SM" 1.0..=1024.0,
        /// Core clock: cycles of every result count at this clock.
        core_clock: "MHz" 100.0..=10000.0,
        /// Memory clock (for the record; bandwidth is a fact of its own).
        memory_clock: "MHz" 100.0..=20000.0,
        /// Peak DRAM bandwidth.
        dram_bandwidth: "GB/s" 1.0..=100000.0,
        /// Share of the peak that a streaming kernel reaches.
        dram_efficiency: "ratio" 0.1..=1.0,
        /// L2 capacity. Its tags take a quarter of it in memory.
        l2_size: "bytes" 65536.0..=1073741824.0,
        /// L2 read bandwidth of the chip, per core cycle.
        l2_bandwidth: "B/clk" 32.0..=1048576.0,
        /// `T0`: GPU-side duration of an empty kernel.
        kernel_overhead: "ns" 0.0..=100000.0,
        /// Cycles between two CTA launches on one SM.
        cta_launch_interval: "cycles" 0.0..=10000.0,
    }
}

fact_table! {
    /// One streaming multiprocessor.
    SmCore {
        /// Warp schedulers (sub-cores).
        schedulers: "schedulers" 1.0..=8.0,
        /// Resident warps.
        max_warps: "warps" 1.0..=256.0,
        /// Resident CTAs.
        max_ctas: "CTAs" 1.0..=256.0,
        /// 32-bit registers.
        registers: "registers" 1024.0..=4194304.0,
        /// Registers are given to a warp in multiples of this.
        register_unit: "registers" 1.0..=4096.0,
        /// Shared memory for all resident CTAs.
        shared_memory: "bytes" 1024.0..=4194304.0,
        /// Shared memory that the system keeps of each CTA.
        shared_reserved: "bytes" 0.0..=65536.0,
        /// L1 data cache and shared memory together.
        l1_size: "bytes" 1024.0..=4194304.0,
        /// Shared-memory banks of 4 bytes.
        shared_banks: "banks" 1.0..=32.0,
        /// L1 and shared-memory data per cycle.
        l1_bandwidth: "B/clk" 1.0..=4096.0,
        /// Read port between the SM and L2.
        l2_port: "B/clk" 1.0..=4096.0,
        /// Cycles between memory instructions of one sub-core.
        agu_interval: "cycles" 0.0..=64.0,
        /// Cycles between memory instructions of one SM.
        lsu_interval: "cycles" 0.0..=64.0,
    }
}

fact_table! {
    /// Unloaded latencies, in core cycles.
    Latency {
        /// L1 hit.
        l1: "cycles" 1.0..=10000.0,
        /// Shared memory.
        shared: "cycles" 1.0..=10000.0,
        /// L2 hit.
        l2: "cycles" 1.0..=10000.0,
        /// Miss in L2.
        dram: "cycles" 1.0..=100000.0,
        /// Constant-cache hit.
        constant: "cycles" 1.0..=10000.0,
        /// Special registers and other slow one-off instructions.
        special: "cycles" 1.0..=10000.0,
    }
}

fact_table! {
    /// An execution unit of a sub-core.
    UnitFacts {
        /// Cycles until a dependent instruction may issue.
        latency: "cycles" 1.0..=10000.0,
        /// Cycles for which one warp instruction occupies the unit: 32 over its lanes.
        interval: "cycles" 0.0..=10000.0,
    }
}

/// The execution units of a sub-core.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// Integer and logic, comparisons, moves.
    pub int: UnitFacts,
    /// Integer multiply-add, which runs on part of the FP32 lanes since Volta.
    pub imad: UnitFacts,
    /// Single precision.
    pub fp32: UnitFacts,
    /// Packed half precision (two values per lane).
    pub half: UnitFacts,
    /// Double precision.
    pub fp64: UnitFacts,
    /// Special functions, conversions, bit counts.
    pub sfu: UnitFacts,
    /// Uniform datapath (Turing and later).
    pub uniform: UnitFacts,
    /// Branch unit.
    pub branch: UnitFacts,
}

impl Units {
    /// The units with the names of their tables.
    pub fn each(&self) -> [(&'static str, &UnitFacts); 8] {
        [
            ("int", &self.int),
            ("imad", &self.imad),
            ("fp32", &self.fp32),
            ("half", &self.half),
            ("fp64", &self.fp64),
            ("sfu", &self.sfu),
            ("uniform", &self.uniform),
            ("branch", &self.branch),
        ]
    }

    pub(super) fn unit_mut(&mut self, name: &str) -> Option<&mut UnitFacts> {
        match name {
            "int" => Some(&mut self.int),
            "imad" => Some(&mut self.imad),
            "fp32" => Some(&mut self.fp32),
            "half" => Some(&mut self.half),
            "fp64" => Some(&mut self.fp64),
            "sfu" => Some(&mut self.sfu),
            "uniform" => Some(&mut self.uniform),
            "branch" => Some(&mut self.branch),
            _ => None,
        }
    }
}

/// Operand types of matrix instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TensorType {
    /// FP16 with FP32 accumulation.
    Fp16F32,
    /// FP16 with FP16 accumulation.
    Fp16F16,
    /// BF16.
    Bf16,
    /// TF32.
    Tf32,
    /// FP8 (E4M3, E5M2).
    Fp8,
    /// FP64.
    Fp64,
    /// INT8.
    Int8,
    /// INT4.
    Int4,
    /// Single bits.
    B1,
}

impl TensorType {
    /// The key in `[tensor.rates]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Fp16F32 => "fp16_f32",
            Self::Fp16F16 => "fp16_f16",
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::Fp8 => "fp8",
            Self::Fp64 => "fp64",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
            Self::B1 => "b1",
        }
    }
}

/// The tensor cores of one SM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensor {
    /// Cycles until a dependent instruction may issue.
    pub latency: Fact,
    /// Share of the peak that warp-level `mma.sync` reaches (warp-group instructions reach all of it).
    pub sync_efficiency: Fact,
    /// Dense multiply-adds per cycle and SM; a missing type is not supported.
    pub rates: BTreeMap<TensorType, Fact>,
}

impl Tensor {
    pub(super) const LATENCY: Rule = Rule {
        unit: "cycles",
        min: 1.0,
        max: 10000.0,
    };
    pub(super) const EFFICIENCY: Rule = Rule {
        unit: "ratio",
        min: 0.05,
        max: 1.0,
    };
    pub(super) const RATE: Rule = Rule {
        unit: "MAC/clk/SM",
        min: 1.0,
        max: 1048576.0,
    };

    pub(super) fn fact_mut(&mut self, key: &str) -> Option<&mut Fact> {
        match key {
            "latency" => Some(&mut self.latency),
            "sync_efficiency" => Some(&mut self.sync_efficiency),
            _ => {
                let kind = key.strip_prefix("rates.")?;
                self.rates
                    .iter_mut()
                    .find_map(|(rate, fact)| (rate.key() == kind).then_some(fact))
            }
        }
    }

    /// Multiply-adds per cycle and SM for `kind`; `None` when the GPU does not support it.
    pub fn rate(&self, kind: TensorType) -> Option<f64> {
        self.rates.get(&kind).map(|fact| fact.value)
    }
}
