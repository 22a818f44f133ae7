//! Fetching a part and putting it in the place of the server's markup.

use std::rc::Rc;
use std::time::Duration;

use leptos::html;
use leptos::prelude::*;
use leptos::tachys::view::any_view::AnyViewState;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::js_sys::Array;
use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry};

use super::{Part, frame};

/// Attribute of a part that reacts.
const ALIVE: &str = "data-alive";
/// Wait before a part that could not be fetched is asked for again.
const RETRY_AFTER: Duration = Duration::from_secs(3);
/// What shows that the page is used; parts out of sight are fetched then, before anybody has come to them.
const USED: [&str; 6] = [
    "pointermove",
    "pointerdown",
    "touchstart",
    "wheel",
    "keydown",
    "focusin",
];

/// A part of a page, loaded once it is in sight or the page is used.
pub(crate) fn in_sight<F>(part: impl Fn() -> F + 'static) -> impl IntoView
where
    F: Future<Output = Part> + 'static,
{
    let wanted = RwSignal::new(false);
    let node = NodeRef::<html::Div>::new();
    Effect::new(move || {
        let Some(frame) = node.get() else { return };
        // A page that the browser rendered itself has nothing in the part's place yet.
        match frame.first_element_child() {
            Some(shown) => watch(&shown, wanted),
            None => wanted.set(true),
        }
    });
    mount(node, wanted.into(), part);
    frame(node, None)
}

/// A part of a page, loaded once it is wanted.
pub(crate) fn once<F>(wanted: Signal<bool>, part: impl Fn() -> F + 'static) -> impl IntoView
where
    F: Future<Output = Part> + 'static,
{
    let node = NodeRef::<html::Div>::new();
    mount(node, wanted, part);
    frame(node, None)
}

/// Wants a part when its markup comes into sight, and when the page is used.
fn watch(shown: &Element, wanted: RwSignal<bool>) {
    let seen = Closure::<dyn Fn(Array)>::new(move |entries: Array| {
        let mut entries = entries
            .iter()
            .map(JsCast::unchecked_into::<IntersectionObserverEntry>);
        if entries.any(|entry| entry.is_intersecting()) {
            wanted.try_set(true);
        }
    });
    let observer = IntersectionObserver::new(seen.as_ref().unchecked_ref()).ok();
    match &observer {
        Some(observer) => observer.observe(shown),
        None => wanted.set(true),
    }
    let used = Closure::<dyn Fn()>::new(move || _ = wanted.try_set(true));
    let window = window();
    for event in USED {
        // Nothing here makes it fail.
        _ = window.add_event_listener_with_callback(event, used.as_ref().unchecked_ref());
    }
    let kept = SendWrapper::new((observer, seen, used, window));
    on_cleanup(move || {
        let (observer, _, used, window) = &*kept;
        if let Some(observer) = observer {
            observer.disconnect();
        }
        for event in USED {
            _ = window.remove_event_listener_with_callback(event, used.as_ref().unchecked_ref());
        }
    });
}

/// Fetches a part when it is first wanted, and puts it in its place.
fn mount<F>(node: NodeRef<html::Div>, wanted: Signal<bool>, part: impl Fn() -> F + 'static)
where
    F: Future<Output = Part> + 'static,
{
    // The part belongs to the page, not to the effect that asked for it.
    let owner = Owner::current();
    let part = SendWrapper::new(Rc::new(part));
    let kept = StoredValue::new(None::<SendWrapper<AnyViewState>>);
    let asked = StoredValue::new(false);
    Effect::new(move || {
        let (Some(frame), true) = (node.get(), wanted.get()) else {
            return;
        };
        if asked.get_value() {
            return;
        }
        asked.set_value(true);
        let part = Rc::clone(&part);
        let fetch = move || {
            leptos::task::spawn_local_scoped_with_cancellation(async move {
                let view = loop {
                    match part().await {
                        Ok(view) => break view,
                        // The server's markup stands meanwhile.
                        Err(_) => gloo_timers::future::sleep(RETRY_AFTER).await,
                    }
                };
                frame.set_inner_html("");
                let mut state = view.build();
                state.mount(&frame, None);
                // It says something to the style sheet and to tests only.
                _ = frame.set_attribute(ALIVE, "");
                kept.try_set_value(Some(SendWrapper::new(state)));
            });
        };
        match &owner {
            Some(owner) => owner.with(fetch),
            None => fetch(),
        }
    });
}
