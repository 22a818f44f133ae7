//! Where the focus is after the page changed: on the new page's title, so that keyboards and screen readers begin
//! there instead of where the old page was.

use leptos::prelude::*;
use leptos_router::hooks::use_location;
use wasm_bindgen::JsCast;

/// How many frames a new page may take to show its title; one whose data is slow keeps the focus where it is.
const FRAMES: u32 = 300;

/// Moves the focus whenever the path changes; a change of the query alone is the same page.
pub(super) fn follow() {
    let path = use_location().pathname;
    Effect::new(move |before: Option<(String, Option<String>)>| {
        let now = path.get();
        match before {
            Some((last, title)) if last == now => (last, title),
            Some(_) => {
                let old = heading().map(|old| old.text_content().unwrap_or_default());
                focus_when_there(old.clone(), FRAMES);
                (now, old)
            }
            None => (now, None),
        }
    });
}

/// The page's title.
fn heading() -> Option<web_sys::HtmlElement> {
    document().query_selector("main h1").ok()??.dyn_into().ok()
}

/// Focuses the title once it is another one than `old`, unless the focus has gone into the page by itself.
fn focus_when_there(old: Option<String>, frames: u32) {
    request_animation_frame(move || {
        let in_page = document().active_element().is_some_and(|active| {
            active
                .closest("main input, main select, main textarea, dialog[open]")
                .ok()
                .flatten()
                .is_some()
        });
        match heading().filter(|new| new.text_content() != old) {
            Some(_) if in_page => {}
            Some(new) => {
                // Where the page is scrolled to is not the focus's business.
                let options = web_sys::FocusOptions::new();
                options.set_prevent_scroll(true);
                _ = new.focus_with_options(&options);
            }
            None if frames > 0 => focus_when_there(old, frames - 1),
            None => {}
        }
    });
}
