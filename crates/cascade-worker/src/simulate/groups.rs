//! Which kernels of a run do the same work: known while kernels are read at once, decided in list order.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cascade_accelsim::trace::identity::Key;
use cascade_engine::KernelEstimate;
use cascade_engine::report::Origin;

/// The group keys of the kernels that are being read, so that a kernel waits for those before it to be
/// identified before it is simulated in vain.
#[derive(Default)]
pub(super) struct Board {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Keys that came before those of kernels earlier in the list.
    early: BTreeMap<usize, Option<Key>>,
    /// For each kernel up to the first unknown one, how many of its group come before it.
    ranks: Vec<usize>,
    members: BTreeMap<Key, usize>,
}

/// One kernel's place on the board. It is freed when the kernel fails, so that nobody waits for it.
pub(super) struct Place<'a> {
    board: &'a Board,
    index: usize,
    posted: Option<Option<Key>>,
}

impl Board {
    pub(super) fn place(&self, index: usize) -> Place<'_> {
        Place {
            board: self,
            index,
            posted: None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Says which group the kernel belongs to.
    pub(super) fn post(&mut self, key: Option<Key>) {
        self.posted = Some(key);
        let mut state = self.board.lock();
        state.early.insert(self.index, key);
        loop {
            let next = state.ranks.len();
            let Some(key) = state.early.remove(&next) else {
                break;
            };
            let rank = key.map_or(0, |key| {
                let members = state.members.entry(key).or_default();
                *members += 1;
                *members - 1
            });
            state.ranks.push(rank);
        }
        self.board.changed.notify_all();
    }

    /// The group that was posted.
    pub(super) fn key(&self) -> Option<Key> {
        self.posted.flatten()
    }

    /// How many kernels earlier in the list are of the group that was posted. Waits for their keys; kernels are
    /// begun in list order, so none of them waits for this one.
    pub(super) fn rank(&self) -> usize {
        let mut state = self.board.lock();
        loop {
            if let Some(rank) = state.ranks.get(self.index) {
                return *rank;
            }
            state = self
                .board
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.posted.is_none() {
            self.post(None);
        }
    }
}

/// How far simulated members of a group were from its first.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The kernel whose result the group shares.
    pub uid: u64,
    /// Its name.
    pub name: String,
    /// Its cycles.
    pub cycles: u64,
    /// Members that were simulated to compare.
    pub checked: u64,
    /// The one that differs most, by uid; the first of equals.
    pub worst_uid: u64,
    /// Its cycles.
    pub worst_cycles: u64,
}

impl Check {
    /// Largest difference, cycles.
    pub fn difference(&self) -> u64 {
        self.worst_cycles.abs_diff(self.cycles)
    }

    /// The same over the member's own cycles, 0 to 1 and beyond.
    pub fn relative(&self) -> f64 {
        match self.worst_cycles {
            0 => 0.0,
            cycles => self.difference() as f64 / cycles as f64,
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "dedup check: kernel {} took {} cycles for its group; of {} more that were simulated, kernel {} differs most: \
             {} cycles, {:.3} % off",
            self.uid,
            self.cycles,
            self.checked,
            self.worst_uid,
            self.worst_cycles,
            self.relative() * 100.0
        )
    }
}

/// What a kernel's thread found.
pub(super) struct Found {
    pub(super) group: Option<Key>,
    /// Its own result, and whether it was kept from an earlier run; `None` for the group's.
    pub(super) own: Option<(KernelEstimate, bool)>,
}

struct Leader {
    estimate: KernelEstimate,
    cached: bool,
    check: Check,
    members: usize,
}

/// The groups so far, in list order.
#[derive(Default)]
pub(super) struct Groups {
    leaders: BTreeMap<Key, Leader>,
}

impl Groups {
    /// The result of kernel `uid` and where it comes from. The first of a group and the next `verify` members
    /// keep their own.
    pub(super) fn settle(
        &mut self,
        uid: u64,
        found: Found,
        verify: usize,
    ) -> Option<(KernelEstimate, Origin)> {
        let exact = |own: Option<(KernelEstimate, bool)>| {
            own.map(|(estimate, cached)| {
                let same_as = None;
                (estimate, Origin { same_as, cached })
            })
        };
        let Some(key) = found.group else {
            return exact(found.own);
        };
        let Some(leader) = self.leaders.get_mut(&key) else {
            let (estimate, cached) = found.own?;
            let leader = Leader {
                check: Check {
                    uid,
                    name: estimate.name.clone(),
                    cycles: estimate.cycles,
                    checked: 0,
                    worst_uid: uid,
                    worst_cycles: estimate.cycles,
                },
                estimate: estimate.clone(),
                cached,
                members: 0,
            };
            self.leaders.insert(key, leader);
            return exact(Some((estimate, cached)));
        };
        leader.members += 1;
        if leader.members <= verify
            && let Some(own) = found.own
        {
            let check = &mut leader.check;
            check.checked += 1;
            let cycles = own.0.cycles;
            if check.checked == 1 || cycles.abs_diff(check.cycles) > check.difference() {
                (check.worst_uid, check.worst_cycles) = (uid, cycles);
            }
            return exact(Some(own));
        }
        let origin = Origin {
            same_as: Some(leader.check.uid),
            cached: leader.cached,
        };
        Some((leader.estimate.clone(), origin))
    }

    /// The comparisons that were made, by uid of the group's first kernel.
    pub(super) fn checks(self) -> Vec<Check> {
        let checks = self.leaders.into_values().map(|leader| leader.check);
        let mut checks: Vec<Check> = checks.filter(|check| check.checked > 0).collect();
        checks.sort_by_key(|check| check.uid);
        checks
    }
}
