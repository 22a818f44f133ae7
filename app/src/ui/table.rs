//! Tables, which scroll inside their own frame on a narrow screen.

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
