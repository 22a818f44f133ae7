//! Which signatures are accepted, and what to do when one is not.

use s3s::auth::{S3Auth, SecretKey};
use s3s::{S3Error, S3ErrorCode, S3Result};

/// Accepts a fixed set of access keys with one secret.
#[derive(Debug)]
pub(crate) struct Keys {
    access_keys: Vec<String>,
    secret: SecretKey,
}

impl Keys {
    /// Accepts `access_keys`, each with `secret`.
    pub(crate) fn new(access_keys: Vec<String>, secret: String) -> Self {
        Self {
            access_keys,
            secret: SecretKey::from(secret),
        }
    }
}

#[async_trait::async_trait]
impl S3Auth for Keys {
    async fn get_secret_key(&self, access_key: &str) -> S3Result<SecretKey> {
        if self.access_keys.iter().any(|known| known == access_key) {
            return Ok(self.secret.clone());
        }
        Err(S3Error::with_message(
            S3ErrorCode::InvalidAccessKeyId,
            hint(&self.access_keys),
        ))
    }
}

/// Which keys to use.
pub(crate) fn hint(access_keys: &[String]) -> String {
    format!(
        "use the access key '{}' and the server's token as the secret key",
        access_keys.join("' or '")
    )
}
