//! What tests share.

use crate::gpu::{GpuModel, builtin};
pub(crate) use crate::synthetic::{Builder, Synthetic};

/// A built-in GPU.
pub(crate) fn gpu(name: &str) -> GpuModel {
    builtin()
        .expect("built-in files are valid")
        .into_iter()
        .find(|gpu| gpu.name == name)
        .expect("a built-in GPU")
}
