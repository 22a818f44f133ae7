//! Files for those who read with programs: the agents' prompt, the same as a skill, and the lists of llmstxt.org.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::expand::Sources;
use super::index::Index;

/// The prompt's text, with lines for [`Sources::expand`].
const PROMPT: &str = "docs/agents/prompt.md";
/// What stands above the prompt to make it a skill. The description is what an agent decides by.
const SKILL: &str = "---\nname: cascade\ndescription: Drive a Cascade app over its HTTP API. Use when the user wants to \
                     simulate a GPU trace on other GPUs, watch a run, compare GPUs, explain simulated times, or estimate \
                     what a request mix would see.\n---\n\n";

/// The prompt and the skill.
pub(super) fn files(root: &Path, parts: &Sources) -> Result<Vec<(&'static str, String)>> {
    let file = root.join(PROMPT);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let prompt = parts.expand(&text).context(PROMPT)?;
    let skill = format!("{SKILL}{prompt}");
    Ok(vec![
        ("docs/agent-prompt.md", prompt),
        ("docs/cascade-skill/SKILL.md", skill),
    ])
}

/// `llms.txt`, which names every page, and `llms-full.txt`, which holds them all.
pub(super) fn lists(index: &Index, sources: &[String]) -> Vec<(&'static str, String)> {
    let mut short = format!("# Cascade\n\n> {}\n", index.about);
    for section in &index.sections {
        short.push_str(&format!("\n## {}\n\n", section.title));
        for page in &section.pages {
            let summary = if page.summary.is_empty() {
                String::new()
            } else {
                format!(": {}", page.summary)
            };
            short.push_str(&format!("- [{}](/docs/{}){summary}\n", page.title, page.file));
        }
    }
    short.push_str(
        "\n## For agents\n\n- [Prompt](/docs/agent-prompt.md): how to drive an app over its API, to be given to an agent.\n\
         - [Skill](/docs/cascade-skill/SKILL.md): the same as a skill.\n\
         - [Everything](/llms-full.txt): every page in one file.\n\
         - [OpenAPI](/api/openapi.json): the API for programs.\n",
    );
    let mut full = format!("# Cascade\n\n> {}\n", index.about);
    for (page, source) in index.pages().zip(sources) {
        full.push_str(&format!(
            "\n---\n\n<!-- {} -->\n\n{}\n",
            page.url(),
            source.trim_end()
        ));
    }
    vec![("llms.txt", short), ("llms-full.txt", full)]
}
