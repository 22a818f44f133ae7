//! Kernel traces: headers, thread blocks, warps and instructions.

mod types;

pub use types::*;
