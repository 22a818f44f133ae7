//! What hands do on the canvas: wheel, drag, pinch and keys.

use cascade_scene::timeline::{Pick, Target, View};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, KeyboardEvent, PointerEvent, WheelEvent};

use super::stage::{Shared, Stage, moved, show};

/// A press that moves less than this, in px, is a click.
const CLICK_PX: f64 = 4.0;
/// How much of the screen a key moves.
const STEP: f64 = 0.15;
/// How much a key zooms.
const ZOOM: f64 = 1.5;
/// Px of one line, where a wheel counts in lines.
const LINE_PX: f64 = 16.0;

/// What a press that is held does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    /// Moves the view with the pointer.
    Pan,
    /// Moves the scrubber.
    Scrub,
    /// Moves the minimap's window, held at this time from its left edge.
    Window(f64),
}

/// Fingers and buttons that are down.
#[derive(Clone, Debug, Default)]
pub(super) struct Hands {
    /// Pointers by id with their place.
    down: Vec<(i32, f64, f64)>,
    hold: Option<Hold>,
    /// How far they went since they came down, in px.
    went: f64,
}

impl Hands {
    /// A pointer comes down.
    pub(super) fn down(&mut self, stage: &Shared, event: &PointerEvent) {
        if event.button() != 0 {
            return;
        }
        let (x, y) = place(event);
        if let Some(canvas) = event.current_target().and_then(|t| t.dyn_into::<Element>().ok()) {
            // A pointer that went away meanwhile cannot be kept.
            _ = canvas.set_pointer_capture(event.pointer_id());
        }
        self.down.retain(|(id, ..)| *id != event.pointer_id());
        self.down.push((event.pointer_id(), x, y));
        if self.down.len() > 1 {
            self.hold = None;
            return;
        }
        self.went = 0.0;
        let mut own = stage.borrow_mut();
        let (hold, changed) = press(&mut own, x, y);
        drop(own);
        self.hold = Some(hold);
        if changed {
            moved(stage);
        }
    }

    /// A pointer moves, held down or not.
    pub(super) fn moved(&mut self, stage: &Shared, event: &PointerEvent) {
        let (x, y) = place(event);
        let Some(at) = self.down.iter().position(|(id, ..)| *id == event.pointer_id()) else {
            hover(stage, event, x, y);
            return;
        };
        let before = self.down.clone();
        if let Some(slot) = self.down.get_mut(at) {
            (slot.1, slot.2) = (x, y);
        }
        if let ([a, b], [c, d]) = (before.as_slice(), self.down.as_slice()) {
            let mut own = stage.borrow_mut();
            pinch(&mut own, (a.1, b.1), (c.1, d.1));
            drop(own);
            moved(stage);
            return;
        }
        let (was_x, was_y) = before.get(at).map_or((x, y), |slot| (slot.1, slot.2));
        self.went += (x - was_x).abs() + (y - was_y).abs();
        let mut own = stage.borrow_mut();
        match self.hold {
            Some(Hold::Pan) if self.went >= CLICK_PX => {
                own.camera.hovered = None;
                own.pan(was_x - x);
                // A finger scrolls by itself.
                if event.pointer_type() == "mouse" {
                    own.scroll_by(was_y - y);
                }
            }
            Some(Hold::Scrub) => scrub(&mut own, x),
            Some(Hold::Window(held)) => window_to(&mut own, x, held),
            _ => return,
        }
        drop(own);
        moved(stage);
    }

    /// A pointer goes up, or is taken away.
    pub(super) fn up(&mut self, stage: &Shared, event: &PointerEvent) {
        self.down.retain(|(id, ..)| *id != event.pointer_id());
        let hold = self.hold.take();
        let click = self.went < CLICK_PX && event.type_() == "pointerup";
        if hold == Some(Hold::Pan) && click {
            let (x, y) = place(event);
            let mut own = stage.borrow_mut();
            let pick = kernel_at(&own, x, y);
            own.select(pick);
            drop(own);
            moved(stage);
        }
        // The finger that stays goes on moving the view.
        if !self.down.is_empty() {
            self.went = CLICK_PX;
            self.hold = Some(Hold::Pan);
        }
    }
}

/// Where on the canvas a pointer is.
fn place(event: &PointerEvent) -> (f64, f64) {
    (f64::from(event.offset_x()), f64::from(event.offset_y()))
}

/// The kernel at a place.
fn kernel_at(stage: &Stage, x: f64, y: f64) -> Option<Pick> {
    match stage.scene.hit(&stage.camera, x, y) {
        Target::Kernel(pick) => Some(pick),
        _ => None,
    }
}

/// A press: what it holds, and whether something changed.
fn press(stage: &mut Stage, x: f64, y: f64) -> (Hold, bool) {
    match stage.scene.hit(&stage.camera, x, y) {
        Target::Minimap(time) => {
            let view = stage.camera.view;
            let inside = view.from <= time && time <= view.to;
            let held = if inside {
                time - view.from
            } else {
                view.span() / 2.0
            };
            window_to(stage, x, held);
            (Hold::Window(held), true)
        }
        Target::Ruler(_) => {
            scrub(stage, x);
            (Hold::Scrub, true)
        }
        _ => (Hold::Pan, false),
    }
}

/// Moves the scrubber to a place, or to the kernel's edge beside it.
fn scrub(stage: &mut Stage, x: f64) {
    let time = stage.camera.time(x).clamp(0.0, stage.scene.total());
    stage.camera.scrub = Some(stage.scene.snapped(&stage.camera, time));
}

/// Moves the minimap's window, held at a time from its left edge, to a place.
fn window_to(stage: &mut Stage, x: f64, held: f64) {
    let time = View::all(stage.scene.total()).time(x, stage.camera.width);
    let by = time - held - stage.camera.view.from;
    stage.camera.view = stage.camera.view.panned(by, stage.scene.total());
}

/// Two fingers that were at `before` and are at `now`: both stay on their times.
fn pinch(stage: &mut Stage, before: (f64, f64), now: (f64, f64)) {
    let apart = |(a, b): (f64, f64)| (a - b).abs().max(12.0);
    let middle = |(a, b): (f64, f64)| f64::midpoint(a, b);
    stage.pan(middle(before) - middle(now));
    stage.zoom(middle(now), apart(before) / apart(now));
}

/// Marks what is below a pointer that nobody presses.
fn hover(stage: &Shared, event: &PointerEvent, x: f64, y: f64) {
    if event.pointer_type() == "touch" {
        return;
    }
    let mut own = stage.borrow_mut();
    let found = kernel_at(&own, x, y);
    let changed = found.is_some() || own.camera.hovered.is_some();
    (own.camera.hovered, own.camera.pointer) = (found, (x, y));
    drop(own);
    if changed {
        show(stage);
    }
}

/// No pointer is over the canvas any more.
pub(super) fn left(stage: &Shared) {
    stage.borrow_mut().camera.hovered = None;
    show(stage);
}

/// A wheel: with Ctrl (as a pinch on a touchpad has it) it zooms, sideways or with Shift it moves; otherwise the
/// page scrolls.
fn wheel(stage: &Shared, event: &WheelEvent) {
    let unit = match event.delta_mode() {
        WheelEvent::DOM_DELTA_LINE => LINE_PX,
        WheelEvent::DOM_DELTA_PAGE => LINE_PX * 20.0,
        _ => 1.0,
    };
    let (dx, dy) = (event.delta_x() * unit, event.delta_y() * unit);
    let mut own = stage.borrow_mut();
    if event.ctrl_key() || event.meta_key() {
        // A pinch sends small steps, a wheel notches of about 100.
        let factor = (dy.clamp(-60.0, 60.0) * 0.01).exp();
        own.wheel_known = true;
        own.zoom(f64::from(event.offset_x()), factor);
    } else if event.shift_key() || dx.abs() > dy.abs() {
        own.pan(if dx == 0.0 { dy } else { dx });
    } else {
        own.hint();
        return;
    }
    drop(own);
    event.prevent_default();
    moved(stage);
}

/// Listens to the wheel in a way that may keep the page from zooming.
pub(super) fn listen_to_wheel(canvas: &Element, stage: &Shared) -> Closure<dyn Fn(WheelEvent)> {
    let own = std::rc::Rc::clone(stage);
    let closure = Closure::<dyn Fn(WheelEvent)>::new(move |event| wheel(&own, &event));
    let options = web_sys::AddEventListenerOptions::new();
    options.set_passive(false);
    let listener = closure.as_ref().unchecked_ref();
    // It fails for no element of the page.
    _ = canvas.add_event_listener_with_callback_and_add_event_listener_options("wheel", listener, &options);
    closure
}

/// A key. `true` when it meant something.
pub(super) fn key(stage: &mut Stage, event: &KeyboardEvent) -> bool {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return false;
    }
    let (middle, page) = (stage.camera.width / 2.0, stage.camera.width * STEP);
    let selected = stage.camera.selected;
    match event.key().as_str() {
        "ArrowLeft" if event.shift_key() => stage.select(beside(stage, -1)),
        "ArrowRight" if event.shift_key() => stage.select(beside(stage, 1)),
        "ArrowLeft" | "a" | "A" => stage.pan(-page),
        "ArrowRight" | "d" | "D" => stage.pan(page),
        "ArrowUp" if selected.is_some() => stage.select(above(stage, -1)),
        "ArrowDown" if selected.is_some() => stage.select(above(stage, 1)),
        "ArrowUp" => stage.scroll_by(-LINE_PX * 3.0),
        "ArrowDown" => stage.scroll_by(LINE_PX * 3.0),
        "+" | "=" | "w" | "W" => stage.zoom(middle, 1.0 / ZOOM),
        "-" | "_" | "s" | "S" => stage.zoom(middle, ZOOM),
        "Home" => stage.pan(-f64::MAX),
        "End" => stage.pan(f64::MAX),
        "f" | "F" | "0" => stage.fit(),
        "z" | "Z" => stage.zoom_to_selected(),
        "n" => {
            let next = stage.scene.next(selected);
            stage.select(next);
        }
        "N" => {
            let previous = stage.scene.previous(selected);
            stage.select(previous);
        }
        "Enter" | " " => {
            let middle = stage.camera.time(middle);
            let lane = selected.map_or(0, |pick| pick.lane);
            let near = stage.scene.lanes().get(lane);
            let near = near.and_then(|lane| lane.track.near(middle, f64::INFINITY));
            stage.select(near.map(|at| Pick { lane, at }));
        }
        "Escape" if stage.camera.scrub.is_some() => stage.camera.scrub = None,
        "Escape" if selected.is_some() => stage.select(None),
        "Escape" if stage.scene.filter().is_on() => stage.set_filter(Default::default()),
        _ => return false,
    }
    true
}

/// The kernel before or after the selected one in its lane.
fn beside(stage: &Stage, by: isize) -> Option<Pick> {
    let pick = stage.camera.selected?;
    let at = pick.at.saturating_add_signed(by);
    let lane = stage.scene.lanes().get(pick.lane)?;
    Some(Pick {
        lane: pick.lane,
        at: at.min(lane.track.len().saturating_sub(1)),
    })
}

/// The kernel of the same number in a lane above or below.
fn above(stage: &Stage, by: isize) -> Option<Pick> {
    let pick = stage.camera.selected?;
    let lanes = stage.scene.lanes();
    let number = lanes.get(pick.lane)?.track.number(pick.at)?;
    let lane = pick.lane.checked_add_signed(by).unwrap_or(pick.lane);
    let found = lanes.get(lane).and_then(|lane| lane.track.position(number));
    Some(found.map_or(pick, |at| Pick { lane, at }))
}
