//! GetObject and HeadObject.

use std::fs::File;
use std::ops::Range as Span;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result};

use super::put::{ChecksumFields, condition_text};
use super::{Ops, etag, locate, size};
use crate::error::{Result, StoreError, io};
use crate::store::Object;
use crate::store::meta::Meta;
use crate::upload::receive::blocking;

/// Bytes read from the file at a time.
const READ_BYTES: usize = 256 << 10;
/// Content type of an object that has none and whose name suggests none (S3's own).
const DEFAULT_TYPE: &str = "binary/octet-stream";

impl Ops {
    pub(super) async fn get_object(
        &self,
        req: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let input = req.input;
        let (bucket, key) = (input.bucket, input.key.clone());
        let object = self.open(bucket, key).await?;
        let meta = object.meta;
        Given {
            if_match: input.if_match,
            if_none_match: input.if_none_match,
            if_modified_since: input.if_modified_since,
            if_unmodified_since: input.if_unmodified_since,
        }
        .check(&meta)?;
        let span = match input.range {
            None => 0..meta.size,
            Some(range) => range
                .check(meta.size)
                .map_err(|_outside| StoreError::Range(meta.size))?,
        };
        let content_range = input.range.map(|_| {
            format!(
                "bytes {}-{}/{}",
                span.start,
                span.end.saturating_sub(1),
                meta.size
            )
        });
        // A checksum is of the whole object: with a part of it, clients would compare the wrong bytes.
        let wants = input.checksum_mode.is_some() && input.range.is_none();
        let sums = if wants {
            ChecksumFields::from(&meta.extra.checksums)
        } else {
            ChecksumFields::default()
        };
        let content_length = Some(size(span.end - span.start));
        Ok(S3Response::new(GetObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            body: object.file.map(|file| stream(file, span)),
            content_length,
            content_range,
            content_type: Some(content_type(&input.key, &meta)),
            content_encoding: meta.extra.content_encoding.clone(),
            content_disposition: meta.extra.content_disposition.clone(),
            content_language: meta.extra.content_language.clone(),
            cache_control: meta.extra.cache_control.clone(),
            e_tag: Some(etag(meta.etag())),
            last_modified: Some(Timestamp::from(meta.modified())),
            checksum_type: checksum_type(&sums, &meta),
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            metadata: Some(meta.extra.user.into_iter().collect()),
            ..GetObjectOutput::default()
        }))
    }

    pub(super) async fn head_object(
        &self,
        req: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = req.input;
        let (bucket, key) = (input.bucket, input.key.clone());
        let meta = self.open(bucket, key).await?.meta;
        Given {
            if_match: input.if_match,
            if_none_match: input.if_none_match,
            if_modified_since: input.if_modified_since,
            if_unmodified_since: input.if_unmodified_since,
        }
        .check(&meta)?;
        let wants = input.checksum_mode.is_some();
        let sums = if wants {
            ChecksumFields::from(&meta.extra.checksums)
        } else {
            ChecksumFields::default()
        };
        Ok(S3Response::new(HeadObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            content_length: Some(size(meta.size)),
            content_type: Some(content_type(&input.key, &meta)),
            content_encoding: meta.extra.content_encoding.clone(),
            content_disposition: meta.extra.content_disposition.clone(),
            content_language: meta.extra.content_language.clone(),
            cache_control: meta.extra.cache_control.clone(),
            e_tag: Some(etag(meta.etag())),
            last_modified: Some(Timestamp::from(meta.modified())),
            checksum_type: checksum_type(&sums, &meta),
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            metadata: Some(meta.extra.user.into_iter().collect()),
            ..HeadObjectOutput::default()
        }))
    }

    async fn open(&self, bucket: String, key: String) -> Result<Object> {
        self.on_store(move |store| {
            let (bucket, key) = locate(store, &bucket, &key)?;
            store.get(bucket, &key)
        })
        .await
    }
}

pub(super) fn checksum_type(sums: &ChecksumFields, meta: &Meta) -> Option<ChecksumType> {
    let full = sums.full_object()?;
    Some(if meta.extra.composite {
        ChecksumType::from_static(ChecksumType::COMPOSITE)
    } else {
        full
    })
}

/// The content type kept with the object, or what its name suggests.
fn content_type(key: &str, meta: &Meta) -> String {
    let kept = meta.extra.content_type.clone();
    kept.or_else(|| mime_guess::from_path(key).first_raw().map(str::to_owned))
        .unwrap_or_else(|| DEFAULT_TYPE.to_owned())
}

/// Streams a part of a file.
fn stream(file: File, span: Span<u64>) -> StreamingBlob {
    let file = Arc::new(file);
    let blocks = futures::stream::try_unfold(span.start, move |at| {
        let (file, end) = (Arc::clone(&file), span.end);
        async move {
            if at >= end {
                return Ok(None);
            }
            let block = blocking(move || read_block(&file, at, end)).await?;
            let next = at + block.len() as u64;
            Ok::<_, StoreError>(Some((block, next)))
        }
    });
    StreamingBlob::wrap(blocks)
}

fn read_block(file: &File, at: u64, end: u64) -> Result<Bytes> {
    let length = usize::try_from(end - at).unwrap_or(READ_BYTES).min(READ_BYTES);
    let mut block = vec![0; length];
    // The length was promised in the headers: a file cut short meanwhile must break the connection.
    file.read_exact_at(&mut block, at)
        .map_err(io("reading an object"))?;
    Ok(Bytes::from(block))
}

/// Condition headers of a read.
pub(super) struct Given {
    pub(super) if_match: Option<ETagCondition>,
    pub(super) if_none_match: Option<ETagCondition>,
    pub(super) if_modified_since: Option<Timestamp>,
    pub(super) if_unmodified_since: Option<Timestamp>,
}

impl Given {
    /// Checks them in the order of RFC 9110 §13.2.2.
    pub(super) fn check(self, meta: &Meta) -> S3Result<()> {
        let current = meta.etag();
        let same = |condition: ETagCondition| matches!(condition_text(condition), text if text == "*" || text == current);
        // HTTP dates have whole seconds.
        let changed_after = |time: Timestamp| whole_seconds(meta.modified()) > time;
        match (self.if_match, self.if_unmodified_since) {
            (Some(condition), _) if !same(condition.clone()) => {
                return Err(StoreError::Precondition("If-Match").into());
            }
            (None, Some(time)) if changed_after(time.clone()) => {
                return Err(StoreError::Precondition("If-Unmodified-Since").into());
            }
            _ => {}
        }
        let unchanged = match (self.if_none_match, self.if_modified_since) {
            (Some(condition), _) => same(condition),
            (None, Some(time)) => !changed_after(time),
            (None, None) => false,
        };
        if unchanged {
            let mut error = S3Error::new(S3ErrorCode::NotModified);
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_str(&format!("\"{current}\"")) {
                headers.insert(http::header::ETAG, value);
            }
            error.set_headers(headers);
            return Err(error);
        }
        Ok(())
    }
}

fn whole_seconds(time: SystemTime) -> Timestamp {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    Timestamp::from(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds))
}
