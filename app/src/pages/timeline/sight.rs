//! Whether the timeline is in sight: below the fold, or in a tab that nobody looks at, it does nothing.

use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::js_sys::Array;
use web_sys::{Element, IntersectionObserver, IntersectionObserverEntry};

/// Keeps `in_sight` up to date for as long as the effect that calls this lives.
pub(super) fn watch(element: &Element, in_sight: RwSignal<bool>) {
    let on_screen = Rc::new(Cell::new(false));
    let own = Rc::clone(&on_screen);
    let tell = move || {
        let seen = own.get() && !document().hidden();
        if in_sight.try_get_untracked().is_some_and(|was| was != seen) {
            in_sight.set(seen);
        }
    };
    let told = tell.clone();
    let own = Rc::clone(&on_screen);
    let moved = Closure::<dyn Fn(Array)>::new(move |entries: Array| {
        // The last entry is the newest.
        let entry: IntersectionObserverEntry = entries.pop().unchecked_into();
        own.set(entry.is_intersecting());
        told();
    });
    let observer = IntersectionObserver::new(moved.as_ref().unchecked_ref()).ok();
    match &observer {
        Some(observer) => observer.observe(element),
        None => {
            on_screen.set(true);
            tell();
        }
    }
    let turned = window_event_listener_untyped("visibilitychange", move |_| tell());
    let kept = SendWrapper::new((observer, moved));
    on_cleanup(move || {
        turned.remove();
        if let (Some(observer), _) = &*kept {
            observer.disconnect();
        }
    });
}
