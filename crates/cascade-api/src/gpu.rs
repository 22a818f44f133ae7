//! GPUs a run can simulate.

use serde::{Deserialize, Serialize};

use crate::{Engine, GpuName};

/// A GPU that a run can simulate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GpuConfig {
    /// Name, such as `SM90_H100`.
    pub name: GpuName,
    /// Architecture, such as `sm_90`; `unknown` when the config is gone since the run started.
    pub arch: String,
    /// Core clock in MHz; 0 when unknown. Simulated cycles divided by it give simulated time.
    pub core_clock_mhz: f64,
    /// Engines that can run it here.
    #[serde(default)]
    pub engines: Vec<Engine>,
    /// What a reader of its numbers should know: what they are validated on, and where a checkout of
    /// Accel-Sim disagrees with our facts.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl GpuConfig {
    /// The config as results show it when it has disappeared since the run started.
    pub fn missing(name: GpuName) -> Self {
        Self {
            name,
            arch: "unknown".into(),
            core_clock_mhz: 0.0,
            engines: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Nanoseconds that `cycles` take on this GPU; `None` when the clock is unknown.
    ///
    /// `sim_time_ns = gpu_sim_cycle / core_clock_mhz * 1000`.
    pub fn time_ns(&self, cycles: f64) -> Option<f64> {
        (self.core_clock_mhz > 0.0).then(|| cycles / self.core_clock_mhz * 1000.0)
    }
}
