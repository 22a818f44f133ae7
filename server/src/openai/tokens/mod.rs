//! Models' own tokenizers: text to token ids and back, and chat templates.

mod byte_level;
mod files;
mod shelf;
mod template;

pub(super) use files::folders;
pub(crate) use shelf::Shelf;
pub(super) use template::{ChatError, Conversation};

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tokenizers::Tokenizer;

use files::{read_json, read_text};
use template::Template;

/// What a model's tokenizer lies in.
const TOKENIZER: &str = "tokenizer.json";
/// What it is called and how it is set up.
const CONFIG: &str = "tokenizer_config.json";
/// What special tokens are for, in older folders.
const SPECIAL: &str = "special_tokens_map.json";
/// The chat template, in newer folders.
const TEMPLATE: &str = "chat_template.jinja";

/// A file of a tokenizer that is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model's tokenizer cannot be used: {}: {problem}; mend the file, or take it away", file.display())]
pub(crate) struct BadFile {
    file: PathBuf,
    problem: String,
}

impl BadFile {
    fn new(file: &Path, problem: impl ToString) -> Self {
        Self {
            file: file.to_owned(),
            problem: problem.to_string(),
        }
    }
}

/// A tokenizer that was read.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    /// Ids that text is drawn from: the vocabulary without special tokens.
    drawn: Vec<u32>,
    template: Option<Template>,
    /// Where it was read from.
    file: PathBuf,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    /// Reads a folder that holds `tokenizer.json`, or `vocab.json` and `merges.txt`.
    ///
    /// # Errors
    /// A file that is too large or not what it should be.
    fn read(folder: &Path) -> Result<Self, BadFile> {
        let config = read_json(&folder.join(CONFIG))?.unwrap_or_default();
        let special = special_tokens(folder, &config)?;
        let file = folder.join(TOKENIZER);
        let (file, json) = match read_text(&file)? {
            Some(json) => (file, json),
            None => byte_level::read(folder, &config, &special)?,
        };
        let mut tokenizer =
            Tokenizer::from_bytes(json.as_bytes()).map_err(|error| BadFile::new(&file, error))?;
        // Prompts are counted whole, whatever the file says for training.
        tokenizer
            .with_truncation(None)
            .map_err(|error| BadFile::new(&file, error))?;
        tokenizer.with_padding(None);
        let added = tokenizer.get_added_tokens_decoder();
        let not_drawn = |id: &u32| added.get(id).is_some_and(|token| token.special);
        let mut drawn: Vec<u32> = tokenizer.get_vocab(true).into_values().collect();
        drawn.retain(|id| !not_drawn(id));
        drawn.sort_unstable();
        drawn.dedup();
        if drawn.is_empty() {
            return Err(BadFile::new(&file, "it has no tokens but special ones"));
        }
        let template = Template::read(folder, &config, special)?;
        Ok(Self {
            tokenizer,
            drawn,
            template,
            file,
        })
    }

    /// The token ids of a text; with the special tokens that the model wants around it, or as it is.
    ///
    /// # Errors
    /// A tokenizer that cannot split the text.
    pub(super) fn encode(&self, text: &str, special: bool) -> Result<Vec<u32>, BadFile> {
        let encoding = self.tokenizer.encode_fast(text, special);
        let encoding = encoding.map_err(|error| BadFile::new(&self.file, error))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The text of token ids, without special tokens. Ids that stand for nothing are left out.
    pub(super) fn decode(&self, ids: &[u32]) -> String {
        self.tokenizer.decode(ids, true).unwrap_or_default()
    }

    /// Ids that text is drawn from, ascending; at least one.
    pub(super) fn drawn(&self) -> &[u32] {
        &self.drawn
    }

    /// The prompt that the model's chat template makes; `None` without one that can be used.
    ///
    /// # Errors
    /// A conversation that the template refuses.
    pub(super) fn chat(&self, conversation: &Conversation<'_>) -> Result<Option<String>, ChatError> {
        self.template
            .as_ref()
            .map_or(Ok(None), |template| template.render(conversation))
    }
}

/// Special tokens by their use, such as `bos_token`.
fn special_tokens(folder: &Path, config: &Map<String, Value>) -> Result<Map<String, Value>, BadFile> {
    let map = read_json(&folder.join(SPECIAL))?.unwrap_or_default();
    let named = map
        .iter()
        .chain(config)
        .filter(|(name, _)| name.ends_with("_token"));
    let text = |value: &Value| {
        value
            .as_str()
            .or_else(|| value.get("content")?.as_str())
            .map(Value::from)
    };
    Ok(named
        .filter_map(|(name, value)| Some((name.clone(), text(value)?)))
        .collect())
}

#[cfg(test)]
pub(super) mod tests;
