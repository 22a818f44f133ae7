//! The endpoint: settings in, a running server out.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use s3s::config::StaticConfigProvider;
use s3s::service::S3ServiceBuilder;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::auth::Keys;
use crate::config::S3Config;
use crate::error::{Result, StoreError};
use crate::front::{Front, MAX_XML_BYTES, SignedOnly, server_error};
use crate::ops::{ObjectEvent, Ops};
use crate::store::Store;

/// A client has this long to send a request's headers.
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);
/// Requests under way have this long to end at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);
/// Pause after an accept that failed for want of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Cascade's S3 endpoint.
pub struct S3Endpoint {
    front: Arc<Front>,
    max_connections: usize,
}

impl S3Endpoint {
    /// Opens the store and makes the endpoint. Each change that became visible is sent to `events` as far as
    /// it has room.
    ///
    /// # Errors
    /// [`StoreError`] where the store's folder cannot be used, or signatures are asked for without a secret.
    pub fn new(config: S3Config, events: mpsc::Sender<ObjectEvent>) -> Result<Self> {
        if !config.anonymous && (config.secret.is_empty() || config.access_keys.is_empty()) {
            let message = "the S3 endpoint needs an access key and a secret, or anonymous access";
            return Err(StoreError::Invalid(message.to_owned()));
        }
        let store = Arc::new(Store::open(&config.root, &config.buckets)?);
        let config = Arc::new(config);
        let mut builder = S3ServiceBuilder::new(Ops::new(store, Arc::clone(&config), events));
        if !config.anonymous {
            builder.set_auth(Keys::new(config.access_keys.clone(), config.secret.clone()));
            builder.set_access(SignedOnly::new(Arc::clone(&config)));
        }
        let mut limits = s3s::config::S3Config::default();
        limits.xml_max_body_size = MAX_XML_BYTES;
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(limits))));
        let max_connections = config.max_connections;
        Ok(Self {
            front: Arc::new(Front::new(builder.build(), config)),
            max_connections,
        })
    }

    /// Serves HTTP/1.1 until `shutdown`, then lets requests under way end for a few seconds.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) {
        let connections = Arc::new(Semaphore::new(self.max_connections));
        let graceful = GracefulShutdown::new();
        loop {
            let next = async {
                let permit = Arc::clone(&connections).acquire_owned().await.ok();
                (listener.accept().await, permit)
            };
            let (stream, permit) = tokio::select! {
                () = shutdown.cancelled() => break,
                (accepted, permit) = next => match accepted {
                    Ok((stream, _peer)) => (stream, permit),
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                        continue;
                    }
                },
            };
            let connection = graceful.watch(connection(stream, Arc::clone(&self.front)));
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection ended early");
                }
                drop(permit);
            });
        }
        drop(listener);
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown())
            .await
            .is_err()
        {
            tracing::warn!("uploads were still under way at shutdown; they were cut off and are not stored");
        }
    }
}

fn connection(
    stream: TcpStream,
    front: Arc<Front>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let service = service_fn(move |request| {
        let front = Arc::clone(&front);
        async move {
            Ok::<_, Infallible>(front.handle(request).await.unwrap_or_else(|error| {
                tracing::error!(error = %s3s::StdError::from(error), "a request got no proper reply");
                server_error()
            }))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    http.serve_connection(TokioIo::new(stream), service)
}
