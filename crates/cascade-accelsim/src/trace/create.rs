//! One entry for writing processed traces of every format.

use std::io::Write;

use super::{BlockSink, TextWriter, TraceErrorKind, TraceFormat};

/// xz preset, the one that Accel-Sim's own post-processor uses: these files are read many times and soon.
#[cfg(feature = "compression")]
const XZ_PRESET: u32 = 1;

/// Starts a processed trace of `format` (a raw format means its processed counterpart) with the lines of
/// `header_text`; `dictionary` is used by [`TraceFormat::Packed`] only and may be empty.
///
/// # Errors
/// When writing fails, or the format is compressed and this build cannot compress.
pub fn create<'a>(
    output: impl Write + 'a,
    format: TraceFormat,
    header_text: &[u8],
    dictionary: Vec<u8>,
) -> Result<Box<dyn BlockSink + 'a>, TraceErrorKind> {
    match format {
        TraceFormat::Raw | TraceFormat::Text => Ok(Box::new(TextWriter::new(output, header_text)?)),
        #[cfg(feature = "compression")]
        TraceFormat::RawXz | TraceFormat::TextXz => Ok(Box::new(xz::XzWriter::new(output, header_text)?)),
        #[cfg(feature = "compression")]
        TraceFormat::Packed => {
            let options = super::tracez::Options {
                dictionary,
                ..Default::default()
            };
            Ok(Box::new(super::tracez::Writer::new(
                output,
                header_text,
                &options,
            )?))
        }
        #[cfg(not(feature = "compression"))]
        TraceFormat::RawXz | TraceFormat::TextXz | TraceFormat::Packed => {
            drop(dictionary);
            Err(TraceErrorKind::NoCompression)
        }
    }
}

/// Text through xz.
#[cfg(feature = "compression")]
mod xz {
    use std::io::{BufWriter, Write};

    use liblzma::stream::{Check, Stream};
    use liblzma::write::XzEncoder;

    use super::XZ_PRESET;
    use crate::trace::{BlockSink, Cluster, Dim3, TextWriter, TraceErrorKind};

    /// A text writer whose end closes the xz stream. The buffer spares the encoder many small calls.
    pub(super) struct XzWriter<W: Write>(TextWriter<BufWriter<Finishing<W>>>);

    impl<W: Write> XzWriter<W> {
        pub(super) fn new(output: W, header_text: &[u8]) -> Result<Self, TraceErrorKind> {
            let stream = Stream::new_easy_encoder(XZ_PRESET, Check::Crc64).map_err(std::io::Error::from)?;
            let encoder = Finishing(XzEncoder::new_stream(output, stream));
            Ok(Self(TextWriter::new(BufWriter::new(encoder), header_text)?))
        }
    }

    /// Closes the stream on `flush`, which [`TextWriter`] calls once, at its end.
    struct Finishing<W: Write>(XzEncoder<W>);

    impl<W: Write> Write for Finishing<W> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            self.0.try_finish()?;
            self.0.get_mut().flush()
        }
    }

    impl<W: Write> BlockSink for XzWriter<W> {
        fn begin_block(&mut self, id: Dim3, cluster: Option<Cluster>) -> Result<(), TraceErrorKind> {
            self.0.begin_block(id, cluster)
        }

        fn begin_warp(&mut self, id: u32, insts: u64) -> Result<(), TraceErrorKind> {
            self.0.begin_warp(id, insts)
        }

        fn instr(&mut self, line: &[u8]) -> Result<(), TraceErrorKind> {
            self.0.instr(line)
        }

        fn end_block(&mut self) -> Result<(), TraceErrorKind> {
            self.0.end_block()
        }

        fn finish(&mut self) -> Result<(), TraceErrorKind> {
            self.0.finish()
        }
    }
}
