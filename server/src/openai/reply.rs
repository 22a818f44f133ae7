//! The parts of an answer that do not depend on whether it is streamed.

use std::sync::Arc;

use cascade_api::{CascadeInfo, ChatChoice, ChatCompletion, ChatPart, Completion, CompletionChoice, Usage};
use serde::Serialize;

use super::ask::Ask;
use super::problem::Problem;
use super::text::Words;
use crate::clock;
use crate::error::Error;

/// Why every text ends: it has the tokens that were asked for.
const FINISH: &str = "length";

/// Which of the two kinds of answer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Completion,
    Chat,
}

/// An answer to be.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    shape: Shape,
    id: String,
    created: i64,
    model: String,
    pub(super) ask: Arc<Ask>,
}

/// An answer, or a chunk of one.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Body {
    Completion(Completion),
    Chat(ChatCompletion),
}

/// What a chunk adds to one choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Piece {
    pub(super) choice: usize,
    pub(super) text: String,
    /// Whether nothing of this choice came before.
    pub(super) first: bool,
    /// Whether nothing comes after.
    pub(super) last: bool,
}

impl Reply {
    pub(super) fn new(shape: Shape, model: String, ask: Arc<Ask>) -> Result<Self, Problem> {
        let mut bits = [0; 12];
        getrandom::fill(&mut bits).map_err(|error| Error::Io {
            what: "cannot draw random bits for an id",
            source: error.into(),
        })?;
        let kind = match shape {
            Shape::Completion => "cmpl",
            Shape::Chat => "chatcmpl",
        };
        Ok(Self {
            shape,
            id: format!("{kind}-{}", hex::encode(bits)),
            created: clock::now().as_micros() / 1_000_000,
            model,
            ask,
        })
    }

    /// The text of each choice, before its first token.
    pub(super) fn words(&self) -> Vec<Words> {
        let choices = self.ask.sequences.iter().enumerate();
        let words = choices.map(|(choice, sequence)| {
            Words::new(
                &self.ask.vocabulary,
                self.ask.seed,
                choice,
                sequence.output_tokens,
            )
        });
        words.collect()
    }

    /// What a choice begins with: its prompt, if that is to be repeated.
    pub(super) fn opening(&self, choice: usize) -> String {
        let sequence = self.ask.sequences.get(choice);
        let echo = sequence.and_then(|sequence| sequence.echo.as_deref());
        echo.unwrap_or_default().to_owned()
    }

    pub(super) fn usage(&self) -> Usage {
        let (prompt_tokens, completion_tokens) = (self.ask.prompt_tokens, self.ask.output_tokens());
        Usage {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens + completion_tokens,
        }
    }

    /// A whole answer of these texts.
    pub(super) fn whole(&self, texts: Vec<String>, info: Box<CascadeInfo>) -> Body {
        let pieces = texts.into_iter().enumerate().map(|(choice, text)| Piece {
            choice,
            text,
            first: true,
            last: true,
        });
        self.body(pieces.collect(), false, Some(self.usage()), Some(info))
    }

    /// A chunk of a stream.
    pub(super) fn chunk(
        &self,
        pieces: Vec<Piece>,
        usage: Option<Usage>,
        info: Option<Box<CascadeInfo>>,
    ) -> Body {
        self.body(pieces, true, usage, info)
    }

    fn body(
        &self,
        pieces: Vec<Piece>,
        chunk: bool,
        usage: Option<Usage>,
        cascade: Option<Box<CascadeInfo>>,
    ) -> Body {
        let (id, created, model) = (self.id.clone(), self.created, self.model.clone());
        match self.shape {
            Shape::Completion => Body::Completion(Completion {
                id,
                object: "text_completion".to_owned(),
                created,
                model,
                choices: pieces.into_iter().map(completion_choice).collect(),
                usage,
                cascade,
            }),
            Shape::Chat => Body::Chat(ChatCompletion {
                id,
                object: if chunk {
                    "chat.completion.chunk"
                } else {
                    "chat.completion"
                }
                .to_owned(),
                created,
                model,
                choices: pieces
                    .into_iter()
                    .map(|piece| chat_choice(piece, chunk))
                    .collect(),
                usage,
                cascade,
            }),
        }
    }
}

fn number(choice: usize) -> u32 {
    u32::try_from(choice).unwrap_or(u32::MAX)
}

fn completion_choice(piece: Piece) -> CompletionChoice {
    CompletionChoice {
        index: number(piece.choice),
        text: piece.text,
        logprobs: None,
        finish_reason: piece.last.then(|| FINISH.to_owned()),
    }
}

fn chat_choice(piece: Piece, chunk: bool) -> ChatChoice {
    let part = ChatPart {
        role: piece.first.then(|| "assistant".to_owned()),
        content: (piece.first || !piece.text.is_empty()).then_some(piece.text),
    };
    let (message, delta) = if chunk {
        (None, Some(part))
    } else {
        (Some(part), None)
    };
    ChatChoice {
        index: number(piece.choice),
        message,
        delta,
        logprobs: None,
        finish_reason: piece.last.then(|| FINISH.to_owned()),
    }
}
