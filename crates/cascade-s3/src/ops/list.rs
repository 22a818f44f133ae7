//! ListObjects, versions 1 and 2.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as TOKEN;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};

use super::{Ops, etag, size};
use crate::error::{Result, StoreError};
use crate::store::list::{Page, Query};

/// Most keys on a page (S3's own limit); larger requests get this many.
const MAX_PAGE: i32 = 1000;

impl Ops {
    pub(super) async fn list_objects_v2(
        &self,
        req: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let input = req.input;
        let max = page_size(input.max_keys)?;
        let after = match &input.continuation_token {
            Some(token) => Some(read_token(token)?),
            None => input.start_after.clone(),
        };
        let page = self
            .page(&input.bucket, &input.prefix, &input.delimiter, after, max)
            .await?;
        let write = Writer::new(input.encoding_type.as_ref());
        let count = page.objects.len() + page.prefixes.len();
        Ok(S3Response::new(ListObjectsV2Output {
            name: Some(input.bucket),
            prefix: Some(write.text(input.prefix.as_deref().unwrap_or(""))),
            delimiter: input.delimiter.as_deref().map(|d| write.text(d)),
            start_after: input.start_after.as_deref().map(|s| write.text(s)),
            max_keys: Some(max),
            key_count: i32::try_from(count).ok(),
            is_truncated: Some(page.next.is_some()),
            continuation_token: input.continuation_token,
            next_continuation_token: page.next.as_ref().map(|next| TOKEN.encode(next)),
            common_prefixes: Some(write.prefixes(&page)),
            contents: Some(write.objects(page)),
            encoding_type: input.encoding_type,
            ..ListObjectsV2Output::default()
        }))
    }

    pub(super) async fn list_objects(
        &self,
        req: S3Request<ListObjectsInput>,
    ) -> S3Result<S3Response<ListObjectsOutput>> {
        let input = req.input;
        let max = page_size(input.max_keys)?;
        let after = input.marker.clone().filter(|m| !m.is_empty());
        let page = self
            .page(&input.bucket, &input.prefix, &input.delimiter, after, max)
            .await?;
        let write = Writer::new(input.encoding_type.as_ref());
        Ok(S3Response::new(ListObjectsOutput {
            name: Some(input.bucket),
            prefix: Some(write.text(input.prefix.as_deref().unwrap_or(""))),
            marker: Some(write.text(input.marker.as_deref().unwrap_or(""))),
            delimiter: input.delimiter.as_deref().map(|d| write.text(d)),
            max_keys: Some(max),
            is_truncated: Some(page.next.is_some()),
            next_marker: page.next.as_deref().map(|next| write.text(next)),
            common_prefixes: Some(write.prefixes(&page)),
            contents: Some(write.objects(page)),
            encoding_type: input.encoding_type,
            ..ListObjectsOutput::default()
        }))
    }

    async fn page(
        &self,
        bucket: &str,
        prefix: &Option<String>,
        delimiter: &Option<String>,
        after: Option<String>,
        max: i32,
    ) -> Result<Page> {
        let query = Query {
            prefix: prefix.clone().unwrap_or_default(),
            delimiter: delimiter.clone().filter(|d| !d.is_empty()),
            after: after.filter(|a| !a.is_empty()),
            max: usize::try_from(max).unwrap_or(0),
        };
        let bucket = bucket.to_owned();
        self.on_store(move |store| store.list(store.bucket(&bucket)?, query))
            .await
    }
}

fn page_size(asked: Option<i32>) -> Result<i32> {
    match asked {
        None => Ok(MAX_PAGE),
        Some(n) if n >= 0 => Ok(n.min(MAX_PAGE)),
        Some(n) => Err(StoreError::Invalid(format!("max-keys is {n}: send 0 or more"))),
    }
}

fn read_token(token: &str) -> Result<String> {
    let bytes = TOKEN.decode(token).ok();
    let text = bytes.and_then(|b| String::from_utf8(b).ok());
    text.ok_or_else(|| StoreError::Invalid("the continuation token is not one of this server".to_owned()))
}

/// Writes keys as the client asked: plain, or percent-encoded with `encoding-type=url`.
///
/// Everything but unreserved characters and `/` is encoded as `%XX`, space and `+` too: some clients read
/// `+` as a space and some do not, and `%2B` and `%20` mean the same to all.
pub(super) struct Writer {
    encode: bool,
}

impl Writer {
    pub(super) fn new(encoding: Option<&EncodingType>) -> Self {
        Self {
            encode: encoding.is_some_and(|e| e.as_str() == EncodingType::URL),
        }
    }

    pub(super) fn text(&self, text: &str) -> String {
        if !self.encode {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        for byte in text.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                    out.push(char::from(byte));
                }
                other => out.push_str(&format!("%{other:02X}")),
            }
        }
        out
    }

    fn prefixes(&self, page: &Page) -> Vec<CommonPrefix> {
        page.prefixes
            .iter()
            .map(|p| CommonPrefix {
                prefix: Some(self.text(p)),
            })
            .collect()
    }

    fn objects(&self, page: Page) -> Vec<Object> {
        let object = |(key, meta): (String, crate::store::meta::Meta)| Object {
            key: Some(self.text(&key)),
            size: Some(size(meta.size)),
            last_modified: Some(Timestamp::from(meta.modified())),
            e_tag: Some(etag(meta.etag())),
            storage_class: Some(ObjectStorageClass::from_static(ObjectStorageClass::STANDARD)),
            ..Object::default()
        };
        page.objects.into_iter().map(object).collect()
    }
}
