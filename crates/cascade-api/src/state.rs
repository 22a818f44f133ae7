//! Life cycles: which states there are, and which moves between them are allowed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every value, in the order in which the documentation lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value as it goes on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        // Written out because utoipa's derive does not see a name that a macro hands on.
        #[cfg(feature = "openapi")]
        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .enum_values(Some([$($text),+]))
                    .into()
            }
        }

        #[cfg(feature = "openapi")]
        impl utoipa::ToSchema for $name {}

        impl FromStr for $name {
            type Err = UnknownValue;

            fn from_str(text: &str) -> Result<Self, UnknownValue> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(UnknownValue { kind: stringify!($name), text: text.to_owned() }),
                }
            }
        }
    };
}

/// A text that names no value of a closed list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind}")]
pub struct UnknownValue {
    /// The list's type.
    pub kind: &'static str,
    /// The text that was given.
    pub text: String,
}

wire_enum!(
    /// Where a trace is on its way from upload to use.
    TraceState {
        /// Files are arriving.
        Uploading = "uploading",
        /// The upload is complete and is being turned into what simulators read.
        Processing = "processing",
        /// Runs can launch.
        Ready = "ready",
        /// The profiler or the post-processing failed.
        Failed = "failed",
    }
);

wire_enum!(
    /// Where a sim is in its life.
    SimState {
        /// Created with the run; waits for the launcher.
        Pending = "pending",
        /// The launcher is starting its process, job or sandbox.
        Launching = "launching",
        /// The simulator reported `running`.
        Running = "running",
        /// No heartbeat for longer than the timeout; a later one brings it back.
        Lost = "lost",
        /// The simulator reported `succeeded`.
        Succeeded = "succeeded",
        /// The simulator or the launcher failed, or it stayed `lost` too long.
        Failed = "failed",
        /// The run was cancelled before this sim finished.
        Cancelled = "cancelled",
    }
);

wire_enum!(
    /// What a run's sims add up to. Derived on every read by [`run_state`], never stored.
    RunState {
        /// At least one sim has not finished.
        Active = "active",
        /// Every sim succeeded.
        Succeeded = "succeeded",
        /// Every sim finished, and some but not all succeeded.
        Partial = "partial",
        /// Every sim failed.
        Failed = "failed",
        /// Every sim finished, none succeeded and at least one was cancelled.
        Cancelled = "cancelled",
    }
);

wire_enum!(
    /// Which program produced a sim's numbers.
    Engine {
        /// Accel-Sim, run by `cascade worker`.
        AccelSim = "accel-sim",
        /// Cascade's embedded engine.
        Cascade = "cascade",
        /// A recorded log played back: its numbers do not come from this trace.
        Replay = "replay",
        /// Any other program that keeps the simulator contract.
        Custom = "custom",
    }
);

wire_enum!(
    /// Where a predicted or measured time comes from.
    Provenance {
        /// Timed on real hardware.
        Measured = "measured",
        /// Computed by an engine from the workload's own instructions.
        Simulated = "simulated",
        /// Read off between two simulated or measured points.
        Interpolated = "interpolated",
        /// Read off outside the range of such points.
        Extrapolated = "extrapolated",
        /// Put in by hand or by default.
        Assumed = "assumed",
    }
);

impl SimState {
    /// Whether nothing leaves this state.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// The states a sim may move to from `self`: the one table of allowed moves. The server makes the
    /// moves to `launching`, `lost` and `cancelled`, and to `failed` when a launch fails or a sim stays
    /// lost; heartbeats make the rest. Any other move is ignored.
    pub const fn next(self) -> &'static [Self] {
        use SimState::*;
        match self {
            Pending => &[Launching, Failed, Cancelled],
            Launching => &[Running, Lost, Succeeded, Failed, Cancelled],
            Running => &[Lost, Succeeded, Failed, Cancelled],
            Lost => &[Running, Succeeded, Failed, Cancelled],
            Succeeded | Failed | Cancelled => &[],
        }
    }

    /// Whether a sim may move from `self` to `to`.
    pub fn can_become(self, to: Self) -> bool {
        self.next().contains(&to)
    }
}

/// A run's state, derived from its sims' states. A run has at least one sim; none at all reads `active`.
pub fn run_state(sims: impl IntoIterator<Item = SimState>) -> RunState {
    let (mut all, mut succeeded, mut cancelled, mut open) = (0_usize, 0_usize, 0_usize, 0_usize);
    for state in sims {
        all += 1;
        succeeded += usize::from(state == SimState::Succeeded);
        cancelled += usize::from(state == SimState::Cancelled);
        open += usize::from(!state.is_terminal());
    }
    if open > 0 || all == 0 {
        RunState::Active
    } else if succeeded == all {
        RunState::Succeeded
    } else if succeeded > 0 {
        RunState::Partial
    } else if cancelled > 0 {
        RunState::Cancelled
    } else {
        RunState::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::{RunState, SimState, run_state};
    use SimState::*;

    #[test]
    fn a_run_is_what_its_sims_add_up_to() {
        let rows = [
            (vec![Running, Succeeded], RunState::Active),
            (vec![Succeeded, Succeeded], RunState::Succeeded),
            (vec![Succeeded, Failed], RunState::Partial),
            (vec![Failed, Failed], RunState::Failed),
            (vec![Cancelled, Failed], RunState::Cancelled),
            (vec![Cancelled, Succeeded], RunState::Partial),
            (vec![Cancelled, Cancelled], RunState::Cancelled),
            (vec![Lost, Succeeded], RunState::Active),
        ];
        for (sims, state) in rows {
            assert_eq!(run_state(sims.clone()), state, "{sims:?}");
        }
    }

    #[test]
    fn nothing_leaves_a_terminal_state_and_nothing_returns_to_pending() {
        for from in SimState::ALL {
            assert_eq!(from.is_terminal(), from.next().is_empty());
            assert!(!from.can_become(Pending), "{from}");
            assert!(!from.can_become(*from), "{from}");
            assert_eq!(from.as_str().parse::<SimState>().as_ref(), Ok(from));
        }
        assert!(!Pending.can_become(Running), "the launcher comes first");
        assert!(!Running.can_become(Launching));
        assert!(Lost.can_become(Running));
    }
}
