//! What is already in the bucket.

use std::collections::BTreeMap;
use std::time::Duration;

use instant_xml::FromXml;
use rusty_s3::S3Action;
use rusty_s3::actions::{ListObjectsV2, ListParts};

use super::{PATIENCE, Uploader};
use crate::client::{Repeat, bare, exchange};
use crate::error::causes;
use crate::retry::Again;
use crate::{Error, Result, Retry};

/// How long a signature holds; long enough for the slowest body.
pub(super) const SIGNED_FOR: Duration = Duration::from_secs(6 * 3600);

/// An object in the bucket.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) bytes: u64,
    /// Without quotes.
    pub(super) etag: String,
}

/// A part of an upload that was cut short.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) bytes: u64,
    pub(super) etag: String,
}

#[derive(FromXml)]
#[xml(
    rename = "ListMultipartUploadsResult",
    ns("http://s3.amazonaws.com/doc/2006-03-01/")
)]
struct Uploads {
    uploads: Vec<Upload>,
}

#[derive(FromXml)]
#[xml(rename = "Upload", ns("http://s3.amazonaws.com/doc/2006-03-01/"))]
struct Upload {
    #[xml(rename = "Key")]
    key: String,
    #[xml(rename = "UploadId")]
    id: String,
}

impl Uploader {
    /// Every object under `prefix`, by key.
    pub(super) async fn list(&self, prefix: &str, retry: Retry) -> Result<BTreeMap<String, Object>> {
        let mut objects = BTreeMap::new();
        let mut token: Option<String> = None;
        loop {
            let mut action = ListObjectsV2::new(&self.bucket, self.credentials.as_ref());
            action.with_prefix(prefix);
            if let Some(token) = &token {
                action.with_continuation_token(token.as_str());
            }
            let text = self.get(&action, retry).await?;
            let page =
                ListObjectsV2::parse_response(&text).map_err(|error| self.unexpected(error.to_string()))?;
            for object in page.contents {
                objects.insert(
                    object.key,
                    Object {
                        bytes: object.size.unwrap_or_default(),
                        etag: unquoted(&object.etag.unwrap_or_default()),
                    },
                );
            }
            match page.next_continuation_token {
                Some(next) if token.as_ref() != Some(&next) => token = Some(next),
                _ => return Ok(objects),
            }
        }
    }

    /// The id of an upload of `key` in parts that was begun and neither completed nor given up.
    pub(super) async fn unfinished(&self, key: &str) -> Result<Option<String>> {
        // rusty-s3 has no action for this list; it differs from the list of objects in its query alone.
        let mut action = ListObjectsV2::new(&self.bucket, self.credentials.as_ref());
        action.query_mut().remove("list-type");
        action.query_mut().remove("encoding-type");
        action.query_mut().insert("uploads", "");
        action.query_mut().insert("prefix", key);
        let text = match self.get(&action, PATIENCE).await {
            Ok(text) => text,
            // An endpoint without this list: begin anew.
            Err(Error::Refused { .. } | Error::Failed { status: 501, .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let found: Uploads =
            instant_xml::from_str(&text).map_err(|error| self.unexpected(error.to_string()))?;
        Ok(found
            .uploads
            .into_iter()
            .find(|upload| upload.key == key)
            .map(|upload| upload.id))
    }

    /// The whole parts of an upload, by number.
    pub(super) async fn parts(&self, key: &str, id: &str) -> Result<BTreeMap<u16, Part>> {
        let mut parts = BTreeMap::new();
        let mut after = None;
        loop {
            let mut action = ListParts::new(&self.bucket, self.credentials.as_ref(), key, id);
            if let Some(after) = after {
                action.set_part_number_marker(after);
            }
            let text = self.get(&action, PATIENCE).await?;
            let page =
                ListParts::parse_response(&text).map_err(|error| self.unexpected(error.to_string()))?;
            for part in page.parts {
                let etag = unquoted(&part.etag);
                parts.insert(
                    part.number,
                    Part {
                        bytes: part.size,
                        etag,
                    },
                );
            }
            match page.next_part_number_marker {
                Some(next) if after != Some(next) => after = Some(next),
                _ => return Ok(parts),
            }
        }
    }

    async fn get<'a>(&self, action: &impl S3Action<'a>, retry: Retry) -> Result<String> {
        let answer = retry
            .run(|tries| {
                let request = self.http.get(action.sign(SIGNED_FOR));
                async move { exchange(request, tries, Repeat::Always).await.map_err(in_words) }
            })
            .await?;
        let url = bare(answer.url());
        answer.text().await.map_err(|error| Error::Answer {
            url,
            reason: causes(&error),
        })
    }

    pub(super) fn unexpected(&self, reason: String) -> Error {
        Error::Answer {
            url: bare(self.bucket.base_url()),
            reason,
        }
    }
}

/// An ETag without its quotes.
pub(super) fn unquoted(etag: &str) -> String {
    etag.trim_matches('"').to_owned()
}

/// S3's XML error as its own sentence.
pub(super) fn in_words(failure: Again) -> Again {
    let reword = |error: Error| match error {
        Error::Refused { url, status, detail } => Error::Refused {
            url,
            status,
            detail: sentence(detail),
        },
        Error::Failed {
            url,
            status,
            tries,
            detail,
        } => Error::Failed {
            url,
            status,
            tries,
            detail: sentence(detail),
        },
        other => other,
    };
    match failure {
        Again::Yes(error) => Again::Yes(reword(error)),
        Again::No(error) => Again::No(reword(error)),
    }
}

fn sentence(detail: String) -> String {
    let tag = |name: &str| {
        let (_, rest) = detail.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>"))
            .map(|(text, _)| unescaped(text.trim()))
    };
    match (tag("Code"), tag("Message")) {
        (Some(code), Some(message)) if !message.is_empty() => format!("{message} ({code})"),
        (Some(code), _) => code,
        _ => detail,
    }
}

/// XML text with its named characters in place.
fn unescaped(text: &str) -> String {
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        // Last: what it leaves is text.
        ("&amp;", "&"),
    ];
    named.iter().fold(text.to_owned(), |text, (name, character)| {
        text.replace(name, character)
    })
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn an_xml_error_becomes_its_sentence() {
        let xml = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code><Message>no bucket &apos;a&amp;lt;&apos;</Message></Error>";
        assert_eq!(sentence(xml.to_owned()), "no bucket 'a&lt;' (NoSuchBucket)");
        assert_eq!(sentence("plain".to_owned()), "plain");
    }
}
