//! What an earlier, interrupted run has finished.

use std::fs;
use std::io;
use std::path::Path;

use super::scan::plain_file;
use super::{FolderError, Result, at};
use crate::post::KernelReport;
use crate::trace::{BlockSink, Cluster, Dim3, TraceErrorKind, open};

/// The instruction counts of a whole output that is newer than its raw trace; `None` when there is none.
pub(super) fn finished(raw: &Path, output: &Path, name: &str) -> Result<Option<KernelReport>> {
    let metadata = match fs::symlink_metadata(output) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => at(output, other)?,
    };
    if !metadata.is_file() {
        return Err(FolderError::NotAFile(output.into()));
    }
    let raw_changed = at(raw, fs::metadata(raw).and_then(|metadata| metadata.modified()))?;
    if at(output, metadata.modified())? < raw_changed {
        return Ok(None);
    }
    let mut source = open(plain_file(output)?, name)?;
    let mut count = Count::default();
    while source.copy_block(&mut count)? {}
    Ok(Some(count.0))
}

/// Counts instructions; each `LDGSTS` had a second line that was dropped.
#[derive(Default)]
struct Count(KernelReport);

impl BlockSink for Count {
    fn begin_block(&mut self, _: Dim3, _: Option<Cluster>) -> std::result::Result<(), TraceErrorKind> {
        Ok(())
    }

    fn begin_warp(&mut self, _: u32, _: u64) -> std::result::Result<(), TraceErrorKind> {
        Ok(())
    }

    fn instr(&mut self, line: &[u8]) -> std::result::Result<(), TraceErrorKind> {
        self.0.warp_instrs += 1;
        self.0.dropped_ldgsts += u64::from(memchr::memmem::find(line, b" LDGSTS").is_some());
        Ok(())
    }

    fn end_block(&mut self) -> std::result::Result<(), TraceErrorKind> {
        Ok(())
    }

    fn finish(&mut self) -> std::result::Result<(), TraceErrorKind> {
        Ok(())
    }
}
