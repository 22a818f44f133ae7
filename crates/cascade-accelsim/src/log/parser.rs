//! The state machine over lines.

use std::collections::BTreeMap;
use std::io::Read;

use memchr::memchr;

use super::block::OpenBlock;
use super::failure::{self, MAX_EXCERPT_LINES, Row, Weight};
use super::options::{MAX_OPTIONS, banner, option_line};
use super::stats::{Collector, lossy};
use super::{Ending, Failure, HeaderLoaded, KernelLaunched, LogEvent, LogSummary, Mode, Note, Options};

/// Bytes kept of one line; what is beyond is dropped and noted.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;
/// Remarks kept.
pub const MAX_NOTES: usize = 64;
/// Launched kernels whose names are remembered until they finish.
const MAX_RUNNING: usize = 4_096;
/// Buffer of [`read_log`].
const READ_BYTES: usize = 256 * 1024;
/// A carried line's buffer above this is given back after use.
const KEEP_CARRY_BYTES: usize = 64 * 1024;

/// Reads a log as it arrives. `Send`, and small: the open block and at most one line.
#[derive(Debug, Default)]
pub struct Parser {
    carry: Vec<u8>,
    /// Bytes of the carried line that did not fit.
    carry_lost: bool,
    summary: LogSummary,
    options: Option<Options>,
    options_sent: bool,
    block: Option<OpenBlock>,
    /// Keys of the last block.
    last_keys: usize,
    /// `Destroy streams for kernel N`, not yet claimed by a block.
    finished_uid: Option<u64>,
    running: BTreeMap<u64, String>,
    current_kernel: Option<String>,
    spoke: bool,
    failure: Option<(Weight, Failure)>,
    excerpt_lines: usize,
    max_reached: bool,
}

impl Parser {
    /// A parser at the start of a log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is known so far; `ending` is only set by [`Parser::finish`].
    #[must_use]
    pub fn so_far(&self) -> &LogSummary {
        &self.summary
    }

    /// The kernel launched last.
    #[must_use]
    pub fn current_kernel(&self) -> Option<&str> {
        self.current_kernel.as_deref()
    }

    /// Takes the next bytes, cut anywhere.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(LogEvent)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (
                bytes.get(..end).unwrap_or_default(),
                bytes.get(end + 1..).unwrap_or_default(),
            );
            if self.carry.is_empty() && !self.carry_lost {
                self.line(line, false, sink);
            } else {
                self.hold(line);
                self.carried_line(sink);
            }
            bytes = rest;
        }
        self.hold(bytes);
    }

    /// Takes one line without its newline (one at the end is ignored).
    pub fn push_line(&mut self, line: &[u8], sink: &mut impl FnMut(LogEvent)) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        self.push(line, sink);
        self.push(b"\n", sink);
    }

    /// The log is over: closes what is open and says how it ended.
    #[must_use]
    pub fn finish(mut self, sink: &mut impl FnMut(LogEvent)) -> LogSummary {
        if !self.carry.is_empty() {
            let cut_number = self.block.is_some() && memchr(b'=', &self.carry).is_some();
            if cut_number && failure::find(&self.carry).is_none() {
                let text = format!(
                    "the log stops inside a line, which is left out: {}",
                    failure::excerpt(&self.carry)
                );
                self.summary.lines += 1;
                self.note(text);
            } else {
                self.carried_line(sink);
            }
        }
        self.send_options(sink);
        self.close_block(false, sink);
        self.end()
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.carry.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.carry_lost |= kept.len() < bytes.len();
        self.carry.extend_from_slice(kept);
    }

    fn carried_line(&mut self, sink: &mut impl FnMut(LogEvent)) {
        let mut line = std::mem::take(&mut self.carry);
        let lost = std::mem::take(&mut self.carry_lost);
        self.line(&line, lost, sink);
        if line.capacity() <= KEEP_CARRY_BYTES {
            line.clear();
            self.carry = line;
        }
    }

    fn line(&mut self, line: &[u8], lost: bool, sink: &mut impl FnMut(LogEvent)) {
        self.summary.lines += 1;
        let kept = line.get(..MAX_LINE_BYTES).unwrap_or(line);
        if lost || kept.len() < line.len() {
            self.summary.truncated_lines += 1;
            self.note(format!(
                "line longer than {MAX_LINE_BYTES} bytes; its end is left out"
            ));
        }
        let line = kept.strip_suffix(b"\r").unwrap_or(kept);
        if is_thread_block(line) || line.is_empty() {
            return;
        }
        if self.options.is_some() && self.option(line, sink) {
            return;
        }
        if self.marker(line, sink) {
            return;
        }
        if let Some(block) = &mut self.block
            && block.collector.plain(line)
        {
            return;
        }
        if let Some(row) = failure::find(line) {
            self.failed(row, line, sink);
        } else if let Some(block) = &mut self.block {
            block.collector.other(line);
        } else if self.failure.is_some() {
            self.more_excerpt(line);
        }
    }

    /// A line of the option dump; false where the dump is over.
    fn option(&mut self, line: &[u8], sink: &mut impl FnMut(LogEvent)) -> bool {
        match option_line(line) {
            Some((name, value)) => {
                if let Some(options) = &mut self.options
                    && options.len() < MAX_OPTIONS
                {
                    options.insert(name, value);
                }
                true
            }
            None => {
                self.send_options(sink);
                false
            }
        }
    }

    fn send_options(&mut self, sink: &mut impl FnMut(LogEvent)) {
        if let Some(options) = self.options.take() {
            self.options_sent = true;
            sink(LogEvent::Options { options });
        }
    }

    /// Lines that change the state. True where nothing else can be in the line.
    fn marker(&mut self, line: &[u8], sink: &mut impl FnMut(LogEvent)) -> bool {
        // An application may print without a newline just before.
        if line.ends_with(b"GPGPU-Sim: *** exit detected ***") {
            self.close_block(true, sink);
            self.spoke = true;
            self.summary.exit_seen = true;
            return true;
        }
        match line.first() {
            Some(b'k') if line.starts_with(b"kernel_name =") => {
                self.close_block(true, sink);
                let collector = Collector::with_capacity(self.last_keys);
                let mut block = OpenBlock {
                    line: self.summary.lines,
                    collector,
                };
                block.collector.other(line);
                self.block = Some(block);
                true
            }
            Some(b'g') if line.starts_with(b"gpgpu_silicon_slowdown") => {
                if let Some(block) = &mut self.block {
                    block.collector.other(line);
                    self.close_block(true, sink);
                }
                false
            }
            Some(b'D') if line.starts_with(b"Destroy streams for kernel ") => {
                self.close_block(true, sink);
                self.finished_uid = first_number(line.get(27..).unwrap_or_default());
                false
            }
            Some(b'l') if line.starts_with(b"launching ") => {
                self.close_block(true, sink);
                if let Some(rest) = line.strip_prefix(b"launching kernel name: ") {
                    self.launched(&String::from_utf8_lossy(rest), sink);
                }
                self.spoke = true;
                false
            }
            Some(b'P') if line.starts_with(b"Processing kernel") => {
                self.close_block(true, sink);
                self.spoke = true;
                self.summary.mode = Mode::Trace;
                false
            }
            Some(b'H') if line.starts_with(b"Header info loaded for kernel command : ") => {
                self.close_block(true, sink);
                self.summary.headers_loaded += 1;
                let file = lossy(line.get(40..).unwrap_or_default().trim_ascii());
                sink(LogEvent::HeaderLoaded(HeaderLoaded {
                    uid: self.summary.headers_loaded as u64,
                    file,
                }));
                false
            }
            Some(b'G') if line.starts_with(b"GPGPU-Sim") => self.gpgpu_sim(line, sink),
            _ if self.block.is_none() && self.summary.kernels_launched == 0 => self.banner(line, sink),
            _ => false,
        }
    }

    fn gpgpu_sim(&mut self, line: &[u8], sink: &mut impl FnMut(LogEvent)) -> bool {
        // setup_environment prints this one even where no simulator is loaded.
        if line.starts_with(b"GPGPU-Sim version ") {
            return false;
        }
        self.spoke = true;
        // Thousands of these in PTX mode; with nothing glued behind them they say nothing.
        if line.starts_with(b"GPGPU-Sim PTX: Warning") && line.ends_with(b"declaration") {
            return true;
        }
        if line.starts_with(b"GPGPU-Sim: Configuration options:") && !self.options_sent {
            self.options = Some(Options::new());
        } else if line.starts_with(b"GPGPU-Sim: ** break due to reaching the maximum") {
            self.close_block(true, sink);
            self.max_reached = true;
        } else if let Some(rest) = line.strip_prefix(b"GPGPU-Sim PTX: pushing kernel '") {
            self.ptx_launched(&String::from_utf8_lossy(rest), sink);
        }
        false
    }

    fn banner(&mut self, line: &[u8], sink: &mut impl FnMut(LogEvent)) -> bool {
        let Some((found, rest)) = banner(line) else {
            return false;
        };
        let rest = rest.to_vec();
        self.spoke = true;
        sink(LogEvent::Banner(found));
        if !rest.is_empty() {
            // `Accel-Sim [build …]` has no newline of its own, so the next line is glued to it.
            self.marker(&rest, sink);
        }
        false
    }

    fn launched(&mut self, rest: &str, sink: &mut impl FnMut(LogEvent)) {
        self.summary.mode = Mode::Trace;
        let (rest, stream) = match rest.rsplit_once(" cuda_stream_id:") {
            Some((rest, stream)) => (rest, stream.trim().parse().ok()),
            None => (rest, None),
        };
        let (name, uid) = match rest.rsplit_once(" uid:") {
            Some((name, uid)) => (name, uid.trim().parse().ok()),
            None => (rest, None),
        };
        let uid = uid.unwrap_or(self.summary.kernels_launched as u64 + 1);
        self.launch(
            KernelLaunched {
                name: name.trim().to_owned(),
                uid,
                stream,
            },
            sink,
        );
    }

    fn ptx_launched(&mut self, rest: &str, sink: &mut impl FnMut(LogEvent)) {
        self.summary.mode = Mode::Ptx;
        let (name, rest) = rest.split_once('\'').unwrap_or((rest, ""));
        let stream = rest
            .split_once("stream ")
            .and_then(|(_, rest)| first_number(rest.as_bytes()));
        let uid = self.summary.kernels_launched as u64 + 1;
        self.launch(
            KernelLaunched {
                name: name.to_owned(),
                uid,
                stream,
            },
            sink,
        );
    }

    fn launch(&mut self, kernel: KernelLaunched, sink: &mut impl FnMut(LogEvent)) {
        self.summary.kernels_launched += 1;
        self.current_kernel = Some(kernel.name.clone());
        if self.running.len() < MAX_RUNNING {
            self.running.insert(kernel.uid, kernel.name.clone());
        }
        sink(LogEvent::KernelLaunched(kernel));
    }

    fn close_block(&mut self, complete: bool, sink: &mut impl FnMut(LogEvent)) {
        let Some(block) = self.block.take() else { return };
        let finished = self
            .finished_uid
            .take()
            .map(|uid| (uid, self.running.remove(&uid)));
        let block = block.close(
            self.summary.kernels_finished,
            finished,
            complete,
            &mut self.summary.totals,
        );
        self.summary.kernels_finished += 1;
        self.summary.blocks_cut += usize::from(!complete);
        self.last_keys = block.stats.len();
        self.summary.cycles_since_last_block |= block.overlaps();
        if block.dropped_keys > 0 {
            let (dropped, most) = (block.dropped_keys, super::MAX_KEYS_PER_BLOCK);
            self.note(format!(
                "{dropped} statistics left out: a block keeps at most {most} keys"
            ));
        }
        sink(LogEvent::Kernel(Box::new(block)));
    }

    fn failed(&mut self, row: &'static Row, line: &[u8], sink: &mut impl FnMut(LogEvent)) {
        let excerpt = failure::excerpt(line);
        if row.weight == Weight::Warning {
            self.note(format!("{} {} {excerpt}", row.means, row.advice));
            return;
        }
        if let Some((weight, old)) = &mut self.failure {
            if row.weight > *weight {
                *weight = row.weight;
                (old.kind, old.what_it_means, old.what_to_do) = (row.kind, row.means, row.advice);
            }
            self.more_excerpt(line);
            return;
        }
        let running = self.current_kernel.clone().filter(|_| !self.all_finished());
        let failure = Failure {
            kind: row.kind,
            line: self.summary.lines,
            excerpt,
            kernel: running,
            what_it_means: row.means,
            what_to_do: row.advice,
            results_complete: self.results_complete(row.kind),
        };
        self.excerpt_lines = 1;
        self.failure = Some((row.weight, failure.clone()));
        sink(LogEvent::Failure(failure));
    }

    fn more_excerpt(&mut self, line: &[u8]) {
        if let Some((_, failure)) = &mut self.failure
            && self.excerpt_lines < MAX_EXCERPT_LINES
            && !line.trim_ascii().is_empty()
        {
            self.excerpt_lines += 1;
            failure.excerpt.push('\n');
            failure.excerpt.push_str(&failure::excerpt(line));
        }
    }

    fn all_finished(&self) -> bool {
        let summary = &self.summary;
        summary.kernels_finished > 0
            && summary.kernels_finished >= summary.kernels_launched.max(summary.headers_loaded)
    }

    fn results_complete(&self, kind: failure::FailureKind) -> bool {
        self.block.is_none()
            && self.all_finished()
            && (self.summary.exit_seen || kind == failure::FailureKind::CleanUp)
    }

    fn note(&mut self, text: String) {
        if self.summary.warnings.len() < MAX_NOTES {
            self.summary.warnings.push(Note {
                line: self.summary.lines,
                text,
            });
        } else {
            self.summary.warnings_dropped += 1;
        }
    }

    fn end(mut self) -> LogSummary {
        let (finished, launched) = (self.summary.kernels_finished, self.summary.kernels_launched);
        if self.summary.exit_seen && finished < launched {
            self.note(format!(
                "{launched} kernels were launched and only {finished} finished"
            ));
        }
        self.summary.ending = if let Some((_, mut failure)) = self.failure.take() {
            failure.results_complete = self.results_complete(failure.kind);
            Ending::Failed(failure)
        } else if self.max_reached {
            Ending::MaxCycleReached
        } else if self.summary.exit_seen {
            Ending::Complete
        } else if self.spoke || finished > 0 {
            Ending::CutOff
        } else {
            Ending::NoSimulator
        };
        self.summary
    }
}

/// Reads a whole log.
///
/// # Errors
/// Those of `source`.
pub fn read_log(mut source: impl Read, mut sink: impl FnMut(LogEvent)) -> std::io::Result<LogSummary> {
    let mut parser = Parser::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(parser.finish(&mut sink)),
            Ok(count) => parser.push(buffer.get(..count).unwrap_or_default(), &mut sink),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `thread block = 1,2,3` and nothing more: most of a long log.
fn is_thread_block(line: &[u8]) -> bool {
    line.strip_prefix(b"thread block = ").is_some_and(|rest| {
        rest.iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' '))
    })
}

fn first_number(text: &[u8]) -> Option<u64> {
    let digits = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()
}
