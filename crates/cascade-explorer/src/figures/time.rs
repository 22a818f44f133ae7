//! Means over equal parts of the time.

use cascade_scenario::Ran;
use cascade_scene::explorer::{POINTS, TimeLines};
use cascade_serving::sim::Record;

use super::round;

/// Sums within one part.
#[derive(Clone, Copy, Default)]
struct Part {
    tokens: f64,
    running: f64,
    waiting: f64,
    blocks: f64,
    ttft: f64,
    first_tokens: f64,
    e2e: f64,
    arrived: f64,
}

/// Everything over time. A step counts in each part by the time that it has there.
pub(super) fn lines(ran: &Ran) -> TimeLines {
    let from = ran
        .requests
        .iter()
        .map(|record| record.arrival_ns)
        .min()
        .unwrap_or(0);
    let ends = ran.requests.iter().map(|record| record.end_ns);
    let to = ends
        .chain(ran.steps.last().map(|step| step.end_ns))
        .max()
        .unwrap_or(0);
    let span = to.saturating_sub(from);
    if span == 0 {
        return TimeLines::default();
    }
    let width = span as f64 / POINTS as f64;
    let mut parts = vec![Part::default(); POINTS];
    let place = |ns: u64| ((ns.saturating_sub(from) as f64 / width) as usize).min(POINTS - 1);

    let next_starts = ran.steps.iter().skip(1).map(|step| step.start_ns);
    let untils = next_starts.chain([to]);
    for (step, until) in ran.steps.iter().zip(untils) {
        // What runs and waits holds until the next step, unless nothing is left.
        let idle = step.running == 0 && step.waiting == 0;
        let until = if idle { step.end_ns } else { until.max(step.end_ns) };
        let length = until.saturating_sub(step.start_ns).max(1) as f64;
        for at in place(step.start_ns)..=place(until) {
            let Some(part) = parts.get_mut(at) else { break };
            let left = from as f64 + at as f64 * width;
            let overlap = (until as f64).min(left + width) - (step.start_ns as f64).max(left);
            let overlap = overlap.max(0.0);
            part.tokens += f64::from(step.batch.sampling_seqs) * overlap / length;
            part.running += f64::from(step.running) * overlap;
            part.waiting += f64::from(step.waiting) * overlap;
            part.blocks += f64::from(step.used_blocks) * overlap;
        }
    }
    for record in ran.requests.iter().filter(|record| record.refusal.is_none()) {
        arrival(&mut parts, place(record.arrival_ns), record);
    }
    let mean = |sum: f64| round(sum / width);
    let of = |sum: f64, count: f64| (count > 0.0).then(|| round(sum / count / 1e6));
    let blocks = ran.blocks().max(1) as f64;
    TimeLines {
        at_s: (1..=POINTS).map(|at| round(at as f64 * width / 1e9)).collect(),
        throughput: parts
            .iter()
            .map(|part| round(part.tokens / width * 1e9))
            .collect(),
        ttft_ms: parts
            .iter()
            .map(|part| of(part.ttft, part.first_tokens))
            .collect(),
        e2e_ms: parts.iter().map(|part| of(part.e2e, part.arrived)).collect(),
        running: parts.iter().map(|part| mean(part.running)).collect(),
        waiting: parts.iter().map(|part| mean(part.waiting)).collect(),
        kv: parts
            .iter()
            .map(|part| round(part.blocks / width / blocks))
            .collect(),
    }
}

fn arrival(parts: &mut [Part], at: usize, record: &Record) {
    let Some(part) = parts.get_mut(at) else { return };
    part.arrived += 1.0;
    part.e2e += record.e2e_ns() as f64;
    if let Some(ttft) = record.ttft_ns() {
        part.first_tokens += 1.0;
        part.ttft += ttft as f64;
    }
}
