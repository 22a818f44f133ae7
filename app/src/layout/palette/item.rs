//! What the command palette lists.

use cascade_api::{GpuConfig, RunSummary, TraceSummary};

use super::rank::score;
use crate::data::{DocEntry, segment};

/// Most entries shown at once.
const MOST: usize = 40;
/// Runs shown before anything was typed.
const RECENT: usize = 5;

/// What choosing an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Goes to a page of the app.
    Page(String),
    /// Goes to a document, which is a file beside the app.
    Document(String),
    /// Chooses a theme.
    Theme(&'static str),
    /// Copies this page's address.
    CopyAddress,
    /// Ends the session.
    LogOut,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// What it is: `Page`, `Run`, …
    pub(super) kind: &'static str,
    /// Its name.
    pub(super) title: String,
    /// What to know of it.
    pub(super) note: String,
    /// What choosing it does.
    pub(super) act: Act,
}

impl Item {
    fn new(kind: &'static str, title: impl Into<String>, note: impl Into<String>, act: Act) -> Self {
        Self {
            kind,
            title: title.into(),
            note: note.into(),
            act,
        }
    }

    /// How well it fits; its name counts twice what the rest does.
    fn fits(&self, query: &str) -> Option<i32> {
        let whole = score(query, &format!("{} {} {}", self.title, self.note, self.kind))?;
        Some(whole + 2 * score(query, &self.title).unwrap_or(0))
    }
}

/// Pages: name, address, what is there.
const PAGES: [(&str, &str, &str); 9] = [
    ("Overview", "/", "what runs, latest results, first steps"),
    ("Traces", "/traces", "uploaded workloads"),
    ("Runs", "/runs", "simulations"),
    ("New run", "/runs/new", "simulate a trace"),
    ("Compare", "/compare", "runs and GPUs side by side"),
    ("Scenario explorer", "/explore", "requests on simulated GPUs"),
    ("GPUs", "/gpus", "what can be simulated"),
    ("Make a GPU", "/gpus/new", "change a known one"),
    ("Components", "/ui", "the design system"),
];

/// Entries that are always there: pages and actions.
pub(super) fn fixed(auth: bool) -> Vec<Item> {
    let pages = PAGES.map(|(title, href, note)| Item::new("Page", title, note, Act::Page(href.into())));
    let mut items = pages.to_vec();
    items.push(Item::new(
        "Docs",
        "Documentation",
        "",
        Act::Document("/docs".into()),
    ));
    for (value, title, _) in crate::layout::theme::THEMES {
        items.push(Item::new("Action", title, "", Act::Theme(value)));
    }
    items.push(Item::new(
        "Action",
        "Copy this page's address",
        "",
        Act::CopyAddress,
    ));
    if auth {
        items.push(Item::new("Action", "Log out", "", Act::LogOut));
    }
    items
}

/// Runs, newest first.
pub(super) fn runs(runs: &[RunSummary]) -> Vec<Item> {
    let item = |run: &RunSummary| {
        let gpus: Vec<_> = run
            .entries
            .iter()
            .map(|entry| entry.gpu_config.as_str())
            .collect();
        let note = format!("{} · {} · {}", run.trace_id, gpus.join(", "), run.state);
        let href = format!("/runs/{}", segment(run.id.as_str()));
        Item::new("Run", run.id.as_str(), note, Act::Page(href))
    };
    runs.iter().map(item).collect()
}

/// Traces, newest first.
pub(super) fn traces(traces: &[TraceSummary]) -> Vec<Item> {
    let item = |trace: &TraceSummary| {
        let model = trace.model.as_deref().unwrap_or_default();
        let note = [model, trace.trace_gpu_arch.as_str(), &trace.state.to_string()].join(" · ");
        let href = format!("/traces/{}", segment(trace.id.as_str()));
        Item::new(
            "Trace",
            trace.id.as_str(),
            note.trim_start_matches(" · "),
            Act::Page(href),
        )
    };
    traces.iter().map(item).collect()
}

/// GPUs.
pub(super) fn gpus(gpus: &[GpuConfig]) -> Vec<Item> {
    let item = |gpu: &GpuConfig| {
        let href = format!("/gpus/{}", segment(gpu.name.as_str()));
        Item::new("GPU", gpu.name.as_str(), gpu.arch.as_str(), Act::Page(href))
    };
    gpus.iter().map(item).collect()
}

/// Headings of the documents.
pub(super) fn documents(entries: Vec<DocEntry>) -> Vec<Item> {
    let item = |DocEntry(page, heading, address, _): DocEntry| {
        let note = if page == heading { String::new() } else { page };
        Item::new("Docs", heading, note, Act::Document(address))
    };
    entries.into_iter().map(item).collect()
}

/// The entries that fit what was typed, best first; before anything was typed, those that are always there and the
/// latest runs.
pub(super) fn found(query: &str, fixed: &[Item], loaded: &[Item]) -> Vec<Item> {
    if query.trim().is_empty() {
        let recent = loaded.iter().filter(|item| item.kind == "Run").take(RECENT);
        return recent.chain(fixed).cloned().collect();
    }
    let all = fixed.iter().chain(loaded);
    let mut fit: Vec<_> = all.filter_map(|item| Some((item.fits(query)?, item))).collect();
    // A stable sort: what fits as well stays in the order of the lists, pages first.
    fit.sort_by_key(|(points, _)| std::cmp::Reverse(*points));
    fit.into_iter().take(MOST).map(|(_, item)| item.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    #[test]
    fn what_fits_best_comes_first_and_pages_before_documents() {
        let fixed = fixed(true);
        let loaded = documents(vec![
            DocEntry("Runs".into(), "Runs".into(), "/docs/runs".into(), IgnoredAny),
            DocEntry(
                "Runs".into(),
                "Cancel a run".into(),
                "/docs/runs#cancel".into(),
                IgnoredAny,
            ),
        ]);
        let best = |query: &str| found(query, &fixed, &loaded).first().map(|item| item.act.clone());
        assert_eq!(best("runs"), Some(Act::Page("/runs".into())));
        assert_eq!(best("cancel"), Some(Act::Document("/docs/runs#cancel".into())));
        assert_eq!(best("dark"), Some(Act::Theme("dark")));
        assert_eq!(best("cmpr"), Some(Act::Page("/compare".into())));
        assert_eq!(best("zzzz"), None);
    }

    #[test]
    fn there_is_no_way_out_of_an_app_without_a_token() {
        assert!(!fixed(false).iter().any(|item| item.act == Act::LogOut));
    }
}
