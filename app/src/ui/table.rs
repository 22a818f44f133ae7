//! Tables, which scroll inside their own frame on a narrow screen, and tables whose rows can be sorted.

use leptos::prelude::*;

/// A table: the titles of its columns, then rows as children. A title that starts with `#` is a column of
/// numbers, set flush right.
#[component]
pub fn DataTable(
    /// What the table lists, for screen readers.
    #[prop(into)]
    label: String,
    /// Titles of the columns.
    #[prop(into)]
    columns: Vec<String>,
    /// The rows: `<tr>` elements.
    children: Children,
) -> impl IntoView {
    let heads: Vec<_> = columns
        .into_iter()
        .map(|title| match title.strip_prefix('#') {
            Some(title) => view! { <th scope="col" class="number">{title.to_owned()}</th> },
            None => view! { <th scope="col" class="">{title}</th> },
        })
        .collect();
    view! {
        <div class="table-frame" role="region" aria-label=label tabindex="0">
            <table>
                <thead>
                    <tr>{heads}</tr>
                </thead>
                <tbody>{children()}</tbody>
            </table>
        </div>
    }
}

/// A table whose rows can be sorted by the columns that have a key. The caller sorts the rows; `order` is the key
/// sorted by and whether the largest comes first. Titles as in [`DataTable`].
#[component]
pub fn SortTable<K>(
    /// What the table lists, for screen readers.
    #[prop(into)]
    label: String,
    /// Titles of the columns, with a key where the column can be sorted by.
    columns: Vec<(&'static str, Option<K>)>,
    /// The order of the rows.
    order: RwSignal<(K, bool)>,
    /// The rows: `<tr>` elements.
    children: Children,
) -> impl IntoView
where
    K: Copy + PartialEq + Send + Sync + 'static,
{
    let heads: Vec<_> = columns
        .into_iter()
        .map(|(title, key)| {
            let class = if title.starts_with('#') { "number" } else { "" };
            let title = title.trim_start_matches('#');
            let Some(key) = key else {
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
            // The first click on a column of numbers puts the largest first.
            let turn = move |_| {
                order.update(|order| {
                    let descending = if order.0 == key {
                        !order.1
                    } else {
                        class == "number"
                    };
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
        })
        .collect();
    view! {
        <div class="table-frame" role="region" aria-label=label tabindex="0">
            <table>
                <thead>
                    <tr>{heads}</tr>
                </thead>
                <tbody>{children()}</tbody>
            </table>
        </div>
    }
}
