//! The time that ages are counted from: none while the server renders and the browser hydrates, so that both
//! make the same HTML; then the browser's clock, once a second.

use cascade_api::Timestamp;
use leptos::prelude::*;

/// The browser's time, once it ticks.
#[derive(Clone, Copy)]
pub(crate) struct Clock(RwSignal<Option<Timestamp>>);

/// Starts the clock for everything below.
pub(crate) fn provide() {
    let now = RwSignal::new(None);
    provide_context(Clock(now));
    Effect::new(move || {
        let read = || Timestamp::from_micros((web_sys::js_sys::Date::now() * 1000.0) as i64);
        now.set(Some(read()));
        set_interval(move || now.set(Some(read())), std::time::Duration::from_secs(1));
    });
}

/// The current time, or `None` before what shows it is alive: a part of the page may be hydrated when the clock has
/// been ticking for a while, and its text has to be the server's then.
pub(crate) fn use_now() -> Signal<Option<Timestamp>> {
    let now = RwSignal::new(None);
    if let Some(clock) = use_context::<Clock>() {
        Effect::new(move || now.set(clock.0.get()));
    }
    now.into()
}
