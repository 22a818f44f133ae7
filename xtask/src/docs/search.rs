//! What the search looks through: one entry for each heading with the words below it.

use anyhow::Result;
use serde_json::{Value, json};

use super::index::Index;
use super::markdown::Rendered;

/// Most letters of one entry; what is beyond is found by its headings.
const MAX_TEXT: usize = 6_000;

/// The list as compact JSON: `[page's title, heading, address, text]`.
pub(super) fn json(index: &Index, rendered: &[Rendered]) -> Result<String> {
    let mut entries = Vec::new();
    for (page, content) in index.pages().zip(rendered) {
        for part in &content.parts {
            let heading = &part.heading;
            let (title, address) = if heading.level == 1 {
                (page.title.as_str(), page.url())
            } else {
                (heading.text.as_str(), format!("{}#{}", page.url(), heading.id))
            };
            let words: Vec<&str> = part.text.split_whitespace().collect();
            let text: String = words.join(" ").chars().take(MAX_TEXT).collect();
            entries.push(json!([page.title, title, address, text]));
        }
    }
    Ok(serde_json::to_string(&Value::Array(entries))?)
}
