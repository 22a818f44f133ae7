//! What the canvas shows, outside of signals: a drag changes numbers here and asks for one new picture per frame of
//! the screen. Signals hear of it when the hand rests.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use cascade_api::{RunTimeline, TimelineLevel};
use cascade_scene::timeline::layout::{HEAD, MINIMAP, lane_height};
use cascade_scene::timeline::link::{self, Link};
use cascade_scene::timeline::{Align, Camera, Filter, Frame, Pick, Scene, View};
use leptos::prelude::*;
use web_sys::{HtmlCanvasElement, HtmlElement};

use super::paint::Surface;
use super::told::Told;

/// How long the hint about the wheel stays.
const HINT: Duration = Duration::from_millis(1500);
/// How long the hand has to rest before address, table and read-out follow the view.
const REST: Duration = Duration::from_millis(180);

/// Attribute of a canvas that shows something.
const DRAWN: &str = "data-drawn";

/// The picture and everything it is made from.
pub(super) struct Stage {
    pub(super) scene: Scene,
    pub(super) camera: Camera,
    pub(super) level: TimelineLevel,
    surface: Surface,
    strip: Surface,
    /// The element that scrolls the lanes.
    scroller: HtmlElement,
    /// An element of the page whose colour may be set to read what it comes to.
    probe: HtmlElement,
    canvas: HtmlCanvasElement,
    frame: Frame,
    strip_fits: bool,
    colors_fit: bool,
    asked: bool,
    resting: Option<TimeoutHandle>,
    hinting: Option<TimeoutHandle>,
    /// Whether the wheel has zoomed: whoever did it needs no hint.
    pub(super) wheel_known: bool,
    told: Told,
}

/// A stage that handlers share.
pub(super) type Shared = Rc<RefCell<Stage>>;

impl Stage {
    /// A stage without lanes.
    pub(super) fn new(
        canvas: HtmlCanvasElement,
        scroller: HtmlElement,
        probe: HtmlElement,
        told: Told,
    ) -> Option<Self> {
        let surface = Surface::new(canvas.clone())?;
        let hidden = document().create_element("canvas").ok()?;
        let strip = Surface::new(wasm_bindgen::JsCast::dyn_into(hidden).ok()?)?;
        Some(Self {
            scene: Scene::default(),
            camera: Camera {
                view: View::all(0.0),
                width: 0.0,
                height: 0.0,
                scroll: 0.0,
                pointer: (0.0, 0.0),
                hovered: None,
                selected: None,
                scrub: None,
            },
            level: TimelineLevel::Kernels,
            surface,
            strip,
            scroller,
            probe,
            canvas,
            frame: Frame::default(),
            strip_fits: false,
            colors_fit: false,
            asked: false,
            resting: None,
            hinting: None,
            wheel_known: false,
            told,
        })
    }

    /// Takes the lanes of some runs, and looks at what `link` says.
    pub(super) fn load(&mut self, answers: Vec<RunTimeline>, level: TimelineLevel, link: &Link) {
        self.scene = Scene::new(answers);
        self.scene.set_align(link.align);
        self.scene.set_filter(link.filter.clone());
        self.level = level;
        let total = self.scene.total();
        self.camera.view = link
            .view
            .map_or_else(|| View::all(total), |view| view.within(total));
        self.camera.selected = link.selected.and_then(|at| link::pick(&self.scene, at));
        self.camera.scrub = link.scrub.filter(|time| *time <= total);
        self.camera.hovered = None;
        self.strip_fits = false;
        self.told.loaded(self);
    }

    /// What an address says of the view.
    pub(super) fn link(&self) -> Link {
        let all = View::all(self.scene.total());
        Link {
            view: (self.camera.view != all).then_some(self.camera.view),
            align: self.scene.align(),
            level: self.level,
            filter: self.scene.filter().clone(),
            selected: self
                .camera
                .selected
                .and_then(|pick| link::selected(&self.scene, pick)),
            scrub: self.camera.scrub,
        }
    }

    /// Lines lanes up another way; what is looked at stays, if it is selected.
    pub(super) fn set_align(&mut self, align: Align) {
        self.scene.set_align(align);
        self.strip_fits = false;
        self.camera.scrub = None;
        let total = self.scene.total();
        let view = View::all(total);
        self.camera.view = match self.camera.selected.and_then(|pick| self.scene.range(pick)) {
            Some(range) => {
                View::between(range.from - 4.0 * range.span(), range.to + 4.0 * range.span()).within(total)
            }
            None => view,
        };
        self.told.loaded(self);
    }

    /// Dims what a filter leaves out.
    pub(super) fn set_filter(&mut self, filter: Filter) {
        self.scene.set_filter(filter);
        self.strip_fits = false;
        self.told.filtered(self);
    }

    /// Zooms about a place of the screen.
    pub(super) fn zoom(&mut self, x: f64, factor: f64) {
        let about = self.camera.time(x);
        self.camera.view = self.camera.view.zoomed(about, factor, self.scene.total());
    }

    /// Says for a moment how the wheel zooms.
    pub(super) fn hint(&mut self) {
        if self.wheel_known {
            return;
        }
        let hint = self.told.hint;
        hint.set(true);
        let timer = set_timeout_with_handle(move || _ = hint.try_set(false), HINT).ok();
        if let Some(earlier) = std::mem::replace(&mut self.hinting, timer) {
            earlier.clear();
        }
    }

    /// Moves by px.
    pub(super) fn pan(&mut self, px: f64) {
        let by = self.camera.ns(px);
        self.camera.view = self.camera.view.panned(by, self.scene.total());
    }

    /// Scrolls the lanes by px.
    pub(super) fn scroll_by(&self, px: f64) {
        if px != 0.0 {
            let to = f64::from(self.scroller.scroll_top()) + px;
            self.scroller.set_scroll_top(to.round() as i32);
        }
    }

    /// Shows everything.
    pub(super) fn fit(&mut self) {
        self.camera.view = View::all(self.scene.total());
    }

    /// Selects a kernel, and brings it into view if it is not.
    pub(super) fn select(&mut self, pick: Option<Pick>) {
        self.camera.selected = pick;
        // The tip is of what was below the pointer before lanes and view moved.
        self.camera.hovered = None;
        if let Some((pick, range)) = pick.and_then(|pick| Some((pick, self.scene.range(pick)?))) {
            self.camera.view = self.camera.view.showing(range, self.scene.total());
            let tall = lane_height(self.scene.has_steps());
            let top = pick.lane as f64 * tall;
            let (seen, room) = (self.camera.scroll, self.camera.height - HEAD);
            if top < seen {
                self.scroll_by(top - seen);
            } else if top + tall > seen + room {
                self.scroll_by(top + tall - seen - room);
            }
        }
        self.told.selected(self);
    }

    /// Fills the screen with the selected kernel and what is around it.
    pub(super) fn zoom_to_selected(&mut self) {
        if let Some(range) = self.camera.selected.and_then(|pick| self.scene.range(pick)) {
            let around = range.span() * 2.0;
            self.camera.view =
                View::between(range.from - around, range.to + around).within(self.scene.total());
        }
    }

    /// The theme is another one.
    pub(super) fn recolor(&mut self) {
        self.colors_fit = false;
        self.strip_fits = false;
    }

    /// Takes the size that the page gives.
    fn fit_size(&mut self) {
        let (width, height) = (
            f64::from(self.scroller.client_width()),
            f64::from(self.scroller.client_height()),
        );
        let changed = (self.camera.width, self.camera.height) != (width, height);
        if changed || self.surface.is_stale() {
            self.surface.resize(width, height);
            self.strip.resize(width, MINIMAP - 4.0);
            (self.camera.width, self.camera.height) = (width, height);
            self.strip_fits = false;
        }
        self.camera.scroll = f64::from(self.scroller.scroll_top());
    }

    /// Draws one picture.
    fn draw(&mut self) {
        self.asked = false;
        if !self.colors_fit {
            self.surface.read_colors(&self.probe);
            self.strip.share_colors(&self.surface);
            self.colors_fit = true;
        }
        self.fit_size();
        if self.camera.width < 1.0 || self.scene.lanes().is_empty() {
            return;
        }
        if !self.strip_fits {
            self.scene
                .minimap(self.camera.width, MINIMAP - 4.0, &mut self.frame);
            self.strip.strip(&self.frame);
            self.strip_fits = true;
        }
        self.scene.draw(&self.camera, &mut self.frame);
        self.surface.draw(&self.frame, &self.strip);
        // For whoever waits for the first picture, and for tests.
        if !self.is_drawn() {
            _ = self.canvas.set_attribute(DRAWN, "");
        }
    }

    /// The page is left: what was to follow once the hand rests would write into the next page's address.
    pub(super) fn leave(&mut self) {
        let timers = [self.resting.take(), self.hinting.take()];
        timers.iter().flatten().for_each(TimeoutHandle::clear);
    }

    /// Whether there has been a picture.
    fn is_drawn(&self) -> bool {
        self.canvas.has_attribute(DRAWN)
    }

    /// Whether nobody would see another picture. The first one is made all the same.
    fn is_unseen(&self) -> bool {
        self.is_drawn() && self.told.in_sight.try_get_untracked() != Some(true)
    }
}

/// Asks for a new picture with the screen's next frame; asking twice makes one. Out of sight none is made: coming into
/// sight asks again.
pub(super) fn show(stage: &Shared) {
    if stage.borrow().is_unseen() || std::mem::replace(&mut stage.borrow_mut().asked, true) {
        return;
    }
    let own = Rc::clone(stage);
    request_animation_frame(move || own.borrow_mut().draw());
}

/// The same after the view changed: table, read-out and address follow when the hand rests.
pub(super) fn moved(stage: &Shared) {
    show(stage);
    let own = Rc::clone(stage);
    let rest = move || {
        let mut stage = own.borrow_mut();
        stage.resting = None;
        let told = stage.told;
        told.rested(&stage);
    };
    let timer = set_timeout_with_handle(rest, REST).ok();
    if let Some(earlier) = std::mem::replace(&mut stage.borrow_mut().resting, timer) {
        earlier.clear();
    }
}
