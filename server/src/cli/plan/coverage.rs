//! How much of a real timeline a trace's kernels stand for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cascade_steps::mapping::{MAPPING, MAX_MAPPING_BYTES, parse_mapping};
use cascade_steps::timeline::CORRECTED;
use cascade_worker::simulate::Plan;
use serde::Serialize;

use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::steps;

/// Launches of the steps that count (no warm-up).
#[derive(Debug, Default, Serialize)]
pub(super) struct Coverage {
    /// Kernel launches in the timeline.
    pub(super) launches: u64,
    /// Those that a kernel of the trace stands for.
    pub(super) covered: u64,
    /// Those that are not covered but have name, grid and block of a covered one, so that its time may be
    /// propagated to them.
    pub(super) same_shape: u64,
    /// Measured time of all launches, ns.
    pub(super) gpu_ns: f64,
    /// Measured time of the covered ones, ns.
    pub(super) covered_gpu_ns: f64,
    /// Rows of the mapping.
    pub(super) mapped: u64,
    /// Rows that name a kernel which the list lacks, or has under another name.
    pub(super) without_kernel: u64,
    /// Rows that name a launch which the timeline lacks or does not count.
    pub(super) without_launch: u64,
}

/// Compares mapping and timeline with the plan; `None` when neither was given and the trace has not both.
pub(super) fn of(
    plan: &Plan,
    trace: &Path,
    mapping: Option<PathBuf>,
    timeline: Option<PathBuf>,
) -> Result<Option<Coverage>> {
    let asked = mapping.is_some() || timeline.is_some();
    let (mapping, timeline) = (
        mapping.or_else(|| beside(trace, MAPPING)),
        timeline.or_else(|| beside(trace, CORRECTED)),
    );
    let (Some(mapping), Some(timeline)) = (mapping, timeline) else {
        return match asked {
            true => Err(Fail::usage(format_args!(
                "coverage needs both {MAPPING} and {CORRECTED}: one is not beside the trace, name it with --mapping or \
                 --timeline"
            ))),
            false => Ok(None),
        };
    };
    let rows = parse_mapping(&steps::read(&mapping, MAX_MAPPING_BYTES)?);
    let rows = rows.map_err(|error| Fail::usage(format_args!("{}: {error}", mapping.display())))?;
    let real = steps::timeline(&timeline)?;
    let mut coverage = Coverage {
        mapped: rows.len() as u64,
        ..Coverage::default()
    };
    let mut mapped = BTreeSet::new();
    for row in &rows {
        match plan
            .kernel(row.uid)
            .filter(|kernel| kernel.header.name == row.name)
        {
            Some(_) => _ = mapped.insert((row.repeat, row.step, row.seq)),
            None => coverage.without_kernel += 1,
        }
    }
    let named = mapped.len() as u64;
    let launches = || {
        real.steady().flat_map(|step| {
            let place = |seq| (step.repeat, step.step, seq);
            step.kernels.iter().map(move |kernel| (place(kernel.seq), kernel))
        })
    };
    let covered = launches().filter(|(place, _)| mapped.contains(place));
    let shapes: BTreeSet<_> = covered.map(|(_, kernel)| kernel.shape.as_ref()).collect();
    for (place, kernel) in launches() {
        coverage.launches += 1;
        coverage.gpu_ns += kernel.duration_ns;
        if mapped.contains(&place) {
            coverage.covered += 1;
            coverage.covered_gpu_ns += kernel.duration_ns;
        } else if shapes.contains(kernel.shape.as_ref()) {
            coverage.same_shape += 1;
        }
    }
    coverage.without_launch = named - coverage.covered;
    Ok(Some(coverage))
}

/// A file of a trace, packed or not: in its folder, or in the one above `traces` or the list.
fn beside(trace: &Path, name: &str) -> Option<PathBuf> {
    let folders = trace.ancestors().take(3).filter(|folder| folder.is_dir());
    folders
        .flat_map(|folder| [folder.join(name), folder.join(format!("{name}.gz"))])
        .find(|file| file.is_file())
}
