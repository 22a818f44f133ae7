//! What is in the documents and in which order: `docs/README.md`, which GitHub shows too.
//!
//! `## Section` begins a part of the navigation and `- [Title](file.md): summary` is a page. A file of the folder that
//! the list forgets comes last, under [`MORE`].

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Section of the pages that the list does not name.
const MORE: &str = "More";
/// The list itself.
const LIST: &str = "README.md";

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// File in `docs/`, such as `quickstart.md`.
    pub(super) file: String,
    /// What the navigation calls it.
    pub(super) title: String,
    /// One sentence on what a reader finds there.
    pub(super) summary: String,
    /// Whether it is the first page, which `/docs` itself shows.
    first: bool,
}

impl Page {
    /// The file's name without its ending.
    fn name(&self) -> &str {
        self.file.strip_suffix(".md").unwrap_or(&self.file)
    }

    /// Where the app serves it.
    pub(super) fn url(&self) -> String {
        if self.first {
            "/docs".into()
        } else {
            format!("/docs/{}", self.name())
        }
    }

    /// The file that holds it in the site.
    pub(super) fn html_name(&self) -> String {
        format!("{}.html", if self.first { "index" } else { self.name() })
    }
}

/// A part of the navigation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Its heading.
    pub(super) title: String,
    /// Its pages in order.
    pub(super) pages: Vec<Page>,
}

/// Everything there is to read, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// What the documents are about: the list's first paragraph.
    pub(super) about: String,
    /// The parts of the navigation.
    pub(super) sections: Vec<Section>,
}

impl Index {
    /// Reads the list and looks for files that it forgets.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let list = folder.join(LIST);
        let text = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
        let mut index = Self::parse(&text)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") && name != LIST && index.pages().all(|page| page.file != name) {
                files.push(name);
            }
        }
        files.sort();
        let rest: Vec<Page> = files
            .into_iter()
            .map(|file| {
                let text = fs::read_to_string(folder.join(&file))?;
                let title = text.lines().find_map(|line| line.strip_prefix("# "));
                let title = title.unwrap_or(&file).to_owned();
                Ok(Page {
                    summary: String::new(),
                    first: false,
                    title,
                    file,
                })
            })
            .collect::<Result<_>>()?;
        if !rest.is_empty() {
            index.sections.push(Section {
                title: MORE.into(),
                pages: rest,
            });
        }
        Ok(index)
    }

    /// Reads the list.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut index = Self::default();
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                index.sections.push(Section {
                    title: title.trim().into(),
                    pages: Vec::new(),
                });
            } else if let Some(item) = line.strip_prefix("- ") {
                let page = item
                    .strip_prefix('[')
                    .and_then(|rest| rest.split_once("]("))
                    .and_then(|(title, rest)| Some((title, rest.split_once("): ")?)));
                let Some((title, (file, summary))) = page else {
                    bail!("{LIST}: `{line}` is not `- [Title](file.md): summary`");
                };
                let page = Page {
                    file: file.into(),
                    title: title.into(),
                    summary: summary.trim().into(),
                    first: index.pages().next().is_none(),
                };
                let section = index.sections.last_mut();
                section
                    .with_context(|| format!("{LIST}: a page before the first section"))?
                    .pages
                    .push(page);
            } else if index.sections.is_empty() && !line.starts_with('#') {
                index.about = format!("{} {}", index.about, line.trim()).trim().into();
            }
        }
        ensure!(index.pages().next().is_some(), "{LIST} names no page");
        Ok(index)
    }

    /// Every page in order.
    pub(super) fn pages(&self) -> impl Iterator<Item = &Page> {
        self.sections.iter().flat_map(|section| &section.pages)
    }
}
