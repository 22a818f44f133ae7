//! The S3 operations, each a short function over the store.

mod bucket;
mod copy;
mod delete;
mod get;
mod list;
mod multipart;
mod put;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hyper::body::Incoming;
use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};
use tokio::sync::mpsc;

use crate::config::S3Config;
use crate::error::{Result, StoreError};
use crate::key::Key;
use crate::store::meta::Extra;
use crate::store::{Bucket, Store};
use crate::upload::receive::blocking;

/// A change that became visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEvent {
    /// Bucket.
    pub bucket: String,
    /// Key.
    pub key: String,
    /// What happened.
    pub kind: ObjectEventKind,
    /// Size of the object now; 0 when deleted.
    pub bytes: u64,
}

/// Kinds of [`ObjectEvent`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectEventKind {
    /// An object was written, or written over.
    Put,
    /// An object was deleted.
    Delete,
}

/// The request's own body. It goes past s3s, which would keep whole chunks of it in memory, straight to
/// [`crate::upload`].
#[derive(Clone)]
pub(crate) struct RawBody(Arc<Mutex<Option<Incoming>>>);

impl RawBody {
    /// Wraps a body.
    pub(crate) fn new(body: Incoming) -> Self {
        Self(Arc::new(Mutex::new(Some(body))))
    }

    fn take(&self) -> Option<Incoming> {
        self.0.lock().ok()?.take()
    }
}

/// The operations.
pub(crate) struct Ops {
    store: Arc<Store>,
    config: Arc<S3Config>,
    events: mpsc::Sender<ObjectEvent>,
}

impl Ops {
    /// Operations on a store; events go to `events` as far as it has room.
    pub(crate) fn new(store: Arc<Store>, config: Arc<S3Config>, events: mpsc::Sender<ObjectEvent>) -> Self {
        Self {
            store,
            config,
            events,
        }
    }

    /// Runs a function of the store on a blocking thread.
    async fn on_store<T: Send + 'static>(
        &self,
        f: impl FnOnce(&Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = Arc::clone(&self.store);
        blocking(move || f(&store)).await
    }

    fn tell(&self, bucket: &str, key: &str, kind: ObjectEventKind, bytes: u64) {
        let event = ObjectEvent {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            kind,
            bytes,
        };
        // A full queue is no loss: ingest also looks at the folders themselves from time to time.
        if let Err(error) = self.events.try_send(event) {
            tracing::debug!(%error, "an object event was dropped");
        }
    }
}

/// Finds the bucket and checks the key of a request.
fn locate<'a>(store: &'a Store, bucket: &str, key: &'a str) -> Result<(&'a Bucket, Key<'a>)> {
    Ok((store.bucket(bucket)?, Key::parse(key)?))
}

/// The headers of an upload that are kept with the object.
struct KeptHeaders {
    content_type: Option<String>,
    content_encoding: Option<String>,
    content_disposition: Option<String>,
    content_language: Option<String>,
    cache_control: Option<String>,
    metadata: Option<Metadata>,
}

impl From<KeptHeaders> for Extra {
    fn from(h: KeptHeaders) -> Self {
        let encoding = h.content_encoding.map(|e| {
            let kept = e
                .split(',')
                .map(str::trim)
                .filter(|e| !e.eq_ignore_ascii_case("aws-chunked"));
            kept.collect::<Vec<_>>().join(",")
        });
        Self {
            content_type: h.content_type.filter(|t| !t.is_empty()),
            content_encoding: encoding.filter(|e| !e.is_empty()),
            content_disposition: h.content_disposition,
            content_language: h.content_language,
            cache_control: h.cache_control,
            user: h
                .metadata
                .map(|m| m.into_iter().collect::<BTreeMap<_, _>>())
                .unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// ETag header value of a stored ETag.
fn etag(text: String) -> ETag {
    ETag::Strong(text)
}

fn size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Refuses what the store does not do, rather than ignoring it.
fn unsupported(what: &str) -> StoreError {
    StoreError::Invalid(format!("{what} is not supported here: leave it out"))
}

macro_rules! operations {
    ($($name:ident: $input:ty => $output:ty;)*) => {
        #[async_trait::async_trait]
        impl S3 for Ops {
            $(async fn $name(&self, req: S3Request<$input>) -> S3Result<S3Response<$output>> {
                Ok(Ops::$name(self, req).await?)
            })*
        }
    };
}

operations! {
    create_bucket: CreateBucketInput => CreateBucketOutput;
    head_bucket: HeadBucketInput => HeadBucketOutput;
    list_buckets: ListBucketsInput => ListBucketsOutput;
    get_bucket_location: GetBucketLocationInput => GetBucketLocationOutput;
    put_object: PutObjectInput => PutObjectOutput;
    get_object: GetObjectInput => GetObjectOutput;
    head_object: HeadObjectInput => HeadObjectOutput;
    delete_object: DeleteObjectInput => DeleteObjectOutput;
    delete_objects: DeleteObjectsInput => DeleteObjectsOutput;
    copy_object: CopyObjectInput => CopyObjectOutput;
    create_multipart_upload: CreateMultipartUploadInput => CreateMultipartUploadOutput;
    upload_part: UploadPartInput => UploadPartOutput;
    upload_part_copy: UploadPartCopyInput => UploadPartCopyOutput;
    complete_multipart_upload: CompleteMultipartUploadInput => CompleteMultipartUploadOutput;
    abort_multipart_upload: AbortMultipartUploadInput => AbortMultipartUploadOutput;
    list_parts: ListPartsInput => ListPartsOutput;
    list_multipart_uploads: ListMultipartUploadsInput => ListMultipartUploadsOutput;
    list_objects: ListObjectsInput => ListObjectsOutput;
    list_objects_v2: ListObjectsV2Input => ListObjectsV2Output;
}
