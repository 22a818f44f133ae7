//! Tiled half-precision matrix multiply on tensor cores.

use super::{Arch, Counts, Dim3, INPUT, OUTPUT, SECOND_INPUT, SynthError, WarpCode, Workload, check_extents};
use crate::synth::program::{PROLOGUE, lanes_where};

/// `C[m,n] = A[m,k] * B[n,k]^T` in half precision: blocks of four warps, two by two, each tile of A and B
/// going through shared memory 32 columns at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemm {
    /// Rows of A and C.
    pub m: u32,
    /// Rows of B, columns of C.
    pub n: u32,
    /// Columns of A and B, a multiple of 8.
    pub k: u32,
    /// Rows of a block's tile of C: 32, 64 or 128.
    pub tile_m: u32,
    /// Columns of a block's tile of C: 32, 64 or 128.
    pub tile_n: u32,
}

/// Columns of A and B in one step.
const TILE_K: u32 = 32;
/// Halves in 16 bytes, what a lane moves at once.
const VECTOR: u32 = 8;
/// Rows that the four warps load at once: each lane 16 bytes, four lanes a row.
const ROWS_A_ROUND: u32 = 32;
/// Loop overhead: two pointers, compare and branch; and two barriers.
const LOOP: u64 = 4;
const BARRIERS: u64 = 2;
/// Three addresses before the loop.
const ADDRESSES: u64 = 3;

impl Gemm {
    fn steps(&self) -> u32 {
        self.k.div_ceil(TILE_K)
    }

    /// Tile of one warp.
    fn warp_tile(&self) -> (u32, u32) {
        (self.tile_m / 2, self.tile_n / 2)
    }

    /// Rounds of loads for A and B.
    fn rounds(&self) -> (u32, u32) {
        (self.tile_m / ROWS_A_ROUND, self.tile_n / ROWS_A_ROUND)
    }

    fn stores(&self) -> u32 {
        let (rows, columns) = self.warp_tile();
        rows * columns / (32 * VECTOR)
    }

    /// Loads one tile's rows and puts them into shared memory.
    fn load(&self, code: &mut WarpCode, tile: &Tile, warp: u32, step: u32) {
        for round in 0..tile.rounds {
            let row = |lane: u32| tile.first_row + round * ROWS_A_ROUND + warp * 8 + lane / 4;
            let column = |lane: u32| step * TILE_K + lane % 4 * VECTOR;
            code.lanes(lanes_where(|lane| row(lane) < tile.rows && column(lane) < self.k));
            let address =
                |lane| tile.base + (u64::from(row(lane)) * u64::from(self.k) + u64::from(column(lane))) * 2;
            code.mem(
                "LDG.E.128",
                16,
                tile.register + round as u8 * 4,
                &[tile.pointer],
                address,
            );
        }
        code.lanes(u32::MAX);
    }

    fn store_shared(code: &mut WarpCode, tile: &Tile, warp: u32) {
        for round in 0..tile.rounds {
            let address = |lane: u32| u64::from(tile.shared + (round * 128 + warp * 32 + lane) * 16);
            code.mem(
                "STS.128",
                16,
                None,
                &[10, tile.register + round as u8 * 4],
                address,
            );
        }
    }

    /// Fragments from shared memory and the multiplies of 16 columns.
    fn multiply(&self, code: &mut WarpCode, half: u32, shared_b: u32) {
        let (rows, columns) = self.warp_tile();
        let (load, width) = code.fragment_load();
        for (count, base) in [(rows / 16, 0), (columns / 16, shared_b)] {
            for i in 0..count {
                let address = |lane: u32| u64::from(base + i * 1024 + half * 512 + lane * 16);
                code.mem(load, width, 64 + i as u8 * 4, &[11], address);
            }
        }
        let (multiply, times) = code.multiply();
        for i in 0..(rows / 16) * (columns / 8) {
            let sum = 100 + (i % 32) as u8 * 4;
            for _ in 0..times {
                code.op(multiply, sum, &[64, 68, sum]);
            }
        }
    }
}

/// One operand's tile as a block loads it.
struct Tile {
    base: u64,
    first_row: u32,
    rows: u32,
    rounds: u32,
    register: u8,
    pointer: u8,
    shared: u32,
}

impl WarpCode {
    /// The instruction that reads a matrix fragment from shared memory, and the width that the tracer
    /// derives from its name.
    fn fragment_load(&self) -> (&'static str, u32) {
        match self.arch.binary() {
            70 => ("LDS.U.128", 16),
            _ => ("LDSM.16.M88.4", 2),
        }
    }

    fn multiply(&self) -> (&'static str, u32) {
        multiply(self.arch)
    }
}

/// The tensor instruction of an architecture and how many make 16 by 8 by 16 multiply-adds.
fn multiply(arch: Arch) -> (&'static str, u32) {
    match arch.binary() {
        70 => ("HMMA.884.F32.F32.STEP0", 8),
        75 => ("HMMA.1688.F32", 2),
        _ => ("HMMA.16816.F32", 1),
    }
}

impl Workload for Gemm {
    fn check(&self) -> Result<(), SynthError> {
        check_extents(&[self.m.into(), self.n.into(), self.k.into()])?;
        if !self.k.is_multiple_of(VECTOR) {
            return Err(SynthError::BadShape("k must be a multiple of 8"));
        }
        let known = |tile| matches!(tile, 32 | 64 | 128);
        match known(self.tile_m) && known(self.tile_n) {
            true => Ok(()),
            false => Err(SynthError::BadShape("tiles must be 32, 64 or 128")),
        }
    }

    fn grid(&self) -> Dim3 {
        Dim3::new(self.n.div_ceil(self.tile_n), self.m.div_ceil(self.tile_m), 1)
    }

    fn threads(&self) -> u32 {
        128
    }

    fn shmem(&self) -> u32 {
        (self.tile_m + self.tile_n) * TILE_K * 2
    }

    fn registers(&self) -> u32 {
        232
    }

    fn counts(&self, arch: Arch) -> Counts {
        let (grid, (rows, columns), (rounds_a, rounds_b)) = (self.grid(), self.warp_tile(), self.rounds());
        let (steps, loads, stores) = (
            u64::from(self.steps()),
            u64::from(rounds_a + rounds_b),
            u64::from(self.stores()),
        );
        let fragments = u64::from(rows / 16 + columns / 16);
        let multiplies = u64::from((rows / 16) * (columns / 8) * multiply(arch).1);
        // Per warp, without the global loads and stores, whose masks depend on the edges.
        let full =
            PROLOGUE + ADDRESSES + steps * (loads + 2 * (fragments + multiplies) + BARRIERS + LOOP) + 1;
        let warps = grid.count() * 4;
        let vectors = |rows: u32, columns: u32| u64::from(rows) * u64::from(columns.div_ceil(VECTOR));
        let lanes = u64::from(grid.x) * vectors(self.m, self.k)
            + u64::from(grid.y) * vectors(self.n, self.k)
            + vectors(self.m, self.n);
        Counts {
            warp_instrs: warps * (full + steps * loads + stores),
            thread_instrs: warps * full * 32 + lanes,
        }
    }

    fn warp(&self, block: u32, warp: u32, code: &mut WarpCode) {
        let grid_x = self.grid().x.max(1);
        let (tile_row, tile_column) = (block / grid_x * self.tile_m, block % grid_x * self.tile_n);
        let (rounds_a, rounds_b) = self.rounds();
        let shared_b = self.tile_m * TILE_K * 2;
        let a = Tile {
            base: INPUT,
            first_row: tile_row,
            rows: self.m,
            rounds: rounds_a,
            register: 24,
            pointer: 2,
            shared: 0,
        };
        let b = Tile {
            base: SECOND_INPUT,
            first_row: tile_column,
            rows: self.n,
            rounds: rounds_b,
            register: 44,
            pointer: 6,
            shared: shared_b,
        };
        code.prologue();
        for pointer in [2, 6, 12] {
            code.op("IMAD.WIDE", pointer, &[0, 5]);
        }
        let top = code.label();
        for step in 0..self.steps() {
            code.jump(top);
            self.load(code, &a, warp, step);
            self.load(code, &b, warp, step);
            Self::store_shared(code, &a, warp);
            Self::store_shared(code, &b, warp);
            code.op("BAR.SYNC", None, &[]);
            for half in 0..2 {
                self.multiply(code, half, shared_b);
            }
            code.op("BAR.SYNC", None, &[]);
            code.op("IADD3", 2, &[2, 5]);
            code.op("IADD3", 6, &[6, 5]);
            code.op("ISETP.GE.AND", None, &[2]);
            code.op("BRA", None, &[]);
        }
        // Rows of C start at multiples of 16 bytes, as the vector stores need.
        let leading = u64::from(self.n.next_multiple_of(VECTOR));
        let (rows, columns) = self.warp_tile();
        let (first_row, first_column) = (tile_row + warp / 2 * rows, tile_column + warp % 2 * columns);
        for store in 0..self.stores() {
            let vectors = columns / VECTOR;
            let row = |lane: u32| first_row + (store * 32 + lane) / vectors;
            let column = |lane: u32| first_column + (store * 32 + lane) % vectors * VECTOR;
            code.lanes(lanes_where(|lane| row(lane) < self.m && column(lane) < self.n));
            let address = |lane| OUTPUT + (u64::from(row(lane)) * leading + u64::from(column(lane))) * 2;
            code.mem(
                "STG.E.128",
                16,
                None,
                &[12, 100 + (store % 32) as u8 * 4],
                address,
            );
        }
        code.lanes(u32::MAX);
        code.op("EXIT", None, &[]);
    }
}
