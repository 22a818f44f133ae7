//! `cascade serve`: binds the ports, starts every part and stops them in order.

use std::io::{IsTerminal, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use cascade_s3::{ObjectEvent, S3Config, S3Endpoint};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::app_state::AppState;
use crate::config::{LogFormat, Settings};
use crate::launcher::dispatch::{self, Graces};
use crate::launcher::{Local, LocalSettings};
use crate::runs::{Service, Urls};
use crate::{http, ingest, monitor, samples};

/// Name under which S3 clients sign, whatever the workspace is called.
const ACCESS_KEY: &str = "cascade";
/// Stored objects that ingest may still have to hear of.
const OBJECT_EVENTS: usize = 1_024;
/// Ended simulators that the launcher may still have to hear of.
const SIM_EXITS: usize = 64;
/// How long parts may take to stop before the process goes without them.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);

/// A server that runs within this process.
#[derive(Debug)]
pub struct Running {
    /// Everything it does.
    pub service: Service,
    /// Where the app listens.
    pub app: SocketAddr,
    /// Where the S3 endpoint listens, if it runs.
    pub s3: Option<SocketAddr>,
    shutdown: CancellationToken,
    parts: JoinSet<&'static str>,
    /// Objects that were put or deleted; ingest hears of them.
    objects: mpsc::Receiver<ObjectEvent>,
}

/// Runs the server until it is told to stop by SIGINT or SIGTERM.
///
/// # Errors
/// When a port or the data directory cannot be used.
pub async fn serve(settings: Settings) -> anyhow::Result<()> {
    start_logging(&settings)?;
    let mut running = start(settings).await?;
    announce(&running);
    let part = tokio::select! {
        signal = stop_signal() => {
            tracing::info!("stopping on {}", signal?);
            None
        }
        part = running.parts.join_next() => part,
    };
    running.stop().await;
    match part {
        None => Ok(()),
        Some(Ok(name)) => anyhow::bail!("{name} ended by itself"),
        Some(Err(error)) => Err(error).context("a part of the server broke off"),
    }
}

/// Binds the ports, opens the data directory and starts every part.
///
/// # Errors
/// When a port or the data directory cannot be used.
pub async fn start(settings: Settings) -> anyhow::Result<Running> {
    let mut running = start_listeners(settings).await?;
    running.start_jobs()?;
    Ok(running)
}

/// Starts what answers: the app and the S3 endpoint. Nothing takes traces in, launches sims or watches them.
///
/// # Errors
/// When a port or the data directory cannot be used.
pub async fn start_listeners(settings: Settings) -> anyhow::Result<Running> {
    let settings = Arc::new(settings);
    let (listener, app) = bind(settings.host, settings.port, "the app", "--port").await?;
    let s3 = match settings.run_s3 {
        true => Some(bind(settings.host, settings.s3_port, "the S3 endpoint", "--s3-port").await?),
        false => None,
    };
    let s3_address = s3.as_ref().map(|(_, address)| *address);
    let service = Service::open(Arc::clone(&settings), urls(&settings, app, s3_address))
        .await
        .with_context(|| format!("cannot use the data directory {}", settings.data_dir.display()))?;
    if settings.samples {
        samples::seed(&service).await;
    }
    let shutdown = CancellationToken::new();
    let mut parts = JoinSet::new();
    let (object_events, objects) = mpsc::channel(OBJECT_EVENTS);
    if let Some((listener, _)) = s3 {
        let endpoint = S3Endpoint::new(s3_config(&settings), object_events)?;
        let stop = shutdown.clone();
        parts.spawn(async move {
            endpoint.serve(listener, stop).await;
            "the S3 endpoint"
        });
    }
    let router = http::router(AppState::new(service.clone(), shutdown.clone()));
    let stop = shutdown.clone();
    parts.spawn(async move {
        let served = axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned());
        if let Err(error) = served.await {
            tracing::error!(%error, "the app's listener failed");
        }
        "the app"
    });
    Ok(Running {
        service,
        app,
        s3: s3_address,
        shutdown,
        parts,
        objects,
    })
}

impl Running {
    fn start_jobs(&mut self) -> anyhow::Result<()> {
        let (service, stop) = (self.service.clone(), &self.shutdown);
        // The listeners' end of this channel stays; only ingest takes from it.
        let objects = std::mem::replace(&mut self.objects, mpsc::channel(1).1);
        let ingest = ingest::run(
            service.db.clone(),
            Arc::clone(&service.settings),
            objects,
            stop.clone(),
        );
        self.parts.spawn(async move {
            ingest.await;
            "ingest"
        });
        let (exits, ended) = mpsc::channel(SIM_EXITS);
        let launcher = Local::new(LocalSettings::of(&service)?, exits).context("cannot use work/sims")?;
        let launcher = dispatch::run(
            service.clone(),
            Arc::new(launcher),
            ended,
            Graces::default(),
            stop.clone(),
        );
        self.parts.spawn(async move {
            launcher.await;
            "the launcher"
        });
        if service.settings.samples {
            samples::digest_ahead(&service);
        }
        let monitor = monitor::run(service, stop.clone());
        self.parts.spawn(async move {
            monitor.await;
            "the monitor"
        });
        Ok(())
    }

    /// Ends open streams, lets requests under way finish and closes the database, all within seconds.
    pub async fn stop(mut self) {
        self.shutdown.cancel();
        let all = async { while self.parts.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_TIMEOUT, all).await.is_err() {
            tracing::warn!("some requests were still under way and are cut off");
            self.parts.shutdown().await;
        }
        if tokio::time::timeout(STOP_TIMEOUT, self.service.db.close())
            .await
            .is_err()
        {
            tracing::warn!("the database was still busy");
        }
    }
}

async fn bind(host: IpAddr, port: u16, what: &str, flag: &str) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((host, port))
        .await
        .with_context(|| format!("{what} cannot listen on {host} port {port}: choose another with {flag}"))?;
    let address = listener.local_addr().context("a listener has no address")?;
    Ok((listener, address))
}

/// Where others reach us: as set, else over the loopback at the ports that were bound.
fn urls(settings: &Settings, app: SocketAddr, s3: Option<SocketAddr>) -> Urls {
    let main = settings
        .public_url
        .clone()
        .unwrap_or_else(|| format!("http://127.0.0.1:{}", app.port()));
    let derived = s3.map(|s3| format!("http://{}:{}", host_of(&main), s3.port()));
    Urls {
        s3: settings.s3_public_url.clone().or(derived),
        main,
    }
}

/// The host of an URL, without its port.
fn host_of(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

fn s3_config(settings: &Settings) -> S3Config {
    let secret = settings.token.as_ref().map_or("", |token| token.expose());
    let mut config = S3Config::new(settings.s3_dir(), &settings.s3_bucket, ACCESS_KEY, secret);
    config.access_keys.extend(settings.workspace.clone());
    // Without a token there is nothing to sign with.
    config.anonymous = settings.s3_anonymous || settings.token.is_none();
    config
}

/// Says where the app answers, for a person and for scripts that wait for these lines. Nobody has to read them:
/// a closed standard output stops nothing.
fn announce(running: &Running) {
    let service = &running.service;
    let mut text = format!("app: http://{}\n", reachable(running.app));
    if let Some(s3) = running.s3 {
        text += &format!(
            "s3: http://{} (bucket {})\n",
            reachable(s3),
            service.settings.s3_bucket
        );
    }
    text += &format!("data: {}\n", service.settings.data_dir.display());
    let mut stdout = std::io::stdout().lock();
    if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        tracing::debug!(%error, "nobody reads standard output");
    }
}

/// An address that a browser on this machine can open.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from(([127, 0, 0, 1], address.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => {
            SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, address.port()))
        }
        _ => address,
    }
}

fn start_logging(settings: &Settings) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.log_filter)
        .with_context(|| format!("CASCADE_LOG is no filter: {:?}", settings.log_filter))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let started = match settings.log_format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}

async fn stop_signal() -> anyhow::Result<&'static str> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    tokio::select! {
        interrupt = tokio::signal::ctrl_c() => interrupt.map(|()| "SIGINT").context("cannot listen for SIGINT"),
        _ = terminate.recv() => Ok("SIGTERM"),
    }
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn a_host_is_what_stands_before_the_port() {
        let rows = [
            ("http://127.0.0.1:8000", "127.0.0.1"),
            ("https://example.org/base", "example.org"),
            ("http://[::1]:80", "[::1]"),
            ("http://[::1]", "[::1]"),
        ];
        for (url, host) in rows {
            assert_eq!(host_of(url), host);
        }
    }
}
