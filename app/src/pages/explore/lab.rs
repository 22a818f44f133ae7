//! The page's side of the worker: one ask under way at a time, and of runs only the latest.
//!
//! A run that a newer one has overtaken is thrown away while it waits; one that has begun is given
//! [`PATIENCE`], then its worker is ended and another one started.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use cascade_scene::explorer::{Answer, Ask};
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use web_sys::{MessageEvent, Worker, WorkerOptions, WorkerType};

use crate::site::use_site;

/// How long a run may go on once a newer one waits.
const PATIENCE: Duration = Duration::from_secs(2);

type Then = Box<dyn FnOnce(Answer)>;

/// An ask with what is done with its answer.
struct Job {
    ask: Ask,
    then: Then,
}

/// The worker and what it has to do.
struct Inner {
    /// The address of the worker.
    script: String,
    /// Its first message: where its module is.
    module: String,
    worker: Option<Worker>,
    listeners: Vec<Closure<dyn Fn(MessageEvent)>>,
    /// The ask under way: since when, and what is done with its answer.
    busy: Option<(f64, Then)>,
    waiting: VecDeque<Job>,
    /// Profiles and the file, for a new worker.
    kept: Vec<String>,
    /// Answers that nobody waits for: those to what a new worker was given.
    unheard: usize,
    on_broken: Rc<dyn Fn(String)>,
}

/// The worker as the page holds it; nothing on the server, which drops a page on whichever thread.
#[derive(Clone, Copy)]
pub(super) struct Lab(StoredValue<Option<SendWrapper<Rc<RefCell<Inner>>>>>);

impl Lab {
    /// Nothing is started before something is asked. `on_broken` hears of a worker that cannot work.
    pub(super) fn new(on_broken: impl Fn(String) + 'static) -> Self {
        let site = use_site();
        let inner = Inner {
            script: site.asset("explorer-worker.js"),
            module: serde_json::json!({
                "script": site.asset("explorer.js"),
                "wasm": site.asset("explorer.wasm"),
            })
            .to_string(),
            worker: None,
            listeners: Vec::new(),
            busy: None,
            waiting: VecDeque::new(),
            kept: Vec::new(),
            unheard: 0,
            on_broken: Rc::new(on_broken),
        };
        let shared = cfg!(feature = "hydrate").then(|| SendWrapper::new(Rc::new(RefCell::new(inner))));
        let lab = Self(StoredValue::new(shared));
        on_cleanup(move || lab.stop());
        lab
    }

    /// Hands over something that later runs need; a worker that is started anew gets it again.
    pub(super) fn keep(self, ask: Ask, then: impl FnOnce(Answer) + 'static) {
        let Some(inner) = self.inner() else { return };
        if matches!(ask, Ask::File { .. }) {
            inner
                .borrow_mut()
                .kept
                .retain(|kept| !kept.contains("\"ask\":\"file\""));
        }
        let text = serde_json::to_string(&ask).unwrap_or_default();
        inner.borrow_mut().kept.push(text);
        self.ask(ask, then);
    }

    /// Asks; a run makes what waits for an earlier run's answer needless.
    pub(super) fn ask(self, ask: Ask, then: impl FnOnce(Answer) + 'static) {
        let Some(inner) = self.inner() else { return };
        let run = matches!(ask, Ask::Run { .. });
        let job = Job {
            ask,
            then: Box::new(then),
        };
        let mut state = inner.borrow_mut();
        if run {
            state
                .waiting
                .retain(|job| matches!(job.ask, Ask::Profile { .. } | Ask::File { .. }));
        }
        state.waiting.push_back(job);
        let since = state.busy.as_ref().map(|(since, _)| *since);
        drop(state);
        match since {
            None => self.next(),
            Some(since) if run => self.watch(since),
            Some(_) => {}
        }
    }

    /// Nothing once the page is left.
    fn inner(self) -> Option<Rc<RefCell<Inner>>> {
        let shared = self.0.try_get_value().flatten();
        shared.map(|shared| Rc::clone(&shared))
    }

    /// Ends a worker that is still at what it was at `since`, once its time is over.
    fn watch(self, since: f64) {
        let left = (since + PATIENCE.as_secs_f64() * 1e3 - now()).max(0.0);
        let late = move || {
            let Some(inner) = self.inner() else {
                return;
            };
            let mut state = inner.borrow_mut();
            let still = state.busy.as_ref().is_some_and(|(from, _)| *from == since);
            let newer = state.waiting.iter().any(|job| matches!(job.ask, Ask::Run { .. }));
            if still && newer {
                if let Some(worker) = state.worker.take() {
                    end(&worker);
                }
                state.busy = None;
                drop(state);
                self.next();
            }
        };
        set_timeout(late, Duration::from_secs_f64(left / 1e3));
    }

    /// Sends the next ask, to a worker that is started if there is none.
    fn next(self) {
        let Some(inner) = self.inner() else { return };
        if inner.borrow().waiting.is_empty() {
            return;
        }
        if inner.borrow().worker.is_none()
            && let Err(error) = self.start(&inner)
        {
            let told = Rc::clone(&inner.borrow().on_broken);
            inner.borrow_mut().waiting.clear();
            told(format!("The explorer's engine could not be started: {error:?}"));
            return;
        }
        let mut state = inner.borrow_mut();
        let Some(job) = state.waiting.pop_front() else {
            return;
        };
        let text = serde_json::to_string(&job.ask).unwrap_or_default();
        let sent = state
            .worker
            .as_ref()
            .map(|worker| worker.post_message(&JsValue::from_str(&text)));
        state.busy = Some((now(), job.then));
        if let Some(Err(error)) = sent {
            leptos::logging::warn!("the worker took no message: {error:?}");
        }
    }

    fn start(self, inner: &Rc<RefCell<Inner>>) -> Result<(), JsValue> {
        let (script, module) = {
            let state = inner.borrow();
            (state.script.clone(), state.module.clone())
        };
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(&script, &options)?;
        let answered = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| self.answered(&event));
        let failed = Closure::<dyn Fn(MessageEvent)>::new(move |_: MessageEvent| {
            let Some(inner) = self.inner() else {
                return;
            };
            let told = Rc::clone(&inner.borrow().on_broken);
            let mut state = inner.borrow_mut();
            if let Some(worker) = state.worker.take() {
                end(&worker);
            }
            state.busy = None;
            state.waiting.clear();
            drop(state);
            told("The explorer's engine stopped. Change anything to start it again.".to_owned());
        });
        worker.set_onmessage(Some(answered.as_ref().unchecked_ref()));
        worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
        worker.post_message(&JsValue::from_str(&module))?;
        let mut state = inner.borrow_mut();
        for kept in &state.kept {
            worker.post_message(&JsValue::from_str(kept))?;
        }
        state.listeners = vec![answered, failed];
        // Each is answered, and nobody waits for that.
        let unheard = state.kept.len();
        state.worker = Some(worker);
        state.unheard = unheard;
        Ok(())
    }

    fn answered(self, event: &MessageEvent) {
        let Some(inner) = self.inner() else {
            return;
        };
        let text = event.data().as_string().unwrap_or_default();
        let mut state = inner.borrow_mut();
        if state.unheard > 0 {
            state.unheard -= 1;
            return;
        }
        let done = state.busy.take();
        drop(state);
        match (serde_json::from_str(&text), done) {
            (Ok(answer), Some((_, then))) => then(answer),
            (Err(error), _) => leptos::logging::warn!("an answer of the worker could not be read: {error}"),
            (Ok(_), None) => {}
        }
        self.next();
    }

    fn stop(self) {
        if let Some(inner) = self.inner()
            && let Some(worker) = inner.borrow_mut().worker.take()
        {
            end(&worker);
        }
    }
}

/// Ends a worker; nothing more is heard of it.
fn end(worker: &Worker) {
    worker.set_onmessage(None);
    worker.set_onerror(None);
    worker.terminate();
}

/// Milliseconds since the page began.
pub(super) fn now() -> f64 {
    window()
        .performance()
        .map_or(0.0, |performance| performance.now())
}
