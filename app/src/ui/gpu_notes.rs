//! What the figures of GPUs rest on.

use cascade_api::{Engine, GpuName, SimSummary};
use cascade_scene::format::plural;
use leptos::prelude::*;

use super::DocLink;
use crate::data::GpuNote;

/// How notes name the document about the engine. They are read in terminals and in files, too, where it is a path.
const SEE: &str = "see docs/engine.md";

/// Notes that are read at once; the rest unfolds.
const MOST_NOTES: usize = 3;

/// GPUs that our engine works on in these sims, each once: its figures are the ones that a GPU's status is about.
pub(crate) fn engine_gpus<'a>(sims: impl IntoIterator<Item = &'a SimSummary>) -> Vec<GpuName> {
    let mut gpus = Vec::new();
    for sim in sims {
        if sim.engine == Engine::Cascade && !gpus.contains(&sim.gpu_config) {
            gpus.push(sim.gpu_config.clone());
        }
    }
    gpus
}

/// What a reader of these GPUs' figures should know: whether they are validated, and on what.
#[component]
pub fn GpuNotes(
    /// The GPUs.
    of: Vec<GpuName>,
    /// What is known of GPUs.
    notes: Vec<GpuNote>,
) -> impl IntoView {
    let mut items: Vec<_> = grouped(&of, notes)
        .into_iter()
        .map(|(note, gpus)| {
            view! { <li><span class="mono">{gpus.join(", ")}</span> " · " <NoteText note /></li> }
        })
        .collect();
    // Each GPU of a sweep has its own note, and dozens of them would push what is read out of sight.
    // One more takes no more room than the word that there is one.
    let shown = if items.len() > MOST_NOTES + 1 {
        MOST_NOTES
    } else {
        items.len()
    };
    let rest = items.split_off(shown);
    let rest = (!rest.is_empty()).then(|| {
        let said = plural(rest.len() as u64, "more note");
        view! { <li><details><summary>{said}</summary><ul>{rest}</ul></details></li> }
    });
    (!items.is_empty()).then(|| {
        view! { <ul class="gpu-notes muted small" aria-label="What the figures rest on">{items}{rest}</ul> }
    })
}

/// A note, with a link in the place of the document that it names.
#[component]
pub(crate) fn NoteText(
    /// The note.
    #[prop(into)]
    note: String,
) -> impl IntoView {
    match note.split_once(SEE) {
        Some((before, after)) => view! {
            {before.to_owned()}
            <DocLink href="/docs/engine">"read how the engine works"</DocLink>
            {after.to_owned()}
        }
        .into_any(),
        None => note.into_any(),
    }
}

/// The word for how far a GPU is validated, from its note of the engine: `unvalidated` of
/// `Cascade engine, unvalidated: No figure…`.
pub(crate) fn status_word(notes: &[String]) -> Option<&str> {
    let said = notes
        .iter()
        .find_map(|note| note.strip_prefix("Cascade engine, "));
    said?.split_once(": ").map(|(word, _)| word)
}

/// Each note once, with the GPUs that it is about.
fn grouped(of: &[GpuName], notes: Vec<GpuNote>) -> Vec<(String, Vec<String>)> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for gpu in notes.into_iter().filter(|gpu| of.contains(&gpu.name)) {
        for note in gpu.notes {
            match said.iter_mut().find(|(text, _)| *text == note) {
                Some((_, gpus)) => gpus.push(gpu.name.to_string()),
                None => said.push((note, vec![gpu.name.to_string()])),
            }
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use leptos::prelude::*;

    use super::{GpuNote, NoteText, grouped, status_word};

    #[test]
    fn a_note_links_to_the_document_it_names() {
        let html = |note: &str| {
            let note = note.to_owned();
            Owner::new().with(|| view! { <NoteText note /> }.to_html())
        };
        let linked = html("No figure was measured by us; see docs/engine.md.");
        assert!(linked.contains("href=\"/docs/engine\""), "{linked}");
        assert!(!linked.contains("engine.md"), "{linked}");
        assert!(!html("No such GPU was measured.").contains("<a"));
    }

    #[test]
    fn the_status_is_one_word_of_the_note() {
        let notes = |note: &str| vec!["Accel-Sim config 12ab".to_owned(), note.to_owned()];
        let ours = notes("Cascade engine, unvalidated: No figure: none at all.");
        assert_eq!(status_word(&ours), Some("unvalidated"));
        assert_eq!(status_word(&notes("other")), None);
    }

    #[test]
    fn a_note_is_said_once_for_all_its_gpus() {
        let note = |name: &str, notes: &[&str]| GpuNote {
            name: name.into(),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
        };
        let notes = vec![
            note("A", &["unvalidated"]),
            note("B", &["unvalidated", "made up"]),
            note("C", &["other"]),
        ];
        let of = ["A".into(), "B".into()];
        let said = [("unvalidated", vec!["A", "B"]), ("made up", vec!["B"])];
        let said = said.map(|(note, gpus)| (note.to_owned(), gpus.into_iter().map(String::from).collect()));
        assert_eq!(grouped(&of, notes), said);
    }
}
