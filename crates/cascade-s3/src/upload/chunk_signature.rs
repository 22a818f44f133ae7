//! The chain of signatures over the chunks of a `STREAMING-AWS4-HMAC-SHA256-PAYLOAD[-TRAILER]` body.
//!
//! Each chunk's signature covers the one before it; the first covers the request's own. Source: "Signature
//! calculations for the authorization header: transferring payload in multiple chunks (AWS Signature
//! Version 4)" in the Amazon S3 API reference.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// SHA-256 of no bytes, in hexadecimal.
const EMPTY_SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Verifies chunk signatures in the order they come.
#[derive(Clone)]
pub(crate) struct ChunkSigner {
    signing_key: [u8; 32],
    /// `x-amz-date` of the request.
    date_time: String,
    /// `<date>/<region>/<service>/aws4_request`.
    scope: String,
    previous: String,
    chunk: Sha256,
}

impl std::fmt::Debug for ChunkSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkSigner")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

impl ChunkSigner {
    /// A signer that follows on from a request's `Authorization` header (already verified) and
    /// `x-amz-date`. `None` where the header does not have the form of a version 4 signature.
    pub(crate) fn new(authorization: &str, date_time: &str, secret: &str) -> Option<Self> {
        let fields = authorization.strip_prefix("AWS4-HMAC-SHA256")?;
        let field = |name: &str| fields.split(',').find_map(|f| f.trim().strip_prefix(name));
        let (_access_key, scope) = field("Credential=")?.split_once('/')?;
        let seed = field("Signature=")?;
        let mut key = format!("AWS4{secret}").into_bytes();
        for part in scope.split('/') {
            key = hmac(&key, part.as_bytes()).to_vec();
        }
        Some(Self {
            signing_key: key.try_into().ok()?,
            date_time: date_time.to_owned(),
            scope: scope.to_owned(),
            previous: seed.to_owned(),
            chunk: Sha256::new(),
        })
    }

    /// Takes bytes of the present chunk.
    pub(crate) fn update(&mut self, data: &[u8]) {
        self.chunk.update(data);
    }

    /// Ends the present chunk; true where its signature is right.
    pub(crate) fn check_chunk(&mut self, sent: &str) -> bool {
        let digest = hex::encode(std::mem::take(&mut self.chunk).finalize());
        let text = format!(
            "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{}\n{EMPTY_SHA256}\n{digest}",
            self.date_time, self.scope, self.previous
        );
        self.verify(&text, sent)
    }

    /// True where the signature over the trailers is right.
    pub(crate) fn check_trailers(&mut self, trailers: &[(String, String)], sent: &str) -> bool {
        let mut sorted: Vec<_> = trailers.iter().collect();
        sorted.sort();
        let canonical: String = sorted
            .iter()
            .map(|(name, value)| format!("{name}:{value}\n"))
            .collect();
        let text = format!(
            "AWS4-HMAC-SHA256-TRAILER\n{}\n{}\n{}\n{}",
            self.date_time,
            self.scope,
            self.previous,
            hex::encode(Sha256::digest(canonical.as_bytes()))
        );
        self.verify(&text, sent)
    }

    /// Compares in constant time and moves the chain on.
    fn verify(&mut self, text: &str, sent: &str) -> bool {
        let Ok(sent_bytes) = hex::decode(sent) else {
            return false;
        };
        let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.signing_key) else {
            return false;
        };
        mac.update(text.as_bytes());
        let good = mac.verify_slice(&sent_bytes).is_ok();
        self.previous = sent.to_owned();
        good
    }
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    // HMAC takes keys of any length, so this cannot fail.
    <Hmac<Sha256> as KeyInit>::new_from_slice(key)
        .map(|mut mac| {
            mac.update(text);
            mac.finalize().into_bytes().into()
        })
        .unwrap_or_default()
}
