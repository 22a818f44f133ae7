//! The live state of a run's page: what the server rendered, then every event of the stream folded into it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use cascade_api::{Comparison, RunDetail, RunEvent, RunState, SimId, SimSummary};
use cascade_scene::comparison::KernelTable;
use cascade_scene::log::LogTail;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use crate::data::segment;

/// Events are applied together this often, so that a burst of them costs one update of the page.
const APPLY_EVERY: Duration = Duration::from_millis(60);
/// Wait before a stream that the server refused is opened again.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// How the page hears of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Nothing will change any more.
    Off,
    /// The stream is being opened for the first time.
    Connecting,
    /// Events arrive as they happen.
    Live,
    /// The stream broke; what is shown may be old.
    Reconnecting,
}

/// A run that follows its events.
#[derive(Clone, Copy)]
pub(crate) struct Live {
    /// The run with its sims.
    pub(crate) run: RwSignal<RunDetail>,
    /// Its kernels, real against simulated.
    table: RwSignal<KernelTable>,
    /// How changes arrive.
    pub(crate) link: RwSignal<Link>,
    /// The end of each sim's log, in the order of the run's sims.
    logs: StoredValue<Vec<(SimId, RwSignal<LogTail>)>>,
}

impl Live {
    /// Starts from what the server rendered, and follows the stream while the run is active.
    pub(crate) fn new(run: RunDetail, comparison: Comparison) -> Self {
        let active = run.summary.state == RunState::Active;
        let logs = run
            .sims
            .iter()
            .map(|sim| (sim.id.clone(), RwSignal::new(LogTail::new(&sim.log_tail))))
            .collect();
        let live = Self {
            run: RwSignal::new(run),
            table: RwSignal::new(KernelTable::new(comparison)),
            link: RwSignal::new(if active { Link::Connecting } else { Link::Off }),
            logs: StoredValue::new(logs),
        };
        let attempt = RwSignal::new(0_u32);
        Effect::new(move || {
            attempt.track();
            if live.link.get_untracked() != Link::Off {
                live.open(attempt);
            }
        });
        live
    }

    /// Reads the kernels, real against simulated; what reads them runs again when they change.
    pub(crate) fn kernels<T>(self, read: impl FnOnce(&Comparison) -> T) -> T {
        self.table.with(|table| read(table.table()))
    }

    /// One sim; `None` for an id that the run does not have.
    pub(crate) fn sim(self, id: SimId) -> Memo<Option<SimSummary>> {
        let at = self
            .run
            .with_untracked(|run| run.sims.iter().position(|sim| sim.id == id));
        Memo::new(move |_| self.run.with(|run| at.and_then(|at| run.sims.get(at)).cloned()))
    }

    /// The end of one sim's log.
    pub(crate) fn log(self, id: &SimId) -> Option<RwSignal<LogTail>> {
        self.logs
            .with_value(|logs| logs.iter().find(|(sim, _)| sim == id).map(|(_, log)| *log))
    }

    /// Folds events in, oldest first. `true` when the stream has to be opened anew.
    fn apply(self, events: Vec<RunEvent>) -> bool {
        let mut lagged = false;
        for event in events {
            match event {
                RunEvent::Snapshot { run, kernels } => {
                    self.table.update(|table| table.reset(&run, &kernels));
                    for sim in &run.sims {
                        if let Some(log) = self.log(&sim.id) {
                            log.update(|log| log.resume(&sim.log_tail));
                        }
                    }
                    self.run.set(*run);
                    self.link.set(Link::Live);
                }
                RunEvent::Sim { sim } => self.run.update(|run| run.apply(*sim)),
                RunEvent::Log { sim_id, lines } => {
                    if let Some(log) = self.log(&sim_id) {
                        log.update(|log| log.push(lines));
                    }
                }
                RunEvent::Kernel { stat } => self.table.update(|table| table.add(&stat)),
                RunEvent::Lagged { .. } => lagged = true,
            }
        }
        lagged
    }

    /// Opens the stream; the surrounding effect closes it when it runs again or goes away.
    fn open(self, attempt: RwSignal<u32>) {
        let id = self.run.with_untracked(|run| run.summary.id.clone());
        let Ok(source) = EventSource::new(&format!("/api/runs/{}/events", segment(id.as_str()))) else {
            self.link.set(Link::Reconnecting);
            return;
        };
        let closed = Rc::new(Cell::new(false));
        let queue = Rc::new(RefCell::new(Vec::<RunEvent>::new()));

        let drain = {
            let (source, closed, queue) = (source.clone(), Rc::clone(&closed), Rc::clone(&queue));
            move || {
                let events = queue.take();
                if closed.get() {
                    return;
                }
                let lagged = self.apply(events);
                if self
                    .run
                    .with_untracked(|run| run.summary.state != RunState::Active)
                {
                    source.close();
                    self.link.set(Link::Off);
                } else if lagged {
                    self.link.set(Link::Reconnecting);
                    attempt.update(|n| *n += 1);
                }
            }
        };
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
            let text = message.data().as_string().unwrap_or_default();
            match serde_json::from_str(&text) {
                Ok(event) => {
                    queue.borrow_mut().push(event);
                    if queue.borrow().len() == 1 {
                        set_timeout(drain.clone(), APPLY_EVERY);
                    }
                }
                Err(error) => leptos::logging::warn!("an event could not be read: {error}"),
            }
        });
        let on_error = {
            let (source, closed) = (source.clone(), Rc::clone(&closed));
            Closure::<dyn Fn(Event)>::new(move |_: Event| {
                self.link.set(Link::Reconnecting);
                // A broken connection is taken up again by the browser; a refusal is final for this source.
                if source.ready_state() == EventSource::CLOSED {
                    let closed = Rc::clone(&closed);
                    let again = move || {
                        if !closed.get() {
                            attempt.update(|n| *n += 1);
                        }
                    };
                    set_timeout(again, RETRY_AFTER);
                }
            })
        };
        source.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let stream = SendWrapper::new((source, closed, on_message, on_error));
        on_cleanup(move || {
            let (source, closed, ..) = &*stream;
            closed.set(true);
            source.set_onmessage(None);
            source.set_onerror(None);
            source.close();
        });
    }
}
