//! A page's frame: bar on top, navigation, body, contents, the pages before and after.

use super::highlight::escape;
use super::index::{Index, Page};
use super::markdown::Rendered;

/// The document around a page. Names in double braces are filled in.
const FRAME: &str = include_str!("page.html");
/// Puts the stored theme on `<html>` before the first paint; the app's pages have the same.
const THEME: &str = include_str!("../../../app/src/layout/theme.js");

/// The page at position `at` as an HTML document.
pub(super) fn html(index: &Index, at: usize, content: &Rendered, version: &str) -> String {
    let pages: Vec<&Page> = index.pages().collect();
    let page = pages.get(at).copied();
    let near = |at: Option<usize>| at.and_then(|at| pages.get(at).copied());
    let title = page.map_or("Documentation", |page| &page.title);
    let contents = contents(content);
    let toggle = if contents.is_empty() {
        ""
    } else {
        "<button class=\"button doc-toc-open\" type=\"button\" popovertarget=\"doc-toc\">On this page</button>"
    };
    let body = format!(
        "{toggle}<article class=\"doc-body\">{}</article>{}",
        content.html,
        neighbours(near(at.checked_sub(1)), near(at.checked_add(1)))
    );
    fill(&[
        ("title", &escape(title)),
        ("summary", &escape(page.map_or("", |page| &page.summary))),
        ("theme", THEME),
        ("nav", &navigation(index, page)),
        ("contents", &contents),
        ("body", &body),
        (
            "markdown",
            &page.map_or_else(String::new, |page| format!("/docs/{}", page.file)),
        ),
        ("product", env!("CARGO_PKG_VERSION")),
        ("version", version),
    ])
}

/// What stands where there is no page.
pub(super) fn not_found(index: &Index, version: &str) -> String {
    let body = "<article class=\"doc-body\"><h1>This page is not here</h1><p>It may have another name now: look through \
                the list, or search with <kbd>/</kbd>. The documents begin <a href=\"/docs\">here</a>.</p></article>";
    fill(&[
        ("title", "Not found"),
        ("summary", ""),
        ("theme", THEME),
        ("nav", &navigation(index, None)),
        ("contents", ""),
        ("body", body),
        ("markdown", "/llms.txt"),
        ("product", env!("CARGO_PKG_VERSION")),
        ("version", version),
    ])
}

/// Fills in the frame. Each name is looked for in the frame only, never in what was filled in.
fn fill(values: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = FRAME;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, tail) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(
            values
                .iter()
                .find(|(key, _)| *key == name)
                .map_or("", |(_, value)| *value),
        );
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn navigation(index: &Index, here: Option<&Page>) -> String {
    let mut out = String::new();
    for section in &index.sections {
        out.push_str(&format!("<h2>{}</h2><ul>", escape(&section.title)));
        for page in &section.pages {
            let current = if here == Some(page) {
                " aria-current=\"page\""
            } else {
                ""
            };
            out.push_str(&format!(
                "<li><a href=\"{}\"{current}>{}</a></li>",
                page.url(),
                escape(&page.title)
            ));
        }
        out.push_str("</ul>");
    }
    out
}

/// The headings of the second and third level as links; nothing for a page with fewer than two.
fn contents(content: &Rendered) -> String {
    let headings: Vec<_> = content
        .parts
        .iter()
        .map(|part| &part.heading)
        .filter(|heading| (2..=3).contains(&heading.level))
        .collect();
    if headings.len() < 2 {
        return String::new();
    }
    let mut out = String::from("<p class=\"doc-toc-title\">On this page</p><ul>");
    for heading in headings {
        let text = escape(&heading.text);
        out.push_str(&format!(
            "<li data-level=\"{}\"><a href=\"#{}\">{text}</a></li>",
            heading.level, heading.id
        ));
    }
    out.push_str("</ul>");
    out
}

fn neighbours(before: Option<&Page>, after: Option<&Page>) -> String {
    let link = |page: Option<&Page>, rel: &str, word: &str| {
        page.map_or_else(String::new, |page| {
            format!(
                "<a rel=\"{rel}\" href=\"{}\"><span>{word}</span>{}</a>",
                page.url(),
                escape(&page.title)
            )
        })
    };
    format!(
        "<nav class=\"doc-near\" aria-label=\"Page before and after\">{}{}</nav>",
        link(before, "prev", "Before"),
        link(after, "next", "Next")
    )
}
