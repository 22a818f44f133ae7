//! Stable external sort of lines by (block, warp): runs in a [`TempStore`], merged in the order they were
//! written, so that lines of one warp keep their order in the file.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use super::TempStore;

/// Linear block id and warp.
pub(crate) type Key = (u64, u32);

/// Runs that are merged at once; more runs than that are merged into longer ones first, which bounds
/// open files and buffers.
const FAN_IN: usize = 64;
/// Buffer of a run that is being read or written, bytes.
const RUN_BUFFER_BYTES: usize = 64 << 10;

/// A line in the arena.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    start: usize,
    end: usize,
}

/// Gathers lines and gives them back sorted.
pub(crate) struct Sorter<'t> {
    temp: &'t mut dyn TempStore,
    budget: usize,
    arena: Vec<u8>,
    entries: Vec<Entry>,
    /// Runs by how often they were merged; those of higher levels hold earlier lines.
    levels: Vec<Vec<u64>>,
    written: u64,
}

impl<'t> Sorter<'t> {
    pub(crate) fn new(temp: &'t mut dyn TempStore, budget: usize) -> Self {
        Self {
            temp,
            budget,
            arena: Vec::new(),
            entries: Vec::new(),
            levels: Vec::new(),
            written: 0,
        }
    }

    /// Runs written so far, merged ones included.
    pub(crate) fn runs(&self) -> u64 {
        self.written
    }

    /// Adds a line.
    pub(crate) fn push(&mut self, key: Key, line: &[u8]) -> io::Result<()> {
        let used = self.arena.len() + self.entries.len() * size_of::<Entry>();
        if used + line.len() > self.budget && !self.entries.is_empty() {
            self.spill()?;
        }
        let start = self.arena.len();
        self.arena.extend_from_slice(line);
        self.arena.push(b'\n');
        self.entries.push(Entry {
            key,
            start,
            end: self.arena.len(),
        });
        Ok(())
    }

    fn sort(&mut self) {
        // The start makes the order total and keeps the file's order within a warp, without a copy.
        self.entries
            .sort_unstable_by_key(|entry| (entry.key, entry.start));
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let run = self.written;
        self.written += 1;
        let mut out = BufWriter::with_capacity(RUN_BUFFER_BYTES, self.temp.create(run)?);
        for group in self.entries.chunk_by(|a, b| a.key == b.key) {
            let bytes: usize = group.iter().map(|entry| entry.end - entry.start).sum();
            let key = group.first().map_or((0, 0), |entry| entry.key);
            write_group(&mut out, key, bytes as u64)?;
            for entry in group {
                out.write_all(self.arena.get(entry.start..entry.end).unwrap_or_default())?;
            }
        }
        out.flush()?;
        drop(out);
        self.arena.clear();
        self.entries.clear();
        self.add(0, run)
    }

    /// Files a run under its level, merging a full level into one run of the next.
    fn add(&mut self, level: usize, run: u64) -> io::Result<()> {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        let Some(runs) = self.levels.get_mut(level) else {
            return Ok(());
        };
        runs.push(run);
        if runs.len() < FAN_IN {
            return Ok(());
        }
        let full = std::mem::take(runs);
        let mut sources = open_all(self.temp, &full)?;
        let merged = self.written;
        self.written += 1;
        let mut out = BufWriter::with_capacity(RUN_BUFFER_BYTES, self.temp.create(merged)?);
        while let Some(key) = sources.iter().filter_map(|run| run.key).min() {
            let here = |run: &&mut Run| run.key == Some(key);
            let bytes = sources
                .iter()
                .filter(|run| run.key == Some(key))
                .map(|run| run.left)
                .sum();
            write_group(&mut out, key, bytes)?;
            for run in sources.iter_mut().filter(here) {
                let copied = io::copy(&mut (&mut run.read).take(run.left), &mut out)?;
                if copied != run.left {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                run.next_group()?;
            }
        }
        out.flush()?;
        drop(out);
        drop(sources);
        for run in full {
            self.temp.remove(run)?;
        }
        self.add(level + 1, merged)
    }

    /// All lines in order of (block, warp, time).
    pub(crate) fn finish(mut self) -> io::Result<Sorted<'t>> {
        self.sort();
        // Higher levels are older; within a level, runs are in the order they were written.
        let runs: Vec<u64> = self.levels.iter().rev().flatten().copied().collect();
        let sources = open_all(self.temp, &runs)?;
        Ok(Sorted {
            sources,
            runs,
            temp: self.temp,
            arena: self.arena,
            entries: self.entries,
            next: 0,
            line: Vec::new(),
        })
    }
}

/// The sorted lines.
pub(crate) struct Sorted<'t> {
    sources: Vec<Run>,
    runs: Vec<u64>,
    temp: &'t mut dyn TempStore,
    arena: Vec<u8>,
    entries: Vec<Entry>,
    next: usize,
    line: Vec<u8>,
}

impl Sorted<'_> {
    /// Gives `f` every line of `key`, which must not be smaller than the key before.
    pub(crate) fn warp<E: From<io::Error>>(
        &mut self,
        key: Key,
        mut f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        for run in self.sources.iter_mut().filter(|run| run.key == Some(key)) {
            while run.left > 0 {
                self.line.clear();
                let read = (&mut run.read).take(run.left).read_until(b'\n', &mut self.line)?;
                if read == 0 {
                    return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
                }
                run.left -= read as u64;
                f(self.line.strip_suffix(b"\n").unwrap_or(&self.line))?;
            }
            run.next_group()?;
        }
        while let Some(entry) = self.entries.get(self.next).filter(|entry| entry.key == key) {
            let line = self.arena.get(entry.start..entry.end).unwrap_or_default();
            f(line.strip_suffix(b"\n").unwrap_or(line))?;
            self.next += 1;
        }
        Ok(())
    }

    /// Throws the runs away.
    pub(crate) fn clean(self) -> io::Result<()> {
        drop(self.sources);
        self.runs.iter().try_for_each(|run| self.temp.remove(*run))
    }
}

/// A run that is being read: the group at its front.
struct Run {
    read: BufReader<Box<dyn Read>>,
    key: Option<Key>,
    /// Bytes of the group that are not read yet.
    left: u64,
}

impl Run {
    fn next_group(&mut self) -> io::Result<()> {
        if self.read.fill_buf()?.is_empty() {
            (self.key, self.left) = (None, 0);
            return Ok(());
        }
        let (mut block, mut warp, mut left) = ([0; 8], [0; 4], [0; 8]);
        self.read.read_exact(&mut block)?;
        self.read.read_exact(&mut warp)?;
        self.read.read_exact(&mut left)?;
        self.key = Some((u64::from_le_bytes(block), u32::from_le_bytes(warp)));
        self.left = u64::from_le_bytes(left);
        Ok(())
    }
}

fn write_group(out: &mut impl Write, (block, warp): Key, bytes: u64) -> io::Result<()> {
    out.write_all(&block.to_le_bytes())?;
    out.write_all(&warp.to_le_bytes())?;
    out.write_all(&bytes.to_le_bytes())
}

fn open_all(temp: &mut dyn TempStore, runs: &[u64]) -> io::Result<Vec<Run>> {
    let mut sources = Vec::new();
    for run in runs {
        let read = BufReader::with_capacity(RUN_BUFFER_BYTES, temp.open(*run)?);
        let mut source = Run {
            read,
            key: None,
            left: 0,
        };
        source.next_group()?;
        sources.push(source);
    }
    Ok(sources)
}
