//! Works on several kernels at once and hands their results out in order, in bounded memory.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cascade_accelsim::trace::KernelHeader;

use super::SimulateError;

/// Kernels that may be begun before the one that is due, for each thread. Results are small; kept ones take so
/// little time that threads which wait for each other at every kernel would cost more.
const AHEAD: usize = 16;

type Outcome<D> = Result<D, SimulateError>;

/// What is known of the kernels that are in work.
struct State<D> {
    next: usize,
    due: usize,
    headers: BTreeMap<usize, KernelHeader>,
    outcomes: BTreeMap<usize, Outcome<D>>,
    over: bool,
}

impl<D> Default for State<D> {
    fn default() -> Self {
        Self {
            next: 0,
            due: 0,
            headers: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            over: false,
        }
    }
}

/// Results in order.
pub(super) struct Results<'a, D> {
    state: &'a Mutex<State<D>>,
    changed: &'a Condvar,
}

impl<D> Results<'_, D> {
    /// The header of kernel `index`, as soon as it is read; `None` when it cannot be.
    pub(super) fn header(&self, index: usize) -> Option<KernelHeader> {
        let mut state = lock(self.state);
        loop {
            if let Some(header) = state.headers.remove(&index) {
                return Some(header);
            }
            if state.outcomes.contains_key(&index) {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The result of kernel `index`, which must be asked for in order.
    pub(super) fn result(&self, index: usize) -> Outcome<D> {
        let mut state = lock(self.state);
        loop {
            if let Some(outcome) = state.outcomes.remove(&index) {
                state.due = index + 1;
                self.changed.notify_all();
                return outcome;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Runs `work` for 0 to `count` on `threads` threads while `take` collects the results. When `take` returns,
/// kernels that nobody has begun stay so.
pub(super) fn in_order<D: Send, T>(
    count: usize,
    threads: usize,
    work: impl Fn(usize, &mut dyn FnMut(&KernelHeader)) -> Outcome<D> + Sync,
    take: impl FnOnce(&Results<'_, D>) -> T,
) -> T {
    let state = Mutex::new(State::default());
    let changed = Condvar::new();
    let threads = threads.clamp(1, count.max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(index) = claim(&state, &changed, count, threads * AHEAD) {
                    let mut header = |header: &KernelHeader| {
                        let mut state = lock(&state);
                        state.headers.insert(index, header.clone());
                        if state.due == index {
                            changed.notify_all();
                        }
                    };
                    // A panic must not leave the collecting thread waiting for ever.
                    let outcome = catch_unwind(AssertUnwindSafe(|| work(index, &mut header)))
                        .unwrap_or(Err(SimulateError::Broken { kernel: index + 1 }));
                    let mut state = lock(&state);
                    state.outcomes.insert(index, outcome);
                    // Nobody waits for a kernel that is not due.
                    if state.due == index {
                        changed.notify_all();
                    }
                }
            });
        }
        let result = take(&Results {
            state: &state,
            changed: &changed,
        });
        lock(&state).over = true;
        changed.notify_all();
        result
    })
}

/// The next kernel to work on; waits while too many are ahead of the one that is due.
fn claim<D>(state: &Mutex<State<D>>, changed: &Condvar, count: usize, ahead: usize) -> Option<usize> {
    let mut state = lock(state);
    while !state.over && state.next < count && state.next >= state.due + ahead {
        state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    if state.over || state.next >= count {
        return None;
    }
    state.next += 1;
    Some(state.next - 1)
}

fn lock<D>(state: &Mutex<State<D>>) -> MutexGuard<'_, State<D>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
