//! Columns for tests.

use cascade_api::{ColumnKernel, Engine, KernelColumn, KernelColumns, ReplicaTotal, TraceId, TraceSummary};

use super::Side;

/// A kernel with a grid of so many CTAs.
pub(crate) fn kernel(name: &str, group: &str, ctas: u32) -> ColumnKernel {
    ColumnKernel {
        name: name.into(),
        grid: Some((ctas, 1, 1)),
        block: Some((128, 1, 1)),
        group: group.into(),
    }
}

/// A run whose kernels are named by `which` and whose GPUs take `times`, one list each.
pub(crate) fn run(
    kernels: &[ColumnKernel],
    which: &[u32],
    times: &[(&str, &[Option<f64>])],
) -> KernelColumns {
    let column = |(gpu, times): &(&str, &[Option<f64>])| KernelColumn {
        gpu_config: (*gpu).into(),
        engines: vec![Engine::Cascade],
        replicas: vec![ReplicaTotal {
            kernels: times.iter().flatten().count() as u64,
            total_ns: times.iter().flatten().sum(),
        }],
        median_ns: times.to_vec(),
        min_ns: Vec::new(),
        max_ns: Vec::new(),
    };
    KernelColumns {
        kernels: kernels.to_vec(),
        launches: which.to_vec(),
        real_ns: Vec::new(),
        columns: times.iter().map(column).collect(),
    }
}

/// Every column of a run.
pub(crate) fn sides<'a>(trace: &'a TraceId, run: &'a KernelColumns) -> Vec<Side<'a>> {
    let side = |column| Side {
        trace,
        kernels: run,
        column,
    };
    run.columns.iter().map(side).collect()
}

/// A trace that was measured on a GPU.
pub(crate) fn trace(id: &str, real: Option<&str>) -> TraceSummary {
    serde_json::from_value(serde_json::json!({
        "id": id, "state": "ready", "created_at": "2026-11-08T03:05:34Z", "updated_at": "2026-11-08T03:05:34Z",
        "layers": [], "trace_gpu_arch": "sm_90", "real_gpu_config": real, "kernel_count": 0, "bytes": 0,
        "has_real_timing": real.is_some(), "has_step_timeline": false, "sample": false,
    }))
    .unwrap()
}
