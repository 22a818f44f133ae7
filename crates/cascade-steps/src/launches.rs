//! Launches of a measured and a simulated timeline side by side, and their sums by group.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::timeline::{Kernel, Shape, Step};
use crate::{Provenance, Role};

/// The launches that both steps have, in the order of the measured step.
pub(crate) fn pair_launches<'a>(real: &'a Step, simulated: &'a Step) -> Vec<(&'a Kernel, &'a Kernel)> {
    let (real, simulated) = (&real.kernels, &simulated.kernels);
    let aligned = real.len() == simulated.len() && real.iter().zip(simulated).all(|(r, s)| r.seq == s.seq);
    if aligned {
        return real.iter().zip(simulated).collect();
    }
    let by_seq: BTreeMap<i64, &Kernel> = simulated.iter().map(|k| (k.seq, k)).collect();
    real.iter()
        .filter_map(|r| Some((r, *by_seq.get(&r.seq)?)))
        .collect()
}

/// Roles of shapes, each worked out once.
pub(crate) struct Roles<'a> {
    model: Option<&'a str>,
    // Looked up only, by address: the shapes outlive this.
    known: HashMap<*const Shape, Role>,
}

impl<'a> Roles<'a> {
    pub(crate) fn new(model: Option<&'a str>) -> Self {
        Self {
            model,
            known: HashMap::new(),
        }
    }

    pub(crate) fn of(&mut self, kernel: &'a Kernel) -> Role {
        let role = self.known.entry(Arc::as_ptr(&kernel.shape));
        *role.or_insert_with(|| Role::of(&kernel.shape, self.model))
    }
}

/// A count of launches and their times together, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) launches: u64,
    pub(crate) real_ns: f64,
    pub(crate) simulated_ns: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, real_ns: f64, simulated_ns: f64) {
        self.launches += 1;
        self.real_ns += real_ns;
        self.simulated_ns += simulated_ns;
    }

    /// Mean measured and simulated time of a launch.
    pub(crate) fn means(&self) -> (Option<f64>, Option<f64>) {
        let mean = |sum: f64| (self.launches > 0).then(|| sum / self.launches as f64);
        (mean(self.real_ns), mean(self.simulated_ns))
    }
}

/// Which simulated launches an error is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Those that were traced: each has its own simulation or one of its like.
    Traced,
    /// All, where none says that it was traced.
    Simulated,
}

impl Basis {
    pub(crate) fn of(steps: &[(&Step, &Step)]) -> Self {
        let traced = |step: &Step| step.kernels.iter().any(|k| k.provenance.is_some_and(is_traced));
        match steps.iter().any(|(_, simulated)| traced(simulated)) {
            true => Self::Traced,
            false => Self::Simulated,
        }
    }

    pub(crate) fn counts(self, kernel: &Kernel) -> bool {
        kernel
            .provenance
            .is_some_and(|p| self == Self::Simulated || is_traced(p))
    }
}

fn is_traced(provenance: Provenance) -> bool {
    matches!(provenance, Provenance::Exact | Provenance::Dedup(_))
}
