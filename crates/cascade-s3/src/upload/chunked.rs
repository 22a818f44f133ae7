//! The aws-chunked body format, decoded as it streams.
//!
//! A body is a row of `<hex size>[;chunk-signature=<64 hex>]\r\n<data>\r\n`, ended by a chunk of size 0,
//! then trailers (`name:value\r\n`) and an empty line. Source: "Signature calculations for the
//! authorization header: transferring payload in multiple chunks" and "... including trailing headers" in
//! the Amazon S3 API reference. s3s keeps each chunk whole in memory and decodes only signed requests, so
//! this decoder stands in its place; it holds at most one line.

use bytes::{Buf, Bytes};

use super::chunk_signature::ChunkSigner;

/// Longest chunk header or trailer line in bytes.
const MAX_LINE: usize = 8 * 1024;
/// Most trailer lines.
const MAX_TRAILERS: usize = 32;

/// What is wrong with an aws-chunked body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    /// The framing is broken.
    #[error("the aws-chunked body is malformed: {0}")]
    Malformed(&'static str),
    /// The body ended inside a chunk or before the last one.
    #[error("the aws-chunked body ends early: nothing was stored, send it again")]
    Truncated,
    /// A chunk or trailer signature is missing or wrong.
    #[error(
        "the signature of a chunk of the body is missing or wrong: check the secret key, and that no proxy changed the body"
    )]
    Signature,
}

#[derive(Debug)]
enum State {
    /// Reads a chunk's header line.
    Header,
    /// Reads a chunk's data: bytes still to come and the signature the header named.
    Data { left: u64, signature: Option<String> },
    /// Reads the line end after a chunk's data.
    DataEnd,
    /// Reads trailer lines.
    Trailers,
    /// All is read.
    Done,
}

/// A streaming decoder. Feed it raw bytes; it hands out data slices without copying.
#[derive(Debug)]
pub(crate) struct Decoder {
    state: State,
    line: Vec<u8>,
    signer: Option<ChunkSigner>,
    /// Lower-cased names and values, in the order they came.
    trailers: Vec<(String, String)>,
}

impl Decoder {
    /// A decoder; with a signer, every chunk must carry a valid signature.
    pub(crate) fn new(signer: Option<ChunkSigner>) -> Self {
        Self {
            state: State::Header,
            line: Vec::new(),
            signer,
            trailers: Vec::new(),
        }
    }

    /// Takes raw bytes and passes the data in them on.
    ///
    /// # Errors
    /// [`ChunkError`] for broken framing or signatures, or what `sink` returns.
    pub(crate) fn feed<E: From<ChunkError>>(
        &mut self,
        mut raw: Bytes,
        mut sink: impl FnMut(Bytes) -> Result<(), E>,
    ) -> Result<(), E> {
        while raw.has_remaining() {
            match &mut self.state {
                State::Data { left, signature } => {
                    let take = raw.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    let data = raw.split_to(take);
                    *left -= take as u64;
                    if let Some(signer) = &mut self.signer {
                        signer.update(&data);
                    }
                    let finished = *left == 0;
                    let signature = if finished { signature.take() } else { None };
                    sink(data)?;
                    if finished {
                        self.check_chunk(signature.as_deref())?;
                        self.state = State::DataEnd;
                    }
                }
                State::Done => return Err(ChunkError::Malformed("bytes after the last chunk").into()),
                State::Header | State::DataEnd | State::Trailers => {
                    if let Some(line) = self.take_line(&mut raw)? {
                        self.on_line(&line)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the body and gives its trailers.
    ///
    /// # Errors
    /// [`ChunkError::Truncated`] where the last chunk or the line end after it is missing.
    pub(crate) fn finish(mut self) -> Result<Vec<(String, String)>, ChunkError> {
        if matches!(self.state, State::Trailers) {
            // Some clients end the body right after the last trailer.
            if !self.line.is_empty() {
                let line = std::mem::take(&mut self.line);
                self.on_line(&line)?;
            }
            self.check_trailers()?;
            self.state = State::Done;
        }
        match self.state {
            State::Done => Ok(self.trailers),
            _ => Err(ChunkError::Truncated),
        }
    }

    /// Collects a line up to `\n`; `None` while it is incomplete. The line end is not part of the result.
    fn take_line(&mut self, raw: &mut Bytes) -> Result<Option<Vec<u8>>, ChunkError> {
        let end = raw.iter().position(|b| *b == b'\n');
        let part = raw.split_to(end.map_or(raw.len(), |at| at + 1));
        if self.line.len() + part.len() > MAX_LINE {
            return Err(ChunkError::Malformed(
                "a chunk header or trailer line is too long",
            ));
        }
        self.line.extend_from_slice(&part);
        if end.is_none() {
            return Ok(None);
        }
        let mut line = std::mem::take(&mut self.line);
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(Some(line))
    }

    fn on_line(&mut self, line: &[u8]) -> Result<(), ChunkError> {
        match self.state {
            State::DataEnd if line.is_empty() => self.state = State::Header,
            State::DataEnd => return Err(ChunkError::Malformed("a chunk is longer than its header says")),
            State::Header => self.on_header(line)?,
            State::Trailers if line.is_empty() => {
                self.check_trailers()?;
                self.state = State::Done;
            }
            State::Trailers => self.on_trailer(line)?,
            State::Data { .. } | State::Done => {}
        }
        Ok(())
    }

    fn on_header(&mut self, line: &[u8]) -> Result<(), ChunkError> {
        let text =
            std::str::from_utf8(line).map_err(|_utf8| ChunkError::Malformed("a chunk header is not text"))?;
        let (size, extension) = match text.split_once(';') {
            Some((size, extension)) => (size, Some(extension)),
            None => (text, None),
        };
        let size = size.trim();
        if size.is_empty() || !size.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(ChunkError::Malformed("a chunk size is not a hexadecimal number"));
        }
        let left = u64::from_str_radix(size, 16)
            .map_err(|_overflow| ChunkError::Malformed("a chunk size is too large"))?;
        let signature = extension
            .and_then(|e| e.trim().strip_prefix("chunk-signature="))
            .map(str::to_owned);
        if left == 0 {
            self.check_chunk(signature.as_deref())?;
            self.state = State::Trailers;
        } else {
            self.state = State::Data { left, signature };
        }
        Ok(())
    }

    fn on_trailer(&mut self, line: &[u8]) -> Result<(), ChunkError> {
        if self.trailers.len() >= MAX_TRAILERS {
            return Err(ChunkError::Malformed("too many trailers"));
        }
        let text =
            std::str::from_utf8(line).map_err(|_utf8| ChunkError::Malformed("a trailer is not text"))?;
        let (name, value) = text
            .split_once(':')
            .ok_or(ChunkError::Malformed("a trailer has no colon"))?;
        self.trailers
            .push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        Ok(())
    }

    fn check_chunk(&mut self, signature: Option<&str>) -> Result<(), ChunkError> {
        match (&mut self.signer, signature) {
            (None, _) => Ok(()),
            (Some(_), None) => Err(ChunkError::Signature),
            (Some(signer), Some(sent)) => signer
                .check_chunk(sent)
                .then_some(())
                .ok_or(ChunkError::Signature),
        }
    }

    /// Takes the trailer signature out of the trailers and checks it where it is due.
    fn check_trailers(&mut self) -> Result<(), ChunkError> {
        const SIGNATURE: &str = "x-amz-trailer-signature";
        let sent = self.trailers.iter().position(|(name, _)| name == SIGNATURE);
        let sent = sent.map(|at| self.trailers.remove(at).1);
        let Some(signer) = &mut self.signer else {
            return Ok(());
        };
        match sent {
            Some(sent) => signer
                .check_trailers(&self.trailers, &sent)
                .then_some(())
                .ok_or(ChunkError::Signature),
            None if self.trailers.is_empty() => Ok(()),
            None => Err(ChunkError::Signature),
        }
    }
}

#[cfg(test)]
mod tests;
