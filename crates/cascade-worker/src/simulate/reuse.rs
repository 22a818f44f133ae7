//! When a result may stand for another simulation: the settings. `docs/planning.md` has the rules.

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
