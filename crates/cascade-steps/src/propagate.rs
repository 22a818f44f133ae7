//! From launches that were traced to those that were not.
//!
//! A launch may take the time of traced launches of the same step kind with the same name, grid and block, and
//! the same place among the launches of that shape in its step (any place, where the place makes no
//! difference). Traced times *agree* when they lie within [`AGREEMENT`] of each other. Where they agree, the
//! launch takes that of the nearest context: `identical`. Where they do not, only interpolation over context
//! may answer: linear between the traced contexts, the nearest beyond them: `interp`. Else it stays measured.
//!
//! Context is the tokens that a repeat computed up to and with a step; where a step does not say how many, the
//! step's number stands for it (a decode adds one token a step).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use indexmap::{IndexMap, IndexSet};

use crate::simulate::{by_place, of_step};
use crate::timeline::{Extra, Shape, Step, Timeline};
use crate::{Provenance, SimDuration, SimDurations};

/// Traced times agree when the largest exceeds the smallest by no more than this share of itself.
pub const AGREEMENT: f64 = 0.01;

/// What launches that were not traced may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagate {
    /// Nothing.
    Off,
    /// Times on which the traced launches agree.
    #[default]
    Identical,
    /// Those, and else what lies between the traced contexts.
    Interp,
}

impl fmt::Display for Propagate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Identical => "identical",
            Self::Interp => "interp",
        })
    }
}

impl FromStr for Propagate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "identical" => Ok(Self::Identical),
            "interp" => Ok(Self::Interp),
            _ => Err(format!("`{text}` is none of off, identical, interp")),
        }
    }
}

/// The traced times and those that follow from them for the steady steps, by place.
///
/// Times for launches that the timeline lacks are kept; [`crate::simulate()`] names them.
pub fn propagate(real: &Timeline, traced: &SimDurations, how: Propagate) -> SimDurations {
    let mut result = traced.clone();
    if how == Propagate::Off {
        return result;
    }
    let times = by_place(&traced.durations);
    let contexts = contexts(real);
    let mut shapes = IndexSet::new();
    let mut families: IndexMap<(&str, usize), Family> = IndexMap::new();
    for (step, context) in real.steps.iter().zip(&contexts) {
        let mine = of_step(&times, step);
        if mine.is_empty() {
            continue;
        }
        walk(step, mine, &mut shapes, |launch, time| {
            if let Some(time) = time {
                let family = families.entry((step.kind.as_str(), launch.shape)).or_default();
                family.add(launch.ordinal, *context, time.duration_ns);
            }
        });
    }
    families.values_mut().for_each(Family::settle);
    for (step, context) in real.steps.iter().zip(&contexts).filter(|(step, _)| !step.warmup) {
        walk(step, of_step(&times, step), &mut shapes, |launch, time| {
            let family = families
                .get(&(step.kind.as_str(), launch.shape))
                .filter(|_| time.is_none());
            let Some((duration_ns, provenance)) = family.and_then(|f| f.time(launch.ordinal, *context, how))
            else {
                return;
            };
            result.durations.push(SimDuration {
                repeat: step.repeat,
                step: step.step,
                seq: launch.seq,
                duration_ns,
                provenance,
                uid: None,
                cycles: None,
                extra: Extra::new(),
            });
        });
    }
    result.durations.sort_by_key(|d| (d.repeat, d.step, d.seq));
    result
}

struct Launch {
    seq: i64,
    /// Its shape's place in the set of shapes.
    shape: usize,
    /// How many launches of the shape the step has before it.
    ordinal: usize,
}

/// Calls `visit` for each kernel of the step, with its time in `times` (by seq).
fn walk<'a>(
    step: &'a Step,
    times: &[&SimDuration],
    shapes: &mut IndexSet<&'a Shape>,
    mut visit: impl FnMut(Launch, Option<&SimDuration>),
) {
    let mut met: BTreeMap<usize, usize> = BTreeMap::new();
    for kernel in &step.kernels {
        let (shape, _) = shapes.insert_full(&kernel.shape);
        let count = met.entry(shape).or_default();
        let place = times.binary_search_by_key(&kernel.seq, |d| d.seq);
        let time = place.ok().and_then(|i| times.get(i).copied());
        let launch = Launch {
            seq: kernel.seq,
            shape,
            ordinal: *count,
        };
        *count += 1;
        visit(launch, time);
    }
}

/// The context of each step.
fn contexts(real: &Timeline) -> Vec<f64> {
    let counted = real.steady().all(|step| step.num_scheduled_tokens.is_some());
    let mut tokens: BTreeMap<i64, u64> = BTreeMap::new();
    let mut context = |step: &Step| match step.num_scheduled_tokens.filter(|_| counted) {
        Some(n) => {
            let sum = tokens.entry(step.repeat).or_default();
            *sum = sum.saturating_add(n);
            *sum as f64
        }
        None => step.step as f64,
    };
    real.steps.iter().map(&mut context).collect()
}

/// Traced launches of one step kind and shape.
#[derive(Default)]
struct Family {
    by_ordinal: BTreeMap<usize, Curve>,
    /// All of them, where they agree whatever their place.
    whole: Option<Curve>,
}

/// Times over context.
#[derive(Clone, Default)]
struct Curve {
    points: Vec<(f64, f64)>,
    agree: bool,
}

impl Family {
    fn add(&mut self, ordinal: usize, context: f64, ns: f64) {
        self.by_ordinal
            .entry(ordinal)
            .or_default()
            .points
            .push((context, ns));
    }

    /// Called once all are there.
    fn settle(&mut self) {
        let mut whole = Curve::default();
        for curve in self.by_ordinal.values_mut() {
            whole.points.extend(&curve.points);
            curve.settle();
        }
        whole.settle();
        self.whole = Some(whole).filter(|w| w.agree);
    }

    fn time(&self, ordinal: usize, context: f64, how: Propagate) -> Option<(f64, Provenance)> {
        let curve = self.by_ordinal.get(&ordinal).or(self.whole.as_ref())?;
        if curve.agree {
            Some((curve.nearest(context)?, Provenance::Identical))
        } else if how == Propagate::Interp {
            Some((curve.at(context)?, Provenance::Interp))
        } else {
            None
        }
    }
}

impl Curve {
    /// Orders the points, finds whether they agree, and takes the mean of those of one context.
    fn settle(&mut self) {
        let times = || self.points.iter().map(|p| p.1);
        let (most, least) = (times().fold(0.0, f64::max), times().fold(f64::INFINITY, f64::min));
        self.agree = most - least <= AGREEMENT * most;
        self.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let same = self.points.chunk_by(|a, b| a.0 == b.0);
        let means = same.filter_map(|points| {
            let sum: f64 = points.iter().map(|p| p.1).sum();
            Some((points.first()?.0, sum / points.len() as f64))
        });
        self.points = means.collect();
    }

    /// The time at the nearest context; the smaller of two equally near.
    fn nearest(&self, context: f64) -> Option<f64> {
        let distance = |p: &&(f64, f64)| (p.0 - context).abs();
        let nearest = self
            .points
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map(|p| p.1)
    }

    /// The time on the line between the two contexts around; the nearest beyond the ends.
    fn at(&self, context: f64) -> Option<f64> {
        let right = self.points.partition_point(|p| p.0 < context);
        match (
            right.checked_sub(1).and_then(|i| self.points.get(i)),
            self.points.get(right),
        ) {
            (Some(a), Some(b)) => Some(a.1 + (b.1 - a.1) * (context - a.0) / (b.0 - a.0)),
            (only, None) | (None, only) => only.map(|p| p.1),
        }
    }
}

#[cfg(test)]
mod tests;
