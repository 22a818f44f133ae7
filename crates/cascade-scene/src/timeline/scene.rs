//! All lanes of a timeline, from the answers of one or several runs.

use cascade_api::{Engine, RunTimeline, SYNTHETIC_GPU, SimId, TimelineLane, TimelineSteps};

use super::groups::{Filter, Kinds, Painted};
use super::lane::{StepSpan, Track};
use super::view::View;
use crate::engine;
use crate::format;
use crate::own_times;

/// How lanes are lined up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Each lane in its own simulated time, from 0.
    #[default]
    Time,
    /// Kernels of one number below each other: a number's place is as wide as its slowest kernel.
    Kernel,
}

/// One lane with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// GPU and replica.
    pub title: String,
    /// Where the times come from.
    pub source: String,
    /// The run it belongs to, as an id.
    pub run: String,
    /// The sim; `None` for measured kernels.
    pub sim: Option<SimId>,
    /// The program behind it; `None` for measured kernels.
    pub engine: Option<Engine>,
    /// Why it is empty, where it should not be.
    pub problem: Option<String>,
    /// Its kernels.
    pub track: Track,
    /// Its steps; only shown in time, not lined up by kernel.
    pub steps: Vec<StepSpan>,
}

/// A kernel of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pick {
    /// Position of the lane.
    pub lane: usize,
    /// Position of the kernel in it.
    pub at: usize,
}

/// Lanes, kinds, filter and alignment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    lanes: Vec<Lane>,
    kinds: Kinds,
    filter: Filter,
    painted: Painted,
    align: Align,
    /// Where each kernel number's place begins, when lined up by kernel; one more at the end.
    slots: Vec<f64>,
    total: f64,
}

impl Scene {
    /// The lanes of some runs, in order. Several runs are told apart by their ids in the lanes' names.
    pub fn new(answers: Vec<RunTimeline>) -> Self {
        let mut scene = Self::default();
        let several = answers.len() > 1;
        for answer in answers {
            let kinds: Vec<u32> = answer.kinds.iter().map(|kind| scene.kinds.intern(kind)).collect();
            for lane in answer.lanes {
                let lane = read(answer.run_id.as_str(), several, &kinds, lane);
                scene.lanes.push(lane);
            }
        }
        let times = scene.lanes.iter().flat_map(|lane| lane.track.kinds());
        scene.kinds.rank(times);
        scene.settle();
        scene
    }

    /// Lays everything out anew: after the filter or the alignment changed.
    fn settle(&mut self) {
        self.painted = self.kinds.painted(&self.filter);
        self.slots.clear();
        if self.align == Align::Kernel {
            self.slots = slots(&self.lanes);
        }
        let slots = (self.align == Align::Kernel).then_some(self.slots.as_slice());
        self.total = 0.0;
        for lane in &mut self.lanes {
            lane.track.lay(slots);
            lane.track.paint(&self.painted);
            let steps = lane.steps.last().map_or(0.0, |step| step.to);
            self.total = self.total.max(lane.track.total());
            if slots.is_none() {
                self.total = self.total.max(steps);
            }
        }
        self.total = self.total.max(self.slots.last().copied().unwrap_or(0.0));
    }

    /// Takes another filter; kernels stay where they are.
    pub fn set_filter(&mut self, filter: Filter) {
        if filter != self.filter {
            self.filter = filter;
            self.painted = self.kinds.painted(&self.filter);
            for lane in &mut self.lanes {
                lane.track.paint(&self.painted);
            }
        }
    }

    /// Lines lanes up another way.
    pub fn set_align(&mut self, align: Align) {
        if align != self.align {
            self.align = align;
            self.settle();
        }
    }

    /// The lanes.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Kinds and groups.
    pub const fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The filter in force.
    pub const fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Colours of the kinds.
    pub const fn painted(&self) -> &Painted {
        &self.painted
    }

    /// How lanes are lined up.
    pub const fn align(&self) -> Align {
        self.align
    }

    /// Where kernel numbers' places begin; empty unless lined up by kernel.
    pub fn slots(&self) -> &[f64] {
        &self.slots
    }

    /// Where the last lane ends, in ns.
    pub const fn total(&self) -> f64 {
        self.total
    }

    /// Kernels of all lanes.
    pub fn kernels(&self) -> usize {
        self.lanes.iter().map(|lane| lane.track.len()).sum()
    }

    /// Whether lanes show steps.
    pub fn has_steps(&self) -> bool {
        self.align == Align::Time && self.lanes.iter().any(|lane| !lane.steps.is_empty())
    }

    /// Where a kernel is drawn.
    pub fn range(&self, pick: Pick) -> Option<View> {
        let (from, to) = self.lanes.get(pick.lane)?.track.place(pick.at)?;
        Some(View { from, to })
    }
}

/// A lane of an answer.
fn read(run: &str, several: bool, kinds: &[u32], lane: TimelineLane) -> Lane {
    let title = match (&lane.sim_id, several) {
        (None, false) => own_times(lane.gpu_config.as_str()),
        (None, true) => format!("{} · {run}", own_times(lane.gpu_config.as_str())),
        (Some(_), false) => format!("{} · replica {}", lane.gpu_config, lane.replica),
        (Some(_), true) => format!("{} · replica {} · {run}", lane.gpu_config, lane.replica),
    };
    let kind = lane.kind.iter();
    let kind = kind
        .map(|at| kinds.get(*at as usize).copied().unwrap_or(u32::MAX))
        .collect();
    Lane {
        title,
        source: match lane.engine {
            Some(engine) => engine::label(engine),
            None if lane.gpu_config.as_str() == SYNTHETIC_GPU => "assumed".to_owned(),
            None => "measured".to_owned(),
        },
        run: run.to_owned(),
        sim: lane.sim_id,
        engine: lane.engine,
        problem: lane.problem,
        track: Track::new(kind, lane.ns, lane.start_ns, lane.index),
        steps: lane.steps.map(steps).unwrap_or_default(),
    }
}

/// Steps from their columns.
fn steps(columns: TimelineSteps) -> Vec<StepSpan> {
    let rows = columns.kind.iter().zip(&columns.repeat).zip(&columns.step);
    let times = columns.start_ns.iter().zip(&columns.wall_ns);
    let mut at = 0.0_f64;
    rows.zip(times)
        .map(|(((kind, repeat), step), (start, wall))| {
            let name = columns.kinds.get(*kind as usize).map_or("step", String::as_str);
            let from = start.max(at);
            at = from + wall.max(0.0);
            StepSpan {
                label: format!("{name} {step} · repeat {repeat}"),
                first_kind: *kind == 0,
                from,
                to: at,
            }
        })
        .collect()
}

/// Where the place of each kernel number begins: places are as wide as the slowest kernel of that number.
fn slots(lanes: &[Lane]) -> Vec<f64> {
    let mut widths: Vec<f64> = Vec::new();
    for lane in lanes {
        for at in 0..lane.track.len() {
            let (Some(number), Some(ns)) = (lane.track.number(at), lane.track.ns(at)) else {
                continue;
            };
            let number = number as usize;
            if number >= widths.len() {
                // Numbers that no lane has, below the largest, take no room.
                widths.resize(number.min(MOST_SLOTS) + 1, 0.0);
            }
            if let Some(width) = widths.get_mut(number) {
                *width = width.max(ns);
            }
        }
    }
    let mut at = 0.0;
    let mut slots = Vec::with_capacity(widths.len() + 1);
    slots.push(at);
    for width in widths {
        at += width;
        slots.push(at);
    }
    slots
}

/// Kernel numbers above this have no place of their own when lined up by kernel.
const MOST_SLOTS: usize = 16_000_000;

/// The words for a lane's length: its kernels and their time.
pub fn length(lane: &Lane) -> String {
    let busy: f64 = lane.track.kinds().map(|(_, ns)| ns).sum();
    format!(
        "{} · {}",
        format::plural(lane.track.len() as u64, "kernel"),
        format::duration_ns(busy)
    )
}
