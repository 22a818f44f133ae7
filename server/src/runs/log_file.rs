//! One sim's log: the file it lies in and the parser that reads it as it grows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cascade_accelsim::log::{self, KernelBlock, LogEvent, Parser};
use cascade_api::limits::{LOG_TAIL_LINE_BYTES, LOG_TAIL_LINES};
use cascade_api::{SimId, SimMetrics};

use super::files::make_dir;
use crate::db::SimRecord;

/// Buffer with which a log is read again after a restart.
const READ_BYTES: usize = 256 * 1024;

/// Where logs lie, and those that are being written.
#[derive(Debug)]
pub(super) struct LogBook {
    dir: PathBuf,
    open: Mutex<BTreeMap<SimId, OpenLog>>,
}

/// A log that is being written, with all that its bytes up to now mean.
#[derive(Debug)]
pub(super) struct OpenLog {
    file: File,
    bytes: u64,
    parser: Parser,
    /// Blocks that the parser found while it read the log again but that were never stored.
    unstored: Vec<KernelBlock>,
}

/// What new bytes of a log brought.
#[derive(Debug)]
pub(super) struct Grown {
    /// The log, to be given back once everything is stored.
    pub(super) log: Option<OpenLog>,
    /// Its length.
    pub(super) bytes: u64,
    /// Kernels that finished.
    pub(super) blocks: Vec<KernelBlock>,
    /// Totals so far.
    pub(super) latest: SimMetrics,
    /// The kernel launched last.
    pub(super) current_kernel: Option<String>,
}

impl LogBook {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            open: Mutex::default(),
        }
    }

    /// Where a sim's log lies.
    pub(super) fn path(&self, sim: &SimId) -> PathBuf {
        self.dir.join(format!("{sim}.log"))
    }

    /// Takes the sim's log out, opening it if need be. Whoever takes it gives it back once what it changed
    /// is stored; a log that is dropped instead is read again from its acknowledged bytes.
    pub(super) fn take(&self, sim: &SimRecord) -> std::io::Result<OpenLog> {
        let open = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&sim.summary.id);
        match open {
            Some(log) if log.bytes == sim.log_bytes => Ok(log),
            _ => OpenLog::open(&self.path(&sim.summary.id), sim),
        }
    }

    pub(super) fn give_back(&self, sim: &SimId, log: OpenLog) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(sim.clone(), log);
    }
}

impl OpenLog {
    /// Opens a log, cuts off what was never acknowledged and reads the rest again.
    fn open(path: &Path, sim: &SimRecord) -> std::io::Result<Self> {
        let dir = path.parent().unwrap_or(Path::new("."));
        make_dir(dir)?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)?;
        if sim.log_bytes == 0 {
            // It may be new: its name must last as its lines do.
            File::open(dir)?.sync_all()?;
        }
        let length = file.metadata()?.len();
        if length < sim.log_bytes {
            let missing = sim.log_bytes - length;
            tracing::warn!(sim = %sim.summary.id, missing, "the log file is shorter than what was stored");
        }
        let bytes = length.min(sim.log_bytes);
        file.set_len(bytes)?;
        let mut log = Self {
            file,
            bytes: sim.log_bytes.min(bytes),
            parser: Parser::new(),
            unstored: Vec::new(),
        };
        if !sim.summary.state.is_terminal() {
            log.read_again(sim.summary.kernels_done)?;
        }
        log.file.seek(SeekFrom::Start(bytes))?;
        Ok(log)
    }

    fn read_again(&mut self, stored: u64) -> std::io::Result<()> {
        let unstored = &mut self.unstored;
        let mut sink = |event| {
            if let LogEvent::Kernel(block) = event
                && block.index as u64 >= stored
            {
                unstored.push(*block);
            }
        };
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let read = self.file.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            self.parser
                .push(buffer.get(..read).unwrap_or_default(), &mut sink);
        }
    }

    /// Appends lines. A finished sim's log still grows but is not parsed any more.
    pub(super) fn append(mut self, lines: &[String], parse: bool) -> std::io::Result<Grown> {
        let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        self.file.write_all(text.as_bytes())?;
        self.bytes += text.len() as u64;
        let mut blocks = std::mem::take(&mut self.unstored);
        if parse {
            self.parser
                .push(text.as_bytes(), &mut |event| keep(&mut blocks, event));
        }
        Ok(Grown {
            bytes: self.bytes,
            latest: metrics(self.parser.so_far()),
            current_kernel: self.parser.current_kernel().map(str::to_owned),
            blocks,
            log: Some(self),
        })
    }

    /// The sim is over: closes the block that is open and makes the file safe against a power cut.
    pub(super) fn finish(mut self) -> std::io::Result<Grown> {
        self.file.sync_data()?;
        let mut blocks = std::mem::take(&mut self.unstored);
        let current_kernel = self.parser.current_kernel().map(str::to_owned);
        let summary = self.parser.finish(&mut |event| keep(&mut blocks, event));
        Ok(Grown {
            bytes: self.bytes,
            latest: metrics(&summary),
            current_kernel,
            blocks,
            log: None,
        })
    }
}

fn keep(blocks: &mut Vec<KernelBlock>, event: LogEvent) {
    if let LogEvent::Kernel(block) = event {
        blocks.push(*block);
    }
}

pub(super) fn metrics(summary: &log::LogSummary) -> SimMetrics {
    let totals = summary.totals;
    SimMetrics {
        gpu_tot_sim_cycle: totals.gpu_tot_sim_cycle,
        gpu_tot_sim_insn: totals.gpu_tot_sim_insn,
        gpu_tot_ipc: totals.gpu_tot_ipc,
        sim_rate_ips: totals.sim_rate_ips,
    }
}

/// A line as it is stored: without line breaks, which would make two of it.
pub(super) fn one_line(line: String) -> String {
    if !line.contains(['\n', '\r']) {
        return line;
    }
    line.trim_end_matches(['\n', '\r'])
        .replace(['\n', '\r'], "\u{2424}")
}

/// The last lines of a log after `lines` came.
pub(super) fn new_tail(old: &[String], lines: &[String]) -> Vec<String> {
    let skip = (old.len() + lines.len()).saturating_sub(LOG_TAIL_LINES);
    old.iter()
        .chain(lines)
        .skip(skip)
        .map(|line| short(line))
        .collect()
}

fn short(line: &str) -> String {
    if line.len() <= LOG_TAIL_LINE_BYTES {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(LOG_TAIL_LINE_BYTES);
    format!("{}…", line.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests;
