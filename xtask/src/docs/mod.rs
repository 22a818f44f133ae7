//! The documents as pages: `docs/*.md` in, a folder of static files out.
//!
//! ```text
//! target/site/
//!   docs/index.html  docs/<page>.html  docs/404.html      the pages, with navigation and contents
//!   docs/<page>.md                                        the same as Markdown, for those who read with programs
//!   docs/assets/     docs.css  docs.js  search.json
//!   docs/agent-prompt.md  docs/cascade-skill/SKILL.md  llms.txt  llms-full.txt
//! ```
//!
//! A page may have lines such as `<!-- cascade: api runs -->`, in whose place [`expand`] puts what it makes from the
//! OpenAPI document, the state tables or recorded examples. A link that leads nowhere fails the build.

mod agents;
mod capture;
mod check;
mod examples;
mod expand;
mod highlight;
mod index;
mod markdown;
mod openapi;
mod page;
mod search;
mod states;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::{sh, site};
use expand::Sources;
use index::Index;

/// Options of `cargo xtask docs`.
#[derive(Debug, Args)]
pub(crate) struct DocsArgs {
    /// Record the examples again first: builds the app, starts it and asks it everything that pages show.
    #[arg(long)]
    capture: bool,
    /// Record with this `cascade` instead of building one.
    #[arg(long, requires = "capture")]
    cascade: Option<PathBuf>,
}

/// `docs`: the documents alone, into the site's folder.
pub(crate) fn docs(args: &DocsArgs) -> Result<()> {
    if args.capture {
        capture::capture(args.cascade.as_deref())?;
    }
    build(&sh::root(), &sh::target_dir().join("site"))
}

/// What every page of the build needs.
struct Book {
    /// Sections and pages in the order in which they are read.
    index: Index,
    /// Each page's Markdown after [`expand`], in the order of `index.pages()`.
    sources: Vec<String>,
    /// Files for agents: address within the site, and text.
    agents: Vec<(&'static str, String)>,
}

/// Writes the pages and everything beside them into the site's folder.
///
/// # Errors
/// When a file cannot be read or written, a line asks for something unknown, or a link is dead.
pub(crate) fn build(root: &Path, site: &Path) -> Result<()> {
    let book = read(root)?;
    let rendered: Vec<markdown::Rendered> = book
        .index
        .pages()
        .zip(&book.sources)
        .map(|(page, source)| markdown::render(source).with_context(|| format!("docs/{}", page.file)))
        .collect::<Result<_>>()?;
    check::links(root, &book.index, &rendered)?;

    let folder = site.join("docs");
    let assets = folder.join("assets");
    fs::create_dir_all(&assets).with_context(|| format!("cannot make {}", assets.display()))?;
    let css = site::bundle_css(&root.join("style/docs.css"), 0)?;
    site::write(&assets.join("docs.css"), css.as_bytes())?;
    site::write(&assets.join("docs.js"), include_bytes!("docs.js"))?;
    site::write(
        &assets.join("search.json"),
        search::json(&book.index, &rendered)?.as_bytes(),
    )?;
    let version = site::version(&assets)?;
    for (at, (page, content)) in book.index.pages().zip(&rendered).enumerate() {
        let html = page::html(&book.index, at, content, &version);
        site::write(&folder.join(page.html_name()), html.as_bytes())?;
    }
    site::write(
        &folder.join("404.html"),
        page::not_found(&book.index, &version).as_bytes(),
    )?;
    for (page, source) in book.index.pages().zip(&book.sources) {
        site::write(&folder.join(&page.file), source.as_bytes())?;
    }
    for (file, text) in book
        .agents
        .iter()
        .chain(&agents::lists(&book.index, &book.sources))
    {
        let file = site.join(file);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        site::write(&file, text.as_bytes())?;
    }
    Ok(())
}

/// Reads the index and every page.
fn read(root: &Path) -> Result<Book> {
    let folder = root.join("docs");
    let index = Index::read(&folder)?;
    let texts: Vec<String> = index
        .pages()
        .map(|page| {
            let file = folder.join(&page.file);
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
        })
        .collect::<Result<_>>()?;
    let files = index.pages().map(|page| page.file.as_str());
    let parts = Sources::read(root, files.zip(texts.iter().map(String::as_str)))?;
    let sources = index
        .pages()
        .zip(&texts)
        .map(|(page, text)| parts.expand(text).with_context(|| format!("docs/{}", page.file)))
        .collect::<Result<_>>()?;
    let agents = agents::files(root, &parts)?;
    Ok(Book {
        index,
        sources,
        agents,
    })
}

#[cfg(test)]
mod tests;
