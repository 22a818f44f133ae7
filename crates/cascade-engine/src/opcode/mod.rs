//! What a SASS opcode does: its execution unit, its memory behaviour, its matrix shape and how many
//! registers its operands span. Volta to Hopper; unknown opcodes are classed as such, never refused.

mod memory;
mod table;
mod tensor;

pub use memory::{MemKind, MemOp, Space};
pub use tensor::TensorOp;

/// What an opcode keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Integer, logic, comparison, move.
    Int,
    /// Integer multiply-add.
    Imad,
    /// Single precision.
    Fp32,
    /// Packed half precision.
    Half,
    /// Double precision.
    Fp64,
    /// Special function unit: MUFU, conversions, bit counts.
    Sfu,
    /// Tensor core.
    Tensor,
    /// Uniform datapath.
    Uniform,
    /// Branches and other control flow.
    Branch,
    /// Load/store unit, for memory and shuffles.
    Lsu,
    /// Constant loads.
    Constant,
    /// Barriers, fences, dependency counters: an issue slot and nothing else.
    Barrier,
    /// Special registers and other slow one-off instructions.
    Misc,
    /// Texture and surface.
    Texture,
    /// Trace markers that no hardware executes.
    Pseudo,
    /// Not in the table; counted, and treated like [`Class::Int`].
    Unknown,
}

/// Everything the engine needs to know about one opcode text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpInfo {
    /// What it keeps busy.
    pub class: Class,
    /// Memory behaviour of loads, stores and atomics.
    pub mem: Option<MemOp>,
    /// Shape and type of a matrix instruction.
    pub tensor: Option<TensorOp>,
    /// Registers that the destination operand spans.
    pub dst_regs: u8,
    /// Registers that each source operand spans, in line order; later operands span one.
    pub src_regs: [u8; 3],
    /// Whether it sets a predicate that a following branch waits for.
    pub sets_predicate: bool,
}

impl OpInfo {
    /// Classifies an opcode text such as `LDG.E.128`.
    pub fn parse(opcode: &str) -> Self {
        let base = opcode.split('.').next().unwrap_or(opcode);
        let class = table::class_of(base);
        let mem = memory::parse(base, opcode);
        let tensor = if class == Class::Tensor {
            tensor::parse(base, opcode)
        } else {
            None
        };
        let class = if class == Class::Tensor && tensor.is_none() {
            Class::Unknown
        } else {
            class
        };
        let (dst_regs, src_regs) = operand_spans(base, opcode, class, mem, tensor);
        Self {
            class,
            mem,
            tensor,
            dst_regs,
            src_regs,
            sets_predicate: base.contains("SETP"),
        }
    }
}

/// Registers spanned by the destination and the sources, from operand types that the suffixes name.
fn operand_spans(
    base: &str,
    opcode: &str,
    class: Class,
    mem: Option<MemOp>,
    tensor: Option<TensorOp>,
) -> (u8, [u8; 3]) {
    let has = |part: &str| opcode.split('.').skip(1).any(|suffix| suffix == part);
    if let Some(tensor) = tensor {
        return tensor.operand_spans();
    }
    if let Some(mem) = mem {
        let data = if mem.bytes_are_rows() {
            mem.matrices
        } else {
            (mem.bytes / 4).max(1)
        };
        let address = if mem.space == Space::Shared { 1 } else { 2 };
        return match mem.kind {
            MemKind::Load => (data, [address, 1, 1]),
            MemKind::Store | MemKind::Atomic | MemKind::Reduction => (data, [address, data, 1]),
            MemKind::AsyncCopy | MemKind::BulkLoad | MemKind::BulkStore => (1, [1, address, 1]),
        };
    }
    match (class, base) {
        (Class::Fp64, _) => (2, [2, 2, 2]),
        (_, "IMAD" | "UIMAD") if has("WIDE") => (2, [1, 1, 2]),
        (_, "LDC" | "ULDC" | "S2R" | "CS2R") if has("64") => (2, [1, 1, 1]),
        (_, "CS2R") if !has("32") => (2, [1, 1, 1]),
        (_, "LDC" | "ULDC") if has("128") => (4, [1, 1, 1]),
        (_, "F2F") if has("F64") => (2, [2, 1, 1]),
        (_, "I2F" | "F2I") if has("F64") || has("64") || has("S64") => (2, [2, 1, 1]),
        _ => (1, [1, 1, 1]),
    }
}

#[cfg(test)]
mod tests;
