//! Every link of the documents leads somewhere.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::index::Index;
use super::markdown::{Rendered, address};

/// Files of the site, beside the pages, that documents may link to.
const FILES: &[&str] = &[
    "/llms.txt",
    "/llms-full.txt",
    "/docs/agent-prompt.md",
    "/docs/cascade-skill/SKILL.md",
    "/api/openapi.json",
];

/// Checks the links of every page: to pages and their headings, to the app's own pages, to files of the repository.
/// Other sites are not asked.
///
/// # Errors
/// One that names every dead link and its page.
pub(super) fn links(root: &Path, index: &Index, rendered: &[Rendered]) -> Result<()> {
    let routes = routes(root)?;
    let mut dead = Vec::new();
    for (page, content) in index.pages().zip(rendered) {
        for link in &content.links {
            if !leads_somewhere(root, index, rendered, &routes, &page.url(), link) {
                dead.push(format!("docs/{}: {link} leads nowhere", page.file));
            }
        }
    }
    if dead.is_empty() {
        return Ok(());
    }
    bail!("{}", dead.join("\n"))
}

fn leads_somewhere(
    root: &Path,
    index: &Index,
    rendered: &[Rendered],
    routes: &[String],
    here: &str,
    link: &str,
) -> bool {
    if link.contains("://") || link.starts_with("mailto:") {
        return true;
    }
    let Some(address) = address(link) else {
        return root
            .join("docs")
            .join(link.split('#').next().unwrap_or(link))
            .exists();
    };
    let (path, anchor) = address
        .split_once('#')
        .map_or((address.as_str(), None), |(p, a)| (p, Some(a)));
    let path = if path.is_empty() { here } else { path };
    let mut pages = index.pages().zip(rendered);
    match pages.find(|(page, _)| page.url() == path) {
        Some((_, content)) => anchor.is_none_or(|id| content.has_id(id)),
        None => FILES.contains(&path) || routes.iter().any(|route| fits(route, path)),
    }
}

/// Whether a path is what a route such as `/runs/:id` stands for.
fn fits(route: &str, path: &str) -> bool {
    let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (route, path) = (parts(route), parts(path));
    route.len() == path.len() && route.iter().zip(&path).all(|(r, p)| r.starts_with(':') || r == p)
}

/// The app's pages, as its router lists them.
fn routes(root: &Path) -> Result<Vec<String>> {
    let file = root.join("app/src/lib.rs");
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let after = text.split("path!(\"").skip(1);
    Ok(after
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        .collect())
}
