//! Buckets: a fixed set, from the settings.

use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result};

use super::Ops;

impl Ops {
    /// Makes nothing: succeeds for a bucket that exists, so that clients that always ask can go on.
    pub(super) async fn create_bucket(
        &self,
        req: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        if let Err(error) = self.store.bucket(&req.input.bucket) {
            let message = format!("buckets cannot be made here: {error}");
            return Err(S3Error::with_message(S3ErrorCode::AccessDenied, message));
        }
        let location = Some(format!("/{}", req.input.bucket));
        Ok(S3Response::new(CreateBucketOutput { location }))
    }

    pub(super) async fn head_bucket(
        &self,
        req: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        self.store.bucket(&req.input.bucket)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    pub(super) async fn list_buckets(
        &self,
        _req: S3Request<ListBucketsInput>,
    ) -> S3Result<S3Response<ListBucketsOutput>> {
        let buckets = self.store.buckets().iter().map(|bucket| Bucket {
            name: Some(bucket.name.clone()),
            creation_date: Some(Timestamp::from(bucket.created)),
            ..Bucket::default()
        });
        let owner = Owner {
            display_name: Some("cascade".to_owned()),
            id: Some("cascade".to_owned()),
        };
        Ok(S3Response::new(ListBucketsOutput {
            buckets: Some(buckets.collect()),
            owner: Some(owner),
            ..ListBucketsOutput::default()
        }))
    }

    pub(super) async fn get_bucket_location(
        &self,
        req: S3Request<GetBucketLocationInput>,
    ) -> S3Result<S3Response<GetBucketLocationOutput>> {
        self.store.bucket(&req.input.bucket)?;
        // No constraint means us-east-1.
        Ok(S3Response::new(GetBucketLocationOutput::default()))
    }
}
