//! How many tokens a prompt has: by the model's tokenizer, or by an estimate that says so.

use std::sync::Arc;

use cascade_api::{ChatCreate, Prompt};
use serde_json::Value;

use super::problem::Problem;
use super::text::Vocabulary;
use super::tokens::{BadFile, ChatError, Conversation, Tokens};

/// How prompts were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// By the model's tokenizer.
    Tokenizer,
    /// By the tokenizer, after the model's chat template.
    ChatTemplate,
    /// By the tokenizer, messages joined by newlines.
    Joined,
    /// They came as token ids.
    TokenIds,
    /// By their length: there is no tokenizer of the model.
    Estimated,
}

impl Source {
    /// The word for it in answers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tokenizer => "tokenizer",
            Self::ChatTemplate => "tokenizer:chat_template",
            Self::Joined => "tokenizer:joined",
            Self::TokenIds => "token_ids",
            Self::Estimated => "estimated:utf8-bytes/4",
        }
    }
}

/// A prompt whose tokens were counted.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    /// Its tokens, or what stands for them.
    pub(super) ids: Arc<[u32]>,
    /// Its text, where the answer repeats it.
    pub(super) echo: Option<Arc<str>>,
}

impl Counted {
    /// How many tokens it has.
    pub(super) fn tokens(&self) -> u64 {
        self.ids.len() as u64
    }
}

/// The prompts of a completion. `vocab` is the number of the model's tokens.
pub(super) fn of_completion(
    vocabulary: &Vocabulary,
    prompt: &Prompt,
    echo: bool,
    vocab: u32,
) -> Result<(Source, Vec<Counted>), Problem> {
    let texts: Vec<&str> = match prompt {
        Prompt::Text(text) => vec![text],
        Prompt::Texts(texts) => texts.iter().map(String::as_str).collect(),
        Prompt::Tokens(ids) => return of_ids(vocabulary, std::slice::from_ref(ids), echo, vocab),
        Prompt::TokenLists(lists) => return of_ids(vocabulary, lists, echo, vocab),
    };
    let source = match vocabulary {
        Vocabulary::Tokens(_) => Source::Tokenizer,
        Vocabulary::Size(_) => Source::Estimated,
    };
    let counted = texts.into_iter().map(|text| {
        let ids = match vocabulary {
            Vocabulary::Tokens(tokens) => encoded(tokens, text, true, "prompt")?,
            Vocabulary::Size(_) => estimated(text),
        };
        Ok(Counted {
            ids,
            echo: echo.then(|| Arc::from(text)),
        })
    });
    Ok((source, counted.collect::<Result<_, Problem>>()?))
}

fn of_ids(
    vocabulary: &Vocabulary,
    lists: &[Vec<u32>],
    echo: bool,
    vocab: u32,
) -> Result<(Source, Vec<Counted>), Problem> {
    if let Some(id) = lists.iter().flatten().find(|id| **id >= vocab) {
        let message = format!("prompt: there is no token {id}; the model has {vocab} tokens, from 0");
        return Err(Problem::request(400, "invalid_value", Some("prompt"), message));
    }
    let counted = lists.iter().map(|ids| Counted {
        ids: Arc::from(&ids[..]),
        echo: echo.then(|| Arc::from(vocabulary.text(ids))),
    });
    Ok((Source::TokenIds, counted.collect()))
}

/// The prompt that a chat comes to.
pub(super) fn of_chat(vocabulary: &Vocabulary, chat: &ChatCreate) -> Result<(Source, Vec<Counted>), Problem> {
    let contents: Vec<&str> = chat
        .messages
        .iter()
        .map(|message| message.content.as_str())
        .collect();
    let joined = contents.join("\n");
    let (source, ids) = match vocabulary {
        Vocabulary::Size(_) => (Source::Estimated, estimated(&joined)),
        Vocabulary::Tokens(tokens) => {
            let messages: Vec<Value> = chat
                .messages
                .iter()
                .filter_map(|message| serde_json::to_value(message).ok())
                .collect();
            let conversation = Conversation {
                messages: &messages,
                tools: chat.tools.as_deref(),
                more: &chat.chat_template_kwargs,
            };
            match tokens.chat(&conversation)? {
                // The template writes the special tokens itself.
                Some(prompt) => (Source::ChatTemplate, encoded(tokens, &prompt, false, "messages")?),
                None => (Source::Joined, encoded(tokens, &joined, true, "messages")?),
            }
        }
    };
    Ok((source, vec![Counted { ids, echo: None }]))
}

/// Longest text that is split into tokens: 4 MiB, about a million tokens. Splitting takes many times a text's
/// length in memory.
const MAX_TEXT_BYTES: usize = 4 << 20;

fn encoded(tokens: &Tokens, text: &str, special: bool, param: &str) -> Result<Arc<[u32]>, Problem> {
    if text.len() > MAX_TEXT_BYTES {
        let message = format!(
            "{param}: a text of {} bytes; at most {} MiB are split into tokens, shorten it",
            text.len(),
            MAX_TEXT_BYTES >> 20
        );
        return Err(Problem::request(
            400,
            "context_length_exceeded",
            Some(param),
            message,
        ));
    }
    let ids = tokens.encode(text, special)?;
    if ids.is_empty() {
        let message = format!("{param}: it has no tokens; a prompt has at least one");
        return Err(Problem::request(400, "invalid_value", Some(param), message));
    }
    Ok(ids.into())
}

/// What stands for a text's tokens without a tokenizer: its UTF-8 bytes, four at a time, at least once. Texts that
/// begin alike begin with the same ones.
fn estimated(text: &str) -> Arc<[u32]> {
    let id = |bytes: &[u8]| bytes.iter().fold(0, |id, byte| (id << 8) | u32::from(*byte));
    if text.is_empty() {
        return Arc::from([0]);
    }
    text.as_bytes().chunks(4).map(id).collect()
}

impl From<BadFile> for Problem {
    fn from(error: BadFile) -> Self {
        Self::request(422, "tokenizer_unusable", Some("model"), error.to_string())
    }
}

impl From<ChatError> for Problem {
    fn from(error: ChatError) -> Self {
        Self::request(400, "invalid_value", Some("messages"), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_tokenizer_four_bytes_are_a_token() {
        for (text, tokens) in [
            ("", 1),
            ("abcd", 1),
            ("abcde", 2),
            ("Hello, my name is", 5),
            ("äöü", 2),
        ] {
            assert_eq!(estimated(text).len(), tokens, "{text}");
        }
    }
}
