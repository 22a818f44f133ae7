//! When a result may stand for another simulation: the settings, and the one place that allows it.

use cascade_engine::Level;

use super::cache::Cache;

/// Which kernels of a trace share one simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dedup {
    /// Kernels whose launch headers are equal. Quick, since bodies stay unread, and wrong wherever launches
    /// with one header do different work; see `verify`.
    Header,
    /// Kernels whose instructions and address patterns are equal.
    #[default]
    Content,
    /// None.
    Off,
}

impl Dedup {
    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Content => "content",
            Self::Off => "off",
        }
    }
}

/// How results are reused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reuse<'a> {
    /// Within the run.
    pub dedup: Dedup,
    /// Further members of each group that are simulated all the same and compared with the first.
    pub verify: usize,
    /// Between runs.
    pub cache: Option<&'a Cache>,
}

impl Reuse<'_> {
    /// What of it holds at `level`. This is where an engine opts out whose result depends on more than the
    /// kernel and the GPU, such as caches that earlier kernels have warmed: a level that is not named here
    /// simulates every kernel.
    pub(super) fn at(self, level: Level) -> Self {
        // L0: caches start cold for every kernel, and lines only count as equal or different.
        if matches!(level, Level::L0) {
            return self;
        }
        Self {
            dedup: Dedup::Off,
            verify: 0,
            cache: None,
        }
    }
}

/// Whether simulating costs little more than reading the trace. Then both are done in one pass; otherwise a
/// kernel is identified first and simulated only when its result is not known.
pub(super) fn simulates_while_reading(level: Level) -> bool {
    matches!(level, Level::L0)
}
