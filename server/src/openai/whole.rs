//! An answer in one piece.

use axum::Json;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;

use super::beat::{Beat, Beats};
use super::problem::Problem;
use super::reply::Reply;
use crate::error::Error;

/// Waits for the end, then writes all text at once.
pub(super) async fn write(reply: Reply, mut beats: Beats) -> Result<Response, Problem> {
    while let Some(beat) = beats.next().await {
        if let Beat::Done(info) = beat? {
            // Long texts take a while to draw.
            let body = tokio::task::spawn_blocking(move || {
                let words = reply.words().into_iter().zip(&reply.ask.sequences);
                let text = |(choice, (mut words, sequence)): (
                    usize,
                    (super::text::Words, &super::ask::Sequence),
                )| {
                    let mut text = reply.opening(choice);
                    (0..sequence.output_tokens).for_each(|_| text.push_str(&words.next()));
                    text
                };
                let texts = words.enumerate().map(text).collect();
                reply.whole(texts, info)
            });
            return Ok(Json(body.await.map_err(Error::from)?).into_response());
        }
    }
    Err(Error::Stopping.into())
}
