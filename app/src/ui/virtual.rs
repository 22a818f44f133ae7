//! A table of any length: only the rows in sight are in the document. Rows are all of one height.

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;

/// Height of a row, px; the style sheet says the same.
const ROW: f64 = 32.0;
/// Rows that the frame shows at most.
const VIEW: usize = 15;
/// Rows kept above and below those in sight, so that a flick shows no hole.
const OVER: usize = 10;
/// Least width of a column that takes what is left.
const AUTO: &str = "150px";
/// The rows in the document change in steps of so many.
const STEP: usize = 5;

/// A column: its title, a leading `#` for numbers, and the key that it can be sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualColumn<K> {
    /// What it reads.
    pub title: String,
    /// What rows are sorted by when its head is pressed.
    pub key: Option<K>,
    /// Its width as CSS has it.
    pub width: &'static str,
}

/// A table with sortable columns whose rows are made when they come in sight. Arrow keys, Page Up and Down, Home and
/// End move through it; Enter or a click opens a row.
#[component]
pub fn VirtualTable<K>(
    /// What the table lists, for screen readers.
    #[prop(into)]
    label: String,
    /// The element's id.
    id: &'static str,
    /// The columns.
    columns: Vec<VirtualColumn<K>>,
    /// Key sorted by, and whether the largest comes first.
    order: RwSignal<(K, bool)>,
    /// How many rows there are.
    #[prop(into)]
    rows: Signal<usize>,
    /// The cells of the row at a place: `<td>` elements.
    cells: Callback<usize, AnyView>,
    /// Opens the row at a place.
    on_open: Callback<usize>,
) -> impl IntoView
where
    K: Copy + PartialEq + Send + Sync + 'static,
{
    let frame = NodeRef::<html::Div>::new();
    let top = RwSignal::new(0.0);
    let at = RwSignal::new(None::<usize>);
    let width = columns.len();
    // However many columns there are, one that takes what is left stays readable; a narrow screen scrolls.
    let least = columns.iter().map(|column| match column.width {
        "auto" => AUTO,
        width => width,
    });
    let least = format!("min-width:calc({})", least.collect::<Vec<_>>().join(" + "));
    let cols: Vec<_> = columns
        .iter()
        .map(|column| view! { <col style=format!("width:{}", column.width) /> })
        .collect();
    let heads: Vec<_> = columns.into_iter().map(|column| head(column, order)).collect();
    let window = Memo::new(move |_| {
        let rows = rows.get();
        let first = (top.get() / ROW) as usize;
        let from = first.min(rows).saturating_sub(OVER) / STEP * STEP;
        (from, (from + VIEW + 2 * OVER + STEP).min(rows))
    });
    let space = move |rows: usize| {
        (rows > 0).then(|| {
            let height = format!("height:{}px", rows as f64 * ROW);
            view! { <tr class="space" aria-hidden="true" style=height><td colspan=width></td></tr> }
        })
    };
    let row = move |place: usize| {
        view! {
            <tr
                role="row"
                id=format!("{id}-{place}")
                class="opens"
                class:at=move || at.get() == Some(place)
                aria-rowindex=place + 2
                on:click=move |_| {
                    at.set(Some(place));
                    on_open.run(place);
                }
            >
                {cells.run(place)}
            </tr>
        }
    };
    let body = move || {
        let (from, to) = window.get();
        let shown: Vec<_> = (from..to).map(row).collect();
        (space(from), shown, space(rows.get().saturating_sub(to)))
    };
    let go = move |place: usize| {
        at.set(Some(place));
        if let Some(frame) = frame.get_untracked() {
            // The head stays in sight above the rows.
            let (above, seen) = (place as f64 * ROW, f64::from(frame.client_height()) - ROW);
            let now = f64::from(frame.scroll_top());
            if above < now || above + ROW > now + seen {
                let to = if above < now { above } else { above + ROW - seen };
                frame.set_scroll_top(to as i32);
            }
        }
    };
    let on_key = move |event: KeyboardEvent| {
        let Some(last) = rows.get_untracked().checked_sub(1) else {
            return;
        };
        let now = at.get_untracked().map(|at| at.min(last));
        let to = match event.key().as_str() {
            "ArrowDown" => now.map_or(0, |at| (at + 1).min(last)),
            "ArrowUp" => now.map_or(0, |at| at.saturating_sub(1)),
            "PageDown" => (now.unwrap_or(0) + VIEW).min(last),
            "PageUp" => now.unwrap_or(0).saturating_sub(VIEW),
            "Home" => 0,
            "End" => last,
            "Enter" => {
                // On a head, Enter sorts.
                let head = event.target() != event.current_target();
                if let Some(at) = now.filter(|_| !head) {
                    on_open.run(at);
                }
                return;
            }
            _ => return,
        };
        event.prevent_default();
        go(to);
    };
    view! {
        <div
            class="virtual"
            node_ref=frame
            on:scroll=move |_| if let Some(frame) = frame.get_untracked() { top.set(f64::from(frame.scroll_top())) }
        >
            <table
                style=least
                role="grid"
                aria-label=label
                aria-rowcount=move || rows.get() + 1
                aria-activedescendant=move || at.get().map(|at| format!("{id}-{at}"))
                tabindex="0"
                on:keydown=on_key
            >
                <colgroup>{cols}</colgroup>
                <thead>
                    <tr role="row" aria-rowindex="1">{heads}</tr>
                </thead>
                <tbody>{body}</tbody>
            </table>
        </div>
    }
}

/// The head of a column.
fn head<K>(column: VirtualColumn<K>, order: RwSignal<(K, bool)>) -> AnyView
where
    K: Copy + PartialEq + Send + Sync + 'static,
{
    let number = column.title.starts_with('#');
    let class = if number { "number" } else { "" };
    let title = column.title.strip_prefix('#').unwrap_or(&column.title).to_owned();
    let Some(key) = column.key else {
        return view! { <th scope="col" class=class>{title}</th> }.into_any();
    };
    let state = move || order.with(|(by, descending)| (*by == key).then_some(*descending));
    let sorted = move || match state() {
        Some(true) => "descending",
        Some(false) => "ascending",
        None => "none",
    };
    let arrow = move || match state() {
        Some(true) => "↓",
        Some(false) => "↑",
        None => "",
    };
    // The first press on a column of numbers puts the largest first.
    let turn = move |_| {
        order.update(|order| {
            let descending = if order.0 == key { !order.1 } else { number };
            *order = (key, descending);
        });
    };
    view! {
        <th scope="col" class=class aria-sort=sorted>
            <button type="button" class="sort" on:click=turn>
                {title}
                <span class="sort-arrow" aria-hidden="true">{arrow}</span>
            </button>
        </th>
    }
    .into_any()
}
