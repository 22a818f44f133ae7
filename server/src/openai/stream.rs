//! An answer as server-sent events: comments while a sim is waited for, a chunk for each token, then what is told.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::Body;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cascade_api::CascadeInfo;
use futures::{StreamExt, stream};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::beat::{Beat, Beats};
use super::problem::Problem;
use super::reply::{Piece, Reply};
use super::text::Words;

/// Starts the stream once there is something to say; what fails before has a status of its own.
pub(super) async fn write(
    reply: Reply,
    include_usage: bool,
    mut beats: Beats,
    shutdown: CancellationToken,
) -> Result<Response, Problem> {
    let first = beats.next().await.transpose()?;
    let beats = stream::iter(first.map(Ok)).chain(beats).boxed();
    let writer = Writer {
        texts: reply.words().into_iter().map(Text::new).collect(),
        unfinished: reply.ask.sequences.len(),
        reply,
        include_usage,
        beats,
        ready: VecDeque::new(),
        ended: false,
    };
    let events = stream::unfold(writer, Writer::next).take_until(shutdown.cancelled_owned());
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// One choice on its way.
struct Text {
    words: Words,
    out: u32,
    finished: bool,
}

impl Text {
    fn new(words: Words) -> Self {
        Self {
            words,
            out: 0,
            finished: false,
        }
    }
}

struct Writer {
    reply: Reply,
    include_usage: bool,
    beats: Beats,
    texts: Vec<Text>,
    /// Choices whose last chunk is still to come.
    unfinished: usize,
    /// Events that are due.
    ready: VecDeque<Bytes>,
    ended: bool,
}

impl Writer {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((Ok(event), self));
            }
            if self.ended {
                return None;
            }
            match self.beats.next().await {
                None => self.ended = true,
                Some(Ok(Beat::Waiting(word))) => return Some((Ok(comment(&word)), self)),
                Some(Ok(Beat::Token { choice })) => self.token(choice),
                Some(Ok(Beat::Done(info))) => self.end(info),
                Some(Err(problem)) => {
                    self.ready.push_back(data(&problem.body()));
                    self.ended = true;
                }
            }
        }
    }

    /// The next token of a choice. The last choice to end keeps its last chunk until the times are known.
    fn token(&mut self, choice: usize) {
        let opening = self.reply.opening(choice);
        let Some(text) = self.texts.get_mut(choice) else {
            return;
        };
        let first = text.out == 0;
        text.out += 1;
        let mut piece = text.words.next();
        if first {
            piece.insert_str(0, &opening);
        }
        let sequence = self.reply.ask.sequences.get(choice);
        let complete = sequence.is_some_and(|sequence| text.out >= sequence.output_tokens);
        if first || !piece.is_empty() {
            let piece = Piece {
                choice,
                text: piece,
                first,
                last: false,
            };
            self.send(vec![piece], None);
        }
        if complete && self.unfinished > 1 {
            self.finish(choice, None);
        }
    }

    fn finish(&mut self, choice: usize, info: Option<Box<CascadeInfo>>) {
        self.unfinished = self.unfinished.saturating_sub(1);
        let Some(text) = self.texts.get_mut(choice) else {
            return;
        };
        text.finished = true;
        let out = text.out;
        let piece = Piece {
            choice,
            // Without a token, nothing came before.
            text: if out == 0 {
                self.reply.opening(choice)
            } else {
                String::new()
            },
            first: out == 0,
            last: true,
        };
        self.send(vec![piece], info);
    }

    fn send(&mut self, pieces: Vec<Piece>, info: Option<Box<CascadeInfo>>) {
        let chunk = self.reply.chunk(pieces, None, info);
        self.ready.push_back(data(&chunk));
    }

    fn end(&mut self, info: Box<CascadeInfo>) {
        for choice in 0..self.texts.len() {
            if self.texts.get(choice).is_some_and(|text| !text.finished) {
                let info = (self.unfinished == 1).then(|| info.clone());
                self.finish(choice, info);
            }
        }
        if self.include_usage {
            let chunk = self.reply.chunk(Vec::new(), Some(self.reply.usage()), Some(info));
            self.ready.push_back(data(&chunk));
        }
        self.ready.push_back(Bytes::from_static(b"data: [DONE]\n\n"));
        self.ended = true;
    }
}

fn comment(word: &str) -> Bytes {
    Bytes::from(format!(": {}\n\n", word.replace(['\r', '\n'], " ")))
}

fn data(value: &impl Serialize) -> Bytes {
    let json = serde_json::to_string(value).unwrap_or_default();
    Bytes::from(format!("data: {json}\n\n"))
}
