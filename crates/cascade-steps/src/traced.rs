//! Which launch of a trace a simulated kernel was: what finds it for a run's columns and for its timeline.

use std::collections::BTreeMap;

use cascade_api::KernelLaunch;

/// The launches of a trace, by number and by position.
#[derive(Clone, Debug, Default)]
pub struct Traced<'a> {
    launches: &'a [KernelLaunch],
    by_number: BTreeMap<u64, &'a KernelLaunch>,
}

impl<'a> Traced<'a> {
    /// Launches in the order of the trace.
    pub fn new(launches: &'a [KernelLaunch]) -> Self {
        Self {
            launches,
            by_number: launches.iter().map(|launch| (launch.kernel_id, launch)).collect(),
        }
    }

    /// The launch whose number is `uid`, else the one at position `at`; both only where its name is the kernel's.
    pub fn find(&self, uid: Option<u64>, at: u64, name: &str) -> Option<&'a KernelLaunch> {
        let named = |launch: &&KernelLaunch| launch.name.trim() == name.trim();
        let numbered = uid.and_then(|uid| self.by_number.get(&uid).copied());
        let placed = || self.launches.get(usize::try_from(at).ok()?);
        numbered.filter(named).or_else(|| placed().filter(named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_before_a_position_and_another_name_is_another_kernel() {
        let launch = |kernel_id, name: &str| KernelLaunch {
            kernel_id,
            name: name.into(),
            grid: (1, 1, 1),
            block: (32, 1, 1),
            instructions: None,
        };
        let launches = [launch(7, "a"), launch(9, "b "), launch(8, "a")];
        let traced = Traced::new(&launches);
        let found = |uid, at, name| traced.find(uid, at, name).map(|launch| launch.kernel_id);
        assert_eq!(found(Some(8), 0, " a"), Some(8));
        assert_eq!(found(Some(9), 0, "a"), Some(7), "number 9 is another kernel");
        assert_eq!(found(None, 1, "b"), Some(9));
        assert_eq!(found(Some(4), 1, "a"), None);
        assert_eq!(found(None, u64::MAX, "a"), None);
    }
}
