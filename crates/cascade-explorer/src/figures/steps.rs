//! Means over equal numbers of steps.

use cascade_scenario::Ran;
use cascade_scene::explorer::{POINTS, StepLines};
use cascade_serving::profile::Group;

use super::round;

/// What steps were made of.
pub(super) fn lines(ran: &Ran) -> StepLines {
    let per_point = ran.steps.len().div_ceil(POINTS).max(1);
    let points = ran.steps.chunks(per_point);
    let mean = |of: &dyn Fn(&cascade_serving::sim::StepRecord) -> f64| -> Vec<f64> {
        points
            .clone()
            .map(|steps| round(steps.iter().map(of).sum::<f64>() / steps.len() as f64))
            .collect()
    };
    let groups = Group::ALL.map(Group::name);
    let mut parts: Vec<String> = groups.map(str::to_owned).to_vec();
    parts.extend(["unattributed".to_owned(), "host".to_owned()]);
    let mut part_ns: Vec<Vec<f64>> = parts.iter().map(|_| Vec::with_capacity(POINTS)).collect();
    for steps in points.clone() {
        let mut sums = vec![0.0; parts.len()];
        for step in steps {
            let estimate = ran.roofline.step(&step.batch);
            let kernels = estimate.groups.to_array();
            let rest = [estimate.unattributed_ns.max(0) as f64, estimate.host_ns as f64];
            let all = kernels.into_iter().map(|ns| ns as f64).chain(rest);
            for (sum, ns) in sums.iter_mut().zip(all) {
                *sum += ns;
            }
        }
        for (line, sum) in part_ns.iter_mut().zip(sums) {
            line.push(round(sum / steps.len() as f64));
        }
    }
    // A part that is always nothing is no part.
    let (parts, part_ns) = parts
        .into_iter()
        .zip(part_ns)
        .filter(|(_, ns)| ns.iter().any(|ns| *ns > 0.0))
        .unzip();
    StepLines {
        steps_per_point: per_point as u64,
        prefill: mean(&|step| step.batch.prefill_tokens as f64),
        decode: mean(&|step| step.batch.query_tokens.saturating_sub(step.batch.prefill_tokens) as f64),
        kv_blocks: mean(&|step| f64::from(step.used_blocks)),
        parts,
        part_ns,
    }
}
