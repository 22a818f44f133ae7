//! Puts generated parts in the place of lines such as `<!-- cascade: api runs -->`.
//!
//! | line | what comes in its place |
//! |---|---|
//! | `api TAG` | every operation of a tag, with examples |
//! | `api-routes` | a table of all operations |
//! | `api-types` | every type |
//! | `agent-routes`, `agent-types` | what an agent needs of the API, in brief |
//! | `trace-states`, `sim-states`, `run-states` | life cycles as tables |
//! | `example ID` | a recorded command and its answer |
//! | `answer ID` | that answer alone |

use std::path::Path;

use anyhow::{Result, bail};

use super::examples::Examples;
use super::openapi::Api;
use super::states;

/// What such a line begins with.
const OPEN: &str = "<!-- cascade: ";

/// Parts of the API that an agent drives.
const AGENT_TAGS: &[&str] = &["app", "traces", "runs", "scenarios"];

/// Everything that pages can ask for.
pub(super) struct Sources {
    /// The OpenAPI document.
    pub(super) api: Api,
    examples: Examples,
    /// Tags of the API with the page that shows each.
    tags: Vec<(String, String)>,
}

impl Sources {
    /// Reads what parts are made of. `pages` are the files with their text, to know which shows what.
    pub(super) fn read<'a>(root: &Path, pages: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let asked = pages.flat_map(|(file, text)| text.lines().map(move |line| (file, line)));
        let tags = asked.filter_map(|(file, line)| {
            let tag = asks_for(line)?.strip_prefix("api ")?;
            Some((tag.to_owned(), file.to_owned()))
        });
        let tags = tags.collect();
        Ok(Self {
            api: Api::read(root)?,
            examples: Examples::read(root)?,
            tags,
        })
    }

    /// The text with every such line replaced, indented as the line was.
    ///
    /// # Errors
    /// When a line asks for something unknown.
    pub(super) fn expand(&self, text: &str) -> Result<String> {
        let mut out = String::with_capacity(text.len());
        for line in text.lines() {
            let Some(what) = asks_for(line) else {
                out.push_str(line);
                out.push('\n');
                continue;
            };
            let indent = line
                .get(..line.len() - line.trim_start().len())
                .unwrap_or_default();
            for part in self.part(what)?.trim_end().lines() {
                out.push_str(if part.is_empty() { "" } else { indent });
                out.push_str(part);
                out.push('\n');
            }
        }
        Ok(out)
    }

    fn part(&self, what: &str) -> Result<String> {
        Ok(match what.split_once(' ').unwrap_or((what, "")) {
            ("api", tag) => self.api.tag(tag, &self.examples)?,
            ("api-routes", _) => self.api.routes(&|tag| {
                let page = self.tags.iter().find(|(known, _)| known == tag)?;
                Some(page.1.clone())
            }),
            ("api-types", _) => self.api.types(),
            ("agent-routes", _) => self.api.brief(AGENT_TAGS).0,
            ("agent-types", _) => self.api.brief(AGENT_TAGS).1,
            ("trace-states", _) => states::traces(),
            ("sim-states", _) => states::sims(),
            ("run-states", _) => states::runs(),
            ("example", id) => self.examples.named(id)?.markdown(),
            ("answer", id) => self.examples.named(id)?.answer(),
            _ => bail!("`{what}` is nothing that can be put here"),
        })
    }
}

fn asks_for(line: &str) -> Option<&str> {
    line.trim().strip_prefix(OPEN)?.strip_suffix(" -->")
}
