//! Where things are on the screen, in CSS px, and what is at a place.

use super::scene::{Pick, Scene};
use super::view::View;

/// Height of the strip that shows everything.
pub const MINIMAP: f64 = 40.0;
/// Height of the time axis.
pub const RULER: f64 = 22.0;
/// What stays where it is when lanes are scrolled.
pub const HEAD: f64 = MINIMAP + RULER;
/// Height of a lane's name.
pub const LANE_HEAD: f64 = 22.0;
/// Height of a row of steps.
pub const STEP: f64 = 18.0;
/// Height of a row of kernels.
pub const BAR: f64 = 26.0;
/// Below a lane.
const BELOW: f64 = 8.0;
/// How far from a kernel a pointer may be, in px.
const REACH_PX: f64 = 3.0;
/// How far from a kernel's edge the scrubber is drawn to it, in px.
const SNAP_PX: f64 = 8.0;

/// What is looked at, and what is marked in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The time that is shown.
    pub view: View,
    /// Width in px.
    pub width: f64,
    /// Height in px.
    pub height: f64,
    /// How far the lanes are scrolled, in px.
    pub scroll: f64,
    /// Where the pointer is, in px.
    pub pointer: (f64, f64),
    /// The kernel below the pointer.
    pub hovered: Option<Pick>,
    /// The kernel that was chosen.
    pub selected: Option<Pick>,
    /// The time that the scrubber is at.
    pub scrub: Option<f64>,
}

/// What is at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The strip that shows everything, at a time.
    Minimap(f64),
    /// The time axis, at a time.
    Ruler(f64),
    /// A kernel.
    Kernel(Pick),
    /// A step: its lane and position.
    Step(usize, usize),
    /// A lane, where it has nothing.
    Lane(usize),
    /// Nothing.
    Nothing,
}

impl Camera {
    /// The place of a time.
    pub fn x(&self, time: f64) -> f64 {
        self.view.x(time, self.width)
    }

    /// The time at a place.
    pub fn time(&self, x: f64) -> f64 {
        self.view.time(x, self.width)
    }

    /// How long `px` px are, in ns.
    pub fn ns(&self, px: f64) -> f64 {
        self.view.span() / self.width.max(1.0) * px
    }
}

/// Height of one lane.
pub fn lane_height(steps: bool) -> f64 {
    LANE_HEAD + if steps { STEP } else { 0.0 } + BAR + BELOW
}

/// Where the row of kernels of a lane begins.
pub fn row(steps: bool, lane: usize, scroll: f64) -> f64 {
    HEAD + lane as f64 * lane_height(steps) - scroll + LANE_HEAD + if steps { STEP } else { 0.0 }
}

impl Scene {
    /// Height of everything.
    pub fn height(&self) -> f64 {
        HEAD + self.lanes().len() as f64 * lane_height(self.has_steps())
    }

    /// What is at a place.
    pub fn hit(&self, camera: &Camera, x: f64, y: f64) -> Target {
        if !(0.0..=camera.width).contains(&x) || y < 0.0 || y > camera.height {
            return Target::Nothing;
        }
        if y < MINIMAP {
            return Target::Minimap(View::all(self.total()).time(x, camera.width));
        }
        let time = camera.time(x);
        if y < HEAD {
            return Target::Ruler(time);
        }
        let steps = self.has_steps();
        let place = (y - HEAD + camera.scroll) / lane_height(steps);
        let at = place.floor() as usize;
        let Some(lane) = self.lanes().get(at) else {
            return Target::Nothing;
        };
        let bars = row(steps, at, camera.scroll);
        if (bars..bars + BAR).contains(&y) {
            let found = lane.track.near(time, camera.ns(REACH_PX));
            return found.map_or(Target::Lane(at), |found| {
                Target::Kernel(Pick { lane: at, at: found })
            });
        }
        if steps && (bars - STEP..bars).contains(&y) {
            let found = lane.steps.partition_point(|step| step.to <= time);
            let under = lane.steps.get(found).filter(|step| step.from <= time);
            return under.map_or(Target::Lane(at), |_| Target::Step(at, found));
        }
        Target::Lane(at)
    }

    /// A time drawn to the nearest kernel's edge of any lane, where one is near.
    pub fn snapped(&self, camera: &Camera, time: f64) -> f64 {
        let edges = self
            .lanes()
            .iter()
            .filter_map(|lane| lane.track.nearest_edge(time));
        let best = edges.min_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((edge, off)) if off <= camera.ns(SNAP_PX) => edge,
            _ => time,
        }
    }
}
