//! The multipart operations.

use std::time::SystemTime;

use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};

use super::copy::{source, take_copy};
use super::get::Given;
use super::list::Writer;
use super::put::{ChecksumFields, condition_text, incoming};
use super::{KeptHeaders, ObjectEventKind, Ops, etag, locate, size, unsupported};
use crate::error::{Result, StoreError};
use crate::store::Conditions;
use crate::store::multipart::{MAX_PART_BYTES, UploadInfo, Wanted};
use crate::upload::Upload;
use crate::upload::digest::{Algorithm, Checksums, Expect};
use crate::upload::receive::receive;

/// Most parts or uploads on a page of a listing (S3's own limit).
const MAX_PAGE: i32 = 1000;

impl Ops {
    pub(super) async fn create_multipart_upload(
        &self,
        req: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let input = req.input;
        if input.sse_customer_algorithm.is_some() || input.server_side_encryption.is_some() {
            return Err(unsupported("encryption by the server").into());
        }
        let headers = KeptHeaders {
            content_type: input.content_type,
            content_encoding: input.content_encoding,
            content_disposition: input.content_disposition,
            content_language: input.content_language,
            cache_control: input.cache_control,
            metadata: input.metadata,
        };
        let algorithm = input
            .checksum_algorithm
            .as_ref()
            .and_then(|a| Algorithm::from_name(a.as_str()));
        // CRC-64/NVME exists only over the whole object.
        let full_object = match &input.checksum_type {
            Some(kind) => kind.as_str() == ChecksumType::FULL_OBJECT,
            None => algorithm == Some(Algorithm::Crc64nvme),
        };
        let info = UploadInfo {
            bucket: input.bucket.clone(),
            key: input.key.clone(),
            extra: headers.into(),
            algorithm,
            full_object,
            initiated: SystemTime::now(),
        };
        let id = self.on_store(move |store| {
            let (_bucket, key) = locate(store, &info.bucket, &info.key)?;
            if key.name.is_none() {
                return Err(unsupported("a multipart upload of a folder marker"));
            }
            store.create_upload(&info)
        });
        let kind = if full_object {
            ChecksumType::FULL_OBJECT
        } else {
            ChecksumType::COMPOSITE
        };
        Ok(S3Response::new(CreateMultipartUploadOutput {
            upload_id: Some(id.await?),
            bucket: Some(input.bucket),
            key: Some(input.key),
            checksum_type: algorithm.map(|_| ChecksumType::from_static(kind)),
            checksum_algorithm: input.checksum_algorithm,
            ..CreateMultipartUploadOutput::default()
        }))
    }

    pub(super) async fn upload_part(
        &self,
        mut req: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        let limit = self.config.max_object_bytes.min(MAX_PART_BYTES);
        let (body, mut plan) = incoming(&mut req, limit, "part")?;
        let input = req.input;
        let (bucket, key, id, number) = (input.bucket, input.key, input.upload_id, input.part_number);
        let upload = self
            .on_store(move |store| store.open_upload(&bucket, &key, &id))
            .await?;
        if let Some(algorithm) = upload.info.algorithm {
            plan.expect.also(algorithm);
        }
        let upload = std::sync::Arc::new(upload);
        let (store, target_of) = (self.store.clone(), upload.clone());
        let start = move || {
            let target = store.part_target(&target_of, number, plan.expect.length)?;
            Upload::new(target, plan)
        };
        let store = self.store.clone();
        let done = move |received: Upload| store.record_part(&upload, number, received.finish()?);
        let part = receive(body, self.config.idle_timeout, start, done).await?;
        let sums = ChecksumFields::from(&part.checksums);
        Ok(S3Response::new(UploadPartOutput {
            e_tag: Some(etag(part.etag())),
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            ..UploadPartOutput::default()
        }))
    }

    pub(super) async fn upload_part_copy(
        &self,
        req: S3Request<UploadPartCopyInput>,
    ) -> S3Result<S3Response<UploadPartCopyOutput>> {
        let input = req.input;
        let (from_bucket, from_key) = source(input.copy_source)?;
        let range = match input.copy_source_range.as_deref().map(Range::parse) {
            None => None,
            Some(Ok(range)) => Some(range),
            Some(Err(_malformed)) => {
                return Err(StoreError::Invalid(
                    "x-amz-copy-source-range is not bytes=first-last".to_owned(),
                )
                .into());
            }
        };
        let given = Given {
            if_match: input.copy_source_if_match,
            if_none_match: input.copy_source_if_none_match,
            if_modified_since: input.copy_source_if_modified_since,
            if_unmodified_since: input.copy_source_if_unmodified_since,
        };
        let limit = self.config.max_object_bytes.min(MAX_PART_BYTES);
        let (bucket, key, id, number) = (input.bucket, input.key, input.upload_id, input.part_number);
        let part = self
            .on_store(move |store| {
                let upload = store.open_upload(&bucket, &key, &id)?;
                let (source_bucket, source_key) = locate(store, &from_bucket, &from_key)?;
                let object = store.get(source_bucket, &source_key)?;
                if given.check(&object.meta).is_err() {
                    return Err(StoreError::Precondition("x-amz-copy-source-if-*"));
                }
                let size = object.meta.size;
                let span = match range {
                    None => 0..size,
                    Some(range) => range.check(size).map_err(|_outside| StoreError::Range(size))?,
                };
                let mut expect = Expect::default();
                upload
                    .info
                    .algorithm
                    .into_iter()
                    .for_each(|algorithm| expect.also(algorithm));
                expect.length = Some(span.end - span.start);
                let target = store.part_target(&upload, number, expect.length)?;
                let received = take_copy(target, object.file, span, expect, limit, "part")?;
                store.record_part(&upload, number, received)
            })
            .await?;
        Ok(S3Response::new(UploadPartCopyOutput {
            copy_part_result: Some(CopyPartResult {
                e_tag: Some(etag(part.etag())),
                last_modified: Some(Timestamp::from(part.modified)),
                ..CopyPartResult::default()
            }),
            ..UploadPartCopyOutput::default()
        }))
    }

    pub(super) async fn complete_multipart_upload(
        &self,
        req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let input = req.input;
        let wanted = input.multipart_upload.and_then(|u| u.parts).unwrap_or_default();
        let wanted = wanted.into_iter().map(wanted_part).collect::<Result<Vec<_>>>()?;
        let conditions = Conditions {
            new_only: input.if_none_match.is_some(),
            if_match: input.if_match.map(condition_text),
        };
        let (bucket, key, id) = (input.bucket.clone(), input.key.clone(), input.upload_id);
        let (limit, announced) = (self.config.max_object_bytes, input.mpu_object_size);
        let meta = self
            .on_store(move |store| {
                let upload = store.open_upload(&bucket, &key, &id)?;
                if let Some(announced) = announced.and_then(|n| u64::try_from(n).ok()) {
                    let parts = store.parts(&upload)?;
                    let got = wanted
                        .iter()
                        .filter_map(|w| parts.get(&w.number))
                        .map(|p| p.size)
                        .sum::<u64>();
                    if got != announced {
                        return Err(StoreError::Length {
                            expected: announced,
                            got,
                        });
                    }
                }
                store.complete_upload(&upload, &wanted, limit, &conditions)
            })
            .await?;
        self.tell(&input.bucket, &input.key, ObjectEventKind::Put, meta.size);
        let sums = ChecksumFields::from(&meta.extra.checksums);
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(etag(meta.etag())),
            checksum_type: super::get::checksum_type(&sums, &meta),
            checksum_crc32: sums.crc32,
            checksum_crc32c: sums.crc32c,
            checksum_crc64nvme: sums.crc64nvme,
            checksum_sha1: sums.sha1,
            checksum_sha256: sums.sha256,
            ..CompleteMultipartUploadOutput::default()
        }))
    }

    pub(super) async fn abort_multipart_upload(
        &self,
        req: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        let AbortMultipartUploadInput {
            bucket,
            key,
            upload_id,
            ..
        } = req.input;
        let abort = self.on_store(move |store| {
            let upload = store.open_upload(&bucket, &key, &upload_id)?;
            store.remove_upload(&upload)
        });
        abort.await?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }

    pub(super) async fn list_parts(
        &self,
        req: S3Request<ListPartsInput>,
    ) -> S3Result<S3Response<ListPartsOutput>> {
        let input = req.input;
        let (bucket, key, id) = (input.bucket.clone(), input.key.clone(), input.upload_id.clone());
        let (upload, parts) = self
            .on_store(move |store| {
                let upload = store.open_upload(&bucket, &key, &id)?;
                let parts = store.parts(&upload)?;
                Ok((upload, parts))
            })
            .await?;
        let max = input.max_parts.unwrap_or(MAX_PAGE).clamp(0, MAX_PAGE);
        let after = input.part_number_marker.unwrap_or(0);
        let mut rest = parts.into_iter().filter(|(number, _)| *number > after);
        let page: Vec<_> = rest.by_ref().take(usize::try_from(max).unwrap_or(0)).collect();
        let truncated = rest.next().is_some();
        let next = page.last().map(|(number, _)| *number);
        let part = |(number, part): (i32, crate::store::multipart::PartRecord)| {
            let sums = ChecksumFields::from(&part.checksums);
            Part {
                part_number: Some(number),
                size: Some(size(part.size)),
                e_tag: Some(etag(part.etag())),
                last_modified: Some(Timestamp::from(part.modified)),
                checksum_crc32: sums.crc32,
                checksum_crc32c: sums.crc32c,
                checksum_crc64nvme: sums.crc64nvme,
                checksum_sha1: sums.sha1,
                checksum_sha256: sums.sha256,
            }
        };
        Ok(S3Response::new(ListPartsOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(upload.id),
            max_parts: Some(max),
            part_number_marker: Some(after),
            next_part_number_marker: next.filter(|_| truncated),
            is_truncated: Some(truncated),
            parts: Some(page.into_iter().map(part).collect()),
            ..ListPartsOutput::default()
        }))
    }

    pub(super) async fn list_multipart_uploads(
        &self,
        req: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        let input = req.input;
        let bucket = input.bucket.clone();
        let uploads = self.on_store(move |store| {
            store.bucket(&bucket)?;
            store.list_uploads(&bucket)
        });
        let prefix = input.prefix.clone().unwrap_or_default();
        let marker = (
            input.key_marker.clone().unwrap_or_default(),
            input.upload_id_marker.clone(),
        );
        // Without an id the marker stands after all uploads of its key.
        let after = |key: &String, id: &String| match &marker {
            (at, None) => key > at,
            (at, Some(at_id)) => (key, id) > (at, at_id),
        };
        let max = input.max_uploads.unwrap_or(MAX_PAGE).clamp(0, MAX_PAGE);
        let uploads = uploads.await?;
        let mut rest = uploads
            .into_iter()
            .filter(|(id, u)| u.key.starts_with(&prefix) && after(&u.key, id));
        let page: Vec<_> = rest.by_ref().take(usize::try_from(max).unwrap_or(0)).collect();
        let truncated = rest.next().is_some();
        let last = page.last().filter(|_| truncated).cloned();
        let write = Writer::new(input.encoding_type.as_ref());
        let upload = |(id, info): (String, UploadInfo)| MultipartUpload {
            key: Some(write.text(&info.key)),
            upload_id: Some(id),
            initiated: Some(Timestamp::from(info.initiated)),
            ..MultipartUpload::default()
        };
        Ok(S3Response::new(ListMultipartUploadsOutput {
            bucket: Some(input.bucket),
            prefix: input.prefix.as_deref().map(|p| write.text(p)),
            key_marker: input.key_marker.as_deref().map(|m| write.text(m)),
            upload_id_marker: input.upload_id_marker.clone(),
            next_key_marker: last.as_ref().map(|(_, info)| write.text(&info.key)),
            next_upload_id_marker: last.map(|(id, _)| id),
            max_uploads: Some(max),
            is_truncated: Some(truncated),
            encoding_type: input.encoding_type.clone(),
            uploads: Some(page.into_iter().map(upload).collect()),
            ..ListMultipartUploadsOutput::default()
        }))
    }
}

fn wanted_part(part: CompletedPart) -> Result<Wanted> {
    let number = part.part_number;
    let number =
        number.ok_or_else(|| StoreError::Invalid("a part is named without its number".to_owned()))?;
    let sums = [
        (Algorithm::Crc32, part.checksum_crc32),
        (Algorithm::Crc32c, part.checksum_crc32c),
        (Algorithm::Crc64nvme, part.checksum_crc64nvme),
        (Algorithm::Sha1, part.checksum_sha1),
        (Algorithm::Sha256, part.checksum_sha256),
    ];
    let checksums: Checksums = sums.into_iter().filter_map(|(a, sum)| Some((a, sum?))).collect();
    Ok(Wanted {
        number,
        etag: part.e_tag.map(ETag::into_value),
        checksums,
    })
}
