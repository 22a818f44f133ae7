//! Sends one object, whole or in parts.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use md5::{Digest, Md5};
use reqwest::{RequestBuilder, Response, Url, header};
use rusty_s3::S3Action;
use rusty_s3::actions::{
    AbortMultipartUpload, CompleteMultipartUpload, CreateMultipartUpload, DeleteObject, PutObject, UploadPart,
};

use super::digest::{md5, parts_etag};
use super::folder::Local;
use super::remote::{Object, Part, SIGNED_FOR, in_words, unquoted};
use super::{PARALLEL, PATIENCE, Tally, Uploader};
use crate::client::{Repeat, exchange, patience};
use crate::error::causes;
use crate::retry::Again;
use crate::simulator::file_body;
use crate::{Error, Result};

/// Larger files go in parts.
const WHOLE: u64 = 64 << 20;
/// Bytes of a part. S3 takes 5 MiB to 5 GiB.
const PART: u64 = 16 << 20;
/// S3's largest number of parts.
const MAX_PARTS: u64 = 10_000;

/// Bytes of a file's parts: 16 MiB, or more for files beyond 10,000 such parts.
fn part_size(bytes: u64) -> u64 {
    PART.max(bytes.div_ceil(MAX_PARTS).next_multiple_of(1 << 20))
}

/// Number, start and length of each part of a file.
fn parts_of(bytes: u64) -> impl Iterator<Item = (u16, u64, u64)> {
    let size = part_size(bytes);
    (1..=u16::MAX)
        .map(move |number| (number, u64::from(number - 1) * size))
        .take_while(move |(_, start)| *start < bytes)
        .map(move |(number, start)| (number, start, size.min(bytes - start)))
}

impl Uploader {
    /// Whether an object in the bucket has a file's bytes.
    pub(super) async fn is_same(&self, file: &Local, object: &Object) -> Result<bool> {
        if object.bytes != file.bytes {
            return Ok(false);
        }
        if !object.etag.contains('-') {
            return Ok(object.etag == hex::encode(md5(&file.path, 0, file.bytes).await?));
        }
        let mut sums = Vec::new();
        for (_, start, len) in parts_of(file.bytes) {
            sums.push(md5(&file.path, start, len).await?);
        }
        Ok(object.etag == parts_etag(&sums))
    }

    /// Sends a file as object `key`.
    pub(super) async fn send(&self, key: &str, file: &Local, tally: &Tally<'_>) -> Result<()> {
        if file.bytes > WHOLE {
            return self.send_parts(key, file, tally).await;
        }
        let mut action = PutObject::new(&self.bucket, self.credentials.as_ref(), key);
        let sum = BASE64_STANDARD.encode(md5(&file.path, 0, file.bytes).await?);
        action.headers_mut().insert("content-md5", sum.clone());
        self.call(|| {
            let (body, len) = file_body(&file.path, 0, file.bytes)?;
            let request = self.put(action.sign(SIGNED_FOR), len).header("content-md5", &sum);
            Ok(request.header(header::CONTENT_LENGTH, len).body(body))
        })
        .await?;
        tally.sent(file.bytes);
        Ok(())
    }

    /// Sends `bytes` as object `key`.
    pub(super) async fn put_bytes(&self, key: &str, bytes: Bytes) -> Result<()> {
        let mut action = PutObject::new(&self.bucket, self.credentials.as_ref(), key);
        let sum = BASE64_STANDARD.encode(Md5::digest(&bytes));
        action.headers_mut().insert("content-md5", sum.clone());
        self.call(|| {
            let request = self.put(action.sign(SIGNED_FOR), bytes.len() as u64);
            Ok(request.header("content-md5", &sum).body(bytes.clone()))
        })
        .await
        .map(drop)
    }

    /// Deletes object `key`; one that is not there is no error.
    pub(super) async fn delete(&self, key: &str) -> Result<()> {
        let action = DeleteObject::new(&self.bucket, self.credentials.as_ref(), key);
        self.call(|| Ok(self.http.delete(action.sign(SIGNED_FOR))))
            .await
            .map(drop)
    }

    async fn send_parts(&self, key: &str, file: &Local, tally: &Tally<'_>) -> Result<()> {
        let (id, there) = match self.unfinished(key).await? {
            Some(id) => {
                let parts = self.parts(key, &id).await?;
                (id, parts)
            }
            None => (self.begin(key).await?, Default::default()),
        };
        let etags: Vec<String> = stream::iter(parts_of(file.bytes))
            .map(|(number, start, len)| {
                let (id, there) = (&id, &there);
                async move {
                    let sum = md5(&file.path, start, len).await?;
                    let here = Part {
                        bytes: len,
                        etag: hex::encode(sum),
                    };
                    if there.get(&number) == Some(&here) {
                        tally.skip(len);
                        return Ok(here.etag);
                    }
                    let etag = self.send_part(key, id, number, (file, start, len), sum).await?;
                    tally.sent(len);
                    Ok::<_, Error>(etag)
                }
            })
            .buffered(PARALLEL)
            .try_collect()
            .await?;
        let done = self.complete(key, &id, &etags).await;
        if let Err(Error::Refused { .. }) = &done {
            // The parts there are of no use: the next try begins anew.
            let abort = AbortMultipartUpload::new(&self.bucket, self.credentials.as_ref(), key, &id);
            self.call(|| Ok(self.http.delete(abort.sign(SIGNED_FOR)))).await?;
        }
        done
    }

    async fn begin(&self, key: &str) -> Result<String> {
        let action = CreateMultipartUpload::new(&self.bucket, self.credentials.as_ref(), key);
        let answer = self.call(|| Ok(self.http.post(action.sign(SIGNED_FOR)))).await?;
        let text = answer
            .text()
            .await
            .map_err(|error| self.unexpected(causes(&error)))?;
        let begun = CreateMultipartUpload::parse_response(&text)
            .map_err(|error| self.unexpected(error.to_string()))?;
        Ok(begun.upload_id().to_owned())
    }

    async fn send_part(
        &self,
        key: &str,
        id: &str,
        number: u16,
        (file, start, len): (&Local, u64, u64),
        sum: [u8; 16],
    ) -> Result<String> {
        let mut action = UploadPart::new(&self.bucket, self.credentials.as_ref(), key, number, id);
        let sum = BASE64_STANDARD.encode(sum);
        action.headers_mut().insert("content-md5", sum.clone());
        let answer = self
            .call(|| {
                let (body, len) = file_body(&file.path, start, len)?;
                let request = self.put(action.sign(SIGNED_FOR), len).header("content-md5", &sum);
                Ok(request.header(header::CONTENT_LENGTH, len).body(body))
            })
            .await?;
        let etag = answer
            .headers()
            .get(header::ETAG)
            .and_then(|etag| etag.to_str().ok());
        etag.map(unquoted)
            .ok_or_else(|| self.unexpected("a part came back without an ETag".to_owned()))
    }

    async fn complete(&self, key: &str, id: &str, etags: &[String]) -> Result<()> {
        let etags = etags.iter().map(String::as_str);
        let action = CompleteMultipartUpload::new(&self.bucket, self.credentials.as_ref(), key, id, etags);
        let url = action.sign(SIGNED_FOR);
        let body = action.body();
        let answer = self
            .call(|| Ok(self.http.post(url.clone()).body(body.clone())))
            .await?;
        let text = answer
            .text()
            .await
            .map_err(|error| self.unexpected(causes(&error)))?;
        // This call may fail after it began to answer, with status 200 and an error in the body.
        if text.contains("<Error>") {
            return Err(self.unexpected(text));
        }
        Ok(())
    }

    /// A PUT of `len` bytes.
    fn put(&self, url: Url, len: u64) -> RequestBuilder {
        self.uploads.put(url).timeout(patience(len))
    }

    /// Sends what `make` builds, at most [`PARALLEL`] at once, repeated while that may help: every S3 call
    /// here may be made twice.
    async fn call(&self, make: impl Fn() -> Result<RequestBuilder>) -> Result<Response> {
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await.ok();
        PATIENCE
            .run(|tries| {
                let request = make();
                async move {
                    exchange(request.map_err(Again::No)?, tries, Repeat::Always)
                        .await
                        .map_err(in_words)
                }
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PARTS, PART, parts_of};

    #[test]
    fn parts_cover_a_file_once() {
        for bytes in [1, PART, PART + 1, 100 << 20, 3 << 40] {
            let parts: Vec<_> = parts_of(bytes).collect();
            assert!(parts.len() as u64 <= MAX_PARTS, "{bytes}");
            let mut at = 0;
            for (i, (number, start, len)) in parts.iter().enumerate() {
                assert_eq!((usize::from(*number), *start), (i + 1, at));
                assert!(*len > 0);
                at += len;
            }
            assert_eq!(at, bytes);
        }
    }
}
