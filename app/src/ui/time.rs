//! Times. Server and browser first show the same UTC text; ages and the reader's own time zone follow once the
//! page is alive.

use cascade_api::Timestamp;
use cascade_scene::format;
use leptos::prelude::*;

use crate::clock::use_now;

/// How long ago something happened.
#[component]
pub fn Age(
    /// When it happened.
    at: Timestamp,
) -> impl IntoView {
    let now = use_now();
    let text = move || match now.get() {
        Some(now) => format::age(now.seconds_since(at)),
        None => format::utc(at),
    };
    view! { <time datetime=at.to_string() title=format::utc(at)>{text}</time> }
}

/// How long something took, or has taken so far while it has no end.
#[component]
pub fn Elapsed(
    /// When it began.
    #[prop(into)]
    from: Signal<Option<Timestamp>>,
    /// When it ended.
    #[prop(into)]
    to: Signal<Option<Timestamp>>,
) -> impl IntoView {
    let now = use_now();
    move || match (from.get(), to.get().or_else(|| now.get())) {
        (Some(from), Some(to)) => format::elapsed(to.seconds_since(from)),
        _ => format::NONE.to_owned(),
    }
}

/// A point in time in the reader's own time zone.
#[component]
pub fn LocalTime(
    /// The point in time.
    at: Timestamp,
) -> impl IntoView {
    let text = RwSignal::new(format::utc(at));
    Effect::new(move || {
        let date = web_sys::js_sys::Date::new(&(at.as_micros() as f64 / 1000.0).into());
        // Minutes that the reader's clock is behind UTC.
        let behind = date.get_timezone_offset() as i64;
        let local = format::utc(Timestamp::from_micros(at.as_micros() - behind * 60_000_000));
        text.set(local.trim_end_matches(" UTC").to_owned());
    });
    view! { <time datetime=at.to_string() title=format::utc(at)>{text}</time> }
}
