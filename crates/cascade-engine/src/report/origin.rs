//! How a kernel of a run came by its result.

use std::fmt;

/// How a kernel of a run came by its result. Its text is `exact` or `dedup:<uid>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The kernel of the same run, by its uid, whose result this is; `None` when it is the kernel's own.
    pub same_as: Option<u64>,
    /// Whether the result was kept from an earlier run.
    pub cached: bool,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.same_as {
            None => f.write_str("exact"),
            Some(uid) => write!(f, "dedup:{uid}"),
        }
    }
}
