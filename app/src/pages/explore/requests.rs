//! Every request: sorted and paged by the worker, which holds them; with why each waited.

use cascade_scene::explorer::{Answer, Ask, Column, ROWS, Row};
use cascade_scene::format;
use cascade_scene::page::Page;
use leptos::prelude::*;

use super::charts::SideSwitch;
use super::run::Run;
use crate::ui::{Button, Card, Pager, SortTable, save_text};

/// The table of requests.
#[component]
pub(super) fn Requests(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let side = RwSignal::new(0_usize);
    let order = RwSignal::new((Column::Number, false));
    let page = RwSignal::new(0_usize);
    let rows = RwSignal::new(Vec::<Row>::new());
    let total = RwSignal::new(0_usize);
    Effect::new(move || {
        if run.settled.get() == 0 {
            return;
        }
        let (by, descending) = order.get();
        let ask = Ask::Rows {
            side: side.get(),
            by,
            descending,
            page: page.get(),
        };
        run.ask(ask, move |answer| match answer {
            Answer::Rows {
                rows: new,
                total: all,
                page: shown,
            } => {
                rows.set(new);
                total.set(all);
                if page.get_untracked() != shown {
                    page.set(shown);
                }
            }
            _ => {
                rows.set(Vec::new());
                total.set(0);
            }
        });
    });
    let csv = move |()| {
        run.ask(
            Ask::Csv {
                side: side.get_untracked(),
            },
            |answer| {
                if let Answer::Text { text } = answer {
                    save_text("requests.csv", "text/csv", &text);
                }
            },
        );
    };
    let shown = Signal::derive(move || Page::new(page.get(), ROWS, total.get()));
    let columns = vec![
        ("Request", Some(Column::Number)),
        ("#Arrival", Some(Column::Arrival)),
        ("#Prompt", Some(Column::Prompt)),
        ("#Output", Some(Column::Output)),
        ("#Queue", Some(Column::Queue)),
        ("#TTFT", Some(Column::Ttft)),
        ("#TPOT", Some(Column::Tpot)),
        ("#E2E", Some(Column::E2e)),
        ("#Cached", None),
        ("#Preempted", Some(Column::Preemptions)),
        ("Why it waited", None),
    ];
    let ms = |value: Option<f64>| value.map_or(format::NONE.to_owned(), |ms| format::duration_ns(ms * 1e6));
    let body = move || {
        let row = |row: Row| {
            view! {
                <tr>
                    <td>{row.id}</td>
                    <td class="number">{format::fixed(row.arrival_s, 3, "s")}</td>
                    <td class="number">{format::count(u64::from(row.prompt))}</td>
                    <td class="number">{format::count(u64::from(row.output))}</td>
                    <td class="number">{ms(Some(row.queue_ms))}</td>
                    <td class="number">{ms(row.ttft_ms)}</td>
                    <td class="number">{ms(row.tpot_ms)}</td>
                    <td class="number">{ms(Some(row.e2e_ms))}</td>
                    <td class="number">{format::count(u64::from(row.cached))}</td>
                    <td class="number">{row.preemptions}</td>
                    <td class="why">{row.why}</td>
                </tr>
            }
        };
        rows.get().into_iter().map(row).collect::<Vec<_>>()
    };
    let csv_button = move || view! { <Button on_press=csv>"Download CSV"</Button> };
    view! {
        <Card title="Requests" aside=csv_button>
            <div class="chart-bar"><SideSwitch run side /></div>
            <SortTable label="Requests" columns order>{body}</SortTable>
            <Pager page=shown total on_go=move |to| page.set(to) />
        </Card>
    }
}
