//! Memory behaviour of loads, stores, atomics and bulk copies.

/// Where an access goes, as far as the opcode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Global memory.
    Global,
    /// Thread-local memory, which lives in global memory behind L1.
    Local,
    /// Shared memory.
    Shared,
    /// Decided by each address, against the windows that the trace header gives.
    Generic,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemKind {
    /// Reads into registers.
    Load,
    /// Writes from registers.
    Store,
    /// Reads, modifies, writes and returns the old value.
    Atomic,
    /// The same without a result.
    Reduction,
    /// Copies from global to shared memory past the registers (`LDGSTS`).
    AsyncCopy,
    /// Tensor memory accelerator, from global memory.
    BulkLoad,
    /// Tensor memory accelerator, to global memory.
    BulkStore,
}

impl MemKind {
    /// Whether it writes memory.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Store | Self::Atomic | Self::Reduction | Self::BulkStore
        )
    }

    /// Whether the tensor memory accelerator does it.
    pub fn is_bulk(self) -> bool {
        matches!(self, Self::BulkLoad | Self::BulkStore)
    }
}

/// Memory behaviour of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemOp {
    /// Where it goes.
    pub space: Space,
    /// What it does.
    pub kind: MemKind,
    /// Bytes of each lane, from the suffix (the width printed in traces is wrong for some opcodes).
    pub bytes: u8,
    /// 8x8 matrices moved by LDSM and STSM, whose lanes give row addresses; 0 for everything else.
    pub matrices: u8,
    /// Whether the data of loads bypasses L1.
    pub bypass_l1: bool,
}

impl MemOp {
    /// Whether `bytes` is the length of a matrix row and a lane's own share is one register a matrix.
    pub fn bytes_are_rows(&self) -> bool {
        self.matrices > 0
    }

    /// Lanes whose addresses count: the row addresses of matrix forms, else all.
    pub fn address_lanes(&self) -> u32 {
        if self.bytes_are_rows() {
            u32::from(self.matrices) * 8
        } else {
            32
        }
    }
}

/// The memory behaviour of an opcode; `None` when it moves no data.
pub(super) fn parse(base: &str, opcode: &str) -> Option<MemOp> {
    use {MemKind::*, Space::*};
    let (space, kind) = match base {
        "LDG" | "LDU" => (Global, Load),
        "STG" => (Global, Store),
        "LD" => (Generic, Load),
        "ST" => (Generic, Store),
        "LDL" => (Local, Load),
        "STL" => (Local, Store),
        "LDS" | "LDSM" => (Shared, Load),
        "STS" | "STSM" => (Shared, Store),
        "ATOMS" => (Shared, Atomic),
        "REDS" => (Shared, Reduction),
        "ATOM" => (Generic, Atomic),
        "ATOMG" => (Global, Atomic),
        "RED" | "REDG" => (Global, Reduction),
        "LDGSTS" => (Global, AsyncCopy),
        "UBLKCP" | "UBLKPF" | "UTMALDG" | "UTMAPF" => (Global, BulkLoad),
        "UTMASTG" | "UBLKRED" | "UTMAREDG" => (Global, BulkStore),
        _ => return None,
    };
    let suffixes = || opcode.split('.').skip(1);
    let has = |part: &str| suffixes().any(|suffix| suffix == part);
    let matrix = matches!(base, "LDSM" | "STSM");
    let matrices = match (matrix, has("4"), has("2")) {
        (true, true, _) => 4,
        (true, _, true) => 2,
        (true, ..) => 1,
        (false, ..) => 0,
    };
    let bytes = if matrix {
        16
    } else {
        suffixes().find_map(lane_bytes).unwrap_or(4)
    };
    let strong = has("STRONG") && (has("GPU") || has("SYS"));
    let bypass_l1 = strong
        || has("CG")
        || has("CV")
        || has("BYPASS")
        || matches!(kind, Atomic | Reduction | BulkLoad | BulkStore);
    Some(MemOp {
        space,
        kind,
        bytes,
        matrices,
        bypass_l1,
    })
}

/// Bytes per lane named by one suffix.
fn lane_bytes(suffix: &str) -> Option<u8> {
    Some(match suffix {
        "U8" | "S8" | "8" => 1,
        "U16" | "S16" | "16" => 2,
        "64" | "U64" | "S64" | "F64" => 8,
        "128" => 16,
        _ => return None,
    })
}
