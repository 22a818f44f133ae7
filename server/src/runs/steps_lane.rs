//! A step timeline as columns: steps one after the other with the gaps between them, and the kernels in each.

use std::collections::BTreeMap;

use cascade_api::{KernelKind, TimelineSteps};
use cascade_steps::timeline::Kernel;
use cascade_steps::{Shape, Step, Timeline};

use super::lanes::{kind, rounded};

/// The columns of a lane, its kinds still by themselves.
#[derive(Debug, Default)]
pub(super) struct StepsLane {
    pub(super) kinds: Vec<KernelKind>,
    pub(super) kind: Vec<u32>,
    pub(super) ns: Vec<f64>,
    pub(super) start_ns: Vec<f64>,
    pub(super) steps: TimelineSteps,
}

/// The steady steps of a timeline; warm-up is left out.
pub(super) fn steps_lane(timeline: &Timeline) -> StepsLane {
    let mut lane = StepsLane::default();
    let mut known: BTreeMap<&Shape, u32> = BTreeMap::new();
    let model = timeline.meta_text("model");
    let mut at = 0.0_f64;
    for step in timeline.steady() {
        at += step.baseline_gap_before_ns.unwrap_or(0.0).max(0.0);
        let wall = wall(step);
        let name = lane.steps.kinds.iter().position(|name| *name == step.kind);
        let name = name.unwrap_or_else(|| {
            lane.steps.kinds.push(step.kind.clone());
            lane.steps.kinds.len() - 1
        });
        lane.steps.kind.push(name as u32);
        lane.steps.repeat.push(step.repeat);
        lane.steps.step.push(step.step);
        lane.steps.start_ns.push(rounded(at));
        lane.steps.wall_ns.push(rounded(wall));
        let mut kernels: Vec<&Kernel> = step.kernels.iter().collect();
        let offset = |kernel: &Kernel| kernel.start_offset_ns.unwrap_or(0.0);
        kernels.sort_by(|a, b| offset(a).total_cmp(&offset(b)).then(a.seq.cmp(&b.seq)));
        for (kernel, start) in kernels.iter().zip(places(&kernels, wall)) {
            let shape = kernel.shape.as_ref();
            let at_kind = *known.entry(shape).or_insert_with(|| {
                lane.kinds.push(kind(shape, model));
                (lane.kinds.len() - 1) as u32
            });
            lane.kind.push(at_kind);
            lane.ns.push(rounded(kernel.duration_ns));
            lane.start_ns.push(rounded(at + start));
        }
        at += wall;
    }
    lane
}

/// A step's wall time; where none was measured, the time in which its GPU is busy.
fn wall(step: &Step) -> f64 {
    let kernels = || step.kernels.iter().map(|kernel| kernel.duration_ns).sum();
    step.baseline_wall_ns
        .or(step.gpu_busy_ns)
        .unwrap_or_else(kernels)
        .max(0.0)
}

/// Where each kernel starts in its step. The idle times between kernels were measured under a profiler, which makes
/// them longer: they are scaled by one factor, so that the last kernel ends with the step at the latest.
fn places(kernels: &[&Kernel], wall: f64) -> Vec<f64> {
    let (mut idle, mut busy) = (Vec::with_capacity(kernels.len()), 0.0);
    let mut end = 0.0_f64;
    for kernel in kernels {
        let start = kernel.start_offset_ns.unwrap_or(end);
        idle.push((start - end).max(0.0));
        // Of what overlaps, only the part that sticks out takes time of its own.
        let sticks = (start.max(0.0) + kernel.duration_ns - end).max(0.0);
        busy += sticks.min(kernel.duration_ns);
        end = end.max(start.max(0.0) + kernel.duration_ns);
    }
    let all: f64 = idle.iter().sum();
    let room = (wall - busy).max(0.0);
    let factor = if all > room && all > 0.0 { room / all } else { 1.0 };
    let mut moved = 0.0;
    kernels
        .iter()
        .zip(idle)
        .scan(0.0_f64, |end, (kernel, idle)| {
            moved += idle * (1.0 - factor);
            let start = (kernel.start_offset_ns.unwrap_or(*end + moved) - moved).max(0.0);
            *end = end.max(start + kernel.duration_ns);
            Some(start)
        })
        .collect()
}

#[cfg(test)]
mod tests;
