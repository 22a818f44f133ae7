//! Uploads the files that an engine wrote, then the log.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cascade_api::SimId;
use cascade_api::limits::{MAX_FILE_BYTES, MAX_SIM_FILE_BYTES, is_file_name};
use cascade_client::Client;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::pump::Pump;
use crate::rundir::{LOG_NAME, RunDir};
use crate::stop::Stop;

/// Text files above this size are compressed.
const GZIP_ABOVE: u64 = 1 << 20;
/// Bytes at a file's start that show whether it is text.
const LOOKED_AT: u64 = 8 << 10;

/// Uploads what `run` holds. What cannot be uploaded costs a line in the log, never the sim. Nothing is uploaded
/// once the worker must stop.
pub(crate) async fn upload(client: &Client, sim: &SimId, run: &RunDir, pump: &mut Pump, stop: &Stop) {
    tokio::select! {
        biased;
        () = stop.wait() => {}
        () = upload_all(client, sim, run, pump) => {}
    }
}

async fn upload_all(client: &Client, sim: &SimId, run: &RunDir, pump: &mut Pump) {
    let mut left = MAX_SIM_FILE_BYTES;
    match run.written() {
        Ok(files) => {
            for (name, len) in files {
                put(client, sim, run, &name, len, &mut left, pump).await;
            }
        }
        Err(error) => {
            pump.note(&format!("output files cannot be listed: {error}"))
                .await
        }
    }
    pump.sync().await;
    let len = std::fs::metadata(run.log()).map_or(0, |meta| meta.len());
    put(client, sim, run, OsStr::new(LOG_NAME), len, &mut left, pump).await;
}

async fn put(
    client: &Client,
    sim: &SimId,
    run: &RunDir,
    name: &OsStr,
    len: u64,
    left: &mut u64,
    pump: &mut Pump,
) {
    let path = run.path().join(name);
    let shown = name.to_string_lossy().into_owned();
    let packed = run.packed();
    let prepared = match name.to_str().filter(|name| is_file_name(name)) {
        Some(name) => {
            let (path, name, packed) = (path.clone(), name.to_owned(), packed.clone());
            tokio::task::spawn_blocking(move || prepare(&path, name, len, &packed))
                .await
                .unwrap_or_else(|error| Err(io::Error::other(error).into()))
        }
        None => Err(Skip::Name),
    };
    let result = match prepared {
        Ok(file) if file.bytes > *left => Err(Skip::SimLimit),
        Ok(file) => match client.put_file(sim, &file.name, &file.path).await {
            Ok(_) => {
                *left -= file.bytes;
                Ok(())
            }
            Err(error) => Err(Skip::Upload(error.to_string())),
        },
        Err(skip) => Err(skip),
    };
    if let Err(skip) = result {
        pump.note(&format!("output file {shown} was not uploaded: {skip}"))
            .await;
    }
    if let Err(error) = std::fs::remove_file(&packed)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "{} is left over", packed.display());
    }
}

/// Why a file is not uploaded.
#[derive(Debug, thiserror::Error)]
enum Skip {
    #[error("the app takes names of 1 to 128 letters, digits, '.', '_' and '-'")]
    Name,
    #[error("it is over the limit of {} MiB for one file", MAX_FILE_BYTES >> 20)]
    FileLimit,
    #[error("the sim's files would pass the limit of {} MiB in all", MAX_SIM_FILE_BYTES >> 20)]
    SimLimit,
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("{0}")]
    Upload(String),
}

/// A file as it goes over the wire.
struct Prepared {
    path: PathBuf,
    name: String,
    bytes: u64,
}

/// Compresses the file to `packed` where that is due and checks its size.
fn prepare(path: &Path, name: String, len: u64, packed: &Path) -> Result<Prepared, Skip> {
    let zipped = name == LOG_NAME || (len > GZIP_ABOVE && is_text(path)?);
    if !zipped {
        if len > MAX_FILE_BYTES {
            return Err(Skip::FileLimit);
        }
        return Ok(Prepared {
            path: path.to_owned(),
            name,
            bytes: len,
        });
    }
    let name = format!("{name}.gz");
    if !is_file_name(&name) {
        return Err(Skip::Name);
    }
    let mut out = GzEncoder::new(Limited::new(File::create(packed)?), Compression::default());
    let copied = io::copy(&mut File::open(path)?, &mut out).and_then(|_| out.try_finish());
    match copied {
        Ok(()) => Ok(Prepared {
            path: packed.to_owned(),
            name,
            bytes: out.get_ref().written,
        }),
        Err(_) if out.get_ref().full => Err(Skip::FileLimit),
        Err(error) => Err(Skip::Read(error)),
    }
}

/// Whether a file looks like text: no NUL in its first 8 KiB.
fn is_text(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut head)?;
    Ok(!head.contains(&0) && !head.starts_with(&[0x1f, 0x8b]))
}

/// A file that takes no more than the app would.
struct Limited {
    file: File,
    written: u64,
    full: bool,
}

impl Limited {
    fn new(file: File) -> Self {
        Self {
            file,
            written: 0,
            full: false,
        }
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written + bytes.len() as u64 > MAX_FILE_BYTES {
            self.full = true;
            return Err(io::Error::other("over the limit"));
        }
        let n = self.file.write(bytes)?;
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
