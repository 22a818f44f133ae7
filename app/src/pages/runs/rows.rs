//! The rows of the form for a new run: a GPU and how often it is simulated.

use cascade_api::{GpuConfig, RunEntry, TraceSummary, limits::MAX_COUNT};
use leptos::prelude::*;

use super::form::{Refused, describe, preselected, read_count, refusal, trace_refusal};
use crate::ui::{Button, Field, Icon, IconName, Look, NoteText, NumberInput, SelectInput, SelectOption};

/// A row of the form as it is being filled in. What it holds lives as long as it does: rows are made in effects and
/// handlers, which end before them.
#[derive(Clone)]
pub(super) struct Row {
    /// Tells the rows apart.
    pub(super) key: usize,
    gpu: ArcRwSignal<String>,
    count: ArcRwSignal<String>,
}

impl Row {
    /// A row with a count of 1.
    pub(super) fn new(key: usize, gpu: &str) -> Self {
        Self {
            key,
            gpu: ArcRwSignal::new(gpu.to_owned()),
            count: ArcRwSignal::new("1".to_owned()),
        }
    }

    /// Whether its GPU is this one now.
    pub(super) fn is_of(&self, gpu: &str) -> bool {
        self.gpu.with_untracked(|own| own == gpu)
    }

    /// The row as it is sent, once its count is a number within limits.
    pub(super) fn entry(&self) -> Option<RunEntry> {
        let count = read_count(&self.count.get()).ok()?;
        Some(RunEntry {
            gpu_config: self.gpu.get().into(),
            count,
        })
    }

    /// The id of the field with its GPU.
    pub(super) fn gpu_id(&self) -> String {
        format!("gpu-{}", self.key)
    }
}

/// The rows that a trace begins with; none where it cannot run. Keys begin with `key`.
pub(super) fn rows_for(trace: &TraceSummary, gpus: &[GpuConfig], key: usize) -> Vec<Row> {
    if trace_refusal(trace).is_some() {
        return Vec::new();
    }
    let chosen = preselected(trace, gpus);
    let rows = (key..).zip(&chosen);
    rows.map(|(key, gpu)| Row::new(key, gpu.as_str())).collect()
}

/// A key that no row has.
pub(super) fn next_key(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.key + 1).max().unwrap_or(0)
}

/// One GPU with its count.
#[component]
pub(super) fn EntryRow(
    /// The row.
    row: Row,
    /// All rows, to remove this one from.
    rows: RwSignal<Vec<Row>>,
    /// What the server refused.
    refused: RwSignal<Refused>,
    /// What is known of the GPUs.
    gpus: StoredValue<Vec<GpuConfig>>,
    /// The GPUs to choose from.
    options: Vec<SelectOption>,
) -> impl IntoView {
    let (key, gpu_id, count_id) = (row.key, row.gpu_id(), format!("count-{}", row.key));
    let (gpu, count) = (RwSignal::from(row.gpu), RwSignal::from(row.count));
    let place = Memo::new(move |_| rows.with(|rows| rows.iter().position(|other| other.key == key)));
    let server = Memo::new(move |_| {
        let place = place.get()?;
        refused.with(|refused| {
            refused
                .rows
                .iter()
                .find(|(at, _)| *at == place)
                .map(|(_, text)| text.clone())
        })
    });
    let count_error = Memo::new(move |_| read_count(&count.get()).err());
    let about = move || {
        let chosen = gpu.get();
        gpus.with_value(|gpus| {
            let gpu = gpus.iter().find(|gpu| gpu.name.as_str() == chosen)?;
            let notes: Vec<_> = gpu
                .notes
                .iter()
                .map(|note| view! { <li><NoteText note=note.clone() /></li> })
                .collect();
            Some(view! { <div class="entry-about muted small"><p>{describe(gpu)}</p> <ul>{notes}</ul></div> })
        })
    };
    view! {
        <div class="entry-row" role="group" aria-label="GPU and count">
            <Field label="GPU" id=gpu_id.clone() error=server>
                <SelectInput id=gpu_id value=gpu options invalid=Signal::derive(move || server.get().is_some()) />
            </Field>
            <Field label="Simulations" id=count_id.clone() error=count_error>
                <NumberInput
                    id=count_id
                    value=count
                    range=(1, MAX_COUNT)
                    invalid=Signal::derive(move || count_error.get().is_some())
                />
            </Field>
            <Button
                look=Look::Ghost
                label="Remove this GPU"
                disabled=Signal::derive(move || rows.with(Vec::len) == 1)
                on_press=move |()| rows.update(|rows| rows.retain(|other| other.key != key))
            >
                <Icon name=IconName::Cross />
            </Button>
            {about}
        </div>
    }
}

/// Every GPU as a choice; those that do not fit say why.
pub(super) fn options(trace: &TraceSummary, gpus: &[GpuConfig]) -> Vec<SelectOption> {
    let option = |gpu: &GpuConfig| SelectOption {
        value: gpu.name.to_string(),
        label: gpu.name.to_string(),
        refused: refusal(trace, gpu),
    };
    gpus.iter().map(option).collect()
}
