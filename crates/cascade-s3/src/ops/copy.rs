//! CopyObject. The bytes are read and written again, so that the copy has an ETag and checksums of its own.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range as Span;

use bytes::Bytes;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};

use super::get::Given;
use super::{KeptHeaders, ObjectEventKind, Ops, etag, locate, unsupported};
use crate::error::{Result, StoreError, io};
use crate::store::Conditions;
use crate::store::meta::Extra;
use crate::upload::digest::Expect;
use crate::upload::{Plan, Received, Target, Upload};

/// Bytes read at a time.
const BLOCK_BYTES: usize = 1 << 20;

impl Ops {
    pub(super) async fn copy_object(
        &self,
        req: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        let input = req.input;
        let (from_bucket, from_key) = source(input.copy_source)?;
        let replace = input
            .metadata_directive
            .as_ref()
            .is_some_and(|d| d.as_str() == MetadataDirective::REPLACE);
        if !replace && from_bucket == input.bucket && from_key == input.key {
            let message = "an object cannot be copied onto itself unless its metadata is replaced";
            return Err(StoreError::Invalid(message.to_owned()).into());
        }
        let given = Given {
            if_match: input.copy_source_if_match,
            if_none_match: input.copy_source_if_none_match,
            if_modified_since: input.copy_source_if_modified_since,
            if_unmodified_since: input.copy_source_if_unmodified_since,
        };
        let new_headers = KeptHeaders {
            content_type: input.content_type,
            content_encoding: input.content_encoding,
            content_disposition: input.content_disposition,
            content_language: input.content_language,
            cache_control: input.cache_control,
            metadata: input.metadata,
        };
        let limit = self.config.max_object_bytes;
        let (bucket, key) = (input.bucket, input.key);
        let (to_bucket, to_key) = (bucket.clone(), key.clone());
        let meta = self
            .on_store(move |store| {
                let (source_bucket, source_key) = locate(store, &from_bucket, &from_key)?;
                let object = store.get(source_bucket, &source_key)?;
                if given.check(&object.meta).is_err() {
                    return Err(StoreError::Precondition("x-amz-copy-source-if-*"));
                }
                let mut expect = Expect::default();
                object
                    .meta
                    .extra
                    .checksums
                    .keys()
                    .for_each(|algorithm| expect.also(*algorithm));
                let extra = if replace {
                    Extra::from(new_headers)
                } else {
                    object.meta.extra.clone()
                };
                let extra = Extra {
                    composite: false,
                    ..extra
                };
                let size = object.meta.size;
                let copy = take_copy(
                    Target::Temp(store.temp()?),
                    object.file,
                    0..size,
                    expect,
                    limit,
                    "object",
                )?;
                let (bucket, key) = locate(store, &to_bucket, &to_key)?;
                store.put(bucket, &key, copy, extra, &Conditions::default())
            })
            .await?;
        self.tell(&bucket, &key, ObjectEventKind::Put, meta.size);
        Ok(S3Response::new(CopyObjectOutput {
            copy_object_result: Some(CopyObjectResult {
                e_tag: Some(etag(meta.etag())),
                last_modified: Some(Timestamp::from(meta.modified())),
                ..CopyObjectResult::default()
            }),
            ..CopyObjectOutput::default()
        }))
    }
}

/// Bucket and key of a copy's source.
pub(super) fn source(source: CopySource) -> Result<(String, String)> {
    match source {
        CopySource::Bucket {
            bucket,
            key,
            version_id: None,
        } => Ok((bucket.into(), key.into())),
        _ => Err(unsupported("a copy source with a version or an access point")),
    }
}

/// Copies a part of a file into an upload's target, hashed as an upload is. No file stands for no bytes.
pub(super) fn take_copy(
    target: Target,
    file: Option<File>,
    span: Span<u64>,
    expect: Expect,
    limit: u64,
    what: &'static str,
) -> Result<Received> {
    let plan = Plan {
        expect,
        decoder: None,
        limit,
        what,
    };
    let mut upload = Upload::new(target, plan)?;
    if let Some(mut file) = file {
        file.seek(SeekFrom::Start(span.start))
            .map_err(io("reading the copy's source"))?;
        let mut source = file.take(span.end - span.start);
        loop {
            let mut block = Vec::with_capacity(BLOCK_BYTES);
            let read = (&mut source).take(BLOCK_BYTES as u64).read_to_end(&mut block);
            if read.map_err(io("reading the copy's source"))? == 0 {
                break;
            }
            upload.feed(Bytes::from(block))?;
        }
    }
    upload.finish()
}
