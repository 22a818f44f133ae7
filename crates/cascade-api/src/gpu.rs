//! GPUs a run can simulate.

use std::collections::BTreeMap;

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
    /// What it was made from, if it is hypothetical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<GpuDerived>,
}

/// What a hypothetical GPU was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GpuDerived {
    /// The GPU that it inherits from.
    pub base: GpuName,
    /// What differs, by the value's dotted key such as `chip.sms`.
    pub changes: BTreeMap<String, GpuChange>,
}

/// A value of a hypothetical GPU that differs from its base, in the unit of its key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GpuChange {
    /// What the base has.
    pub from: f64,
    /// What this GPU has.
    pub to: f64,
}

/// A GPU with every value that our engine knows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GpuDetail {
    /// The GPU as lists show it.
    #[serde(flatten)]
    pub gpu: GpuConfig,
    /// Product name, or what a hypothetical GPU changes.
    pub title: String,
    /// `validated`, `measured` or `unvalidated`.
    pub status: String,
    /// The same in words.
    pub status_note: String,
    /// Every value, in a fixed order; empty for a GPU that only Accel-Sim knows.
    pub facts: Vec<GpuFact>,
    /// How many sims are on it, over all runs. A GPU of the user's own that has any cannot be deleted.
    #[serde(default)]
    pub sims: u64,
}

/// One value of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GpuFact {
    /// Dotted key, such as `chip.sms`.
    pub key: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Where it comes from; starts with `assumed` or `hypothetical` when nobody measured or published it.
    pub source: String,
    /// Smallest value that a GPU may have.
    pub min: f64,
    /// Largest value that a GPU may have.
    pub max: f64,
}

/// Body of `POST /api/gpu-configs`: a hypothetical GPU, or one for each value of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GpuConfigCreate {
    /// The new GPU's name, which starts as the base's does (`SM90_`). A sweep appends `_` and the value, and may
    /// leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// One of Cascade's own GPUs.
    pub base: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// New values by dotted key, in the unit of the key.
    #[serde(default)]
    pub changes: BTreeMap<String, f64>,
    /// A value to vary, on top of the changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<GpuSweep>,
}

/// A value that takes several sizes, one GPU each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct GpuSweep {
    /// Dotted key, such as `chip.dram_bandwidth`.
    pub key: String,
    /// Its values, in the unit of the key.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 64))]
    pub values: Vec<f64>,
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
            derived: None,
        }
    }

    /// Nanoseconds that `cycles` take on this GPU; `None` when the clock is unknown.
    ///
    /// `sim_time_ns = gpu_sim_cycle / core_clock_mhz * 1000`.
    pub fn time_ns(&self, cycles: f64) -> Option<f64> {
        (self.core_clock_mhz > 0.0).then(|| cycles / self.core_clock_mhz * 1000.0)
    }
}
