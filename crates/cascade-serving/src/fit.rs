//! A step-time model from a real server's run, and how well the simulation then tells the rest of that run.
//!
//! A [`MeasuredRun`] has when each request was queued and emitted its first and last token, and what the engine
//! did in each second, not the steps. [`fit`] replays the run's beginning through the scheduler, which says what
//! each step computed. The time between two recorded tokens is the sum of the times of the steps between them,
//! linear in the coefficients of [`Affine`], so least squares gives these, and a replay with them a better
//! account of the steps. After some rounds the coefficients are moved one and two at a time, until the replay
//! emits the recorded tokens as near to their recorded times as it can. [`compare`] holds a replay of all of a run against what was measured.

mod compare;
mod replay;
mod run;
mod squares;

pub use compare::{Comparison, Line, compare};
use replay::{Marks, Replay};
pub use run::{MeasuredRequest, MeasuredRun, RunError, Tick};

use thiserror::Error;

use crate::sim::SimError;
use crate::step_time::{Affine, Provenance};
use crate::workload::to_ns;

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitError {
    /// The replay stopped.
    #[error("replay: {0}")]
    Sim(#[from] SimError),
    /// The part to fit has no times to fit to.
    #[error(
        "only {tokens} recorded times of tokens lie in the part to fit: take one with at least {MIN_TOKENS}"
    )]
    TooFew {
        /// Times found.
        tokens: usize,
    },
}

/// Fewest recorded times of tokens that a fit needs.
pub const MIN_TOKENS: usize = 20;

/// Rounds of replay and least squares from each guess.
const ROUNDS: usize = 10;
/// First change tried to a coefficient, as a share of the mean step's time.
const FIRST_SHARE: f64 = 0.1;
/// Times that the change is halved: the last is 0.04 % of the mean step's time.
const HALVINGS: u32 = 8;

/// A fitted step time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The coefficients.
    pub time: Affine,
    /// Recorded times of tokens that they were fitted to.
    pub tokens: usize,
    /// Mean difference between replayed and recorded times of these tokens, in ms. A mean of absolute values
    /// and not of squares: where the replay preempts another request than the server did, few tokens move by
    /// much, and they say nothing about the time of a step.
    pub off_ms: f64,
}

/// Fits to what `run` recorded before `until_ns`.
pub fn fit(run: &MeasuredRun, until_ns: u64) -> Result<Fit, FitError> {
    let part = run.before(until_ns);
    let ask = |x: Coefficients| -> Result<(Replay, Vec<Marks>, f64), FitError> {
        let replay = Replay::of(&part, &affine(x))?;
        let marks = replay.marks(&part, until_ns);
        let off_ms = replay::off_ms(&marks);
        Ok((replay, marks, off_ms))
    };
    let (seconds, steps) = guesses(&run.ticks, until_ns);
    let (replay, marks, off_ms) = ask(seconds)?;
    let tokens = marks.iter().map(|marks| marks.iter().flatten().count()).sum();
    if tokens < MIN_TOKENS {
        return Err(FitError::TooFew { tokens });
    }
    let per_step = replay.mean_step();
    let mut best = (seconds, off_ms);
    for start in [seconds, steps] {
        let mut x = start;
        for _ in 0..ROUNDS {
            let (replay, marks, off_ms) = ask(x)?;
            if off_ms < best.1 {
                best = (x, off_ms);
            }
            let found = squares::nonnegative(&replay.rows(&marks));
            // Halfway, since the whole way can lead to and fro.
            x = std::array::from_fn(|i| (x[i] + found[i]) / 2.0);
        }
    }
    let mean_step_ns: f64 = per_step.iter().zip(best.0).map(|(work, x)| work * x).sum();
    let mut moves = per_step.map(|work| FIRST_SHARE * mean_step_ns / work);
    for _ in 0..=HALVINGS {
        let mut better = true;
        while better {
            better = false;
            for (up, down) in directions() {
                let mut x = best.0;
                if let Some(up) = up {
                    x[up] += moves[up];
                }
                if let Some(down) = down {
                    x[down] = (x[down] - moves[down]).max(0.0);
                }
                let off_ms = ask(x)?.2;
                if off_ms < best.1 {
                    (best, better) = ((x, off_ms), true);
                }
            }
        }
        moves = moves.map(|change| change / 2.0);
    }
    Ok(Fit {
        time: affine(best.0),
        tokens,
        off_ms: best.1,
    })
}

/// Which coefficient to raise and which to lower: one alone, or both at once. Both keep the mean step's time,
/// and what tells coefficients apart is smaller than what that time weighs.
fn directions() -> impl Iterator<Item = (Option<usize>, Option<usize>)> {
    let choices = || (0..squares::UNKNOWNS).map(Some).chain([None]);
    choices()
        .flat_map(move |up| choices().map(move |down| (up, down)))
        .filter(|(up, down)| up != down)
}

/// What the seconds before `until_ns` tell: each is the time of about as many steps as tokens were emitted per
/// running request, and of their tokens. The second guess leaves tokens out.
fn guesses(ticks: &[Tick], until_ns: u64) -> (Coefficients, Coefficients) {
    let mut rows = Vec::new();
    let mut last = 0.0;
    for tick in ticks.iter().take_while(|tick| to_ns(tick.t) < until_ns) {
        let seconds = tick.t - last;
        last = tick.t;
        if tick.running > 0.0 {
            let steps = tick.gen_throughput / tick.running;
            let tokens = tick.prompt_throughput + tick.gen_throughput;
            rows.push(([steps * seconds, tokens * seconds, 0.0, 0.0], seconds * 1e9));
        }
    }
    let both = squares::nonnegative(&rows);
    rows.iter_mut().for_each(|(work, _)| work[1] = 0.0);
    (both, squares::nonnegative(&rows))
}

/// Times in ns of a step, a query token, a token of context and a sequence.
type Coefficients = [f64; squares::UNKNOWNS];

fn affine([step_ns, query_token_ns, context_token_ns, seq_ns]: Coefficients) -> Affine {
    Affine {
        step_ns,
        query_token_ns,
        context_token_ns,
        seq_ns,
        host_ns: 0,
        provenance: Provenance::Fitted,
    }
}

#[cfg(test)]
mod tests;
