//! Chat templates: Jinja as Hugging Face's `apply_chat_template` runs it.

use std::path::Path;

use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, Value as Jinja};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde::Serialize;
use serde_json::{Map, Value};

use super::files::read_text;
use super::{BadFile, TEMPLATE};
use crate::clock;

/// Steps that a template may take: a chat of thousands of messages needs a fraction.
const MAX_STEPS: u64 = 50_000_000;
/// Marks an error that the template itself raised.
const RAISED: &str = "the chat template refuses this conversation: ";

/// A conversation to write down.
#[derive(Debug, Serialize)]
pub(in crate::openai) struct Conversation<'a> {
    pub(in crate::openai) messages: &'a [Value],
    pub(in crate::openai) tools: Option<&'a [Value]>,
    /// Further variables.
    #[serde(skip)]
    pub(in crate::openai) more: &'a Map<String, Value>,
}

/// A conversation that the template refuses, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{RAISED}{0}")]
pub(in crate::openai) struct ChatError(String);

/// A template and the special tokens that it may name.
pub(super) struct Template {
    environment: Environment<'static>,
    special: Map<String, Value>,
}

impl Template {
    /// The template of a tokenizer's folder. One that is no Jinja counts as none.
    pub(super) fn read(
        folder: &Path,
        config: &Map<String, Value>,
        special: Map<String, Value>,
    ) -> Result<Option<Self>, BadFile> {
        let file = folder.join(TEMPLATE);
        let Some(text) = read_text(&file)?.or_else(|| configured(config)) else {
            return Ok(None);
        };
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_fuel(Some(MAX_STEPS));
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.add_function("raise_exception", raise);
        environment.add_function("strftime_now", now);
        environment.add_filter("tojson", tojson);
        match environment.add_template_owned("chat", without_generation(&text)) {
            Ok(()) => Ok(Some(Self { environment, special })),
            Err(error) => {
                tracing::warn!(folder = %folder.display(), %error, "a chat template cannot be used");
                Ok(None)
            }
        }
    }

    /// The prompt; `None` where the template fails for another reason than the conversation.
    pub(super) fn render(&self, conversation: &Conversation<'_>) -> Result<Option<String>, ChatError> {
        let mut variables: Map<String, Value> = self.special.clone();
        variables.insert("add_generation_prompt".to_owned(), true.into());
        variables.insert("messages".to_owned(), conversation.messages.into());
        variables.insert(
            "tools".to_owned(),
            conversation.tools.map_or(Value::Null, Value::from),
        );
        variables.insert("documents".to_owned(), Value::Null);
        variables.extend(conversation.more.clone());
        let rendered = self
            .environment
            .get_template("chat")
            .and_then(|chat| chat.render(variables));
        match rendered {
            Ok(prompt) => Ok(Some(prompt)),
            Err(error) => match raised(&error) {
                Some(message) => Err(ChatError(message)),
                None => {
                    tracing::warn!(%error, "a chat template failed; messages are joined by newlines");
                    Ok(None)
                }
            },
        }
    }
}

/// `chat_template` in `tokenizer_config.json`: a text, or a list of named ones.
fn configured(config: &Map<String, Value>) -> Option<String> {
    match config.get("chat_template")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(named) => {
            let default = named
                .iter()
                .find(|one| one["name"] == "default")
                .or(named.first())?;
            default.get("template")?.as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// Hugging Face's own tag for masks in training, which changes no text and which Jinja does not know.
fn without_generation(text: &str) -> String {
    let mut text = text.to_owned();
    for word in ["generation", "endgeneration"] {
        for open in ["{%-", "{%"] {
            for close in ["-%}", "%}"] {
                let gone = format!("{open} if true {close}");
                let end = format!("{open} endif {close}");
                let with = if word == "generation" { gone } else { end };
                text = text.replace(&format!("{open} {word} {close}"), &with);
            }
        }
    }
    text
}

fn raise(message: String) -> Result<String, Error> {
    Err(Error::new(
        ErrorKind::InvalidOperation,
        format!("{RAISED}{message}"),
    ))
}

/// What `raise_exception` said, if an error comes from it.
fn raised(error: &Error) -> Option<String> {
    let own = error.detail().and_then(|detail| detail.strip_prefix(RAISED));
    let mut source = std::error::Error::source(error);
    let mut found = own.map(str::to_owned);
    while let (None, Some(cause)) = (&found, source) {
        let inner = cause.downcast_ref::<Error>();
        found = inner.and_then(|inner| inner.detail()?.strip_prefix(RAISED).map(str::to_owned));
        source = cause.source();
    }
    found
}

/// The date and time now, in UTC.
fn now(format: &str) -> Result<String, Error> {
    let micros = clock::now().as_micros();
    let time = jiff::Timestamp::from_microsecond(micros);
    let text = time.and_then(|time| jiff::fmt::strtime::format(format, time));
    text.map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// JSON as Python's `json.dumps` writes it, without its escapes for HTML and other scripts.
fn tojson(value: &Jinja, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    // Others, such as `ensure_ascii`, are as they are.
    let bad = |error: serde_json::Error| Error::new(ErrorKind::BadSerialization, error.to_string());
    let mut out = Vec::new();
    match indent {
        Some(width) => {
            let spaces = " ".repeat(width.min(16));
            let pretty = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
            let mut serializer = serde_json::Serializer::with_formatter(&mut out, pretty);
            value.serialize(&mut serializer).map_err(bad)?;
        }
        None => {
            let mut serializer = serde_json::Serializer::with_formatter(&mut out, Spaced);
            value.serialize(&mut serializer).map_err(bad)?;
        }
    }
    String::from_utf8(out).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// A space after every comma and colon.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, out: &mut W) -> std::io::Result<()> {
        out.write_all(b": ")
    }
}

#[cfg(test)]
mod tests;
