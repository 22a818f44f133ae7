//! L2 from kernel to kernel: each kernel takes its turn in list order, finds there what all before it left, and
//! leaves its own lines before it is timed, so that timing needs no order.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cascade_accelsim::trace::identity::Key;
use cascade_engine::L2State;
use cascade_engine::l1::Touches;

use super::SimulateError;

/// What the kernels so far have left.
pub(super) struct Warm {
    l2: L2State,
    /// Stands for all touches so far, also those that `l2` has yet to see.
    history: Key,
    /// Kernels that `l2` has yet to see: nobody needed it since.
    behind: Vec<usize>,
}

impl Warm {
    /// Adds a kernel's touches to the history and gives the history before them.
    pub(super) fn advance(&mut self, touches: Key) -> Key {
        let before = self.history;
        self.history = Key::of(format!("{before} {touches}").as_bytes());
        before
    }

    /// L2 as all kernels before left it; `touches` reads those that it has yet to see.
    pub(super) fn l2(
        &mut self,
        mut touches: impl FnMut(usize) -> Result<Touches, SimulateError>,
    ) -> Result<&mut L2State, SimulateError> {
        for index in std::mem::take(&mut self.behind) {
            self.l2.touch(&touches(index)?);
        }
        Ok(&mut self.l2)
    }

    /// L2 is told of kernel `index` when somebody needs it.
    pub(super) fn later(&mut self, index: usize) {
        self.behind.push(index);
    }
}

/// The kernels' turns.
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    next: usize,
    done: BTreeSet<usize>,
    warm: Warm,
}

impl Turns {
    /// Starts with an empty L2; `setup` stands for the GPU.
    pub(super) fn new(l2: L2State, setup: Key) -> Self {
        Self {
            state: Mutex::new(State {
                next: 0,
                done: BTreeSet::new(),
                warm: Warm {
                    l2,
                    history: setup,
                    behind: Vec::new(),
                },
            }),
            changed: Condvar::new(),
        }
    }

    /// Kernel `index`'s seat. When it is dropped the turn is over, also when the kernel failed or needed none.
    pub(super) fn seat(&self, index: usize) -> Seat<'_> {
        Seat { turns: self, index }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One kernel's place in the order.
pub(super) struct Seat<'a> {
    turns: &'a Turns,
    index: usize,
}

impl Seat<'_> {
    /// Waits for the kernel's turn, takes it and ends it. Kernels are begun in list order, so none before it
    /// waits for this one.
    pub(super) fn take<T>(self, turn: impl FnOnce(&mut Warm) -> T) -> T {
        let mut state = self.turns.lock();
        while state.next < self.index {
            state = self
                .turns
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        // The lock is released before the seat is given up.
        turn(&mut state.warm)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        state.done.insert(self.index);
        let State { next, done, .. } = &mut *state;
        while done.remove(next) {
            *next += 1;
        }
        self.turns.changed.notify_all();
    }
}
