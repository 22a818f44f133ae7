//! What an element means, said beside it while it has the focus or the pointer.
//!
//! An element asks for it with `data-tip`; one host for the whole page shows it, in the browser's top layer, so that
//! no frame cuts it off. Escape takes it away, and the pointer may rest on it.

use leptos::html;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;

/// Id of the host, by which the element is described while the tooltip is shown.
const ID: &str = "tooltip";
/// Least room between the tooltip and the window's edge, and between it and its element, in px.
const GAP: f64 = 6.0;

/// The element at or around the event's target that has a tooltip.
fn tipped(event: &web_sys::Event) -> Option<web_sys::Element> {
    let target = event.target()?.dyn_into::<web_sys::Element>().ok()?;
    target.closest("[data-tip]").ok()?
}

/// Left and top edge of a tooltip of `size` for an element at `left`, `top`, `bottom` with `width`, in a window
/// `window_width` wide, in px: centred above it, or below where there is no room.
fn place(
    (left, top, bottom, width): (f64, f64, f64, f64),
    size: (f64, f64),
    window_width: f64,
) -> (f64, f64) {
    let x = (left + width / 2.0 - size.0 / 2.0).min(window_width - size.0 - GAP);
    let above = top - size.1 - GAP;
    (x.max(GAP), if above < GAP { bottom + GAP } else { above })
}

/// Moves the tooltip to its element.
fn put(host: &web_sys::HtmlElement, element: &web_sys::Element) {
    let at = element.get_bounding_client_rect();
    let window_width = document()
        .document_element()
        .map_or(0, |root| root.client_width());
    let size = (f64::from(host.offset_width()), f64::from(host.offset_height()));
    let (x, y) = place(
        (at.left(), at.top(), at.bottom(), at.width()),
        size,
        f64::from(window_width),
    );
    // A style can always be set.
    _ = host.set_attribute("style", &format!("left:{x}px;top:{y}px"));
}

/// Shows every tooltip of the page.
#[component]
pub fn TooltipHost() -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    // The server makes one as well and may drop it on another thread; it holds an element in a browser only.
    let of = StoredValue::new(None::<SendWrapper<web_sys::Element>>);
    let hide = move || {
        if let Some(element) = of.try_update_value(Option::take).flatten() {
            // Neither fails on an element that had them set.
            _ = element.remove_attribute("aria-describedby");
            if let Some(host) = node.get_untracked() {
                _ = host.hide_popover();
            }
        }
    };
    let show = move |element: web_sys::Element| {
        let Some(host) = node.get_untracked() else { return };
        if of.with_value(|of| of.as_deref() == Some(&element)) {
            return;
        }
        hide();
        let text = element.get_attribute("data-tip").unwrap_or_default();
        // What an icon's label says is not said twice.
        if element.get_attribute("aria-label").as_ref() != Some(&text) {
            _ = element.set_attribute("aria-describedby", ID);
        }
        host.set_text_content(Some(&text));
        // A browser without popovers shows it all the same, beneath an open dialog at worst.
        _ = host.show_popover();
        put(&host, &element);
        of.set_value(Some(SendWrapper::new(element)));
    };
    Effect::new(move || {
        let over = window_event_listener(leptos::ev::pointerover, move |event| {
            let on_host = event
                .target()
                .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
                .is_some_and(|element| element.id() == ID);
            match tipped(&event) {
                Some(element) => show(element),
                None if !on_host => hide(),
                None => {}
            }
        });
        let focused = window_event_listener(leptos::ev::focusin, move |event| match tipped(&event) {
            Some(element) if element.matches(":focus-visible").unwrap_or(false) => show(element),
            _ => hide(),
        });
        let key = window_event_listener(leptos::ev::keydown, move |event| {
            if event.key() == "Escape" {
                hide();
            }
        });
        // Focus scrolls to what it falls on: the tooltip goes along.
        let scrolled = window_event_listener(leptos::ev::scroll, move |_| {
            if let Some(host) = node.get_untracked() {
                of.with_value(|of| {
                    if let Some(element) = of {
                        put(&host, element);
                    }
                });
            }
        });
        let pressed = window_event_listener(leptos::ev::pointerdown, move |_| hide());
        on_cleanup(move || {
            over.remove();
            focused.remove();
            key.remove();
            scrolled.remove();
            pressed.remove();
        });
    });
    view! { <div class="tooltip" id=ID role="tooltip" popover="manual" node_ref=node></div> }
}

#[cfg(test)]
mod tests {
    use super::{GAP, place};

    #[test]
    fn a_tooltip_stays_in_the_window() {
        let size = (100.0, 24.0);
        assert_eq!(
            place((200.0, 300.0, 320.0, 40.0), size, 1000.0),
            (170.0, 300.0 - 24.0 - GAP)
        );
        let (x, y) = place((2.0, 4.0, 24.0, 20.0), size, 1000.0);
        assert_eq!((x, y), (GAP, 24.0 + GAP), "below where there is no room above");
        let (x, _) = place((970.0, 300.0, 320.0, 20.0), size, 1000.0);
        assert!((x + size.0 + GAP - 1000.0).abs() < 1e-9);
    }
}
