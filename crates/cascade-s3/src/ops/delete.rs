//! DeleteObject and DeleteObjects.

use futures::StreamExt as _;
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result};

use super::{ObjectEventKind, Ops, locate};
use crate::error::Result;

/// Most keys in one DeleteObjects request (S3's own limit).
const MAX_KEYS: usize = 1000;
/// Deletes of one request that run at once, to share the disk's syncs.
const DELETES_AT_ONCE: usize = 16;

impl Ops {
    pub(super) async fn delete_object(
        &self,
        req: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        self.delete(req.input.bucket, req.input.key).await?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    async fn delete(&self, bucket: String, key: String) -> Result<()> {
        let (to_bucket, to_key) = (bucket.clone(), key.clone());
        let delete = self.on_store(move |store| {
            let (bucket, key) = locate(store, &to_bucket, &to_key)?;
            store.delete(bucket, &key)
        });
        if delete.await? {
            self.tell(&bucket, &key, ObjectEventKind::Delete, 0);
        }
        Ok(())
    }

    pub(super) async fn delete_objects(
        &self,
        req: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let DeleteObjectsInput { bucket, delete, .. } = req.input;
        self.store.bucket(&bucket)?;
        if delete.objects.len() > MAX_KEYS {
            let message = format!(
                "{} keys in one request; at most {MAX_KEYS} are allowed",
                delete.objects.len()
            );
            return Err(S3Error::with_message(S3ErrorCode::MalformedXML, message));
        }
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        let deletes = delete.objects.into_iter().map(|object| async {
            let key = object.key;
            (self.delete(bucket.clone(), key.clone()).await, key)
        });
        let mut results = futures::stream::iter(deletes).buffered(DELETES_AT_ONCE);
        while let Some((result, key)) = results.next().await {
            match result {
                Ok(()) if delete.quiet == Some(true) => {}
                Ok(()) => deleted.push(DeletedObject {
                    key: Some(key),
                    ..DeletedObject::default()
                }),
                Err(error) => {
                    let error = S3Error::from(error);
                    errors.push(Error {
                        code: Some(error.code().as_str().to_owned()),
                        message: error.message().map(str::to_owned),
                        key: Some(key),
                        version_id: None,
                    });
                }
            }
        }
        Ok(S3Response::new(DeleteObjectsOutput {
            deleted: Some(deleted),
            errors: Some(errors),
            request_charged: None,
        }))
    }
}
