//! `gpgpusim.config` and `trace.config`: reading, a typed view of what a timing engine needs, a hash that
//! identifies the effective options, and checks.
//!
//! ```
//! use cascade_accelsim::config::{Config, Source, arch_from_name};
//! let text = b"-gpgpu_n_mem 1 # HBM\n-gpgpu_n_mem 16\n-gpgpu_clock_domains 1132:1132:1132:3500.5";
//! let config = Config::read(&[Source { name: "gpgpusim.config", text }], &mut |file| Err(format!("no {file}")));
//! assert_eq!(config.value("-gpgpu_n_mem"), Some("16"));
//! assert_eq!(config.problems[0].to_string(), "gpgpusim.config:2: -gpgpu_n_mem replaces the value of line 1");
//! assert_eq!(arch_from_name("SM86_RTX3070").as_deref(), Some("sm_86"));
//! ```

mod arch;
mod cache;
mod check;
mod gpu;
mod hash;
mod reader;
mod syntax;
mod units;

pub use arch::arch_from_name;
pub use cache::{Cache, CacheKind};
pub use check::check;
pub use gpu::{Clocks, ConfigError, GpuConfig, UnitCounts};
pub use hash::{HASH_CHARS, options_hash};
pub use reader::{Config, MAX_PROBLEMS, Place, Problem, Resolve, Setting, Severity};
pub use syntax::{MAX_CONFIG_BYTES, MAX_CONFIG_FILES, MAX_DEPTH, MAX_SETTINGS, Source};
pub use units::{Latency, SpecializedUnit, TraceLatencies};

#[cfg(test)]
mod tests;
