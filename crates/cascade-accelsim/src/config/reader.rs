//! Options from one or several files, left to right, the last value winning.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use indexmap::IndexMap;
use serde::Serialize;

use super::hash::options_hash;
use super::syntax::{MAX_CONFIG_BYTES, MAX_CONFIG_FILES, MAX_DEPTH, MAX_SETTINGS, Source, tokens};
use crate::log::Options;

/// Problems kept.
pub const MAX_PROBLEMS: usize = 256;

/// Every option name seen in released configs and in option dumps.
static KNOWN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    include_str!("known_options.txt")
        .lines()
        .filter(|line| line.starts_with('-'))
        .collect()
});

/// A file and a 1-based line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The source's name.
    pub file: String,
    /// 1-based; 0 for the whole file.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// Whether the simulator would accept it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The value is not what the file's author meant, or cannot be used.
    Error,
    /// Worth knowing.
    Note,
}

/// Something wrong or odd at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// How bad.
    pub severity: Severity,
    /// What, in plain words.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// A value and where it was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// As written; empty for a flag without a value.
    pub value: String,
    /// Where it was set last.
    pub place: Place,
}

/// Options by name (with the leading `-`), in the order in which each was first set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Config {
    /// The settings.
    pub settings: IndexMap<String, Setting>,
    /// What was odd, in reading order, at most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
}

/// Gives the text of a file that a config names with `-config`, or says why not.
pub type Resolve<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

impl Config {
    /// Reads `sources` left to right. `nested` gives the files named by `-config` inside them.
    #[must_use]
    pub fn read(sources: &[Source<'_>], nested: &mut Resolve<'_>) -> Self {
        let mut reading = Reading {
            config: Self::default(),
            files: 0,
            nested,
        };
        for source in sources {
            reading.file(*source, 0);
        }
        reading.config
    }

    /// The options that a run's log echoes.
    #[must_use]
    pub fn from_log(options: &Options) -> Self {
        let place = Place {
            file: "the log's options".to_owned(),
            line: 0,
        };
        let settings = options
            .iter()
            .map(|(name, value)| {
                (
                    name.clone(),
                    Setting {
                        value: value.clone(),
                        place: place.clone(),
                    },
                )
            })
            .collect();
        Self {
            settings,
            problems: Vec::new(),
        }
    }

    /// A value as written.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(|setting| setting.value.as_str())
    }

    /// Identifies the effective options; see [`options_hash`].
    #[must_use]
    pub fn hash(&self) -> String {
        options_hash(
            self.settings
                .iter()
                .map(|(name, setting)| (name.as_str(), setting.value.as_str())),
        )
    }

    fn problem(&mut self, place: Place, severity: Severity, text: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem {
                place,
                severity,
                text,
            });
        }
    }

    fn set(&mut self, name: String, value: String, place: Place) {
        if !KNOWN.contains(name.as_str()) && !self.settings.contains_key(&name) {
            let text = format!("{name} is not an option of the simulators known here; it is kept as it is");
            self.problem(place.clone(), Severity::Note, text);
        }
        if self.settings.len() >= MAX_SETTINGS && !self.settings.contains_key(&name) {
            self.problem(
                place,
                Severity::Error,
                format!("{name} is left out: at most {MAX_SETTINGS} options are kept"),
            );
            return;
        }
        if let Some(old) = self.settings.insert(
            name.clone(),
            Setting {
                value,
                place: place.clone(),
            },
        ) {
            let old = match old.place.file == place.file {
                true => format!("line {}", old.place.line),
                false => old.place.to_string(),
            };
            self.problem(
                place,
                Severity::Note,
                format!("{name} replaces the value of {old}"),
            );
        }
    }
}

struct Reading<'a, 'b> {
    config: Config,
    files: usize,
    nested: &'a mut Resolve<'b>,
}

impl Reading<'_, '_> {
    fn file(&mut self, source: Source<'_>, depth: usize) {
        let place = |line| Place {
            file: source.name.to_owned(),
            line,
        };
        self.files += 1;
        let text = source.text.get(..MAX_CONFIG_BYTES).unwrap_or(source.text);
        if text.len() < source.text.len() {
            let text = format!("the file is longer than {MAX_CONFIG_BYTES} bytes; the rest is not read");
            self.config.problem(place(0), Severity::Error, text);
        }
        let mut tokens = tokens(text).into_iter().peekable();
        while let Some(token) = tokens.next() {
            let here = place(token.line);
            if !token.is_name() {
                let text = format!("{:?} follows no option that lacks a value", token.text);
                self.config.problem(here, Severity::Error, text);
                continue;
            }
            let value = tokens.next_if(|next| !next.is_name());
            if value.as_ref().is_some_and(|value| value.open) {
                let text = format!("the quote after {} is never closed", token.text);
                self.config.problem(here.clone(), Severity::Error, text);
            }
            match (token.text.as_str(), value) {
                ("-config", Some(name)) => self.nested(&name.text, here, depth),
                ("-config", None) => {
                    self.config
                        .problem(here, Severity::Error, "-config names no file".to_owned());
                }
                (_, value) => self.config.set(
                    token.text,
                    value.map_or_else(String::new, |value| value.text),
                    here,
                ),
            }
        }
    }

    fn nested(&mut self, name: &str, here: Place, depth: usize) {
        if depth + 1 >= MAX_DEPTH || self.files >= MAX_CONFIG_FILES {
            let text = format!(
                "-config {name} is not read: files may nest {MAX_DEPTH} deep and be {MAX_CONFIG_FILES} in all; does one \
                 include itself?"
            );
            self.config.problem(here, Severity::Error, text);
            return;
        }
        match (self.nested)(name) {
            Ok(text) => self.file(Source { name, text: &text }, depth + 1),
            Err(why) => self.config.problem(
                here,
                Severity::Error,
                format!("-config {name} cannot be read: {why}"),
            ),
        }
    }
}
