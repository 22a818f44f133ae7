//! A run's kernel times column by column: what a comparison of runs needs, at a size that 100,000 kernels bear.

use serde::{Deserialize, Serialize};

use crate::{Engine, GpuName};

/// A run's kernels once each, and for each GPU its time at every position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelColumns {
    /// The distinct kernels, in the order in which they first appear.
    pub kernels: Vec<ColumnKernel>,
    /// For each position, which of `kernels` runs there.
    pub launches: Vec<u32>,
    /// Measured time of each position in ns; empty without real timing.
    pub real_ns: Vec<Option<f64>>,
    /// One entry for each of the run's GPUs, in entry order.
    pub columns: Vec<KernelColumn>,
}

/// A kernel: what it is called and how it is launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ColumnKernel {
    /// Its name as recorded.
    pub name: String,
    /// Grid size, if the trace's list names this kernel.
    pub grid: Option<(u32, u32, u32)>,
    /// Block size, if the trace's list names this kernel.
    pub block: Option<(u32, u32, u32)>,
    /// Its role, guessed from name and grid.
    pub group: String,
}

/// One GPU's times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelColumn {
    /// The GPU.
    pub gpu_config: GpuName,
    /// The programs that made its numbers.
    pub engines: Vec<Engine>,
    /// Its sims, by replica.
    pub replicas: Vec<ReplicaTotal>,
    /// Median over the replicas for each position in ns; null while none has finished the kernel.
    pub median_ns: Vec<Option<f64>>,
    /// Least over the replicas; empty where replicas agree on every kernel.
    pub min_ns: Vec<Option<f64>>,
    /// Most over the replicas; empty where replicas agree on every kernel.
    pub max_ns: Vec<Option<f64>>,
}

/// What one replica adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplicaTotal {
    /// Kernels with a simulated time.
    pub kernels: u64,
    /// The sum of their times in ns.
    pub total_ns: f64,
}
