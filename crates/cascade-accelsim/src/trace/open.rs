//! One entry for processed traces of every format.

use std::io::{BufReader, Read, Seek};

use super::{BlockSource, TraceError, TraceFormat, TraceReader};

/// Buffer of a text reader, bytes.
const BUFFER_BYTES: usize = 256 << 10;
/// How much of the start is looked at to tell the format, bytes; a header is shorter.
const PEEK_BYTES: u64 = 64 << 10;
/// Most memory an xz file may ask its reader for, bytes (`xz -9` needs 65 MiB).
#[cfg(feature = "compression")]
const XZ_MEMORY: u64 = 256 << 20;

/// Opens a processed trace, whatever its format. `name` is the file's name, for errors and for its suffix.
///
/// # Errors
/// When the header is damaged, reading fails, or the file is compressed and this build cannot decompress.
pub fn open<'a, R: Read + Seek + 'a>(
    mut read: R,
    name: &str,
) -> Result<Box<dyn BlockSource + 'a>, TraceError> {
    let fail = |kind| TraceError {
        file: name.into(),
        line: 0,
        kind,
    };
    let mut start = Vec::new();
    read.by_ref()
        .take(PEEK_BYTES)
        .read_to_end(&mut start)
        .map_err(|error| fail(error.into()))?;
    read.rewind().map_err(|error| fail(error.into()))?;
    match TraceFormat::of_content(name, &start) {
        #[cfg(feature = "compression")]
        TraceFormat::Packed => Ok(Box::new(super::tracez::Reader::open(read, name)?)),
        #[cfg(feature = "compression")]
        TraceFormat::TextXz => {
            let text = xz_reader(BufReader::with_capacity(BUFFER_BYTES, read))
                .map_err(|error| fail(error.into()))?;
            Ok(Box::new(TraceReader::open(text, name)?))
        }
        #[cfg(not(feature = "compression"))]
        TraceFormat::Packed | TraceFormat::TextXz => Err(fail(super::TraceErrorKind::NoCompression)),
        _ => Ok(Box::new(TraceReader::open(
            BufReader::with_capacity(BUFFER_BYTES, read),
            name,
        )?)),
    }
}

/// Text out of an xz file, also of several streams in a row, with a bound on the memory it may ask for.
///
/// # Errors
/// When the decoder cannot be set up.
#[cfg(feature = "compression")]
pub fn xz_reader<R: std::io::BufRead>(read: R) -> std::io::Result<impl std::io::BufRead> {
    let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
    let decoder = liblzma::bufread::XzDecoder::new_stream(read, stream);
    Ok(BufReader::with_capacity(BUFFER_BYTES, decoder))
}
