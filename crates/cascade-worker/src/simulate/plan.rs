//! What a run over a trace would simulate, without simulating it.

use std::collections::BTreeMap;

use cascade_accelsim::trace::KernelHeader;
use cascade_accelsim::trace::identity::{Identity, Key, header_key};

use super::kernel::Kernel;
use super::{Dedup, Kernels, Reuse, SimulateError, ahead};

/// One kernel of the list.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its trace file as the list names it.
    pub file: String,
    /// Its launch.
    pub header: KernelHeader,
    /// Key of the launch header.
    pub header_key: Key,
    /// What it is and how long its trace is.
    pub identity: Identity,
}

/// Kernels that share one simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their numbers in the run, from 1 and ascending. The first is the representative.
    pub members: Vec<u64>,
    /// How many of them are simulated: the first, and those that are to be compared with it.
    pub simulated: usize,
}

/// What would be simulated.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How kernels are grouped.
    pub dedup: Dedup,
    /// The kernels in list order; number `uid` is at `uid - 1`.
    pub kernels: Vec<Planned>,
    /// The groups by their first kernel.
    pub groups: Vec<Group>,
    /// Groups that equal headers would make.
    pub header_groups: usize,
    /// Those of them whose members differ in content.
    pub mixed_header_groups: usize,
    /// Remarks of the cache.
    pub notes: Vec<String>,
}

impl Plan {
    /// Reads every kernel of `kernels` that the cache does not know, `threads` at once, and groups them.
    /// `done` is called after each kernel.
    ///
    /// # Errors
    /// The first kernel in list order that cannot be read.
    pub fn new(
        kernels: &Kernels,
        reuse: Reuse<'_>,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
        done: &mut dyn FnMut(),
    ) -> Result<Self, SimulateError> {
        let work = |index: usize, _: &mut dyn FnMut(&KernelHeader)| {
            let mut kernel = Kernel::open(kernels, index, reuse.cache, stop)?;
            let (identity, _) = kernel.identify()?;
            Ok((kernel.header()?.clone(), identity))
        };
        let files: Vec<&str> = kernels.list.kernels().collect();
        let planned = ahead::in_order(files.len(), threads, work, |results| {
            let mut planned = Vec::with_capacity(files.len());
            for (index, file) in files.iter().enumerate() {
                let (header, identity) = results.result(index)?;
                planned.push(Planned {
                    file: (*file).to_owned(),
                    header_key: header_key(&header),
                    header,
                    identity,
                });
                done();
            }
            Ok::<_, SimulateError>(planned)
        })?;
        let mut plan = Self::of(planned, reuse.dedup, reuse.verify);
        if let Some(cache) = reuse.cache {
            cache.trim();
            plan.notes = cache.take_notes();
        }
        Ok(plan)
    }

    fn of(kernels: Vec<Planned>, dedup: Dedup, verify: usize) -> Self {
        let by_header = grouped(&kernels, |kernel| Some(kernel.header_key));
        let content = |uid: &u64| {
            let kernel = usize::try_from(*uid - 1).ok().and_then(|at| kernels.get(at));
            kernel.map(|kernel| kernel.identity.content)
        };
        let mixed = |members: &&Vec<u64>| {
            let first = members.first().map(content);
            members.iter().map(content).any(|other| Some(other) != first)
        };
        let groups = match dedup {
            Dedup::Header => by_header.clone(),
            Dedup::Content => grouped(&kernels, |kernel| Some(kernel.identity.content)),
            Dedup::Off => grouped(&kernels, |_| None),
        };
        let groups = groups.into_iter().map(|members| Group {
            simulated: members.len().min(verify.saturating_add(1)),
            members,
        });
        Self {
            dedup,
            groups: groups.collect(),
            header_groups: by_header.len(),
            mixed_header_groups: by_header.iter().filter(mixed).count(),
            kernels,
            notes: Vec::new(),
        }
    }

    /// Kernel number `uid`.
    pub fn kernel(&self, uid: u64) -> Option<&Planned> {
        self.kernels.get(usize::try_from(uid.checked_sub(1)?).ok()?)
    }

    /// Warp instructions of the kernels with these numbers.
    pub fn warp_insts(&self, uids: &[u64]) -> u64 {
        let each = uids.iter().filter_map(|uid| self.kernel(*uid));
        each.map(|kernel| kernel.identity.warp_insts).sum()
    }
}

/// Numbers of the kernels with equal keys, groups in the order of their first; without a key each is alone.
fn grouped(kernels: &[Planned], key: impl Fn(&Planned) -> Option<Key>) -> Vec<Vec<u64>> {
    let mut groups: Vec<Vec<u64>> = Vec::new();
    let mut known: BTreeMap<Key, usize> = BTreeMap::new();
    for (uid, kernel) in (1..).zip(kernels) {
        let next = groups.len();
        let at = key(kernel).map_or(next, |key| *known.entry(key).or_insert(next));
        match groups.get_mut(at) {
            Some(group) => group.push(uid),
            None => groups.push(vec![uid]),
        }
    }
    groups
}
