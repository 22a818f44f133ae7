//! `cascade results`: everything a run produced, in one JSON file.

use std::path::{Path, PathBuf};

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
        // The file appears when it is whole.
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        let mut file = tokio::fs::File::create(&part).await.map_err(Fail::file(&part))?;
        let copied = client.copy_results(&args.run, &mut file).await;
        let written = match copied {
            Ok(written) => written,
            Err(error) => {
                tokio::fs::remove_file(&part).await.map_err(Fail::file(&part))?;
                return Err(error.into());
            }
        };
        file.shutdown().await.map_err(Fail::file(&part))?;
        tokio::fs::rename(&part, path).await.map_err(Fail::file(path))?;
        note(format_args!("{}: {}", path.display(), numbers::bytes(written)));
        Ok(())
    })
}
