//! Recorded examples: commands and what a real app answered, in `docs/examples.json`. `cargo xtask docs --capture`
//! records them again.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// The recordings, within the repository.
pub(super) const FILE: &str = "docs/examples.json";

/// One command and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Example {
    /// What pages name it by.
    pub(super) id: String,
    /// The operation that it shows, such as `GET /api/runs`; empty for the command line.
    pub(super) operation: String,
    /// What it shows, where that is not plain from the operation.
    pub(super) title: String,
    /// The command, as a person would type it.
    pub(super) command: String,
    /// How the answer is written: `json` or `text`.
    pub(super) lang: String,
    /// The answer, with long lists cut.
    pub(super) output: String,
}

impl Example {
    /// The command and the answer as Markdown.
    pub(super) fn markdown(&self) -> String {
        let title = if self.title.is_empty() {
            String::new()
        } else {
            format!("{}:\n\n", self.title)
        };
        format!("{title}```sh\n{}\n```\n\n{}\n", self.command, self.answer())
    }

    /// The answer alone.
    pub(super) fn answer(&self) -> String {
        if self.output.is_empty() {
            return "The answer has no body.\n".into();
        }
        format!("```{}\n{}\n```\n", self.lang, self.output)
    }

    /// As it is written down.
    pub(super) fn value(&self) -> Value {
        serde_json::json!({
            "id": self.id,
            "operation": self.operation,
            "title": self.title,
            "command": self.command,
            "lang": self.lang,
            "output": self.output.lines().collect::<Vec<_>>(),
        })
    }

    fn read(value: &Value) -> Self {
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let output = value
            .get("output")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        Self {
            id: text("id"),
            operation: text("operation"),
            title: text("title"),
            command: text("command"),
            lang: text("lang"),
            output: output.filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// Every recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Examples(pub(super) Vec<Example>);

impl Examples {
    /// Reads the recordings.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let file = root.join(FILE);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let values: Vec<Value> = serde_json::from_str(&text).with_context(|| format!("{FILE} is no list"))?;
        Ok(Self(values.iter().map(Example::read).collect()))
    }

    /// Those of an operation.
    pub(super) fn of<'a>(&'a self, operation: &'a str) -> impl Iterator<Item = &'a Example> {
        self.0
            .iter()
            .filter(move |example| example.operation == operation)
    }

    /// The one with this name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn named(&self, id: &str) -> Result<&Example> {
        let found = self.0.iter().find(|example| example.id == id);
        found.with_context(|| {
            format!("{FILE} has no `{id}`: name it in capture.rs and run `cargo xtask docs --capture`")
        })
    }
}
