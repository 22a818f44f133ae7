//! The connection to one server: address, token, and the one place where requests are sent and repeated.

use std::fmt;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

use crate::error::{causes, detail};
use crate::retry::Again;
use crate::{Error, Result, Retry};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait between two pieces of an answer. Above the event stream's keepalive of 15 s.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes a second at which a body must at least travel: 32 KiB/s, which is 2 Mbit/s for the eight requests that
/// an upload has under way.
const SLOWEST: u64 = 32 << 10;
/// Bytes of an error body that are looked at.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A client of one server. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    uploads: reqwest::Client,
    base: Url,
    token: String,
    retry: Retry,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The token stays out of logs.
        f.debug_struct("Client")
            .field("base", &self.base.as_str())
            .field("retry", &self.retry)
            .finish()
    }
}

impl Client {
    /// A client of the server at `base_url`, such as `http://127.0.0.1:8000`. An empty token sends none.
    ///
    /// # Errors
    /// [`Error::Address`] when `base_url` is no http(s) address, [`Error::Token`] when no header can carry the
    /// token.
    pub fn new(base_url: &str, token: impl Into<String>) -> Result<Self> {
        let base = parse(base_url)?;
        let token = token.into();
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::Token);
        }
        let bad = |error: reqwest::Error| Error::Address {
            url: base_url.to_owned(),
            reason: causes(&error),
        };
        Ok(Self {
            http: http().map_err(bad)?,
            uploads: http_uploads().map_err(bad)?,
            base,
            token,
            retry: Retry::PERSON,
        })
    }

    /// The same client with another patience.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// The server's address.
    pub fn base_url(&self) -> &str {
        self.base.as_str()
    }

    /// `path` segments under the base address, each escaped.
    pub(crate) fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("api").extend(path);
        }
        url
    }

    pub(crate) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.with_token(self.http.request(method, url))
    }

    /// A request with a body of `len` bytes, which may take its time.
    pub(crate) fn upload(&self, method: Method, url: Url, len: u64) -> RequestBuilder {
        self.with_token(self.uploads.request(method, url))
            .timeout(patience(len))
    }

    /// A request whose answer may take as long as `patience`, without a sign of life before.
    pub(crate) fn slow(&self, method: Method, url: Url, patience: Duration) -> RequestBuilder {
        self.with_token(self.uploads.request(method, url))
            .timeout(patience)
    }

    fn with_token(&self, request: RequestBuilder) -> RequestBuilder {
        if self.token.is_empty() {
            request
        } else {
            request.bearer_auth(&self.token)
        }
    }

    /// Sends what `make` builds and repeats it while that may help. `make` is called for each try.
    pub(crate) async fn send(
        &self,
        repeat: Repeat,
        make: impl Fn(&Self) -> Result<RequestBuilder>,
    ) -> Result<Response> {
        self.retry
            .run(|tries| {
                let request = make(self);
                async move { exchange(request.map_err(Again::No)?, tries, repeat).await }
            })
            .await
    }

    /// Sends a GET and reads its JSON answer.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T> {
        let url = self.url(path);
        let answer = self
            .send(Repeat::Always, |c| Ok(c.request(Method::GET, url.clone())))
            .await?;
        json(answer).await
    }
}

/// Which failures allow a second try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// The call changes nothing when it is made twice.
    Always,
    /// The call may only be repeated when the server surely has not seen it.
    Unseen,
}

/// One try.
pub(crate) async fn exchange(request: RequestBuilder, tries: u32, repeat: Repeat) -> Result<Response, Again> {
    let (client, request) = request.build_split();
    let request = request.map_err(|error| {
        Again::No(Error::Address {
            url: String::new(),
            reason: causes(&error),
        })
    })?;
    let url = bare(request.url());
    match client.execute(request).await {
        Err(error) => {
            let may_repeat = repeat == Repeat::Always || error.is_connect();
            let reason = causes(&error);
            let error = Error::Unreachable { url, tries, reason };
            Err(if may_repeat {
                Again::Yes(error)
            } else {
                Again::No(error)
            })
        }
        Ok(answer) if answer.status().is_success() => Ok(answer),
        Ok(answer) => {
            let status = answer.status();
            let detail = detail(&head(answer).await);
            let code = status.as_u16();
            if status.is_server_error() {
                let error = Error::Failed {
                    url,
                    status: code,
                    tries,
                    detail,
                };
                // 503 is an answer that promises the call was not carried out.
                let may_repeat = repeat == Repeat::Always || code == 503;
                Err(if may_repeat {
                    Again::Yes(error)
                } else {
                    Again::No(error)
                })
            } else {
                Err(Again::No(Error::Refused {
                    url,
                    status: code,
                    detail,
                }))
            }
        }
    }
}

/// An http(s) address without a trailing slash, query or fragment.
pub(crate) fn parse(text: &str) -> Result<Url> {
    let bad = |reason: &str| Error::Address {
        url: text.to_owned(),
        reason: reason.to_owned(),
    };
    let mut url = Url::parse(text.trim()).map_err(|e| bad(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(bad("it must start with http:// or https:// and name a host"));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// The transport, with timeouts for connecting and for silence but none for a whole answer.
pub(crate) fn http() -> reqwest::Result<reqwest::Client> {
    builder().read_timeout(READ_TIMEOUT).build()
}

/// The transport for bodies. Its requests have a [`patience`] each: the wait for an answer that [`http`] has
/// begins before the body is sent, so a large body on a slow link would never arrive.
pub(crate) fn http_uploads() -> reqwest::Result<reqwest::Client> {
    builder().build()
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("cascade/", env!("CARGO_PKG_VERSION")))
}

/// Longest time for a request with a body of `len` bytes, its answer included.
pub(crate) fn patience(len: u64) -> Duration {
    READ_TIMEOUT + Duration::from_secs(len / SLOWEST)
}

/// The JSON body of an answer.
pub(crate) async fn json<T: DeserializeOwned>(answer: Response) -> Result<T> {
    let url = bare(answer.url());
    let bytes = answer.bytes().await.map_err(|error| Error::Answer {
        url: url.clone(),
        reason: format!("the answer broke off: {}", causes(&error)),
    })?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Answer {
        url,
        reason: error.to_string(),
    })
}

/// The start of an error body.
async fn head(mut answer: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BYTES {
        match answer.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) | Err(_) => break,
        }
    }
    body.truncate(MAX_ERROR_BYTES);
    body
}

/// An address for a message: without a query, which may hold a signature or a token.
pub(crate) fn bare(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}
