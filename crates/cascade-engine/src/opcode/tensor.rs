//! Shapes and types of matrix instructions.

use crate::gpu::TensorType;

/// A matrix instruction as one warp issues it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensorOp {
    /// Operand type, which decides the rate.
    pub kind: TensorType,
    /// Dense multiply-adds that one warp instruction occupies the tensor core for (sparse forms count half).
    pub macs: f64,
    /// Bytes of shared memory that the instruction's warp group reads, 0 for register operands.
    pub shared_bytes: f64,
    /// Whether it is a warp-group instruction (GMMA): asynchronous, at the full rate.
    pub group: bool,
    /// Registers of the A, B and C/D operands of a thread.
    spans: [u8; 3],
}

impl TensorOp {
    /// Registers of the destination and of the sources A, B, C.
    pub(super) fn operand_spans(&self) -> (u8, [u8; 3]) {
        (self.spans[2], self.spans)
    }
}

/// Shape suffixes of warp-level forms as (m, n, k). Volta's `884` is a quarter-warp shape whose instruction
/// comes in steps; see [`parse`].
const SHAPES: [(&str, [u32; 3]); 14] = [
    ("884", [8, 8, 4]),
    ("1684", [16, 8, 4]),
    ("1688", [16, 8, 8]),
    ("16816", [16, 8, 16]),
    ("16832", [16, 8, 32]),
    ("16864", [16, 8, 64]),
    ("168128", [16, 8, 128]),
    ("168256", [16, 8, 256]),
    ("8816", [8, 8, 16]),
    ("8832", [8, 8, 32]),
    ("8864", [8, 8, 64]),
    ("88128", [8, 8, 128]),
    ("16168", [16, 16, 8]),
    ("161616", [16, 16, 16]),
];

/// Rows of a warp-group tile, and the bytes of its K extent in every type.
const GROUP_M: f64 = 64.0;
const GROUP_K_BYTES: f64 = 32.0;

/// Shape, type and operands of a matrix instruction; `None` when no shape is recognised.
pub(super) fn parse(base: &str, opcode: &str) -> Option<TensorOp> {
    let suffixes = || opcode.split('.').skip(1);
    let has = |part: &str| suffixes().any(|suffix| suffix == part);
    let kind = match base {
        "HMMA" | "HGMMA" if has("BF16") => TensorType::Bf16,
        "HMMA" | "HGMMA" if has("TF32") => TensorType::Tf32,
        "HMMA" | "HGMMA" if has("F32") => TensorType::Fp16F32,
        "HMMA" | "HGMMA" => TensorType::Fp16F16,
        "IMMA" | "IGMMA" if has("S4") || has("U4") => TensorType::Int4,
        "IMMA" | "IGMMA" => TensorType::Int8,
        "QMMA" | "QGMMA" => TensorType::Fp8,
        "DMMA" => TensorType::Fp64,
        _ => TensorType::B1,
    };
    let sparse = if has("SP") { 0.5 } else { 1.0 };
    if base.ends_with("GMMA") {
        let [m, n, k] = suffixes().find_map(group_shape)?;
        // One of the group's four warps: a quarter of the tile's rows.
        let macs = f64::from(m) / 4.0 * f64::from(n) * f64::from(k) * sparse;
        let shared_bytes = (GROUP_M + f64::from(n)) * GROUP_K_BYTES;
        let accumulators = u8::try_from(n / 2).unwrap_or(u8::MAX).clamp(1, 128);
        return Some(TensorOp {
            kind,
            macs,
            shared_bytes,
            group: true,
            spans: [1, 1, accumulators],
        });
    }
    let [m, n, k] = suffixes().find_map(|suffix| {
        SHAPES
            .iter()
            .find(|(text, _)| *text == suffix)
            .map(|(_, shape)| *shape)
    })?;
    let macs = f64::from(m * n * k) * sparse;
    let volta = base == "HMMA" && has("884");
    // Volta: four quarter-warps do 8x8x4 each, 1,024 multiply-adds, split into four steps with FP32
    // accumulation and two without (Jia et al., arXiv 1804.06826).
    let macs = match (volta, kind) {
        (true, TensorType::Fp16F32) => 256.0,
        (true, _) => 512.0,
        _ => macs,
    };
    let spans = if volta {
        [2, 2, 2]
    } else {
        register_spans(kind, m, n, k)
    };
    Some(TensorOp {
        kind,
        macs,
        shared_bytes: 0.0,
        group: false,
        spans,
    })
}

/// `64x256x16` as numbers.
fn group_shape(suffix: &str) -> Option<[u32; 3]> {
    let mut parts = suffix
        .split('x')
        .map(|part| part.parse::<u32>().ok().filter(|n| (1..=1024).contains(n)));
    let shape = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(shape)
}

/// 32-bit registers of A, B and C in each of 32 lanes.
fn register_spans(kind: TensorType, m: u32, n: u32, k: u32) -> [u8; 3] {
    let (input_bits, accumulator_bits) = match kind {
        TensorType::Fp16F32 | TensorType::Bf16 => (16, 32),
        TensorType::Fp16F16 => (16, 16),
        TensorType::Tf32 => (32, 32),
        TensorType::Fp8 | TensorType::Int8 => (8, 32),
        TensorType::Int4 => (4, 32),
        TensorType::B1 => (1, 32),
        TensorType::Fp64 => (64, 64),
    };
    let registers = |elements: u32, bits: u32| {
        u8::try_from((elements * bits).div_ceil(32 * 32))
            .unwrap_or(u8::MAX)
            .max(1)
    };
    [
        registers(m * k, input_bits),
        registers(n * k, input_bits),
        registers(m * n, accumulator_bits),
    ]
}
