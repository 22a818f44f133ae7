//! A run's output files as one zip archive, written while it is read, and the beginning of one file as text.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use bytes::Bytes;
use cascade_api::limits::MAX_PREVIEW_BYTES;
use cascade_api::{FilePreview, RunFile, RunId, SimId};
use flate2::read::MultiGzDecoder;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Download, Service};
use crate::error::Error;

/// Bytes sent at once.
const PIECE: usize = 64 << 10;
/// Pieces written ahead of the reader.
const AHEAD: usize = 4;
/// Lines of a preview.
const PREVIEW_LINES: usize = 200;
/// Bytes of a preview's line; longer ones are cut.
const PREVIEW_LINE_BYTES: usize = 4_000;
/// Unpacked bytes that are looked at for a preview: a small packed file may hold very long lines.
const PREVIEW_BYTES: u64 = 4 << 20;

impl Service {
    /// Every output file of a run, in folders by GPU and replica.
    pub async fn run_zip(&self, id: &RunId) -> Result<Download, Error> {
        let files = self.run_files(id).await?;
        let files: Vec<(String, PathBuf)> = files
            .iter()
            .map(|file| {
                (
                    name_in_archive(id, file),
                    self.file_path(&file.sim_id, &file.file.name),
                )
            })
            .collect();
        let (pieces, read) = mpsc::channel(AHEAD);
        let end = pieces.clone();
        tokio::task::spawn_blocking(move || {
            let out = Sender {
                pieces,
                buffer: Vec::with_capacity(PIECE),
            };
            if let Err(error) = write_zip(out, files) {
                // A reader that left is no fault; any other learns of it by a connection that closes too early.
                if end
                    .blocking_send(Err(io::Error::other("the download broke off")))
                    .is_ok()
                {
                    tracing::error!(%error, "an archive broke off");
                }
            }
        });
        Ok(ReceiverStream::new(read))
    }

    /// The first lines of an output file, unpacked if it is compressed.
    pub async fn file_preview(&self, id: &SimId, name: &str) -> Result<FilePreview, Error> {
        let (stored, file) = self.file_open(id, name).await?;
        if stored.size > MAX_PREVIEW_BYTES {
            return Err(Error::NoPreview("it is larger than 16 MiB"));
        }
        let text = name.strip_suffix(".gz").unwrap_or(name);
        if ![".csv", ".txt", ".log"].iter().any(|end| text.ends_with(end)) {
            return Err(Error::NoPreview(
                "only .csv, .txt and .log files, gzipped or not, have one",
            ));
        }
        let (file, packed) = (file.into_std().await, text.len() < name.len());
        let read = move || match packed {
            true => first_lines(MultiGzDecoder::new(BufReader::new(file))),
            false => first_lines(file),
        };
        let (lines, more) = tokio::task::spawn_blocking(read).await?.map_err(|_unreadable| {
            Error::NoPreview("it cannot be unpacked: it is no gzip file or damaged")
        })?;
        Ok(FilePreview { lines, more })
    }
}

/// A file's path in the archive: `run-1/SM90_H100/0/kernel-stats.csv`. Each part holds letters, digits, `.`, `_` and
/// `-` only.
fn name_in_archive(run: &RunId, file: &RunFile) -> String {
    format!("{run}/{}/{}/{}", file.gpu_config, file.replica, file.file.name)
}

fn write_zip(out: Sender, files: Vec<(String, PathBuf)>) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(out);
    for (name, path) in files {
        // What is compressed already would only cost time.
        let method = match name.ends_with(".gz") {
            true => CompressionMethod::Stored,
            false => CompressionMethod::Deflated,
        };
        let mut file = std::fs::File::open(path)?;
        zip.start_file(name, SimpleFileOptions::default().compression_method(method))?;
        io::copy(&mut file, &mut zip)?;
    }
    let mut out = zip.finish()?.into_inner();
    out.send()
}

/// Hands what is written to the reader, piece by piece, and waits for it.
struct Sender {
    pieces: mpsc::Sender<io::Result<Bytes>>,
    buffer: Vec<u8>,
}

impl Sender {
    fn send(&mut self) -> io::Result<()> {
        let piece = Bytes::from(std::mem::replace(&mut self.buffer, Vec::with_capacity(PIECE)));
        let sent = self.pieces.blocking_send(Ok(piece));
        sent.map_err(|_left| io::Error::from(io::ErrorKind::BrokenPipe))
    }
}

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first lines, and whether there are more.
fn first_lines(file: impl Read) -> io::Result<(Vec<String>, bool)> {
    let mut file = BufReader::new(file.take(PREVIEW_BYTES));
    let mut lines = Vec::new();
    let mut line = Vec::new();
    while lines.len() < PREVIEW_LINES {
        line.clear();
        if file.read_until(b'\n', &mut line)? == 0 {
            return Ok((lines, false));
        }
        let cut = line.get(..PREVIEW_LINE_BYTES.min(line.len())).unwrap_or_default();
        lines.push(
            String::from_utf8_lossy(cut)
                .trim_end_matches(['\n', '\r'])
                .to_owned(),
        );
    }
    Ok((lines, !file.fill_buf()?.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_ends_in_time() {
        let text: String = (0..=PREVIEW_LINES).map(|n| format!("{n}\r\n")).collect();
        let (lines, more) = first_lines(text.as_bytes()).unwrap();
        assert_eq!(
            (lines.len(), lines[199].as_str(), more),
            (PREVIEW_LINES, "199", true)
        );
        let (lines, more) = first_lines(&b"a\n\nb"[..]).unwrap();
        assert_eq!((lines.join("|").as_str(), more), ("a||b", false));
        let (lines, _) = first_lines(io::repeat(b'x')).unwrap();
        assert_eq!((lines.len(), lines[0].len()), (1, PREVIEW_LINE_BYTES));
    }
}
