//! `cascade upload`: a trace's folder into the app's bucket.

use std::path::{Path, PathBuf};

use cascade_api::Health;
use cascade_client::{Target, Uploader, folder};
use cascade_server::config::{DEFAULT_BUCKET, DEFAULT_PREFIX};
use serde_json::{Map, Value, json};

use super::fail::Fail;
use super::numbers::{bytes, counted};
use super::out::{Out, note};
use super::remote::Remote;
use super::{Result, block_on, progress};

/// What to upload and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The trace's folder, with its kernels in `traces` or at its top
    dir: PathBuf,
    /// The trace's id in the app [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    run_name: Option<String>,
    /// A value for metadata.json, such as trace_gpu_arch=sm_80; JSON values keep their type
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    meta: Vec<(String, Value)>,
    /// The upload's status in metadata.json: with `failed` the app shows the trace as failed
    #[arg(long, default_value = "ok", value_parser = ["ok", "failed"])]
    status: String,
    /// Delete what the app holds under this name and the folder does not, then upload
    #[arg(long)]
    replace: bool,
    /// The S3 endpoint [default: what the app at --url says]
    #[arg(long, env = "CASCADE_S3_ENDPOINT", value_name = "URL")]
    endpoint: Option<String>,
    /// The bucket [default: what the app at --url says, or `cascade`]
    #[arg(long, env = "CASCADE_S3_BUCKET", value_name = "NAME")]
    bucket: Option<String>,
    /// The folder of traces in the bucket [default: what the app at --url says, or `accelsim-traces`]
    #[arg(long, env = "CASCADE_S3_PREFIX", value_name = "PREFIX")]
    prefix: Option<String>,
    /// The access key [default: the app's workspace name, or `cascade`]
    #[arg(long, value_name = "KEY")]
    access_key: Option<String>,
    /// The region to sign for
    #[arg(long, default_value = "auto")]
    region: String,
    /// Send unsigned requests, for an endpoint that takes them
    #[arg(long)]
    anonymous: bool,
    #[command(flatten)]
    remote: Remote,
}

fn pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("must look like key=value")?;
    if key.is_empty() || matches!(key, "files" | "status") {
        return Err(format!(
            "{key:?} cannot be set: `files` is written by the upload and `status` has its own option"
        ));
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((key.to_owned(), value))
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let name = run_name(&args)?;
    let files = folder(&args.dir)?;
    let mut metadata = existing(&args.dir.join("metadata.json"))?;
    metadata.extend(args.meta.iter().cloned());
    metadata.insert("status".to_owned(), Value::String(args.status.clone()));
    let report = block_on(async {
        let uploader = Uploader::new(&target(&args).await?)?;
        let others = uploader.others(&name, &files).await?;
        match (others.first(), args.replace) {
            (None, _) => {}
            (Some(_), true) => uploader.remove(&name, &others).await?,
            (Some(first), false) => {
                return Err(Fail::usage(format_args!(
                    "the app has another trace under the name {name}: {} of its files are not in this folder, such as \
                     {first}; set another --run-name, or --replace to delete them first",
                    others.len()
                )));
            }
        }
        let bar = progress::bytes(files.iter().map(|file| file.bytes).sum());
        let sent = uploader
            .upload(&name, &files, &metadata, |done| {
                bar.set_position(done.bytes_done);
                bar.set_message(format!("{}/{} files", done.files_done, files.len()));
            })
            .await;
        bar.finish_and_clear();
        Ok(sent?)
    })?;
    if out.is_json() {
        return out.json(&json!({ "trace_id": name, "report": report }));
    }
    out.line(format_args!(
        "{name}: {}, {} uploaded",
        counted(report.files, "file"),
        bytes(report.bytes)
    ))?;
    if report.skipped_bytes > 0 {
        note(format_args!(
            "{} were there already ({})",
            bytes(report.skipped_bytes),
            counted(report.skipped_files, "file")
        ));
    }
    Ok(())
}

fn run_name(args: &Args) -> Result<String> {
    let absolute = std::path::absolute(&args.dir).map_err(Fail::file(&args.dir))?;
    let folder = absolute
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = args.run_name.clone().or(folder).unwrap_or_default();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if name.is_empty() || name.len() > 128 || name.starts_with('.') || !name.bytes().all(fits) {
        return Err(Fail::usage(format_args!(
            "the run name {name:?} must be 1 to 128 letters, digits, '.', '_' and '-' and not start with '.': set \
             --run-name"
        )));
    }
    Ok(name)
}

/// What the folder's own `metadata.json` says.
fn existing(path: &Path) -> Result<Map<String, Value>> {
    match std::fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            Fail::usage(format_args!(
                "{}: {error}; it must hold one JSON object",
                path.display()
            ))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Map::new()),
        Err(error) => Err(Fail::file(path)(error)),
    }
}

/// Where the upload goes; what was not given is asked from the app.
async fn target(args: &Args) -> Result<Target> {
    let signs = !args.anonymous;
    let told = (args.access_key.is_some() || !signs) && args.bucket.is_some() && args.prefix.is_some();
    let health = match &args.endpoint {
        Some(_) if told => None,
        // With an endpoint of its own the app's address may be wrong or absent: `cascade` always signs.
        Some(_) => args.remote.client()?.health().await.ok(),
        None => Some(args.remote.client()?.health().await?),
    };
    let known = |of: fn(&Health) -> &Option<String>| health.as_ref().and_then(|health| of(health).clone());
    let Some(endpoint) = args.endpoint.clone().or_else(|| known(|it| &it.s3_endpoint)) else {
        return Err(Fail::usage(format_args!(
            "{} has no S3 endpoint: set --endpoint",
            args.remote.url
        )));
    };
    let given = |given: &Option<String>, of, default: &str| {
        let value = given.clone().or_else(|| known(of));
        value.unwrap_or_else(|| default.to_owned())
    };
    let key = given(&args.access_key, |it| &it.workspace, "cascade");
    if signs && args.remote.token.is_empty() {
        return Err(Fail::usage(
            "uploads are signed with the app's token: set CASCADE_TOKEN, or --anonymous",
        ));
    }
    Ok(Target {
        endpoint,
        bucket: given(&args.bucket, |it| &it.s3_bucket, DEFAULT_BUCKET),
        prefix: given(&args.prefix, |it| &it.s3_prefix, DEFAULT_PREFIX),
        region: args.region.clone(),
        credentials: signs.then(|| (key, args.remote.token.trim().to_owned())),
    })
}
