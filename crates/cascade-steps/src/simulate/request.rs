//! A request rebuilt from the steps of its repeat.

use super::gap_ns;
use crate::stats::quantile;
use crate::timeline::{Request, Stamp, Step, Timeline};

/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;

/// The request over the simulated `steps`.
///
/// Warm-up passes through. Where several requests share a repeat, which steps each ran is not known: then its
/// times are null. A time that was null stays so.
pub(super) fn rebuild(real: &Request, timeline: &Timeline, steps: &[Step]) -> Request {
    let mut request = real.clone();
    if real.warmup {
        return request;
    }
    let alone = timeline
        .requests
        .iter()
        .filter(|r| r.repeat == real.repeat)
        .count()
        == 1;
    let mine: Vec<&Step> = match alone {
        true => steps
            .iter()
            .filter(|s| s.repeat == real.repeat && !s.warmup)
            .collect(),
        false => Vec::new(),
    };
    let times = Times::of(real, &mine);
    let tokens = real.num_output_tokens.unwrap_or(mine.len() as u64);
    request.ttft_ms = real.ttft_ms.and(times.ttft_ms);
    request.e2e_ms = real.e2e_ms.and(times.e2e_ms);
    request.itl_ms_mean = real.itl_ms_mean.and_then(|_| times.itl_mean_ms(tokens));
    request.itl_ms_p50 = real.itl_ms_p50.and_then(|_| times.itl_p50_ms());
    request.first_step_start_ns = real.first_step_start_ns.and(times.start);
    request.first_token_ns = real.first_token_ns.and(times.first_token);
    request.last_step_end_ns = real.last_step_end_ns.and(times.end);
    request.last_token_ns = real.last_token_ns.and(times.end);
    request
}

#[derive(Default)]
struct Times {
    /// Start of the first step.
    start: Option<Stamp>,
    /// End of the prefill.
    first_token: Option<Stamp>,
    /// End of the last step.
    end: Option<Stamp>,
    /// From the start of the first step to the ends of the prefill and of each step after it, in ns; none where
    /// one is not known.
    tokens_ns: Option<Vec<f64>>,
    ttft_ms: Option<f64>,
    e2e_ms: Option<f64>,
}

impl Times {
    fn of(request: &Request, steps: &[&Step]) -> Self {
        let Some(first) = steps.first() else {
            return Self::default();
        };
        let ends = ends_ns(steps);
        // A prompt may be computed in several steps; its last one makes the first token.
        let prefill = steps.iter().take_while(|s| s.kind == "prefill").count().max(1) - 1;
        let token_ns = ends.get(prefill).copied();
        let end_ns = ends.get(steps.len() - 1).copied();
        let arrival = request.arrival_ns;
        let start = match (arrival, request.pre_first_step_ns) {
            (Some(arrival), Some(pre)) => Some(arrival.plus(pre)),
            _ => first.baseline_wall_start_ns,
        };
        let at = |ns: Option<f64>| Some(start?.plus(ns?));
        let (first_token, end) = (at(token_ns), at(end_ns));
        let (ttft_ms, e2e_ms) = match arrival {
            Some(arrival) => (
                first_token.map(|token| token.since(arrival) / MS),
                end.zip(request.post_last_step_ns)
                    .map(|(end, post)| end.plus(post).since(arrival) / MS),
            ),
            // Timelines without times of arrival: queueing and the steps.
            None => {
                let after_queue = |ns: Option<f64>| Some(request.queued_ms? + ns? / MS);
                (after_queue(token_ns), after_queue(end_ns))
            }
        };
        let tokens_ns = end_ns.and_then(|_| ends.get(prefill..).map(<[f64]>::to_vec));
        Self {
            start,
            first_token,
            end,
            tokens_ns,
            ttft_ms,
            e2e_ms,
        }
    }

    fn itl_mean_ms(&self, tokens: u64) -> Option<f64> {
        let list = self.tokens_ns.as_ref().filter(|_| tokens > 1)?;
        Some((list.last()? - list.first()?) / MS / (tokens - 1) as f64)
    }

    fn itl_p50_ms(&self) -> Option<f64> {
        let ends = self.tokens_ns.as_ref()?;
        let mut intervals: Vec<f64> = ends.iter().zip(ends.iter().skip(1)).map(|(a, b)| b - a).collect();
        quantile(&mut intervals, 0.5).map(|ns| ns / MS)
    }
}

/// From the start of the first step to the end of each, up to the first that is not known.
fn ends_ns(steps: &[&Step]) -> Vec<f64> {
    let mut ends = Vec::with_capacity(steps.len());
    let mut clock = 0.0;
    let mut before: Option<&Step> = None;
    for step in steps {
        let gap = match before {
            Some(before) => gap_ns(before, step),
            None => Some(0.0),
        };
        let Some((gap, wall)) = gap.zip(step.baseline_wall_ns) else {
            break;
        };
        clock += gap + wall;
        ends.push(clock);
        before = Some(step);
    }
    ends
}
