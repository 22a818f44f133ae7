//! A replay of a run, and its recorded tokens beside the replayed ones.

use super::squares::UNKNOWNS;
use super::{Coefficients, MeasuredRun};
use crate::sim::{DEFAULT_MAX_STEPS, Record, SimError, Sink, StepRecord, simulate};
use crate::step_time::Affine;

/// What a replay tells.
#[derive(Default)]
pub(super) struct Replay {
    /// Work up to and with each step, and the time of these steps.
    work: Vec<(Coefficients, u64)>,
    ends: Vec<u64>,
    pub(super) records: Vec<Record>,
}

/// A recorded token and the replayed step that emitted it.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    measured_ns: u64,
    replayed_ns: u64,
    step: usize,
}

/// The first and the last token of a request, as far as they were recorded in the fitted part.
pub(super) type Marks = [Option<Mark>; 2];

/// How far tokens are off on average, in ms.
pub(super) fn off_ms(marks: &[Marks]) -> f64 {
    let off = |mark: &Mark| mark.replayed_ns.abs_diff(mark.measured_ns) as f64;
    let offs: Vec<f64> = marks.iter().flatten().flatten().map(off).collect();
    offs.iter().sum::<f64>() / offs.len() as f64 / 1e6
}

impl Replay {
    pub(super) fn of(run: &MeasuredRun, time: &Affine) -> Result<Self, SimError> {
        let mut replay = Self::default();
        simulate(
            &run.config,
            time,
            &mut run.source(),
            &mut replay,
            DEFAULT_MAX_STEPS,
        )?;
        replay.records.sort_by_key(|record| record.id);
        Ok(replay)
    }

    /// Work of the mean step.
    pub(super) fn mean_step(&self) -> Coefficients {
        let (sum, _) = self.work.last().copied().unwrap_or_default();
        sum.map(|sum| sum / self.work.len() as f64)
    }

    /// What was recorded before `until_ns`, by request.
    pub(super) fn marks(&self, run: &MeasuredRun, until_ns: u64) -> Vec<Marks> {
        let mark = |measured_ns: u64, replayed_ns: u64| {
            let step = self.ends.partition_point(|end| *end < replayed_ns);
            (measured_ns < until_ns).then_some(Mark {
                measured_ns,
                replayed_ns,
                step,
            })
        };
        let marks = |record: &Record| {
            let measured = run.requests.get(usize::try_from(record.id).ok()?)?;
            let first = mark(measured.first_token_ns, record.first_token_ns?);
            Some([first, mark(measured.last_token_ns, record.end_ns)])
        };
        self.records.iter().filter_map(marks).collect()
    }

    /// Work and measured time from each request's first token to the next request's and to its own last, where
    /// the replay never idles between them.
    pub(super) fn rows(&self, marks: &[Marks]) -> Vec<(Coefficients, f64)> {
        let next = marks.windows(2).filter_map(|pair| match pair {
            [[Some(from), _], [Some(to), _]] => Some((*from, *to)),
            _ => None,
        });
        let own = marks.iter().filter_map(|[first, last]| first.zip(*last));
        next.chain(own)
            .filter_map(|(from, to)| self.row(from, to))
            .collect()
    }

    fn row(&self, from: Mark, to: Mark) -> Option<(Coefficients, f64)> {
        let (before, busy_before) = self.work.get(from.step)?;
        let (after, busy_after) = self.work.get(to.step)?;
        let busy = busy_after.saturating_sub(*busy_before);
        let idles = to.replayed_ns.saturating_sub(from.replayed_ns) > busy;
        if to.step <= from.step || to.measured_ns <= from.measured_ns || idles {
            return None;
        }
        let work = std::array::from_fn(|i| after[i] - before[i]);
        Some((work, (to.measured_ns - from.measured_ns) as f64))
    }
}

impl Sink for Replay {
    fn request(&mut self, record: &Record) {
        self.records.push(*record);
    }

    fn step(&mut self, step: &StepRecord) {
        let (mut work, busy): ([f64; UNKNOWNS], u64) = self.work.last().copied().unwrap_or_default();
        let batch = &step.batch;
        let adds = [
            1.0,
            batch.query_tokens as f64,
            batch.context_tokens as f64,
            f64::from(batch.seqs),
        ];
        work.iter_mut().zip(adds).for_each(|(sum, add)| *sum += add);
        self.work.push((work, busy.saturating_add(step.cost.gpu_ns)));
        self.ends.push(step.end_ns);
    }

    fn inter_token(&mut self, _: u64, _: u32) {}
}
