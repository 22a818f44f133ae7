//! One page's Markdown as HTML, with everything that the rest of the build asks about it.
//!
//! pulldown-cmark: the parser that rustdoc uses, two small crates, and events that are easy to change on their way
//! (comrak does the same with a tree, and brings a command line).

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::highlight;

/// A heading that can be linked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    /// Anchor, made as GitHub makes it.
    pub(super) id: String,
    /// The text without marks.
    pub(super) text: String,
}

/// A heading and the words below it, for the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its heading.
    pub(super) heading: Heading,
    /// The words up to the next heading; no code but commands.
    pub(super) text: String,
}

/// A page after rendering.
#[derive(Clone, Debug, Default)]
pub(super) struct Rendered {
    /// The body.
    pub(super) html: String,
    /// The parts in order; the first is the page's title.
    pub(super) parts: Vec<Part>,
    /// Every target of a link, as written.
    pub(super) links: Vec<String>,
}

impl Rendered {
    /// Whether the page has this anchor.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.parts.iter().any(|part| part.heading.id == id)
    }
}

/// Renders a page.
///
/// # Errors
/// When it does not begin with its title, or has a picture, which nothing serves.
pub(super) fn render(source: &str) -> Result<Rendered> {
    if !source.starts_with("# ") {
        bail!("a page begins with `# Title`");
    }
    let mut page = Renderer::default();
    let mut parser = Parser::new_ext(source, Options::ENABLE_TABLES | Options::ENABLE_GFM);
    while let Some(event) = parser.next() {
        page.event(event, &mut parser)?;
    }
    html::push_html(&mut page.out.html, page.events.into_iter());
    Ok(page.out)
}

/// The address of a link's target: other pages where the app serves them, all else as it is. `None` for a file of the
/// repository, which is not served.
pub(super) fn address(target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with(['#', '/']) || target.starts_with("mailto:") {
        return Some(target.into());
    }
    let (file, anchor) = target
        .split_once('#')
        .map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let name = file.strip_suffix(".md").filter(|name| !name.contains('/'))?;
    let path = if matches!(name, "README" | "introduction") {
        "/docs".to_owned()
    } else {
        format!("/docs/{name}")
    };
    Some(anchor.map_or(path.clone(), |anchor| format!("{path}#{anchor}")))
}

#[derive(Default)]
struct Renderer<'a> {
    events: Vec<Event<'a>>,
    out: Rendered,
    seen: BTreeMap<String, usize>,
    /// Whether the link that is open leads to something served.
    link_open: Vec<bool>,
}

impl<'a> Renderer<'a> {
    fn event(&mut self, event: Event<'a>, rest: &mut Parser<'a>) -> Result<()> {
        match event {
            Event::Start(Tag::Heading { level, .. }) => self.heading(level, rest),
            Event::Start(Tag::CodeBlock(kind)) => self.code(&kind, rest),
            Event::Start(Tag::Image { dest_url, .. }) => bail!("{dest_url}: pictures are not served"),
            Event::Start(Tag::Link {
                dest_url,
                link_type,
                title,
                id,
            }) => {
                self.out.links.push(dest_url.to_string());
                let address = address(&dest_url);
                self.link_open.push(address.is_some());
                if let Some(address) = address {
                    let dest_url = address.into();
                    self.events.push(Event::Start(Tag::Link {
                        link_type,
                        dest_url,
                        title,
                        id,
                    }));
                }
            }
            Event::End(TagEnd::Link) => {
                if self.link_open.pop() == Some(true) {
                    self.events.push(event);
                }
            }
            Event::Start(Tag::Table(_)) => {
                // Wide tables scroll in a frame of their own; the keyboard must reach what scrolls.
                self.events
                    .push(Event::Html("<div class=\"doc-table\" tabindex=\"0\">".into()));
                self.events.push(event);
            }
            Event::End(TagEnd::Table) => {
                self.events.push(event);
                self.events.push(Event::Html("</div>".into()));
            }
            Event::Text(ref text) | Event::Code(ref text) => {
                self.words(text);
                self.events.push(event);
            }
            Event::End(end) => {
                if matches!(end, TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) {
                    self.words(" ");
                }
                self.events.push(event);
            }
            Event::SoftBreak => {
                self.words(" ");
                self.events.push(event);
            }
            event => self.events.push(event),
        }
        Ok(())
    }

    /// Adds to the words of the part that is open.
    fn words(&mut self, text: &str) {
        if let Some(part) = self.out.parts.last_mut() {
            part.text.push_str(text);
        }
    }

    fn heading(&mut self, level: HeadingLevel, rest: &mut Parser<'a>) {
        let mut inner = Vec::new();
        let mut text = String::new();
        for event in rest.by_ref() {
            match &event {
                Event::End(TagEnd::Heading(_)) => break,
                Event::Text(part) | Event::Code(part) => text.push_str(part),
                _ => {}
            }
            inner.push(event);
        }
        let id = self.anchor(&text);
        let mut shown = String::new();
        match text.split_once(' ') {
            // The heading of an API route: the method as a badge.
            Some((method @ ("GET" | "POST" | "PUT" | "DELETE"), path)) => {
                shown = format!(
                    "<span class=\"method\" data-method=\"{method}\">{method}</span> <code>{}</code>",
                    highlight::escape(path)
                );
            }
            _ => html::push_html(&mut shown, inner.into_iter()),
        }
        let link = format!(
            " <a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to {}\">#</a>",
            highlight::escape(&text)
        );
        let level = level as u8;
        let link = if level == 1 { String::new() } else { link };
        self.events.push(Event::Html(
            format!("<h{level} id=\"{id}\">{shown}{link}</h{level}>\n").into(),
        ));
        self.out.parts.push(Part {
            heading: Heading { level, id, text },
            text: String::new(),
        });
    }

    /// An anchor that no earlier heading of the page has.
    fn anchor(&mut self, text: &str) -> String {
        let plain = slug(text);
        let count = self.seen.entry(plain.clone()).or_default();
        *count += 1;
        match *count {
            1 => plain,
            again => format!("{plain}-{}", again - 1),
        }
    }

    fn code(&mut self, kind: &CodeBlockKind<'_>, rest: &mut Parser<'a>) {
        let mut text = String::new();
        for event in rest.by_ref() {
            match event {
                Event::End(TagEnd::CodeBlock) => break,
                Event::Text(part) => text.push_str(&part),
                _ => {}
            }
        }
        let lang = match kind {
            CodeBlockKind::Fenced(lang) => lang.split_whitespace().next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        if matches!(lang, "sh" | "bash" | "python") {
            self.words(&text.replace('\n', " "));
        }
        let lang = highlight::escape(lang);
        let code = highlight::code(&lang, &text);
        let block = format!(
            "<div class=\"code\" data-lang=\"{lang}\"><pre tabindex=\"0\"><code>{code}</code></pre></div>\n"
        );
        self.events.push(Event::Html(block.into()));
    }
}

/// A heading's text as an anchor, by GitHub's rule: lower case, spaces as `-`, and of the rest only letters, digits,
/// `-` and `_`.
pub(super) fn slug(text: &str) -> String {
    text.trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
            _ => None,
        })
        .collect()
}
