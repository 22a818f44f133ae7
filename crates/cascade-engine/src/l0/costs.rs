//! What each opcode of a trace costs on one GPU: looked up once per opcode, not once per instruction.

use cascade_accelsim::trace::OpcodeTable;

use crate::gpu::GpuModel;
use crate::opcode::{Class, OpInfo};

/// Pipelines of a sub-core that are counted separately.
pub(crate) const UNITS: usize = 9;
/// Index of the tensor core among [`UNITS`]; it is a bound of its own.
pub(crate) const TENSOR: usize = 8;
/// Index of the lanes that can multiply integers, a part of the FP32 lanes.
pub(crate) const MULTIPLY: usize = 7;

/// Cost of one warp instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) op: OpInfo,
    /// Index of the pipeline, `None` for what needs an issue slot only.
    pub(crate) unit: Option<usize>,
    /// Cycles for which it occupies that pipeline.
    pub(crate) interval: f64,
    /// Cycles for which it occupies the integer-multiply lanes as well.
    pub(crate) multiply: f64,
    /// Cycles until a dependent instruction may issue; memory levels are added by the caller.
    pub(crate) latency: f64,
    /// Cycles of address generation in the sub-core.
    pub(crate) agu: f64,
}

/// Costs of a trace's opcodes on one GPU, by opcode id.
#[derive(Debug, Default)]
pub(crate) struct CostTable {
    costs: Vec<Cost>,
}

impl CostTable {
    /// Adds the opcodes that appeared since the last call.
    pub(crate) fn extend(&mut self, opcodes: &OpcodeTable, gpu: &GpuModel) {
        for (_, name) in opcodes.iter().skip(self.costs.len()) {
            self.costs.push(cost(OpInfo::parse(name), gpu));
        }
    }

    /// The costs in order of opcode ids.
    pub(crate) fn as_slice(&self) -> &[Cost] {
        &self.costs
    }
}

fn cost(op: OpInfo, gpu: &GpuModel) -> Cost {
    let units = &gpu.units;
    let lat = &gpu.latency;
    let (unit, interval, latency) = match op.class {
        // The integer pipe of an architecture without a uniform datapath never sees uniform opcodes.
        Class::Int | Class::Unknown => (Some(0), units.int.interval.value, units.int.latency.value),
        // Integer multiply runs on FP32 lanes: it takes its share of them all, and all of those that can.
        Class::Imad => (
            Some(1),
            units.fp32.interval.value.min(units.imad.interval.value),
            units.imad.latency.value,
        ),
        Class::Fp32 => (Some(1), units.fp32.interval.value, units.fp32.latency.value),
        Class::Half => (Some(2), units.half.interval.value, units.half.latency.value),
        Class::Fp64 => (Some(3), units.fp64.interval.value, units.fp64.latency.value),
        Class::Sfu => (Some(4), units.sfu.interval.value, units.sfu.latency.value),
        Class::Uniform => (Some(5), units.uniform.interval.value, units.uniform.latency.value),
        Class::Branch => (Some(6), units.branch.interval.value, units.branch.latency.value),
        Class::Tensor => {
            let interval = tensor_cycles(&op, gpu);
            (Some(TENSOR), interval, gpu.tensor.latency.value.max(interval))
        }
        Class::Lsu => (None, 0.0, lat.shared.value),
        Class::Texture => (None, 0.0, lat.l2.value),
        Class::Constant => (None, 0.0, lat.constant.value),
        Class::Misc => (None, 0.0, lat.special.value),
        Class::Barrier | Class::Pseudo => (None, 0.0, 1.0),
    };
    let agu = match op.class {
        Class::Lsu | Class::Texture if op.mem.is_none_or(|mem| !mem.kind.is_bulk()) => {
            gpu.sm_core.agu_interval.value
        }
        _ => 0.0,
    };
    Cost {
        op,
        unit,
        interval,
        multiply: if op.class == Class::Imad {
            units.imad.interval.value
        } else {
            0.0
        },
        latency,
        agu,
    }
}

/// Cycles for which one warp's share of a matrix instruction occupies its sub-core's tensor core: the larger
/// of multiply-adds over the sub-core's rate and, for warp-group forms, operand bytes over shared-memory
/// bandwidth. A type that the GPU lacks runs at the slowest rate it has.
fn tensor_cycles(op: &OpInfo, gpu: &GpuModel) -> f64 {
    let Some(tensor) = op.tensor else { return 0.0 };
    let slowest = gpu
        .tensor
        .rates
        .values()
        .map(|fact| fact.value)
        .fold(f64::INFINITY, f64::min);
    let rate = gpu.tensor.rate(tensor.kind).unwrap_or(slowest);
    let share = if tensor.group {
        1.0
    } else {
        gpu.tensor.sync_efficiency.value
    };
    let math = tensor.macs / (rate * share / gpu.sm_core.schedulers.value);
    math.max(tensor.shared_bytes / gpu.sm_core.l1_bandwidth.value)
}
