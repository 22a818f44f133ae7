//! The files that a run's sims uploaded.

use cascade_api::{RunFile, RunId};
use cascade_scene::format;
use leptos::prelude::*;

use crate::data::{self, segment};
use crate::live::Live;
use crate::ui::{Card, DataTable, LocalTime};

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
    Effect::new(move |before: Option<usize>| {
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
    });
    let columns = ["GPU", "#Replica", "File", "#Size", "Stored", ""];
    let rows = move || {
        files.with(|files| {
            let mut group = None;
            let row = |file: &RunFile| {
                let first = group.as_ref() != Some(&file.sim_id);
                group = Some(file.sim_id.clone());
                row(file, first)
            };
            files.iter().map(row).collect::<Vec<_>>()
        })
    };
    view! {
        <Card title="Output files">
            <Show
                when=move || files.with(|files| !files.is_empty())
                fallback=|| view! { <p class="muted">"A simulator uploads its files when it ends."</p> }
            >
                <DataTable label="Output files" columns=columns.map(String::from).to_vec()>{rows}</DataTable>
            </Show>
        </Card>
    }
}

/// One file; the first of a sim's files also names the sim.
fn row(file: &RunFile, first: bool) -> impl IntoView + use<> {
    let href = format!(
        "/api/sims/{}/files/{}",
        segment(file.sim_id.as_str()),
        segment(&file.file.name)
    );
    let label = format!("Download {}", file.file.name);
    view! {
        <tr class:group-start=first>
            <td>{first.then(|| file.gpu_config.to_string())}</td>
            <td class="number">{first.then(|| file.replica.to_string())}</td>
            <td class="mono">{file.file.name.clone()}</td>
            <td class="number nowrap">{format::bytes(file.file.size)}</td>
            <td class="nowrap muted"><LocalTime at=file.file.created_at /></td>
            <td class="number"><a href=href download="" rel="external" aria-label=label>"Download"</a></td>
        </tr>
    }
}
