//! PutObject, and what it shares with UploadPart: how a body is to be taken in.

use http::HeaderMap;
use hyper::body::Incoming;
use s3s::auth::Credentials;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};

use super::{KeptHeaders, ObjectEventKind, Ops, RawBody, etag, locate, size, unsupported};
use crate::error::{Result, StoreError};
use crate::store::Conditions;
use crate::upload::chunk_signature::ChunkSigner;
use crate::upload::chunked::{ChunkError, Decoder};
use crate::upload::digest::{Algorithm, Checksums, Expect};
use crate::upload::receive::receive;
use crate::upload::{Plan, Target, Upload};

impl Ops {
    pub(super) async fn put_object(
        &self,
        mut req: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let limit = self.config.max_object_bytes;
        let (body, plan) = incoming(&mut req, limit, "object")?;
        let input = req.input;
        if input.sse_customer_algorithm.is_some() || input.server_side_encryption.is_some() {
            return Err(unsupported("encryption by the server").into());
        }
        if input.write_offset_bytes.is_some() {
            return Err(unsupported("appending to an object").into());
        }
        locate(&self.store, &input.bucket, &input.key)?;
        let conditions = Conditions {
            new_only: match input.if_none_match {
                None => false,
                Some(ETagCondition::Any) => true,
                Some(ETagCondition::ETag(_)) => return Err(unsupported("If-None-Match with an ETag").into()),
            },
            if_match: input.if_match.map(condition_text),
        };
        let extra = KeptHeaders {
            content_type: input.content_type,
            content_encoding: input.content_encoding,
            content_disposition: input.content_disposition,
            content_language: input.content_language,
            cache_control: input.cache_control,
            metadata: input.metadata,
        };
        let (bucket, key) = (input.bucket, input.key);
        let (store, to_bucket, to_key) = (self.store.clone(), bucket.clone(), key.clone());
        let start = {
            let store = self.store.clone();
            move || Upload::new(Target::Temp(store.temp()?), plan)
        };
        let done = move |upload: Upload| {
            let received = upload.finish()?;
            let (bucket, key) = locate(&store, &to_bucket, &to_key)?;
            store.put(bucket, &key, received, extra.into(), &conditions)
        };
        let meta = receive(body, self.config.idle_timeout, start, done).await?;
        self.tell(&bucket, &key, ObjectEventKind::Put, meta.size);
        let sums = ChecksumFields::from(&meta.extra.checksums);
        Ok(S3Response::new(PutObjectOutput {
            e_tag: Some(etag(meta.etag())),
            size: Some(size(meta.size)),
            checksum_type: sums.full_object(),
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            ..PutObjectOutput::default()
        }))
    }
}

/// The ETag a condition names, or `*`.
pub(super) fn condition_text(condition: ETagCondition) -> String {
    match condition {
        ETagCondition::Any => "*".to_owned(),
        ETagCondition::ETag(etag) => etag.into_value(),
    }
}

/// The body of an upload and how to take it in.
pub(super) fn incoming<T>(
    req: &mut S3Request<T>,
    limit: u64,
    what: &'static str,
) -> Result<(Incoming, Plan)> {
    let body = req.extensions.get::<RawBody>().and_then(RawBody::take);
    let body = body.ok_or_else(|| unsupported("an upload in this form"))?;
    Ok((body, plan(&req.headers, req.credentials.as_ref(), limit, what)?))
}

fn plan(
    headers: &HeaderMap,
    credentials: Option<&Credentials>,
    limit: u64,
    what: &'static str,
) -> Result<Plan> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("");
    let payload = text("x-amz-content-sha256");
    let chunked = payload.starts_with("STREAMING-")
        || text("content-encoding")
            .split(',')
            .any(|e| e.trim().eq_ignore_ascii_case("aws-chunked"));
    let length = number(
        headers,
        if chunked {
            "x-amz-decoded-content-length"
        } else {
            "content-length"
        },
    )?;
    let signer = match credentials {
        Some(credentials) if payload.starts_with("STREAMING-AWS4-HMAC-SHA256-PAYLOAD") => {
            let secret = credentials.secret_key.expose();
            let signer = ChunkSigner::new(text("authorization"), text("x-amz-date"), secret);
            Some(signer.ok_or(ChunkError::Signature)?)
        }
        _ => None,
    };
    Ok(Plan {
        expect: Expect::from_headers(headers, length)?,
        decoder: chunked.then(|| Decoder::new(signer)),
        limit,
        what,
    })
}

fn number(headers: &HeaderMap, name: &str) -> Result<Option<u64>> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let number = value.to_str().ok().and_then(|v| v.trim().parse().ok());
    let number = number.ok_or_else(|| StoreError::Invalid(format!("{name} is not a number of bytes")))?;
    Ok(Some(number))
}

/// Checksums as the fields of S3's replies.
#[derive(Default)]
pub(super) struct ChecksumFields {
    pub(super) crc32: Option<String>,
    pub(super) crc32c: Option<String>,
    pub(super) crc64nvme: Option<String>,
    pub(super) sha1: Option<String>,
    pub(super) sha256: Option<String>,
}

impl From<&Checksums> for ChecksumFields {
    fn from(sums: &Checksums) -> Self {
        let of = |algorithm| sums.get(&algorithm).cloned();
        Self {
            crc32: of(Algorithm::Crc32),
            crc32c: of(Algorithm::Crc32c),
            crc64nvme: of(Algorithm::Crc64nvme),
            sha1: of(Algorithm::Sha1),
            sha256: of(Algorithm::Sha256),
        }
    }
}

impl ChecksumFields {
    /// `FULL_OBJECT` where there is a checksum.
    pub(super) fn full_object(&self) -> Option<ChecksumType> {
        let any = [
            &self.crc32,
            &self.crc32c,
            &self.crc64nvme,
            &self.sha1,
            &self.sha256,
        ];
        any.iter()
            .any(|s| s.is_some())
            .then(|| ChecksumType::from_static(ChecksumType::FULL_OBJECT))
    }
}
