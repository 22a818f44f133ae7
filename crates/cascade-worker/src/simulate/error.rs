//! Why a trace could not be simulated.

use std::io;
use std::path::PathBuf;

use cascade_accelsim::list::ListError;
use cascade_accelsim::trace::TraceError;
use cascade_engine::EngineError;

/// Why a trace could not be simulated. Each text names the file.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A file of the trace cannot be opened.
    #[error("{}: {source}; is the trace complete?", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel list cannot be used.
    #[error(transparent)]
    List(#[from] ListError),
    /// The list names no kernel.
    #[error("{}: the list names no kernel", .0.display())]
    NoKernels(PathBuf),
    /// A kernel trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The engine cannot simulate a kernel.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine broke down on a kernel, which is a fault of ours.
    #[error(
        "kernel {kernel} of the list made the engine break down; this is a fault in Cascade, please report it with the trace"
    )]
    Broken {
        /// Number in the list, from 1.
        kernel: usize,
    },
    /// The results could not be written.
    #[error("the results could not be written: {0}")]
    Write(#[source] io::Error),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}
