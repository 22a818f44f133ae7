//! One picture of the timeline as draw commands: filled rectangles by colour, outlines and texts.

use super::groups::{DIM, PAINTS, REST};
use super::layout::{BAR, Camera, HEAD, LANE_HEAD, MINIMAP, STEP, lane_height, row};
use super::scene::{Pick, Scene, length};
use super::ticks::ticks;
use super::view::View;
use crate::format;

/// Bars at least this wide, in px, carry their kernel's name.
const NAMED_PX: f64 = 44.0;
/// About the width of a letter of a bar's name, in px.
const LETTER_PX: f64 = 6.4;
/// Bars wider than this leave a hair's breadth to the next one, in px.
const APART_PX: f64 = 3.0;

/// What a colour is for. [`Ink::token`] names it in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// A bar: below [`REST`] a group's.
    Bar(u8),
    /// A step of the first kind.
    FirstStep,
    /// Any other step.
    Step,
    /// Names on bars.
    OnBar,
    /// Names of lanes.
    Text,
    /// Smaller text.
    Soft,
    /// Lines of the ruler.
    Line,
    /// What is selected, and the scrubber.
    Accent,
    /// The minimap's window.
    Window,
    /// Over what lies outside the minimap's window.
    Veil,
    /// Behind the ruler.
    Ground,
}

impl Ink {
    /// Every ink once.
    pub fn all() -> impl Iterator<Item = Self> {
        let bars = (0..PAINTS as u8).map(Self::Bar);
        bars.chain([
            Self::FirstStep,
            Self::Step,
            Self::OnBar,
            Self::Text,
            Self::Soft,
            Self::Line,
            Self::Accent,
            Self::Veil,
            Self::Ground,
            Self::Window,
        ])
    }

    /// Its position in [`Self::all`].
    pub const fn at(self) -> usize {
        match self {
            Self::Bar(n) => n as usize,
            Self::FirstStep => PAINTS,
            Self::Step => PAINTS + 1,
            Self::OnBar => PAINTS + 2,
            Self::Text => PAINTS + 3,
            Self::Soft => PAINTS + 4,
            Self::Line => PAINTS + 5,
            Self::Accent => PAINTS + 6,
            Self::Veil => PAINTS + 7,
            Self::Ground => PAINTS + 8,
            Self::Window => PAINTS + 9,
        }
    }

    /// The custom property that holds it.
    pub fn token(self) -> String {
        let name = match self {
            Self::Bar(n) if n < REST => return format!("--series-{n}"),
            Self::Bar(DIM) => "--timeline-dim",
            Self::Bar(_) => "--part-rest",
            Self::FirstStep => "--timeline-step-first",
            Self::Step => "--timeline-step",
            Self::OnBar => "--on-accent",
            Self::Text => "--text",
            Self::Soft => "--text-2",
            Self::Line => "--line",
            Self::Accent => "--timeline-mark",
            Self::Veil => "--timeline-veil",
            Self::Ground => "--surface",
            Self::Window => "--accent",
        };
        name.to_owned()
    }
}

/// A rectangle in px, from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// A text with its baseline's left end.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Left end.
    pub x: f64,
    /// Baseline.
    pub y: f64,
    /// What it says.
    pub text: String,
    /// Its colour.
    pub ink: Ink,
    /// Whether it is a heading.
    pub strong: bool,
}

/// Draw commands, in the order in which they are drawn. What comes before the ruler is cut off at its lower edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Bars by colour; none overlaps another.
    pub bars: [Vec<Rect>; PAINTS],
    /// Other filled rectangles, in order, below the texts.
    pub fills: Vec<(Ink, Rect)>,
    /// Texts on and above bars.
    pub texts: Vec<Text>,
    /// Outlines of bars.
    pub outlines: Vec<(Ink, Rect)>,
    /// Texts of the ruler, which lanes scroll below, as all that follows.
    pub ruler: Vec<Text>,
    /// Filled rectangles over everything.
    pub over: Vec<(Ink, Rect)>,
    /// Texts over everything.
    pub notes: Vec<Text>,
}

impl Frame {
    /// Empties it, keeping the room it has.
    fn clear(&mut self) {
        self.bars.iter_mut().for_each(Vec::clear);
        self.fills.clear();
        self.texts.clear();
        self.outlines.clear();
        self.ruler.clear();
        self.over.clear();
        self.notes.clear();
    }

    /// Filled rectangles of all layers.
    pub fn rects(&self) -> usize {
        self.bars.iter().map(Vec::len).sum::<usize>() + self.fills.len() + self.over.len()
    }
}

impl Scene {
    /// Draws the lanes into `frame`, whose room is used again.
    pub fn draw(&self, camera: &Camera, frame: &mut Frame) {
        frame.clear();
        self.draw_ruler(camera, frame);
        let tall = lane_height(self.has_steps());
        for (at, _) in self.lanes().iter().enumerate() {
            let top = HEAD + at as f64 * tall - camera.scroll;
            if top + tall > HEAD && top < camera.height {
                self.draw_lane(at, top, camera, frame);
            }
        }
        self.draw_marks(camera, frame);
    }

    /// Draws all of every lane into a strip of `width` × `height` px.
    pub fn minimap(&self, width: f64, height: f64, frame: &mut Frame) {
        frame.clear();
        let view = View::all(self.total());
        let each = (height / self.lanes().len().max(1) as f64).min(12.0);
        let pixel = view.span() / width.max(1.0);
        for (at, lane) in self.lanes().iter().enumerate() {
            let (y, h) = (at as f64 * each, (each - 1.0).max(each * 0.7));
            lane.track.bars(view, pixel, self.painted(), |bar| {
                let x = view.x(bar.from, width);
                let rect = Rect {
                    x,
                    y,
                    w: (view.x(bar.to, width) - x).max(1.0),
                    h,
                };
                put(&mut frame.bars, bar.paint, rect);
            });
        }
    }

    /// Lines and labels of the time axis.
    fn draw_ruler(&self, camera: &Camera, frame: &mut Frame) {
        for tick in ticks(self, camera.view, camera.width) {
            let x = camera.x(tick.time).round();
            let line = Rect {
                x,
                y: MINIMAP,
                w: 1.0,
                h: camera.height - MINIMAP,
            };
            frame.fills.push((Ink::Line, line));
            frame.ruler.push(Text {
                x: x + 4.0,
                y: MINIMAP + 15.0,
                text: tick.label,
                ink: Ink::Soft,
                strong: false,
            });
        }
    }

    /// A lane's name, steps and kernels.
    fn draw_lane(&self, at: usize, top: f64, camera: &Camera, frame: &mut Frame) {
        let Some(lane) = self.lanes().get(at) else { return };
        let base = top + LANE_HEAD - 6.0;
        frame.texts.push(Text {
            x: 4.0,
            y: base,
            text: lane.title.clone(),
            ink: Ink::Text,
            strong: true,
        });
        // Where it fits beside the name; a letter of the name is at most about 8.5 px.
        let beside = 12.0 + lane.title.chars().count() as f64 * 8.5;
        let about = match &lane.problem {
            Some(problem) => problem.clone(),
            None => format!("{} · {}", lane.source, length(lane)),
        };
        if beside + about.chars().count() as f64 * 6.0 < camera.width {
            frame.texts.push(Text {
                x: beside,
                y: base,
                text: about,
                ink: Ink::Soft,
                strong: false,
            });
        }
        let mut y = top + LANE_HEAD;
        if self.has_steps() {
            self.draw_steps(at, y, camera, frame);
            y += STEP;
        }
        self.draw_bars(at, y, camera, frame);
    }

    /// A lane's steps that are in view.
    fn draw_steps(&self, at: usize, y: f64, camera: &Camera, frame: &mut Frame) {
        let Some(lane) = self.lanes().get(at) else { return };
        let first = lane.steps.partition_point(|step| step.to <= camera.view.from);
        let mut drawn = f64::NEG_INFINITY;
        for step in lane.steps.iter().skip(first) {
            if step.from >= camera.view.to {
                break;
            }
            let (x, to) = (
                camera.x(step.from).max(-1.0),
                camera.x(step.to).min(camera.width + 1.0),
            );
            // Steps that share a pixel are one.
            if to < drawn + 0.5 {
                continue;
            }
            drawn = x.max(drawn) + 1.0;
            let ink = if step.first_kind {
                Ink::FirstStep
            } else {
                Ink::Step
            };
            let w = (to - x).max(1.0);
            let rect = Rect {
                x,
                y,
                w: if w > APART_PX { w - 1.0 } else { w },
                h: STEP - 3.0,
            };
            frame.fills.push((ink, rect));
            if w > NAMED_PX {
                frame.texts.push(Text {
                    x: x.max(0.0) + 4.0,
                    y: y + STEP - 6.0,
                    text: fit(&step.label, w),
                    ink: Ink::Text,
                    strong: false,
                });
            }
        }
    }

    /// A lane's kernels that are in view.
    fn draw_bars(&self, at: usize, y: f64, camera: &Camera, frame: &mut Frame) {
        let Some(lane) = self.lanes().get(at) else { return };
        let pixel = camera.view.span() / camera.width.max(1.0);
        let Frame { bars, texts, .. } = frame;
        let mut open: Option<(u8, Rect)> = None;
        lane.track.bars(camera.view, pixel, self.painted(), |bar| {
            let (x, to) = (camera.x(bar.from), camera.x(bar.to));
            let w = to - x;
            // A column that is busy for a part of its time is lower by that much.
            let full = bar.count == 1 || bar.busy >= (bar.to - bar.from) * 0.98;
            let share = if full {
                1.0
            } else {
                (bar.busy / (bar.to - bar.from)).max(0.15)
            };
            let rect = Rect {
                x,
                y: y + BAR * (1.0 - share),
                w: if w > APART_PX { w - 0.6 } else { w.max(1.0) },
                h: BAR * share,
            };
            // Neighbours that look alike become one rectangle.
            match &mut open {
                Some((paint, last))
                    if *paint == bar.paint
                        && w <= APART_PX
                        && last.h == rect.h
                        && rect.x <= last.x + last.w + 0.01 =>
                {
                    last.w = last.w.max(rect.x + rect.w - last.x);
                }
                _ => {
                    if let Some((paint, last)) = open.replace((bar.paint, rect)) {
                        put(bars, paint, last);
                    }
                }
            }
            if bar.count == 1 && w > NAMED_PX && bar.paint != DIM {
                let kind = lane.track.kind(bar.first).and_then(|kind| self.kinds().get(kind));
                let (Some(kind), shown) = (kind, x.max(0.0)) else {
                    return;
                };
                texts.push(Text {
                    x: shown + 4.0,
                    y: y + BAR / 2.0 + 4.0,
                    text: fit(&kind.short, w),
                    ink: Ink::OnBar,
                    strong: false,
                });
            }
        });
        if let Some((paint, last)) = open {
            put(bars, paint, last);
        }
    }

    /// The selection, what the pointer is over, the scrubber and the minimap's window.
    fn draw_marks(&self, camera: &Camera, frame: &mut Frame) {
        for (pick, inner) in [(camera.hovered, 0.0), (camera.selected, 1.0)] {
            let Some((pick, range)) = pick.and_then(|pick| Some((pick, self.range(pick)?))) else {
                continue;
            };
            let y = row(self.has_steps(), pick.lane, camera.scroll);
            let (x, to) = (
                camera.x(range.from).max(-4.0),
                camera.x(range.to).min(camera.width + 4.0),
            );
            if to < -2.0 || x > camera.width + 2.0 {
                continue;
            }
            let rect = Rect {
                x: x - inner,
                y: y - inner,
                w: (to - x).max(2.0) + 2.0 * inner,
                h: BAR + 2.0 * inner,
            };
            let ink = if inner > 0.0 { Ink::Accent } else { Ink::Text };
            frame.outlines.push((ink, rect));
        }
        if let Some(text) = camera.hovered.and_then(|pick| self.about(pick)) {
            let (x, y) = camera.pointer;
            let y = if y + 40.0 > camera.height {
                y - 30.0
            } else {
                y + 16.0
            };
            label(frame, camera, x + 12.0, y, text, Ink::Text, Ink::Ground);
        }
        if let Some(time) = camera.scrub {
            let x = camera.x(time).round();
            let line = Rect {
                x,
                y: MINIMAP,
                w: 1.0,
                h: camera.height - MINIMAP,
            };
            frame.over.push((Ink::Accent, line));
            let text = format::duration_ns(time);
            label(
                frame,
                camera,
                x + 2.0,
                MINIMAP + 3.0,
                text,
                Ink::Accent,
                Ink::OnBar,
            );
        }
        self.draw_window(camera, frame);
    }

    /// The part of the minimap that is in view.
    fn draw_window(&self, camera: &Camera, frame: &mut Frame) {
        let all = View::all(self.total());
        let from = all.x(camera.view.from, camera.width);
        let to = all.x(camera.view.to, camera.width).max(from + 3.0);
        let h = MINIMAP - 4.0;
        let mut over = |ink, x: f64, y: f64, w: f64, h: f64| frame.over.push((ink, Rect { x, y, w, h }));
        over(Ink::Veil, 0.0, 0.0, from, h);
        over(Ink::Veil, to, 0.0, camera.width - to, h);
        over(Ink::Window, from, 0.0, to - from, 1.0);
        over(Ink::Window, from, h - 1.0, to - from, 1.0);
        over(Ink::Window, from, 0.0, 1.0, h);
        over(Ink::Window, to - 1.0, 0.0, 1.0, h);
    }

    /// A kernel in words: number, name, duration.
    pub fn about(&self, pick: Pick) -> Option<String> {
        let track = &self.lanes().get(pick.lane)?.track;
        let kind = self.kinds().get(track.kind(pick.at)?)?;
        let (number, ns) = (track.number(pick.at)?, track.ns(pick.at)?);
        Some(format!(
            "#{} {} · {}",
            format::launch(number),
            kind.short,
            format::duration_ns(ns)
        ))
    }
}

/// A text on a ground of its own, kept on the screen.
fn label(frame: &mut Frame, camera: &Camera, x: f64, y: f64, text: String, ground: Ink, ink: Ink) {
    let text = fit(&text, camera.width);
    let w = text.chars().count() as f64 * LETTER_PX + 10.0;
    let x = x.min(camera.width - w).max(0.0);
    frame.over.push((ground, Rect { x, y, w, h: 18.0 }));
    frame.notes.push(Text {
        x: x + 5.0,
        y: y + 13.0,
        text,
        ink,
        strong: false,
    });
}

/// Adds a bar of a colour.
fn put(bars: &mut [Vec<Rect>; PAINTS], paint: u8, rect: Rect) {
    if let Some(bars) = bars.get_mut(usize::from(paint)) {
        bars.push(rect);
    }
}

/// As much of a text as fits into `width` px.
fn fit(text: &str, width: f64) -> String {
    let most = ((width - 8.0) / LETTER_PX).max(0.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
