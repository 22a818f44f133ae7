//! Profiled times of one kind of step, and what they do to a roofline.

use crate::profile::{Floor, GroupTimes};

/// One profiled size.
#[derive(Clone, Copy, Debug)]
struct Point {
    tokens: f64,
    groups: [f64; 6],
    unattributed: f64,
}

/// Profiled sizes, ascending, and the anchors that keep the roofline below them.
#[derive(Clone, Debug)]
pub(super) struct Floors {
    points: Vec<Point>,
    anchors: [f64; 6],
}

impl Default for Floors {
    /// No floors: the roofline as it is.
    fn default() -> Self {
        Self {
            points: Vec::new(),
            anchors: [1.0; 6],
        }
    }
}

impl Floors {
    /// From floors, ascending, each with the plain roofline of its size.
    ///
    /// A group without profiled kernels has the anchor 0: another group does its work.
    pub(super) fn new(floors: impl Iterator<Item = (Floor, [f64; 6])>) -> Self {
        let mut all = Self::default();
        for (floor, roofline) in floors {
            let groups = floor.groups.to_array().map(|ns| ns as f64);
            for ((anchor, ns), roof) in all.anchors.iter_mut().zip(groups).zip(roofline) {
                if roof > 0.0 {
                    *anchor = anchor.min(ns / roof);
                }
            }
            all.points.push(Point {
                tokens: f64::from(floor.tokens),
                groups,
                unattributed: floor.unattributed_ns as f64,
            });
        }
        all
    }

    /// The floor at a size: linear between profiled sizes, the nearest outside.
    fn at(&self, tokens: f64) -> Option<Point> {
        let after = self.points.partition_point(|point| point.tokens < tokens);
        let (Some(high), Some(low)) = (self.points.get(after), after.checked_sub(1)) else {
            return self.points.get(after).or_else(|| self.points.last()).copied();
        };
        let low = self.points.get(low)?;
        let share = (tokens - low.tokens) / (high.tokens - low.tokens);
        let between = |a: f64, b: f64| a + (b - a) * share;
        let mut groups = low.groups;
        for (ns, high) in groups.iter_mut().zip(high.groups) {
            *ns = between(*ns, high);
        }
        Some(Point {
            tokens,
            groups,
            unattributed: between(low.unattributed, high.unattributed),
        })
    }

    /// The time of each group and the unattributed time, both in ns, for a plain roofline at a size.
    ///
    /// A step in which no sequence samples runs no output projection and no sampler.
    pub(super) fn raise(&self, roofline: [f64; 6], tokens: f64, samples: bool) -> (GroupTimes, i64) {
        let floor = self.at(tokens);
        let floors = floor.map_or([0.0; 6], |point| point.groups);
        let mut times = [0; 6];
        for (((time, roof), anchor), floor) in times.iter_mut().zip(roofline).zip(self.anchors).zip(floors) {
            *time = nearest(floor.max(roof * anchor));
        }
        let mut times = GroupTimes::from_array(times);
        if !samples {
            (times.lm_head, times.sampler) = (0, 0);
        }
        (times, floor.map_or(0, |point| point.unattributed.round() as i64))
    }

    /// Whether this size was profiled.
    pub(super) fn holds(&self, tokens: u64) -> bool {
        let wanted = tokens as f64;
        let at = self.points.partition_point(|point| point.tokens < wanted);
        self.points.get(at).is_some_and(|point| point.tokens == wanted)
    }

    /// Whether this size lies between two that were profiled.
    pub(super) fn spans(&self, tokens: u64) -> bool {
        let wanted = tokens as f64;
        let ends = self.points.first().zip(self.points.last());
        ends.is_some_and(|(first, last)| first.tokens < wanted && wanted < last.tokens)
    }
}

/// The nearest whole number of something positive. Rounding is no library call here: this is the hot path.
fn nearest(ns: f64) -> u64 {
    (ns + 0.5) as u64
}
