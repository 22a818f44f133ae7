//! The canvas with what belongs to it: tools above, words below.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use cascade_api::{RunId, TimelineLevel};
use leptos::html;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{MutationObserver, MutationObserverInit, ResizeObserver};

use super::address;
use super::bar::Tools;
use super::input::{self, Hands};
use super::panel::{Legend, Panel, ReadOut, TopKernels};
use super::runs::Offer;
use super::sight;
use super::stage::{Shared, Stage, moved, show};
use super::told::{Status, Told};
use crate::data;
use crate::ui::{ButtonLink, Card, Failure};

/// Shortest time between new kernels and the picture that shows them, in ms.
const FOLLOW_MS: f64 = 1_000.0;

/// A handle on one timeline, for its parts.
#[derive(Clone, Copy)]
pub(super) struct Timeline {
    pub(super) told: Told,
    /// The stage, once the page is alive.
    stage: StoredValue<Option<SendWrapper<Shared>>>,
    /// The runs, the page's first.
    pub(super) runs: RwSignal<Vec<RunId>>,
    /// Number of the latest ask, and the level it was for: an older one's answer is not wanted any more.
    latest: StoredValue<(u64, TimelineLevel)>,
    /// When lanes were last asked for or came, in ms, and how long the last answer took.
    asked: StoredValue<f64>,
    took: StoredValue<f64>,
}

impl Timeline {
    /// Changes the stage and shows what became of it; nothing before the page is alive.
    pub(super) fn change(self, change: impl FnOnce(&mut Stage)) {
        if let Some(stage) = self.shared() {
            change(&mut stage.borrow_mut());
            moved(&stage);
        }
    }

    fn shared(self) -> Option<Shared> {
        self.stage.with_value(|stage| stage.as_deref().cloned())
    }

    /// Fetches the lanes of a level and looks at what the address, or else the present view, says.
    pub(super) fn fetch(self, level: TimelineLevel, keep: bool) {
        let Some(stage) = self.shared() else { return };
        let mut link = if keep {
            stage.borrow().link()
        } else {
            address::read()
        };
        if stage.borrow().level != level && keep {
            // Times and numbers of another level say nothing in this one.
            (link.view, link.selected, link.scrub) = (None, None, None);
        }
        if self.told.status.get_untracked() != Status::Ready {
            self.told.status.set(Status::Loading);
        }
        let started = now();
        self.asked.set_value(started);
        let ask = self.latest.get_value().0 + 1;
        self.latest.set_value((ask, level));
        let runs = self.runs.get_untracked();
        leptos::task::spawn_local(async move {
            let (mut answers, mut left_out) = (Vec::new(), Vec::new());
            for run in &runs {
                let answer = data::run_timeline(run.clone(), level).await;
                if !self.is_latest(ask) {
                    return;
                }
                match answer {
                    Ok(answer) => answers.push(answer),
                    // The page's own run is what it is about; the others joined it.
                    Err(error) if answers.is_empty() => {
                        self.told.status.set(Status::Failed(error));
                        return;
                    }
                    Err(error) => left_out.push(format!("{run} is left out: {error}")),
                }
            }
            if keep && stage.borrow().level == level {
                // The hand may have moved on while the answers were under way.
                link = stage.borrow().link();
            }
            stage.borrow_mut().load(answers, level, &link);
            self.told
                .problems
                .update(|problems| problems.append(&mut left_out));
            self.asked.set_value(now());
            self.took.set_value(now() - started);
            moved(&stage);
        });
    }

    /// Whether an answer is still wanted: something else may have been asked for, and the page may be gone.
    fn is_latest(self, ask: u64) -> bool {
        self.latest
            .try_get_value()
            .is_some_and(|(latest, _)| latest == ask)
    }

    /// Shows these runs, the page's first, and says so in the address.
    pub(super) fn show_runs(self, runs: Vec<RunId>) {
        address::write_with(runs.get(1..).unwrap_or_default());
        self.runs.set(runs);
        // Before the first picture only the address knows what to look at.
        match self.told.status.get_untracked() {
            Status::Ready => self.fetch(self.latest.get_value().1, true),
            _ => self.fetch(address::read().level, false),
        }
    }

    /// Fetches again when sims have finished more kernels, at most every few seconds: how long the last answer took
    /// to come and draw sets the pace, so that a long run's columns never take most of the time. Out of sight nothing
    /// is fetched; coming into sight catches up at once.
    fn follow(self, done: Signal<u64>) {
        let waiting = StoredValue::new(false);
        let fetched = StoredValue::new(None::<u64>);
        let in_sight = self.told.in_sight;
        Effect::new(move || {
            let (done_now, seen) = (done.get(), in_sight.get());
            let Some(known) = fetched.get_value() else {
                fetched.set_value(Some(done_now));
                return;
            };
            if known == done_now || !seen || waiting.get_value() {
                return;
            }
            waiting.set_value(true);
            let again = move || {
                // The page may be gone; or out of sight, and then coming back asks again.
                if waiting.try_set_value(false).is_none() && in_sight.get_untracked() {
                    fetched.set_value(Some(done.get_untracked()));
                    self.fetch(self.latest.get_value().1, true);
                }
            };
            let pace = self.took.get_value().mul_add(10.0, FOLLOW_MS);
            let pause = (self.asked.get_value() + pace - now()).clamp(0.0, pace);
            set_timeout(again, Duration::from_millis(pause as u64));
        });
    }
}

/// Milliseconds on the browser's clock.
fn now() -> f64 {
    web_sys::js_sys::Date::now()
}

/// Says which key makes the wheel zoom, while somebody turns it without.
#[component]
fn WheelHint(
    /// Whether it is said.
    shown: RwSignal<bool>,
) -> impl IntoView {
    move || {
        shown.get().then(|| {
            let apple = window()
                .navigator()
                .platform()
                .is_ok_and(|name| name.contains("Mac"));
            let key = if apple { "⌘" } else { "Ctrl" };
            view! { <p class="timeline-hint" aria-hidden="true">{format!("{key} + wheel zooms")}</p> }
        })
    }
}

/// The timeline of one or more runs, without a frame around it.
#[component]
pub(super) fn Canvas(
    /// The runs; the first one is the page's.
    runs: Vec<RunId>,
    /// Whether sims sent step timelines.
    steps: bool,
    /// Kernels that the page's run has finished, which may grow.
    #[prop(into)]
    done: Signal<u64>,
    /// Runs that could be added.
    #[prop(optional)]
    offers: Vec<Offer>,
) -> impl IntoView {
    let told = Told::new();
    let timeline = Timeline {
        told,
        stage: StoredValue::new(None),
        runs: RwSignal::new(runs),
        latest: StoredValue::new((0, TimelineLevel::Kernels)),
        asked: StoredValue::new(0.0),
        took: StoredValue::new(0.0),
    };
    let (canvas, scroller, probe, whole) = (
        NodeRef::<html::Canvas>::new(),
        NodeRef::<html::Div>::new(),
        NodeRef::<html::Span>::new(),
        NodeRef::<html::Div>::new(),
    );
    let hands: StoredValue<Option<SendWrapper<Rc<RefCell<Hands>>>>> = StoredValue::new(None);
    Effect::new(move || {
        let (Some(canvas), Some(scroller), Some(probe)) = (canvas.get(), scroller.get(), probe.get()) else {
            return;
        };
        let Some(stage) = Stage::new(canvas.clone(), scroller.clone().into(), probe.into(), told) else {
            leptos::logging::warn!("this browser has no canvas to draw on");
            return;
        };
        let stage: Shared = Rc::new(RefCell::new(stage));
        let wheel = input::listen_to_wheel(&canvas, &stage);
        let observers = observe(&stage, &scroller);
        on_cleanup({
            let kept = SendWrapper::new((wheel, observers, Rc::clone(&stage)));
            move || {
                let (_, observers, stage) = &*kept;
                observers.stop();
                stage.borrow_mut().leave();
            }
        });
        if let Some(whole) = whole.get_untracked() {
            // The frame takes no room until there are kernels, so the whole is watched.
            sight::watch(&whole, told.in_sight);
        }
        timeline.stage.set_value(Some(SendWrapper::new(stage)));
        hands.set_value(Some(SendWrapper::new(Rc::default())));
        let mut more = timeline.runs.get_untracked();
        for run in address::with() {
            let run = RunId::from(run);
            if !more.contains(&run) {
                more.push(run);
            }
        }
        timeline.runs.set(more);
        let link = address::read();
        timeline.fetch(if steps { link.level } else { TimelineLevel::Kernels }, false);
    });
    timeline.follow(done);
    Effect::new(move || {
        if told.in_sight.get()
            && let Some(stage) = timeline.shared()
        {
            show(&stage);
        }
    });
    let with_hands = move |act: &dyn Fn(&mut Hands, &Shared)| {
        let hands = hands.with_value(|hands| hands.as_deref().cloned());
        if let (Some(hands), Some(stage)) = (hands, timeline.shared()) {
            act(&mut hands.borrow_mut(), &stage);
        }
    };
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        if let Some(stage) = timeline.shared() {
            let meant = input::key(&mut stage.borrow_mut(), &event);
            if meant {
                event.prevent_default();
                moved(&stage);
            }
        }
    };
    let on_up = move |event: leptos::ev::PointerEvent| with_hands(&|hands, stage| hands.up(stage, &event));
    let height = move || format!("height:{}px", told.height.get());
    let words = move || match told.status.get() {
        Status::Failed(error) => {
            view! { <Failure error on_retry=move |()| timeline.fetch(told.level.get_untracked(), true) /> }
                .into_any()
        }
        Status::Loading => view! { <p class="loading" role="status">"Loading kernels…"</p> }.into_any(),
        Status::Ready if told.kernels.get() == 0 => {
            view! { <p class="muted" role="status">"No kernel has finished."</p> }.into_any()
        }
        Status::Ready => ().into_any(),
    };
    view! {
        <div class="timeline" node_ref=whole>
            <Tools timeline steps offers />
            {words}
            <div class="timeline-frame" class:empty=move || told.kernels.get() == 0>
                <span node_ref=probe class="timeline-probe" aria-hidden="true"></span>
                <WheelHint shown=told.hint />
                <div
                    class="timeline-scroll"
                    node_ref=scroller
                    on:scroll=move |_| {
                        if let Some(stage) = timeline.shared() {
                            show(&stage);
                        }
                    }
                >
                    <div class="timeline-lanes" style=height>
                        <canvas
                            node_ref=canvas
                            class="timeline-canvas"
                            tabindex="0"
                            role="application"
                            aria-label="Timeline of kernels in simulated time. Arrow keys move, plus and minus zoom, Shift and arrows go from kernel to kernel, F shows everything. The table below says the same."
                            on:pointerdown=move |event| with_hands(&|hands, stage| hands.down(stage, &event))
                            on:pointermove=move |event| with_hands(&|hands, stage| hands.moved(stage, &event))
                            on:pointerup=on_up
                            on:pointercancel=on_up
                            on:pointerleave=move |_| {
                                if let Some(stage) = timeline.shared() {
                                    input::left(&stage);
                                }
                            }
                            on:dblclick=move |_| timeline.change(Stage::zoom_to_selected)
                            on:keydown=on_key
                        ></canvas>
                    </div>
                </div>
            </div>
            <Legend timeline />
            <ReadOut timeline />
            <Panel timeline />
            <TopKernels timeline />
        </div>
    }
}

/// What watches the page for the stage.
struct Observers {
    size: Option<ResizeObserver>,
    theme: Option<MutationObserver>,
    system: Option<web_sys::MediaQueryList>,
    _closures: [Closure<dyn Fn()>; 2],
}

impl Observers {
    fn stop(&self) {
        if let Some(size) = &self.size {
            size.disconnect();
        }
        if let Some(theme) = &self.theme {
            theme.disconnect();
        }
        if let Some(system) = &self.system {
            system.set_onchange(None);
        }
    }
}

/// Draws again when the canvas gets another size or the page another theme.
fn observe(stage: &Shared, scroller: &web_sys::Element) -> Observers {
    let own = Rc::clone(stage);
    let resized = Closure::<dyn Fn()>::new(move || show(&own));
    let size = ResizeObserver::new(resized.as_ref().unchecked_ref()).ok();
    if let Some(size) = &size {
        size.observe(scroller);
    }
    let own = Rc::clone(stage);
    let themed = Closure::<dyn Fn()>::new(move || {
        own.borrow_mut().recolor();
        show(&own);
    });
    let theme = MutationObserver::new(themed.as_ref().unchecked_ref()).ok();
    if let (Some(theme), Some(root)) = (&theme, document().document_element()) {
        let options = MutationObserverInit::new();
        options.set_attributes(true);
        // It fails only for options that ask for nothing.
        _ = theme.observe_with_options(&root, &options);
    }
    let system = window()
        .match_media("(prefers-color-scheme: dark)")
        .ok()
        .flatten();
    if let Some(system) = &system {
        system.set_onchange(Some(themed.as_ref().unchecked_ref()));
    }
    Observers {
        size,
        theme,
        system,
        _closures: [resized, themed],
    }
}

/// The timeline as a card of a run's page.
#[component]
pub(crate) fn TimelineCard(
    /// The run.
    run: RunId,
    /// Whether sims sent step timelines.
    steps: bool,
    /// Kernels that the run has finished.
    #[prop(into)]
    done: Signal<u64>,
) -> impl IntoView {
    let page = format!("/runs/{}/timeline", data::segment(run.as_str()));
    view! {
        <Card title="Timeline" aside=move || view! { <ButtonLink href=page>"Full page"</ButtonLink> }>
            <Canvas runs=vec![run] steps done />
        </Card>
    }
}
