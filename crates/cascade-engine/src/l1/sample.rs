//! Sampling of long grids: simulate the first waves, leave out the middle when their pace is steady,
//! simulate the end.
//!
//! The pace is warp instructions a cycle over a window of whole waves of finished CTAs. Two windows in a row must agree; until
//! they do, everything is simulated, and if they never do, nothing was sampled. The window after the gap must
//! agree with them too, or the result is refused and the caller has to simulate everything. Left-out blocks are skipped
//! in the trace without being parsed (their instructions are counted), so that L2 does not see them.

use cascade_accelsim::trace::{BlockSink, Cluster, Dim3, TraceErrorKind};

/// Most relative difference between the paces of two waves that counts as steady.
pub const MAX_DISAGREEMENT: f64 = 0.03;
/// Fewest waves of a grid that is sampled.
pub const MIN_WAVES: u64 = 4;
/// Shortest window over which a pace is measured, in quanta: the pace is looked at once a quantum only.
const MIN_QUANTA: u32 = 50;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) cycle: u32,
    pub(super) started: u64,
    pub(super) finished: u64,
    pub(super) issued: u64,
    pub(super) traffic: Traffic,
}

/// Sectors behind the SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Traffic {
    pub(super) l2: u64,
    pub(super) l2_hits: u64,
    /// Sectors that came with another SM's.
    pub(super) l2_merged: u64,
    pub(super) dram_reads: u64,
    pub(super) dram_writes: u64,
}

impl Traffic {
    /// Both together.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            l2: self.l2 + other.l2,
            l2_hits: self.l2_hits + other.l2_hits,
            l2_merged: self.l2_merged + other.l2_merged,
            dram_reads: self.dram_reads + other.dram_reads,
            dram_writes: self.dram_writes + other.dram_writes,
        }
    }

    /// What is between two counts, times `factor`.
    pub(super) fn between(from: &Self, to: &Self, factor: f64) -> Self {
        let part = |from: u64, to: u64| ((to - from) as f64 * factor).round() as u64;
        Self {
            l2: part(from.l2, to.l2),
            l2_hits: part(from.l2_hits, to.l2_hits),
            l2_merged: part(from.l2_merged, to.l2_merged),
            dram_reads: part(from.dram_reads, to.dram_reads),
            dram_writes: part(from.dram_writes, to.dram_writes),
        }
    }
}

/// Blocks to leave out, and what they would have taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skip {
    pub(super) blocks: u64,
    /// Warp instructions a cycle.
    pub(super) pace: f64,
    /// Relative difference of the two waves' paces.
    pub(super) disagreement: f64,
    from: Progress,
    to: Progress,
}

impl Skip {
    /// What so many blocks of `insts` instructions would have taken and moved.
    pub(super) fn left_out(&self, blocks: u64, insts: u64) -> LeftOut {
        let measured = (self.to.issued - self.from.issued).max(1);
        LeftOut {
            blocks,
            insts,
            cycles: insts as f64 / self.pace,
            disagreement: self.disagreement,
            traffic: Traffic::between(
                &self.from.traffic,
                &self.to.traffic,
                insts as f64 / measured as f64,
            ),
        }
    }
}

/// Decides whether and when to skip.
#[derive(Debug)]
pub(super) struct Sampler {
    wave: u64,
    grid: u64,
    quantum: u32,
    /// Waves of one window.
    waves: u64,
    /// Where the first wave ended, then each window.
    marks: Vec<Progress>,
    done: bool,
    skipped: Option<Skip>,
    /// The window after the gap: where it started and ended.
    after: Vec<Progress>,
}

impl Sampler {
    /// For a grid of `grid` blocks of which `wave` run at once, looked at every `quantum` cycles.
    pub(super) fn new(grid: u64, wave: u64, quantum: u32) -> Self {
        Self {
            wave: wave.max(1),
            grid,
            quantum,
            waves: 1,
            marks: Vec::new(),
            skipped: None,
            after: Vec::new(),
            done: grid < wave.max(1).saturating_mul(MIN_WAVES),
        }
    }

    /// Called after each quantum; at most once it says to skip.
    pub(super) fn poll(&mut self, progress: Progress) -> Option<Skip> {
        if let Some(skip) = &self.skipped {
            let windows = self.after.len() as u64 * self.waves;
            if progress.finished >= skip.to.finished + (1 + windows) * self.wave {
                self.after.push(progress);
            }
            return None;
        }
        if self.done || progress.finished < (1 + self.marks.len() as u64 * self.waves) * self.wave {
            return None;
        }
        if self.marks.is_empty() {
            // Short waves are measured several at a time.
            self.waves = u64::from((self.quantum * MIN_QUANTA).div_ceil(progress.cycle.max(1)));
        }
        self.marks.push(progress);
        // The first wave fills caches and pipes; it is never part of the measure.
        let [.., a, b, c] = self.marks.as_slice() else {
            return None;
        };
        let (first, second) = (pace(a, b), pace(b, c));
        let mean = (first + second) / 2.0;
        let disagreement = (first - second).abs() / mean;
        let waves_left = self.grid.saturating_sub(progress.started) / self.wave;
        let kept = 1 + self.waves;
        if waves_left <= kept {
            self.done = true;
            return None;
        }
        // Also refuses a pace of 0, whose disagreement is not a number.
        if disagreement.is_nan() || disagreement > MAX_DISAGREEMENT {
            return None;
        }
        self.done = true;
        // Whole waves, so that the end has the shape that it would have had; one window to measure
        // and one wave to end with stay.
        self.skipped = Some(Skip {
            blocks: (waves_left - kept) * self.wave,
            pace: mean,
            disagreement,
            from: *a,
            to: *c,
        });
        self.skipped
    }

    /// Relative difference between the pace before the gap and the pace of the wave after it.
    pub(super) fn disagreement(&self) -> Option<f64> {
        let (skip, [from, to, ..]) = (self.skipped.as_ref()?, self.after.as_slice()) else {
            return None;
        };
        let after = pace(from, to);
        Some((skip.pace - after).abs() / ((skip.pace + after) / 2.0))
    }
}

/// Warp instructions a cycle between two moments.
fn pace(from: &Progress, to: &Progress) -> f64 {
    (to.issued - from.issued) as f64 / f64::from(to.cycle - from.cycle).max(1.0)
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftOut {
    pub(super) blocks: u64,
    pub(super) insts: u64,
    pub(super) cycles: f64,
    pub(super) disagreement: f64,
    pub(super) traffic: Traffic,
}

/// Counts the instructions of skipped blocks.
#[derive(Debug, Default)]
pub(super) struct Counter(pub(super) u64);

impl BlockSink for Counter {
    fn begin_block(&mut self, _: Dim3, _: Option<Cluster>) -> Result<(), TraceErrorKind> {
        Ok(())
    }
    fn begin_warp(&mut self, _: u32, insts: u64) -> Result<(), TraceErrorKind> {
        self.0 += insts;
        Ok(())
    }
    fn instr(&mut self, _: &[u8]) -> Result<(), TraceErrorKind> {
        Ok(())
    }
    fn end_block(&mut self) -> Result<(), TraceErrorKind> {
        Ok(())
    }
    fn finish(&mut self) -> Result<(), TraceErrorKind> {
        Ok(())
    }
}
