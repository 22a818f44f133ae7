//! A run's live events, with the connection kept up.

use cascade_api::RunEvent;
use futures::Stream;
use reqwest::{Method, Response, Url, header};

use crate::client::{Repeat, bare};
use crate::{Client, Error, Result};

/// Largest event that is read; a snapshot of 64 sims with 1,000 kernels each is about 20 MB.
pub const MAX_EVENT_BYTES: usize = 256 << 20;

/// A run's events. After a connection is lost a new one starts with a new `snapshot`, which replaces all that
/// was known; a `lagged` event is handed on and followed by one as well.
#[derive(Debug)]
pub struct Events {
    client: Client,
    url: Url,
    answer: Option<Response>,
    lines: Lines,
    over: bool,
}

impl Events {
    pub(crate) fn new(client: Client, url: Url) -> Self {
        Self {
            client,
            url,
            answer: None,
            lines: Lines::default(),
            over: false,
        }
    }

    /// The next event. `None` follows an error; the stream itself never ends by its own.
    pub async fn next(&mut self) -> Option<Result<RunEvent>> {
        if self.over {
            return None;
        }
        let event = self.advance().await;
        self.over = event.is_err();
        Some(event)
    }

    /// The events as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<RunEvent>> {
        futures::stream::unfold(self, async |mut events| Some((events.next().await?, events)))
    }

    async fn advance(&mut self) -> Result<RunEvent> {
        loop {
            if let Some(data) = self.lines.event() {
                let event =
                    serde_json::from_slice(&data).map_err(|error| self.unexpected(error.to_string()))?;
                if matches!(event, RunEvent::Lagged { .. }) {
                    self.answer = None;
                }
                return Ok(event);
            }
            if self.lines.len() > MAX_EVENT_BYTES {
                return Err(self.unexpected(format!("an event is over {MAX_EVENT_BYTES} bytes")));
            }
            let Some(answer) = &mut self.answer else {
                let url = self.url.clone();
                let make = |c: &Client| {
                    let request = c.request(Method::GET, url.clone());
                    Ok(request.header(header::ACCEPT, "text/event-stream"))
                };
                self.answer = Some(self.client.send(Repeat::Always, make).await?);
                self.lines = Lines::default();
                continue;
            };
            match answer.chunk().await {
                Ok(Some(chunk)) => self.lines.push(&chunk),
                // Over or silent for longer than keepalives come: connect again.
                Ok(None) | Err(_) => {
                    self.answer = None;
                    // A server that ends each stream at once must not be called in a tight loop.
                    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                }
            }
        }
    }

    fn unexpected(&self, reason: String) -> Error {
        Error::Answer {
            url: bare(&self.url),
            reason,
        }
    }
}

/// Server-sent events out of pieces of text. Fields other than `data` say nothing here.
#[derive(Debug, Default)]
struct Lines {
    buffer: Vec<u8>,
    /// Bytes of `buffer` known to hold no newline.
    searched: usize,
    data: Vec<u8>,
    any: bool,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    fn len(&self) -> usize {
        self.buffer.len() + self.data.len()
    }

    /// The data of the next event that is complete.
    fn event(&mut self) -> Option<Vec<u8>> {
        let mut start = 0;
        let mut found = None;
        while found.is_none() {
            let from = self.searched.max(start);
            let Some(at) = self.buffer.get(from..)?.iter().position(|b| *b == b'\n') else {
                break;
            };
            let end = from + at;
            let line = self.buffer.get(start..end)?;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                if std::mem::take(&mut self.any) {
                    found = Some(std::mem::take(&mut self.data));
                }
            } else if let Some(data) = line.strip_prefix(b"data:") {
                if std::mem::replace(&mut self.any, true) {
                    self.data.push(b'\n');
                }
                self.data
                    .extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
            start = end + 1;
        }
        self.buffer.drain(..start);
        self.searched = if found.is_some() { 0 } else { self.buffer.len() };
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn events_come_whole_whatever_the_pieces() {
        let text = b": keepalive\n\ndata: {\"a\":1}\r\n\r\nid: 4\ndata: one\ndata: two\n\nevent: x\n\ndata:last\n\ndata: open";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for piece in text.chunks(size) {
                lines.push(piece);
                while let Some(event) = lines.event() {
                    seen.push(String::from_utf8(event).unwrap());
                }
            }
            assert_eq!(seen, ["{\"a\":1}", "one\ntwo", "last"], "pieces of {size}");
        }
    }
}
