//! A profile as numbers, before it becomes files.

use crate::codes::{Code, GROUPS, Group};
use crate::layout::{Kind, Model};
use crate::share::{DECODES, REPEATS, ripple, split};

/// Steps of a request: its prefill and its decodes.
pub(crate) const STEPS: usize = 1 + DECODES;
/// Steps whose instructions were traced, in the first repeat that counts.
pub(crate) const TRACED: [usize; 4] = [0, 2, 10, 26];

/// A GPU config that the profile was simulated on.
pub(crate) struct Config {
    pub(crate) name: &'static str,
    /// The clock that turned cycles into time.
    pub(crate) mhz: u32,
    /// Simulated time of each kernel that was simulated, in cycles: which of [`Code::cycles`].
    pub(crate) column: usize,
}

/// One steady repeat: its request in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) pre: i64,
    pub(crate) post: i64,
    pub(crate) ttft: Option<i64>,
    pub(crate) itl: Option<i64>,
    pub(crate) e2e: i64,
}

/// One steady step in ns.
#[derive(Clone, Debug)]
pub(crate) struct StepTimes {
    pub(crate) wall: i64,
    pub(crate) gap: Option<i64>,
    /// GPU time that no kernel explains.
    pub(crate) unmodeled: i64,
    pub(crate) cuda_api: Option<i64>,
    /// Measured kernel times, in launch order.
    pub(crate) kernels: Vec<i64>,
}

impl StepTimes {
    pub(crate) fn busy(&self) -> i64 {
        self.kernels.iter().sum::<i64>() + self.unmodeled
    }
}

/// Facts about the profile that are text or plain numbers.
pub(crate) struct Facts {
    pub(crate) run_name: &'static str,
    pub(crate) gpu_name: &'static str,
    pub(crate) gpu: &'static str,
    pub(crate) arch: &'static str,
    pub(crate) sm_mhz: u32,
    pub(crate) mem_mhz: Option<u32>,
    /// What to know of the reconstruction, in one sentence.
    pub(crate) note: &'static str,
    /// Published as they are.
    pub(crate) exact: &'static [&'static str],
    /// They follow from published values.
    pub(crate) derived: &'static [&'static str],
    /// A rule spreads a published sum or mean.
    pub(crate) distributed: &'static [&'static str],
    /// Not published and not invented: null or absent.
    pub(crate) missing: &'static [&'static str],
    /// Constants to take off each simulated kernel, for comparison: what they are and how many ns. None saw the
    /// sample's own measured times.
    pub(crate) corrections: &'static [(&'static str, f64)],
}

/// A finished profile.
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    pub(crate) facts: Facts,
    pub(crate) configs: Vec<Config>,
    pub(crate) model: Model,
    /// The launch uid of the traced prefill's first kernel.
    pub(crate) first_uid: u64,
    pub(crate) requests: [Times; REPEATS],
    pub(crate) steps: [Vec<StepTimes>; REPEATS],
}

/// Times of a step's kernels from the sums of its groups: each by its weight, give or take half a per cent.
pub(crate) fn kernels(codes: &[Code], sums: &[i64; GROUPS], salt: usize) -> Vec<i64> {
    let mut times = vec![0; codes.len()];
    for (group, &sum) in sums.iter().enumerate() {
        let places = (0..codes.len()).filter(|&at| codes[at].group as usize == group);
        let places: Vec<usize> = places.collect();
        let weight = |at: &usize| codes[*at].weight * (1_000 + ripple(at + salt));
        let weights: Vec<i64> = places.iter().map(weight).collect();
        for (at, time) in places.iter().zip(split(sum, &weights)) {
            times[*at] = time;
        }
    }
    times
}

/// A kernel that was simulated, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulated {
    pub(crate) uid: u64,
    pub(crate) code: Code,
    pub(crate) step: usize,
    pub(crate) seq: usize,
}

impl Profile {
    /// The kernels that were simulated: of each code the first traced launch.
    pub(crate) fn simulated(&self) -> Vec<Simulated> {
        let mut found: Vec<Simulated> = Vec::new();
        let mut uid = self.first_uid;
        for step in 0..STEPS {
            for (seq, code) in self.model.step(Kind::of(step)).into_iter().enumerate() {
                let known = found.iter().any(|s| same(&s.code, &code));
                if TRACED.contains(&step) && !known {
                    found.push(Simulated { uid, code, step, seq });
                }
                uid += 1;
            }
        }
        found
    }

    /// The simulated kernel that stands for a launch of `code`.
    pub(crate) fn stands_for(simulated: &[Simulated], code: &Code) -> Option<Simulated> {
        simulated.iter().find(|s| same(&s.code, code)).copied()
    }
}

/// Whether two launches have the same code and launch shape, so that one simulation serves both.
fn same(a: &Code, b: &Code) -> bool {
    (a.name, a.grid, a.block) == (b.name, b.grid, b.block)
}

/// The index of a group in tables.
pub(crate) const fn at(group: Group) -> usize {
    group as usize
}
