//! A sim's kernels as durations of the launches that the mapping names.

use indexmap::IndexMap;

use cascade_api::{KernelStat, StatValue};

use crate::mapping::{MAPPING, MappedKernel};
use crate::provenance::{Provenance, ProvenanceError};
use crate::timeline::Extra;
use crate::{SimDuration, SimDurations};

/// The key of a kernel's block that says where Cascade's engine took its result from: `exact` or `dedup:<uid>`.
pub const PROVENANCE_KEY: &str = "cascade_provenance";

/// What made the times.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The program, as the wire names it; none where that is not known.
    pub engine: Option<String>,
    /// The GPU it simulated; none where that is not known.
    pub gpu_config: Option<String>,
    /// The clock that turns its cycles into time, in MHz.
    pub core_clock_mhz: f64,
}

/// Why a log gives no durations for a mapping.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// The log has no such kernel.
    #[error(
        "{MAPPING} names kernel {uid} `{name}`, but the log has no finished kernel with that uid; \
         check that the sim ran the whole trace that the mapping belongs to"
    )]
    Missing {
        /// The uid looked for.
        uid: u64,
        /// The name looked for.
        name: String,
    },
    /// The log's kernel of that uid is another one.
    #[error(
        "{MAPPING} says that kernel {uid} is `{name}`, but in the log it is `{found}`; \
         the mapping belongs to another trace"
    )]
    Name {
        /// The uid.
        uid: u64,
        /// The mapping's name.
        name: String,
        /// The log's name.
        found: String,
    },
    /// The log has two kernels of that uid and name.
    #[error("the log has kernel {uid} `{name}` twice; give the log of one sim")]
    Twice {
        /// The uid.
        uid: u64,
        /// The name.
        name: String,
    },
    /// The log gives no cycles for it.
    #[error("the log gives no gpu_sim_cycle for kernel {uid} `{name}`; the sim may have been cut off")]
    Cycles {
        /// The uid.
        uid: u64,
        /// The name.
        name: String,
    },
    /// The mapping's label is none.
    #[error("{MAPPING}: kernel {uid}: {problem}")]
    Provenance {
        /// The uid.
        uid: u64,
        /// What is wrong.
        problem: ProvenanceError,
    },
    /// A clock that cannot be.
    #[error("a core clock of {0} MHz; it must be above 0: see -gpgpu_clock_domains in gpgpusim.config")]
    Clock(f64),
}

/// The time of each mapped launch: `cycles / core_clock_mhz * 1000` ns of the kernel it names.
///
/// Where the mapping does not say where a time comes from, the first launch that names a kernel is `exact` and
/// the others that name it are `dedup:<uid>`.
///
/// # Errors
/// A mapped kernel that the log lacks, has twice, or gives no cycles for.
pub fn from_kernels(
    mapping: &[MappedKernel],
    kernels: &[KernelStat],
    source: Source,
) -> Result<SimDurations, ImportError> {
    let clock = source.core_clock_mhz;
    if !(clock.is_finite() && clock > 0.0) {
        return Err(ImportError::Clock(clock));
    }
    let mut finished: IndexMap<u64, Vec<&KernelStat>> = IndexMap::new();
    for kernel in kernels {
        if let Some(uid) = kernel.kernel_launch_uid {
            finished.entry(uid).or_default().push(kernel);
        }
    }
    let mut seen: IndexMap<u64, ()> = IndexMap::new();
    let mut durations = Vec::with_capacity(mapping.len());
    for mapped in mapping {
        let (uid, name) = (mapped.uid, || mapped.name.clone());
        let kernel = find(mapped, finished.get(&uid).map_or(&[], Vec::as_slice))?;
        let cycles = kernel
            .gpu_sim_cycle
            .ok_or_else(|| ImportError::Cycles { uid, name: name() })?;
        let first = seen.insert(uid, ()).is_none();
        let labelled = match &mapped.provenance {
            Some(label) => label
                .parse()
                .map_err(|problem| ImportError::Provenance { uid, problem })?,
            None if first => Provenance::Exact,
            None => Provenance::Dedup(uid),
        };
        // What the engine did not simulate itself is not exact, whatever the mapping says.
        let provenance = match (labelled, own_provenance(kernel)) {
            (Provenance::Exact, Some(own)) => own,
            (labelled, _) => labelled,
        };
        durations.push(SimDuration {
            repeat: mapped.repeat,
            step: mapped.step,
            seq: mapped.seq,
            duration_ns: cycles as f64 / clock * 1000.0,
            provenance,
            uid: Some(uid),
            cycles: Some(cycles),
            extra: Extra::new(),
        });
    }
    Ok(SimDurations {
        engine: source.engine,
        gpu_config: source.gpu_config,
        core_clock_mhz: Some(clock),
        durations,
        extra: Extra::new(),
    })
}

/// What the block itself says of its times (see [`PROVENANCE_KEY`]).
fn own_provenance(kernel: &KernelStat) -> Option<Provenance> {
    match kernel.stats.get(PROVENANCE_KEY)? {
        StatValue::Text(label) => label.parse().ok(),
        StatValue::Number(_) => None,
    }
}

/// The one kernel of the mapped uid and name.
fn find<'a>(mapped: &MappedKernel, of_uid: &[&'a KernelStat]) -> Result<&'a KernelStat, ImportError> {
    let (uid, name) = (mapped.uid, mapped.name.clone());
    let Some(any) = of_uid.first() else {
        return Err(ImportError::Missing { uid, name });
    };
    let mut named = of_uid.iter().filter(|k| k.kernel_name == mapped.name);
    match (named.next(), named.next()) {
        (Some(kernel), None) => Ok(kernel),
        (Some(_), Some(_)) => Err(ImportError::Twice { uid, name }),
        (None, _) => Err(ImportError::Name {
            uid,
            name,
            found: any.kernel_name.clone(),
        }),
    }
}

#[cfg(test)]
mod tests;
