//! The live state of a run's page: what the server rendered, then the rest of its kernels slice by slice and every
//! change that the stream tells folded into it, a little at a time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use cascade_api::{GpuTotal, KernelSlice, LiveEvent, RunDetail, RunState, SimId, SimSummary};
use cascade_scene::kernels::Kernels;
use cascade_scene::log::LogText;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventSource, MessageEvent};

use crate::data::{self, segment};

/// Wait before a stream that the server refused or ended is opened again.
const RETRY_AFTER: Duration = Duration::from_secs(3);
/// Charts and tables of a run with few kernels are brought up to date this often at most.
const REDRAW: Duration = Duration::from_millis(400);
/// Those of a run with many.
const REDRAW_MANY: Duration = Duration::from_millis(1_500);
/// From so many kernels on.
const MANY: usize = 5_000;
/// Rows that are asked for at once; the server gives fewer where sims are many.
const SLICE: u64 = 10_000;

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
    /// How changes arrive.
    pub(crate) link: RwSignal<Link>,
    /// The log that is open.
    pub(crate) log: RwSignal<LogText>,
    /// Whose log that is.
    pub(crate) followed: RwSignal<Option<SimId>>,
    /// Its kernels, real against simulated.
    table: StoredValue<Kernels>,
    /// Counts up when the kernels are to be shown anew.
    shown: RwSignal<u32>,
    /// Whether `shown` is about to count up.
    due: StoredValue<bool>,
    /// Whether slices are being read.
    loading: RwSignal<bool>,
    /// Which reading of slices it is.
    load_turn: StoredValue<u32>,
    /// The GPUs' totals as the server gave them; they count until all rows are here.
    totals: StoredValue<Vec<GpuTotal>>,
}

impl Live {
    /// Starts from what the server rendered, reads the rest, and follows the stream while the run is active.
    pub(crate) fn new(run: RunDetail, first: &KernelSlice, followed: Option<SimId>) -> Self {
        let active = run.summary.state == RunState::Active;
        let mut kernels = Kernels::new(&run);
        kernels.put(first);
        let live = Self {
            run: RwSignal::new(run),
            link: RwSignal::new(if active { Link::Connecting } else { Link::Off }),
            log: RwSignal::new(LogText::default()),
            followed: RwSignal::new(followed),
            table: StoredValue::new(kernels),
            shown: RwSignal::new(0),
            due: StoredValue::new(false),
            loading: RwSignal::new(true),
            load_turn: StoredValue::new(0),
            totals: StoredValue::new(first.totals.clone()),
        };
        let attempt = RwSignal::new(0_u32);
        Effect::new(move || {
            attempt.track();
            let log = live.followed.get();
            if live.link.get_untracked() == Link::Off {
                if let Some(sim) = log {
                    live.read_log_end(sim, None);
                }
            } else {
                live.open(attempt, log);
            }
        });
        Effect::new(move || live.load());
        live
    }

    /// Reads the kernels; what reads them runs again when they have changed, now and then.
    pub(crate) fn kernels<T>(self, read: impl FnOnce(&Kernels) -> T) -> T {
        self.shown.track();
        self.table.with_value(read)
    }

    /// Whether all kernels that are known of are here.
    pub(crate) fn complete(self) -> bool {
        !self.loading.get()
    }

    /// Each GPU's kernels added up; none while that is not known.
    pub(crate) fn totals(self) -> Vec<GpuTotal> {
        if self.loading.get() {
            return self.totals.get_value();
        }
        let total = |total: cascade_scene::comparison::ColumnTotal| GpuTotal {
            gpu_config: total.gpu,
            kernels: total.kernels as u64,
            sim_ns: total.sim_ns,
            mean_abs_error: total.mean_abs_error,
        };
        self.kernels(|kernels| kernels.totals().into_iter().map(total).collect())
    }

    /// One sim; `None` for an id that the run does not have.
    pub(crate) fn sim(self, id: SimId) -> Memo<Option<SimSummary>> {
        let at = self
            .run
            .with_untracked(|run| run.sims.iter().position(|sim| sim.id == id));
        Memo::new(move |_| self.run.with(|run| at.and_then(|at| run.sims.get(at)).cloned()))
    }

    /// Lets charts and tables know, at once where that is cheap and together where it is not.
    fn redraw(self) {
        if self.due.get_value() {
            return;
        }
        self.due.set_value(true);
        let many = self.table.with_value(Kernels::len) > MANY;
        let wait = if many { REDRAW_MANY } else { REDRAW };
        set_timeout(
            move || {
                if self.due.try_set_value(false).is_none() {
                    _ = self.shown.try_update(|shown| *shown = shown.wrapping_add(1));
                }
            },
            wait,
        );
    }

    /// Reads the kernels that are not here yet, slice by slice; the browser draws and answers in between. What read
    /// them before stops: one reads at a time, and until it is through nothing counts as complete.
    fn load(self) {
        // The page may be left while an answer, or the next try, is under way: nothing of it is there any more then.
        let Some(id) = self.run.try_with_untracked(|run| run.summary.id.clone()) else {
            return;
        };
        let turn = self.load_turn.get_value() + 1;
        self.load_turn.set_value(turn);
        if !self.loading.get_untracked() && self.missing().is_some() {
            self.totals.set_value(untrack(|| self.totals()));
            self.loading.set(true);
        }
        leptos::task::spawn_local_scoped(async move {
            let mut from = 0;
            while let Some(missing) = self.missing() {
                // A kernel without a time stays a hole; it is not asked for twice.
                let at = missing.max(from);
                let slice = data::run_slice(id.clone(), at, SLICE).await;
                if self.load_turn.try_get_value() != Some(turn) {
                    return;
                }
                let Ok(slice) = slice else {
                    set_timeout(
                        move || {
                            if self.load_turn.try_get_value() == Some(turn) {
                                self.load();
                            }
                        },
                        RETRY_AFTER,
                    );
                    return;
                };
                from = at + slice.name.len() as u64;
                self.table.update_value(|kernels| kernels.put(&slice));
                self.redraw();
                if slice.name.is_empty() || from >= slice.rows {
                    break;
                }
            }
            _ = self.loading.try_set(false);
            _ = self.shown.try_update(|shown| *shown = shown.wrapping_add(1));
        });
    }

    /// The first position whose kernel is not here; `None` when all are, or the page was left.
    fn missing(self) -> Option<u64> {
        let done = self.run.try_with_untracked(|run| {
            let sims = run.sims.iter();
            sims.map(|sim| (sim.id.clone(), sim.kernels_done))
                .collect::<Vec<_>>()
        })?;
        self.table.try_with_value(|kernels| kernels.missing(&done))?
    }

    /// Reads the end of a sim's log: of `bytes` bytes, or as it is now.
    fn read_log_end(self, sim: SimId, bytes: Option<u64>) {
        self.log.set(LogText::default());
        leptos::task::spawn_local_scoped(async move {
            let read = data::log_end(sim.clone(), bytes).await;
            if self.followed.try_get_untracked().flatten() != Some(sim) {
                return;
            }
            let (text, from) = match read {
                Ok(piece) => (piece.text, piece.from),
                // There is none; after any other failure the next snapshot reads again.
                Err(error) if error.status == 404 => (String::new(), 0),
                Err(_) => return,
            };
            _ = self.log.try_update(|log| log.before(&text, from));
        });
    }

    /// Folds an event in.
    fn apply(self, event: LiveEvent) {
        match event {
            LiveEvent::Snapshot { run, log_bytes } => {
                if let Some(sim) = self.followed.get_untracked() {
                    self.read_log_end(sim, Some(log_bytes));
                }
                self.run.set(*run);
                self.link.set(Link::Live);
                self.load();
            }
            LiveEvent::Batch(batch) => {
                if !batch.kernels.is_empty() {
                    self.run.with_untracked(|run| {
                        self.table.update_value(|table| {
                            for kernel in &batch.kernels {
                                let sim = run.sims.get(kernel.0 as usize);
                                let name = batch.names.get(kernel.2 as usize);
                                if let (Some(sim), Some(name)) = (sim, name) {
                                    table.add(&sim.id, kernel.1, name, kernel.3);
                                }
                            }
                        });
                    });
                    self.redraw();
                }
                if !batch.sims.is_empty() {
                    self.run.update(|run| run.apply_all(batch.sims));
                }
                if !batch.log.is_empty() {
                    self.log.update(|log| log.after(batch.log, batch.log_skipped));
                }
            }
        }
    }

    /// Opens the stream; the surrounding effect closes it when it runs again or goes away.
    fn open(self, attempt: RwSignal<u32>, log: Option<SimId>) {
        let id = self.run.with_untracked(|run| run.summary.id.clone());
        let mut url = format!("/api/runs/{}/live", segment(id.as_str()));
        if let Some(sim) = log {
            url = format!("{url}?log={}", segment(sim.as_str()));
        }
        let Ok(source) = EventSource::new(&url) else {
            self.link.set(Link::Reconnecting);
            return;
        };
        let closed = Rc::new(Cell::new(false));
        let waiting = Rc::new(RefCell::new(std::collections::VecDeque::<String>::new()));

        // One event at a time, each in a task of its own: the browser draws in between.
        let drain = {
            let (source, closed, waiting) = (source.clone(), Rc::clone(&closed), Rc::clone(&waiting));
            move || {
                let Some(text) = waiting.borrow_mut().pop_front().filter(|_| !closed.get()) else {
                    return;
                };
                match LiveEvent::read(&text) {
                    Ok(event) => self.apply(event),
                    Err(error) => leptos::logging::warn!("an event could not be read: {error}"),
                }
                let ended = self
                    .run
                    .with_untracked(|run| run.summary.state != RunState::Active);
                if ended && waiting.borrow().is_empty() {
                    source.close();
                    self.link.set(Link::Off);
                    // What finished last may have come while nobody listened.
                    self.load();
                }
            }
        };
        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
            waiting
                .borrow_mut()
                .push_back(message.data().as_string().unwrap_or_default());
            set_timeout(drain.clone(), Duration::ZERO);
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
