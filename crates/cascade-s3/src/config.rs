//! Settings of the endpoint.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of the endpoint. Start from [`S3Config::new`] and change what differs.
#[derive(Clone)]
pub struct S3Config {
    /// Folder of the store; buckets are folders in it. Made if missing.
    pub root: PathBuf,
    /// Buckets that exist. Others cannot be made.
    pub buckets: Vec<String>,
    /// Access keys that are accepted, all with the same secret.
    pub access_keys: Vec<String>,
    /// Secret key of all of them.
    pub secret: String,
    /// Takes requests without a signature, and with any.
    pub anonymous: bool,
    /// Most bytes of one object.
    pub max_object_bytes: u64,
    /// A body of which no byte arrives for this long is given up.
    pub idle_timeout: Duration,
    /// Most connections at once; more wait.
    pub max_connections: usize,
}

impl S3Config {
    /// Settings with one bucket, one access key and the default limits: objects to 1 TiB, 60 s without a
    /// byte, 256 connections.
    pub fn new(root: impl Into<PathBuf>, bucket: &str, access_key: &str, secret: &str) -> Self {
        Self {
            root: root.into(),
            buckets: vec![bucket.to_owned()],
            access_keys: vec![access_key.to_owned()],
            secret: secret.to_owned(),
            anonymous: false,
            max_object_bytes: 1 << 40,
            idle_timeout: Duration::from_secs(60),
            max_connections: 256,
        }
    }
}

impl std::fmt::Debug for S3Config {
    /// Leaves the secret out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("S3Config")
            .field("root", &self.root)
            .field("buckets", &self.buckets)
            .field("access_keys", &self.access_keys)
            .field("anonymous", &self.anonymous)
            .field("max_object_bytes", &self.max_object_bytes)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_connections", &self.max_connections)
            .finish_non_exhaustive()
    }
}
