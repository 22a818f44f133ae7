//! The files of a processed trace.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use cascade_accelsim::list::{Command, KernelList};
use cascade_accelsim::trace::{
    BlockSink, BlockSource, KernelHeader, OpcodeTable, ThreadBlock, TraceError, TraceErrorKind,
};

use super::SimulateError;

/// A kernel list and the folder with its kernels.
#[derive(Clone, Debug)]
pub struct Kernels {
    dir: PathBuf,
    /// The list.
    pub list: KernelList,
    /// Where the list is; without one the kernel's file or the folder.
    pub path: PathBuf,
}

impl Kernels {
    /// The kernels of a list, which lie beside it.
    ///
    /// # Errors
    /// When the list cannot be read or names no kernel.
    pub fn from_list(path: &Path) -> Result<Self, SimulateError> {
        let source = File::open(path).map_err(|source| SimulateError::Open {
            path: path.to_owned(),
            source,
        })?;
        let list = KernelList::read(BufReader::new(source), &path.to_string_lossy())?;
        if list.kernels().next().is_none() {
            return Err(SimulateError::NoKernels(path.to_owned()));
        }
        Ok(Self {
            dir: path.parent().unwrap_or(Path::new("")).to_owned(),
            list,
            path: path.to_owned(),
        })
    }

    /// One kernel without a list.
    pub fn single(path: &Path) -> Self {
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let dir = path.parent().unwrap_or(Path::new(""));
        Self {
            path: path.to_owned(),
            ..Self::from_files(dir, vec![file])
        }
    }

    /// Kernels of a folder without a list, in the given order.
    pub fn from_files(dir: &Path, files: Vec<String>) -> Self {
        let commands = files.into_iter().map(Command::Kernel).collect();
        Self {
            dir: dir.to_owned(),
            list: KernelList {
                commands,
                notes: Vec::new(),
            },
            path: dir.to_owned(),
        }
    }

    /// Path of kernel `index` of the list.
    pub(super) fn file(&self, index: usize) -> PathBuf {
        self.dir.join(self.list.kernels().nth(index).unwrap_or_default())
    }
}

/// A kernel trace that can be stopped between two thread blocks.
pub(super) struct Source<'a> {
    pub(super) inner: Box<dyn BlockSource>,
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
}

impl BlockSource for Source<'_> {
    fn header(&self) -> &KernelHeader {
        self.inner.header()
    }

    fn header_text(&self) -> &[u8] {
        self.inner.header_text()
    }

    fn opcodes(&self) -> &OpcodeTable {
        self.inner.opcodes()
    }

    fn next_block(&mut self, block: &mut ThreadBlock) -> Result<bool, TraceError> {
        if (self.stop)() {
            return Err(TraceError {
                file: String::new(),
                line: 0,
                kind: TraceErrorKind::Io(io::ErrorKind::Interrupted.into()),
            });
        }
        self.inner.next_block(block)
    }

    fn copy_block(&mut self, sink: &mut dyn BlockSink) -> Result<bool, TraceError> {
        self.inner.copy_block(sink)
    }
}
