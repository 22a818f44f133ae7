//! `cascade results`: everything a run produced, in one JSON file.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cascade_client::Client;
use tokio::io::AsyncWriteExt;

use super::fail::Fail;
use super::out::{Out, note};
use super::remote::Remote;
use super::{Result, block_on, numbers};

/// Which run, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run's id
    run: String,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    remote: Remote,
}

pub(crate) fn run(args: Args, out: &mut Out) -> Result {
    let client = args.remote.client()?;
    block_on(async {
        let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) else {
            // Nothing of ours is in standard output's buffer yet.
            out.finish()?;
            client.copy_results(&args.run, &mut tokio::io::stdout()).await?;
            return Ok(());
        };
        let written = match replaceable(path) {
            Some(file) => replace(&client, &args.run, &file).await?,
            None => {
                let mut options = tokio::fs::File::options();
                let file = options.write(true).create(true).truncate(true).open(path).await;
                copy(&client, &args.run, file.map_err(Fail::file(path))?, path).await?
            }
        };
        note(format_args!("{}: {}", path.display(), numbers::bytes(written)));
        Ok(())
    })
}

/// The regular file that `path` is or will be, behind symbolic links. `None` for what must be written to as it
/// stands: a pipe, a device, a link to nothing.
fn replaceable(path: &Path) -> Option<PathBuf> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => std::fs::canonicalize(path).ok(),
        Err(_) if std::fs::symlink_metadata(path).is_err() => Some(path.to_owned()),
        _ => None,
    }
}

/// Writes `path` so that it appears when it is whole, under the mode it had.
async fn replace(client: &Client, run: &str, path: &Path) -> Result<u64> {
    let failed = |error| Fail::file(path)(error);
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let part = tempfile::Builder::new()
        .prefix(".cascade-")
        .suffix(".part")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(dir.unwrap_or(Path::new(".")))
        .map_err(failed)?;
    if let Ok(meta) = std::fs::metadata(path) {
        part.as_file()
            .set_permissions(meta.permissions())
            .map_err(failed)?;
    }
    let file = part.as_file().try_clone().map_err(failed)?;
    let written = copy(client, run, file.into(), path).await?;
    part.persist(path).map_err(|error| failed(error.error))?;
    Ok(written)
}

async fn copy(client: &Client, run: &str, mut file: tokio::fs::File, path: &Path) -> Result<u64> {
    let written = client.copy_results(run, &mut file).await?;
    file.shutdown().await.map_err(Fail::file(path))?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::replaceable;

    #[test]
    fn only_regular_files_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let (file, link, dangling) = (dir.join("file"), dir.join("link"), dir.join("dangling"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        std::os::unix::fs::symlink(dir.join("none"), &dangling).unwrap();
        assert_eq!(replaceable(&link), Some(file));
        assert_eq!(replaceable(&dir.join("new")), Some(dir.join("new")));
        assert_eq!(replaceable(&dangling), None);
        assert_eq!(replaceable(Path::new("/dev/null")), None);
    }
}
