//! What the figures of GPUs rest on.

use cascade_api::{Engine, GpuName, SimSummary};
use leptos::prelude::*;

use crate::data::GpuNote;

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
    let items: Vec<_> = grouped(&of, notes)
        .into_iter()
        .map(|(note, gpus)| view! { <li><span class="mono">{gpus.join(", ")}</span> " · " {note}</li> })
        .collect();
    (!items.is_empty()).then(
        || view! { <ul class="gpu-notes muted small" aria-label="What the figures rest on">{items}</ul> },
    )
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
    use super::{GpuNote, grouped};

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
