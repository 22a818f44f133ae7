//! The order of a step's kernels.

use crate::codes::{Code, Role};

/// Layers of the model.
const LAYERS: usize = 12;

/// The roles of a model's kernels, by place.
pub(crate) struct Model {
    /// Before the first layer.
    pub(crate) head: Vec<Role>,
    /// Of every layer.
    pub(crate) layer: Vec<Role>,
    /// After the last layer.
    pub(crate) tail: Vec<Role>,
}

/// The two kinds of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Prefill,
    Decode,
}

impl Kind {
    /// As the timeline names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }

    /// The kind of a step: a request's first is its prefill.
    pub(crate) fn of(step: usize) -> Self {
        match step {
            0 => Self::Prefill,
            _ => Self::Decode,
        }
    }
}

impl Model {
    /// The kernels of a step, in launch order.
    pub(crate) fn step(&self, kind: Kind) -> Vec<Code> {
        let layers = std::iter::repeat_n(&self.layer, LAYERS).flatten();
        let roles = self.head.iter().chain(layers).chain(&self.tail);
        let code = |role: &Role| match (role, kind) {
            (Role::Same(code), _) => Some(*code),
            (Role::ByKind { prefill, .. }, Kind::Prefill) => Some(*prefill),
            (Role::ByKind { decode, .. }, Kind::Decode) => Some(*decode),
            (Role::Prefill(code), Kind::Prefill) => Some(*code),
            (Role::Prefill(_), Kind::Decode) => None,
        };
        roles.filter_map(code).collect()
    }
}
