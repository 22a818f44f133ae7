//! `.tracez`, Accel-Sim 2.0's packed traces: zstd frames of instruction lines, a dictionary and an index.
//!
//! Layout, little-endian: header text and NUL; `u32` dictionary size; `u32` instructions for each
//! sub-chunk (0: whole warps); dictionary; for each warp `u32` instructions, `u32` sub-chunks and for each
//! of these `u32` size and a zstd frame of lines joined by line ends; index: `u32` blocks; for each block
//! ten `u32` (block, cluster, CTA in cluster, rank) and `u32` warps; for each warp `u32` instructions,
//! `u32` sub-chunks, `u64` offset and the sub-chunks' instruction counts; at the end `u64` index offset.
//! Warps have no number: they are 0, 1, 2 … in order.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::{Options, Writer, train_dictionary};

/// Largest dictionary, bytes (the layout's own limit).
pub const MAX_DICTIONARY_BYTES: usize = 64 << 10;
/// Largest sub-chunk, compressed or not, bytes.
pub const MAX_SUBCHUNK_BYTES: usize = 256 << 20;
/// Instructions for each sub-chunk, as Accel-Sim's post-processor cuts them.
pub const DEFAULT_SUBCHUNK_INSTRS: u32 = 2048;
