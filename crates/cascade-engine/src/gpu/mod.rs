//! Descriptions of GPUs: typed facts with units and sources, from `gpus/*.toml` or an Accel-Sim config.

mod builtin;
mod derive;
mod fact;
mod from_config;
mod load;
mod model;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use builtin::builtin;
pub use derive::{Change, Derived, MAX_GPU_NAME, read};
pub use fact::{Fact, Rule};
pub use from_config::{DISAGREEMENT, Disagreement, disagreements};
pub use load::{GpuFileError, MAX_GPU_FILE_BYTES};
pub use model::{Chip, Latency, SmCore, Tensor, TensorType, UnitFacts, Units};

/// Whether anybody compared the engine's results on this GPU with the real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing was measured by us.
    Unvalidated,
    /// Some values were measured on the real GPU; `status_note` says which.
    Measured,
    /// Results were compared with the real GPU; `status_note` says how far they were off.
    Validated,
}

impl Status {
    /// The word used in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unvalidated => "unvalidated",
            Self::Measured => "measured",
            Self::Validated => "validated",
        }
    }
}

/// Everything the engine knows about one GPU.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuModel {
    /// Config name such as `SM90_H100`.
    pub name: String,
    /// Product name.
    pub title: String,
    /// SM number (compute capability without the dot), such as 90: traces of this binary version run on it.
    pub sm: u32,
    /// What is known about accuracy.
    pub status: Status,
    /// The same in words.
    pub status_note: String,
    /// The whole chip.
    pub chip: Chip,
    /// One SM.
    pub sm_core: SmCore,
    /// Unloaded latencies.
    pub latency: Latency,
    /// Execution units of a sub-core.
    pub units: Units,
    /// Tensor cores.
    pub tensor: Tensor,
    /// Where it comes from, if it is a known GPU with values changed.
    #[serde(skip)]
    pub derived: Option<Derived>,
}

impl GpuModel {
    /// Calls `f(key, fact, rule)` for every fact, keys dotted as in the file, in a fixed order.
    pub fn each_fact<'a>(&'a self, f: &mut dyn FnMut(String, &'a Fact, Rule)) {
        self.chip
            .each(&mut |key, fact, rule| f(format!("chip.{key}"), fact, rule));
        self.sm_core
            .each(&mut |key, fact, rule| f(format!("sm_core.{key}"), fact, rule));
        self.latency
            .each(&mut |key, fact, rule| f(format!("latency.{key}"), fact, rule));
        for (unit, facts) in self.units.each() {
            facts.each(&mut |key, fact, rule| f(format!("units.{unit}.{key}"), fact, rule));
        }
        f("tensor.latency".to_owned(), &self.tensor.latency, Tensor::LATENCY);
        f(
            "tensor.sync_efficiency".to_owned(),
            &self.tensor.sync_efficiency,
            Tensor::EFFICIENCY,
        );
        for (kind, fact) in &self.tensor.rates {
            f(format!("tensor.rates.{}", kind.key()), fact, Tensor::RATE);
        }
    }

    /// The fact with this dotted key.
    fn fact_mut(&mut self, key: &str) -> Option<&mut Fact> {
        let (table, rest) = key.split_once('.')?;
        match table {
            "chip" => self.chip.fact_mut(rest),
            "sm_core" => self.sm_core.fact_mut(rest),
            "latency" => self.latency.fact_mut(rest),
            "units" => {
                let (unit, key) = rest.split_once('.')?;
                self.units.unit_mut(unit)?.fact_mut(key)
            }
            "tensor" => self.tensor.fact_mut(rest),
            _ => None,
        }
    }

    /// First 16 hex digits of the SHA-256 over name, SM number and every `key = value` line: equal for two
    /// descriptions exactly when the engine computes the same with both.
    pub fn facts_hash(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(format!("{} {}\n", self.name, self.sm));
        self.each_fact(&mut |key, fact, _| hash.update(format!("{key} = {}\n", fact.value)));
        let mut text = hex::encode(hash.finalize());
        text.truncate(16);
        text
    }

    /// DRAM bytes per core cycle that a streaming kernel reaches: `GB/s * efficiency / core clock`.
    pub fn dram_bytes_per_cycle(&self) -> f64 {
        let chip = &self.chip;
        chip.dram_bandwidth.value * 1e9 * chip.dram_efficiency.value / (chip.core_clock.value * 1e6)
    }

    /// Core cycles in `ns` nanoseconds.
    pub fn cycles_from_ns(&self, ns: f64) -> f64 {
        ns * self.chip.core_clock.value / 1e3
    }

    /// Nanoseconds in `cycles` core cycles.
    pub fn ns_from_cycles(&self, cycles: f64) -> f64 {
        cycles * 1e3 / self.chip.core_clock.value
    }
}

#[cfg(test)]
mod tests;
