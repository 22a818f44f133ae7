//! How wide an element is, for what is drawn to fit it.

use leptos::html;
use leptos::prelude::*;

/// The width of `frame` in px, kept up to date; `None` until the page is alive.
pub(crate) fn width_of(frame: NodeRef<html::Div>) -> Signal<Option<u32>> {
    let width = RwSignal::new(None::<u32>);
    let measure = move || {
        if let Some(frame) = frame.get_untracked() {
            width.set(
                u32::try_from(frame.client_width())
                    .ok()
                    .filter(|width| *width > 0),
            );
        }
    };
    Effect::new(move || {
        frame.track();
        measure();
        let resized = window_event_listener(leptos::ev::resize, move |_| measure());
        on_cleanup(move || resized.remove());
    });
    width.into()
}
