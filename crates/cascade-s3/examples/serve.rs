//! Runs the endpoint alone: `serve DIR PORT [ACCESS_KEY SECRET]`; without keys it is open to anyone.
//! For the client tests and benchmarks in `end2end/`.

use std::path::PathBuf;

use cascade_s3::{S3Config, S3Endpoint};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let mut args = std::env::args().skip(1);
    let usage = "usage: serve DIR PORT [ACCESS_KEY SECRET]";
    let root = PathBuf::from(args.next().ok_or(usage)?);
    let port: u16 = args.next().ok_or(usage)?.parse()?;
    let (access_key, secret) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let mut config = S3Config::new(root, "cascade", &access_key, &secret);
    config.anonymous = secret.is_empty();
    let (events, mut changes) = tokio::sync::mpsc::channel(1024);
    tokio::spawn(async move { while changes.recv().await.is_some() {} });
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    S3Endpoint::new(config, events)?.serve(listener, shutdown).await;
    Ok(())
}
