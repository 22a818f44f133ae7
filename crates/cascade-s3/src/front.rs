//! What stands in front of s3s: limits it does not have, bodies it would keep in memory, and error messages
//! that say what to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, EXPECT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::Incoming;
use s3s::access::{S3Access, S3AccessContext};
use s3s::service::S3Service;
use s3s::{Body, HttpError, S3Error, S3ErrorCode, S3Result};

use crate::auth;
use crate::config::S3Config;
use crate::ops::RawBody;

/// Most bytes of an XML body (DeleteObjects with 1,000 keys, CompleteMultipartUpload with 10,000 parts).
pub(crate) const MAX_XML_BYTES: usize = 8 << 20;

/// Whether a client waits for `100 Continue` and gets its reply instead, since it announced an empty body. botocore
/// misreads the next reply on such a connection (it takes the status line for a header), so it is not used again.
fn is_answered_unasked<B: http_body::Body>(req: &Request<B>) -> bool {
    req.headers().contains_key(EXPECT) && req.body().is_end_stream()
}

/// Takes each request before s3s and each reply after it.
pub(crate) struct Front {
    service: S3Service,
    config: Arc<S3Config>,
    requests: AtomicU64,
}

impl Front {
    /// Stands in front of `service`.
    pub(crate) fn new(service: S3Service, config: Arc<S3Config>) -> Self {
        Self {
            service,
            config,
            requests: AtomicU64::new(0),
        }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Only where no reply can be given at all; the connection is closed then.
    pub(crate) async fn handle(&self, req: Request<Incoming>) -> Result<Response<Body>, HttpError> {
        let id = self.requests.fetch_add(1, Ordering::Relaxed);
        let unasked = is_answered_unasked(&req);
        let mut reply = match self.refuse(&req) {
            Some(error) => to_reply(error)?,
            None => {
                let reply = self.service.call(self.prepare(req)).await?;
                self.explain(reply)
            }
        };
        if let Ok(value) = HeaderValue::from_str(&format!("{id:016X}")) {
            reply.headers_mut().insert("x-amz-request-id", value);
        }
        if unasked {
            reply
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(reply)
    }

    /// Requests that are not passed on.
    fn refuse(&self, req: &Request<Incoming>) -> Option<S3Error> {
        let header = |name| {
            req.headers()
                .get(name)
                .and_then(|v| v.to_str().ok())
                .unwrap_or("")
        };
        if req.method() == Method::POST && header(CONTENT_TYPE).starts_with("multipart/form-data") {
            let message = "browser form uploads are not supported here: use PutObject";
            return Some(S3Error::with_message(S3ErrorCode::MethodNotAllowed, message));
        }
        let v2_query = query_names(req.uri()).any(|name| name == "AWSAccessKeyId");
        if !self.config.anonymous && (v2_query || header(AUTHORIZATION).starts_with("AWS ")) {
            let message = "signature version 2 covers neither the body nor all headers and is not accepted: set your client to signature version 4 (s3v4)";
            return Some(S3Error::with_message(S3ErrorCode::InvalidRequest, message));
        }
        None
    }

    /// Makes the request one that s3s handles within limits.
    fn prepare(&self, req: Request<Incoming>) -> Request<Body> {
        let (mut parts, body) = req.into_parts();
        if self.config.anonymous {
            // Whoever signs may do so with any key: the signature is not looked at.
            parts.headers.remove(AUTHORIZATION);
            parts.uri = without_signature(parts.uri);
        }
        let body = if is_upload(&parts.method, &parts.uri, &parts.headers) {
            parts.extensions.insert(RawBody::new(body));
            Body::empty()
        } else if body.is_end_stream() {
            Body::empty()
        } else {
            small_body(body, self.config.idle_timeout)
        };
        Request::from_parts(parts, body)
    }

    /// Adds a message to an error reply of s3s that has only a code.
    fn explain(&self, reply: Response<Body>) -> Response<Body> {
        let status = reply.status();
        if !status.is_client_error() && !status.is_server_error() {
            return reply;
        }
        let Some(xml) = reply
            .body()
            .bytes()
            .and_then(|b| String::from_utf8(b.to_vec()).ok())
        else {
            return reply;
        };
        let code = xml
            .split_once("<Code>")
            .and_then(|(_, rest)| rest.split_once("</Code>"))
            .map(|(c, _)| c);
        let keys = auth::hint(&self.config.access_keys);
        let buckets = self.config.buckets.join("' or '");
        let message = match code {
            Some("SignatureDoesNotMatch") => format!("the signature is wrong: {keys}"),
            Some("InvalidBucketName" | "NoSuchBucket") => {
                format!("no bucket can have this name; use '{buckets}', with path-style addressing")
            }
            Some("MissingContentLength") => "send a Content-Length header".to_owned(),
            Some("KeyTooLongError") => {
                format!(
                    "the key is longer than {} bytes: shorten it",
                    crate::key::MAX_KEY_BYTES
                )
            }
            Some("MaxMessageLengthExceeded") => {
                format!("the request's body is larger than {MAX_XML_BYTES} bytes: ask for less at a time")
            }
            Some("InvalidURI") => "the path or query is not valid UTF-8 in percent-encoding".to_owned(),
            Some("MalformedXML") => "the body is not the XML that this operation takes".to_owned(),
            Some("MethodNotAllowed") => "this method does nothing on this path".to_owned(),
            _ => return reply,
        };
        if xml.contains("<Message>") {
            return reply;
        }
        let message = format!("</Code><Message>{message}</Message>");
        let (mut parts, _) = reply.into_parts();
        parts.headers.remove(http::header::CONTENT_LENGTH);
        Response::from_parts(parts, Body::from(xml.replacen("</Code>", &message, 1)))
    }
}

/// Refuses unsigned requests, and says how to sign them.
pub(crate) struct SignedOnly {
    config: Arc<S3Config>,
}

impl SignedOnly {
    /// The rule for these settings.
    pub(crate) fn new(config: Arc<S3Config>) -> Self {
        Self { config }
    }
}

#[async_trait::async_trait]
impl S3Access for SignedOnly {
    async fn check(&self, cx: &mut S3AccessContext<'_>) -> S3Result<()> {
        if cx.credentials().is_some() {
            return Ok(());
        }
        let message = format!(
            "the request is not signed: {}",
            auth::hint(&self.config.access_keys)
        );
        Err(S3Error::with_message(S3ErrorCode::AccessDenied, message))
    }
}

fn to_reply(error: S3Error) -> Result<Response<Body>, HttpError> {
    error.to_http_response().map_err(|e| HttpError::new(Box::new(e)))
}

/// A reply to give when s3s itself cannot.
pub(crate) fn server_error() -> Response<Body> {
    let mut reply = Response::new(Body::empty());
    *reply.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    reply
}

fn query_names(uri: &Uri) -> impl Iterator<Item = &str> {
    let pairs = uri
        .query()
        .unwrap_or("")
        .split('&')
        .filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name))
}

fn is_signature(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("x-amz-") || matches!(name, "AWSAccessKeyId" | "Signature" | "Expires")
}

/// True for PutObject and UploadPart, whose bodies may be of any size.
fn is_upload(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let has_key = uri
        .path()
        .trim_start_matches('/')
        .split_once('/')
        .is_some_and(|(_, key)| !key.is_empty());
    let plain = query_names(uri).all(|n| is_signature(n) || matches!(n, "partNumber" | "uploadId" | "x-id"));
    method == Method::PUT && has_key && plain && !headers.contains_key("x-amz-copy-source")
}

fn without_signature(uri: Uri) -> Uri {
    let Some(query) = uri.query() else { return uri };
    let name = |pair: &str| {
        pair.split_once('=')
            .map_or(pair.to_owned(), |(name, _)| name.to_owned())
    };
    let kept: Vec<_> = query
        .split('&')
        .filter(|pair| !is_signature(&name(pair)))
        .collect();
    let path = if kept.is_empty() {
        uri.path().to_owned()
    } else {
        format!("{}?{}", uri.path(), kept.join("&"))
    };
    let mut parts = uri.clone().into_parts();
    let Ok(path) = path.parse() else { return uri };
    parts.path_and_query = Some(path);
    Uri::from_parts(parts).unwrap_or(uri)
}

/// A body of at most [`MAX_XML_BYTES`] that may not stall for longer than `idle`.
fn small_body(body: Incoming, idle: Duration) -> Body {
    let frames = futures::stream::try_unfold(body, move |mut body| async move {
        match tokio::time::timeout(idle, body.frame()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(frame))) => Ok(Some((frame, body))),
            Ok(Some(Err(error))) => Err::<_, s3s::StdError>(error.into()),
            Err(elapsed) => Err(elapsed.into()),
        }
    });
    let body = StreamBody::new(frames);
    Body::http_body_unsync(Limited::<_>::new(body, MAX_XML_BYTES).map_frame(|f| f.map_data(Bytes::from)))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Request;
    use http_body_util::Full;

    use super::is_answered_unasked;

    #[test]
    fn only_an_empty_body_that_was_asked_about_closes_the_connection() {
        let request = |expect: bool, body: &'static str| {
            let mut request = Request::put("/cascade/a");
            if expect {
                request = request.header("expect", "100-continue");
            }
            request
                .body(Full::new(Bytes::from_static(body.as_bytes())))
                .unwrap()
        };
        assert!(is_answered_unasked(&request(true, "")));
        assert!(!is_answered_unasked(&request(true, "x")));
        assert!(!is_answered_unasked(&request(false, "")));
    }
}
