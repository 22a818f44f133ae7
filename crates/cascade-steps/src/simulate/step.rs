//! One step with simulated durations.

use super::{SimulateError, StepCoverage};
use crate::SimDuration;
use crate::timeline::{Kernel, Step};

/// The step with `times` (by seq) in place of its kernels' durations, and how much of it they cover; none where
/// it has no kernels.
pub(super) fn replace(
    before: &Step,
    times: &[&SimDuration],
) -> Result<(Step, Option<StepCoverage>), SimulateError> {
    let mut after = before.clone();
    let changed = put(&mut after.kernels, times)?;
    if before.kernels.is_empty() {
        return Ok((after, None));
    }
    let parts = Parts::of(before);
    after.gpu_busy_ns = before.gpu_busy_ns.map(|busy| {
        // No kernel outlasts the busy time; this only matters where overlapping kernels became shorter.
        // The second term is 0 unless the profile contradicts itself.
        let floor = longest(&after.kernels) - (longest(&before.kernels) - busy).max(0.0);
        (busy + changed.by_ns).max(floor)
    });
    after.baseline_wall_ns = before.baseline_wall_ns.map(|wall| {
        let grown = before.gpu_busy_ns.zip(after.gpu_busy_ns);
        (wall + grown.map_or(changed.by_ns, |(was, is)| is - was)).max(0.0)
    });
    scale_gaps(before, &mut after.kernels, parts.unmodeled_ns);
    let coverage = StepCoverage {
        repeat: before.repeat,
        step: before.step,
        kernels: before.kernels.len() as u64,
        simulated_kernels: times.len() as u64,
        measured_gpu_ns: parts.gpu_ns,
        simulated_coverage_gpu_ns: parts.covered_ns(changed.covered_ns),
        unmodeled_gpu_ns: parts.unmodeled_ns,
        measured_kernel_overlap_ns: parts.overlap_ns,
    };
    Ok((after, Some(coverage)))
}

/// What a measured step's GPU time is made of, in ns.
pub(crate) struct Parts {
    /// Busy time; the time that kernels cover where it is null.
    pub(crate) gpu_ns: f64,
    /// Busy time that no kernel explains.
    pub(crate) unmodeled_ns: f64,
    /// How much longer the kernels are together than the time they cover.
    pub(crate) overlap_ns: f64,
}

impl Parts {
    pub(crate) fn of(step: &Step) -> Self {
        let measured: f64 = step.kernels.iter().map(|k| k.duration_ns).sum();
        let overlap_ns = overlap_ns(step, measured);
        let gpu_ns = step.gpu_busy_ns.unwrap_or(measured - overlap_ns);
        Self {
            gpu_ns,
            unmodeled_ns: gpu_ns - (measured - overlap_ns),
            overlap_ns,
        }
    }

    /// Of the busy time, what kernels of this measured time together account for.
    pub(crate) fn covered_ns(&self, kernels_ns: f64) -> f64 {
        kernels_ns.min(self.gpu_ns - self.unmodeled_ns)
    }
}

struct Changed {
    /// Sum of simulated less measured durations.
    by_ns: f64,
    /// Measured durations of the kernels replaced.
    covered_ns: f64,
}

/// Puts the times, ordered by seq, where they belong.
fn put(kernels: &mut [Kernel], times: &[&SimDuration]) -> Result<Changed, SimulateError> {
    let mut changed = Changed {
        by_ns: 0.0,
        covered_ns: 0.0,
    };
    let mut order: Vec<&mut Kernel> = kernels.iter_mut().collect();
    if !order.is_sorted_by_key(|k| k.seq) {
        order.sort_by_key(|k| k.seq);
    }
    let mut order = order.into_iter();
    for time in times {
        let Some(kernel) = order.find(|k| k.seq >= time.seq).filter(|k| k.seq == time.seq) else {
            return Err(SimulateError::NoKernel {
                repeat: time.repeat,
                step: time.step,
                seq: time.seq,
            });
        };
        changed.covered_ns += kernel.duration_ns;
        changed.by_ns += time.duration_ns - kernel.duration_ns;
        kernel.duration_ns = time.duration_ns;
        kernel.provenance = Some(time.provenance);
    }
    Ok(changed)
}

fn longest(kernels: &[Kernel]) -> f64 {
    kernels.iter().map(|k| k.duration_ns).fold(0.0, f64::max)
}

/// Kernels by start; none where one has no start.
fn by_start(kernels: &[Kernel]) -> Option<Vec<(f64, usize)>> {
    let starts = kernels
        .iter()
        .enumerate()
        .map(|(i, k)| Some((k.start_offset_ns?, i)));
    let mut starts: Vec<_> = starts.collect::<Option<_>>()?;
    if !starts.is_sorted_by(|a, b| a.0 <= b.0) {
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Some(starts)
}

/// How much longer the kernels are together than the time in which any of them runs.
///
/// Without starts it cannot be known; then it is what exceeds the busy time.
fn overlap_ns(step: &Step, measured: f64) -> f64 {
    let Some(order) = by_start(&step.kernels) else {
        return step.gpu_busy_ns.map_or(0.0, |busy| (measured - busy).max(0.0));
    };
    let mut overlap = 0.0;
    let mut end = f64::NEG_INFINITY;
    for (start, i) in order {
        let duration = step.kernels.get(i).map_or(0.0, |k| k.duration_ns);
        overlap += (end - start).clamp(0.0, duration);
        end = end.max(start + duration);
    }
    overlap
}

/// Moves the kernels: their profiled gaps, before the first and after the last one too, are scaled to what the
/// step without a profiler leaves beside its kernels (host time and unmodeled GPU time). Kernels that
/// overlapped start as long before the end of those before them, if those still run that long.
fn scale_gaps(before: &Step, kernels: &mut [Kernel], unmodeled_ns: f64) {
    let (Some(order), Some(host)) = (by_start(&before.kernels), before.host_ns) else {
        kernels.iter_mut().for_each(|k| k.start_offset_ns = None);
        return;
    };
    let mut gaps = Vec::with_capacity(order.len());
    let mut end = 0.0_f64;
    for &(start, i) in &order {
        gaps.push(start - end);
        end = end.max(start + before.kernels.get(i).map_or(0.0, |k| k.duration_ns));
    }
    let tail = before.profiled_wall_ns.map_or(0.0, |wall| (wall - end).max(0.0));
    let measured: f64 = gaps.iter().map(|gap| gap.max(0.0)).sum::<f64>() + tail;
    let target = (host + unmodeled_ns).max(0.0);
    let mut end = 0.0_f64;
    let mut last_start = 0.0_f64;
    if measured == 0.0 {
        // No gap to scale: all of it comes first.
        end = target;
    }
    for (&(_, i), gap) in order.iter().zip(gaps) {
        let gap = if gap > 0.0 { gap * (target / measured) } else { gap };
        let start = (end + gap).max(last_start);
        if let Some(kernel) = kernels.get_mut(i) {
            kernel.start_offset_ns = Some(start);
            end = end.max(start + kernel.duration_ns);
        }
        last_start = start;
    }
}
