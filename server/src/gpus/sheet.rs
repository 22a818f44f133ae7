//! What requests are estimated with on a GPU: its datasheet, or for a hypothetical GPU its base's with the changed
//! facts carried over. The one place that decides which GPUs requests are estimated on.

use cascade_api::{GpuDerived, GpuName};
use cascade_serving::datasheet::{Datasheet, datasheet};

use super::GpuCatalogue;

/// GPUs whose requests are estimated, they and what is made from them: those whose datasheet the roofline was checked
/// with.
pub(crate) const TARGETS: [&str; 3] = ["SM90_H100", "SM90_H200", "SM80_A100"];
/// Facts that the peak of 16-bit products with 32-bit sums is proportional to.
const COMPUTE: [&str; 3] = ["chip.sms", "chip.core_clock", "tensor.rates.fp16_f32"];
/// The fact that memory bandwidth is proportional to.
const BANDWIDTH: &str = "chip.dram_bandwidth";

impl GpuCatalogue {
    /// The figures of a GPU on which requests are estimated; none for any other.
    pub(crate) fn datasheet(&self, name: &GpuName) -> Option<Datasheet> {
        match self.get(name).and_then(|gpu| gpu.derived) {
            Some(derived) => Some(carried_over(&known(derived.base.as_str())?, name, &derived)),
            None => known(name.as_str()),
        }
    }

    /// Every GPU on which requests are estimated: those with a datasheet, then those made from them.
    pub(crate) fn targets(&self) -> Vec<GpuName> {
        let own = self.list().into_iter().filter(|gpu| gpu.derived.is_some());
        let own = own
            .map(|gpu| gpu.name)
            .filter(|name| self.datasheet(name).is_some());
        TARGETS.map(GpuName::from).into_iter().chain(own).collect()
    }
}

fn known(name: &str) -> Option<Datasheet> {
    TARGETS.contains(&name).then(|| datasheet(name)).flatten()
}

/// The base's figures, each times what the facts behind it were changed by. No fact says how much memory a GPU has, so
/// that stays.
fn carried_over(base: &Datasheet, name: &GpuName, derived: &GpuDerived) -> Datasheet {
    let factor = |key: &str| {
        derived
            .changes
            .get(key)
            .map_or(1.0, |change| change.to / change.from)
    };
    let said: Vec<String> = COMPUTE
        .into_iter()
        .chain([BANDWIDTH])
        .filter_map(|key| {
            let change = derived
                .changes
                .get(key)
                .filter(|change| change.from != change.to)?;
            Some(format!("{key} {} instead of {}", change.to, change.from))
        })
        .collect();
    let what = if said.is_empty() {
        "no change that its datasheet would show".to_owned()
    } else {
        said.join(", ")
    };
    Datasheet {
        gpu: name.to_string(),
        compute_tflops: base.compute_tflops * COMPUTE.into_iter().map(factor).product::<f64>(),
        bandwidth_tbs: base.bandwidth_tbs * factor(BANDWIDTH),
        source: format!(
            "hypothetical: {} with {what}; {}: {}",
            base.gpu, base.gpu, base.source
        ),
        ..base.clone()
    }
}

#[cfg(test)]
mod tests;
