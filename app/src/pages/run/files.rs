//! The files that a run's sims uploaded: previews, downloads, and the way to Perfetto.

use cascade_api::limits::MAX_PREVIEW_BYTES;
use cascade_api::{FilePreview, RunFile, RunId};
use cascade_scene::csv;
use cascade_scene::format;
use leptos::html;
use leptos::prelude::*;

use super::perfetto::Perfetto;
use crate::data::{self, DataError, segment};
use crate::live::Live;
use crate::ui::{ButtonLink, Card, DataTable, Icon, IconName, LocalTime};

/// Files by GPU, then replica. Read again whenever another sim has finished.
#[component]
pub(super) fn Files(
    /// The run.
    live: Live,
    /// Its id.
    run: RunId,
    /// Its files when the page was made.
    files: Vec<RunFile>,
) -> impl IntoView {
    let files = RwSignal::new(files);
    let finished = Memo::new(move |_| {
        live.run
            .with(|run| run.sims.iter().filter(|sim| sim.state.is_terminal()).count())
    });
    Effect::new({
        let run = run.clone();
        move |before: Option<usize>| {
            let now = finished.get();
            if before.is_some_and(|before| before != now) {
                let run = run.clone();
                leptos::task::spawn_local_scoped(async move {
                    // On failure the list stays as it was; the next sim to finish asks again.
                    if let Ok(read) = data::run_files(run).await {
                        _ = files.try_set(read);
                    }
                });
            }
            now
        }
    });
    let shown = RwSignal::new(None::<RunFile>);
    let columns = ["GPU", "#Replica", "File", "#Size", "Stored", ""];
    let rows = move || {
        files.with(|files| {
            let mut group = None;
            let row = |file: &RunFile| {
                let first = group.as_ref() != Some(&file.sim_id);
                group = Some(file.sim_id.clone());
                row(file, first, shown)
            };
            files.iter().map(row).collect::<Vec<_>>()
        })
    };
    let any = Memo::new(move |_| files.with(|files| !files.is_empty()));
    let zip = format!("/api/runs/{}/files.zip", segment(run.as_str()));
    let aside = move || {
        view! {
            <Show when=move || any.get()>
                <ButtonLink href=zip.clone() download=true>
                    <Icon name=IconName::Download />
                    "All as zip"
                </ButtonLink>
            </Show>
            <Perfetto live run />
        }
    };
    view! {
        <Card title="Outputs" aside=aside>
            <Show
                when=move || any.get()
                fallback=|| view! { <p class="muted">"A simulator uploads its files when it ends."</p> }
            >
                <DataTable label="Output files" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
            </Show>
            <Preview shown />
        </Card>
    }
}

/// Whether a file has a preview.
fn has_preview(file: &RunFile) -> bool {
    let name = file.file.name.strip_suffix(".gz").unwrap_or(&file.file.name);
    let text = [".csv", ".txt", ".log"].iter().any(|end| name.ends_with(end));
    text && file.file.size <= MAX_PREVIEW_BYTES
}

/// The address of a file.
fn address(file: &RunFile) -> String {
    format!(
        "/api/sims/{}/files/{}",
        segment(file.sim_id.as_str()),
        segment(&file.file.name)
    )
}

/// One file; the first of a sim's files also names the sim.
fn row(file: &RunFile, first: bool, shown: RwSignal<Option<RunFile>>) -> impl IntoView + use<> {
    let label = format!("Download {}", file.file.name);
    let preview = has_preview(file).then(|| {
        let label = format!("Preview {}", file.file.name);
        let file = file.clone();
        let open = move |_| shown.set(Some(file.clone()));
        view! { <button type="button" class="plain link" aria-label=label on:click=open>"Preview"</button> " · " }
    });
    view! {
        <tr class:group-start=first>
            <td>{first.then(|| file.gpu_config.to_string())}</td>
            <td class="number">{first.then(|| file.replica.to_string())}</td>
            <td class="mono">{file.file.name.clone()}</td>
            <td class="number nowrap">{format::bytes(file.file.size)}</td>
            <td class="nowrap muted"><LocalTime at=file.file.created_at /></td>
            <td class="number">{preview} <a href=address(file) download="" rel="external" aria-label=label>"Download"</a></td>
        </tr>
    }
}

/// The first lines of a file, in a dialog.
#[component]
fn Preview(
    /// The file, while one is open.
    shown: RwSignal<Option<RunFile>>,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    let read = RwSignal::new(None::<Result<FilePreview, DataError>>);
    Effect::new(move || {
        let Some(dialog) = node.get() else { return };
        let Some(file) = shown.get() else {
            dialog.close();
            return;
        };
        read.set(None);
        // Fails only where the dialog is no longer in the document: then nobody looks at it.
        drop(dialog.show_modal());
        leptos::task::spawn_local_scoped(async move {
            let answer = data::file_preview(file.sim_id.clone(), file.file.name.clone()).await;
            if shown.try_get_untracked().flatten().as_ref() == Some(&file) {
                read.set(Some(answer));
            }
        });
    });
    let title = move || shown.with(|file| file.as_ref().map(|file| file.file.name.clone()));
    let text = move || match read.get()? {
        Err(error) => Some(view! { <p class="bad-text" role="alert">{error.to_string()}</p> }.into_any()),
        Ok(preview) => {
            let more = preview.more.then(|| {
                let said = format!(
                    "The first {} lines. The download has the others.",
                    preview.lines.len()
                );
                view! { <p class="muted small">{said}</p> }
            });
            let is_table = title().is_some_and(|name| name.trim_end_matches(".gz").ends_with(".csv"));
            let body = if is_table {
                table(&preview.lines)
            } else {
                lines(&preview.lines)
            };
            Some(view! { {more} {body} }.into_any())
        }
    };
    view! {
        <dialog class="panel preview" node_ref=node aria-label="Preview" on:close=move |_| shown.set(None)>
            <div class="panel-bar">
                <h2 class="mono preview-name">{title}</h2>
                <button type="button" class="button ghost icon-only" aria-label="Close" on:click=move |_| shown.set(None)>
                    <Icon name=IconName::Cross />
                </button>
            </div>
            <div class="panel-body">{text}</div>
        </dialog>
    }
}

/// Lines as they are.
fn lines(lines: &[String]) -> AnyView {
    view! { <pre class="text-block preview-text" tabindex="0" aria-label="First lines">{lines.join("\n")}</pre> }.into_any()
}

/// Lines as a table, the first as its head.
fn table(lines: &[String]) -> AnyView {
    let mut records = csv::records(lines).into_iter();
    let columns = records.next().unwrap_or_default();
    let rows: Vec<_> = records
        .map(|record| {
            let cells: Vec<_> = record
                .into_iter()
                .map(|cell| {
                    let class = if cell.parse::<f64>().is_ok() {
                        "number"
                    } else {
                        "kernel"
                    };
                    view! { <td class=class title=cell.clone()>{cell.clone()}</td> }
                })
                .collect();
            view! { <tr>{cells}</tr> }
        })
        .collect();
    view! { <DataTable label="First lines of the table" columns=columns>{rows}</DataTable> }.into_any()
}
