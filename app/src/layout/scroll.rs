//! How far a page is scrolled: Back and Forward return to where one was, and a link's `#part` is gone to once it is
//! there. A browser does both by itself only for pages that it loads anew; here their content comes a moment later.

use leptos::ev;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

/// How many frames content may take to come.
const FRAMES: u32 = 180;
/// Addresses whose place is kept, the latest ones.
const KEPT: usize = 64;

/// Places by address.
#[derive(Debug, Default)]
struct Places {
    seen: Vec<(String, f64)>,
    /// While a page is on its way back to its place, where it is meanwhile says nothing.
    returning: bool,
}

impl Places {
    /// Remembers where the page at `address` is.
    fn note(&mut self, address: String, y: f64) {
        if self.returning {
            return;
        }
        match self.seen.iter_mut().find(|(known, _)| *known == address) {
            Some(place) => place.1 = y,
            None => {
                if self.seen.len() >= KEPT {
                    self.seen.remove(0);
                }
                self.seen.push((address, y));
            }
        }
    }

    /// Where the page at `address` was.
    fn of(&self, address: &str) -> Option<f64> {
        let place = self.seen.iter().find(|(known, _)| known == address);
        place.map(|(_, y)| *y)
    }
}

/// Keeps places and goes back to them; inside the router.
pub(super) fn follow() {
    let places = StoredValue::new(Places::default());
    let (path, search, hash) = (
        use_location().pathname,
        use_location().search,
        use_location().hash,
    );
    Effect::new(move || {
        let noted = window_event_listener(ev::scroll, move |_| {
            let y = window().scroll_y().unwrap_or_default();
            places.update_value(|places| places.note(address(), y));
        });
        let back = window_event_listener(ev::popstate, move |_| {
            if let Some(y) = places.with_value(|places| places.of(&address())) {
                places.update_value(|places| places.returning = true);
                go_back(places, address(), y, FRAMES);
            }
        });
        // Whoever moves the page by hand decides where it is.
        let by_hand = move || places.update_value(|places| places.returning = false);
        let hands = [
            window_event_listener(ev::wheel, move |_| by_hand()),
            window_event_listener(ev::touchmove, move |_| by_hand()),
            window_event_listener(ev::keydown, move |_| by_hand()),
        ];
        on_cleanup(move || {
            noted.remove();
            back.remove();
            hands.into_iter().for_each(WindowListenerHandle::remove);
        });
    });
    Effect::new(move |first: Option<()>| {
        let (path, part) = (path.get(), hash.get());
        let part = part.trim_start_matches('#');
        // The first page comes with its parts, and the browser has gone to the one that was asked for.
        if first.is_none() {
            return;
        }
        // A page that is new begins at its top, wherever it was the last time. It is new where the window's own address
        // follows later: Back and Forward have changed that before the router hears of it.
        let new = window().location().pathname().is_ok_and(|shown| shown != path);
        if new && part.is_empty() {
            let query = search.with_untracked(|search| match search.trim_start_matches('?') {
                "" => String::new(),
                search => format!("?{search}"),
            });
            places.update_value(|places| places.note(format!("{path}{query}"), 0.0));
        }
        let returning = places.with_value(|places| places.returning);
        if !part.is_empty() && !returning {
            go_to(part.to_owned(), FRAMES);
        }
    });
}

/// The page's address.
fn address() -> String {
    let location = window().location();
    let parts = [location.pathname(), location.search(), location.hash()];
    parts.into_iter().map(Result::unwrap_or_default).collect()
}

/// Scrolls to `y` once the page is long enough, unless it is another page by then.
fn go_back(places: StoredValue<Places>, of: String, y: f64, frames: u32) {
    request_animation_frame(move || {
        let height = document()
            .document_element()
            .map_or(0.0, |root| f64::from(root.scroll_height()));
        let shown = window().inner_height().ok().and_then(|height| height.as_f64());
        let there = height >= y + shown.unwrap_or_default();
        let same = address() == of && places.with_value(|places| places.returning);
        if same && !there && frames > 0 {
            return go_back(places, of, y, frames - 1);
        }
        places.update_value(|places| places.returning = false);
        if same && there {
            window().scroll_to_with_x_and_y(0.0, y);
        }
    });
}

/// Scrolls to a part once it is there.
fn go_to(part: String, frames: u32) {
    request_animation_frame(move || match document().get_element_by_id(&part) {
        Some(part) => part.scroll_into_view(),
        None if frames > 0 => go_to(part, frames - 1),
        None => {}
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_place_of_an_address_counts_and_old_addresses_go() {
        let mut places = Places::default();
        for n in 0..=KEPT {
            places.note(format!("/{n}"), n as f64);
        }
        places.note("/1".to_owned(), 7.0);
        assert_eq!((places.of("/0"), places.of("/1")), (None, Some(7.0)));
        places.returning = true;
        places.note("/1".to_owned(), 0.0);
        assert_eq!(places.of("/1"), Some(7.0));
    }
}
