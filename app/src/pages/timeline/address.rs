//! The view in the page's address, so that a link shows the same.

use cascade_api::RunId;
use cascade_scene::timeline::link::{KEYS, Link};
use leptos::prelude::window;
use web_sys::UrlSearchParams;

/// What the address asks for now.
fn query() -> Option<UrlSearchParams> {
    UrlSearchParams::new_with_str(&window().location().search().ok()?).ok()
}

/// The view that the address asks for.
pub(super) fn read() -> Link {
    let Some(query) = query() else {
        return Link::default();
    };
    let values: Vec<_> = KEYS.iter().map(|key| (*key, query.get(key))).collect();
    Link::read(|key| {
        let found = values.iter().find(|(name, _)| *name == key)?;
        found.1.as_deref()
    })
}

/// Further runs that the address names.
pub(super) fn with() -> Vec<String> {
    let all = query().map(|query| query.get_all("with"));
    let all = all.iter().flat_map(|all| all.iter());
    all.filter_map(|run| run.as_string()).collect()
}

/// Puts a view into the address in place of the one there; what else it says stays.
pub(super) fn write(link: &Link) {
    let Some(query) = query() else { return };
    for key in KEYS {
        query.delete(key);
    }
    for (key, value) in link.pairs() {
        query.set(key, &value);
    }
    replace(&query);
}

/// Puts further runs into the address in place of those there.
pub(super) fn write_with(runs: &[RunId]) {
    let Some(query) = query() else { return };
    query.delete("with");
    for run in runs {
        query.append("with", run.as_str());
    }
    replace(&query);
}

/// Gives the page's address another query.
fn replace(query: &UrlSearchParams) {
    let text: String = query.to_string().into();
    let location = window().location();
    let (path, part) = (
        location.pathname().unwrap_or_default(),
        location.hash().unwrap_or_default(),
    );
    let address = match text.is_empty() {
        true => format!("{path}{part}"),
        false => format!("{path}?{text}{part}"),
    };
    let Ok(history) = window().history() else { return };
    // Refused only when it happens too often; the next one counts.
    _ = history.replace_state_with_url(&history.state().unwrap_or_default(), "", Some(&address));
}
