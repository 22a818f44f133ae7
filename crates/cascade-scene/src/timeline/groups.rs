//! Kinds of kernels, the groups they belong to, and which colour each has under the filter in force.

use std::collections::BTreeMap;

use cascade_api::KernelKind;

use crate::chart::GPU_COLORS;
use crate::group::{self, places};
use crate::kernel_name::readable;

/// Colours of bars: one for each of the largest groups, one for the rest, one for what a filter leaves out.
pub const PAINTS: usize = GPU_COLORS + 2;
/// The colour of all groups that have none of their own.
pub const REST: u8 = GPU_COLORS as u8;
/// The colour of what a filter leaves out.
pub const DIM: u8 = REST + 1;

/// A kind of kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// The name as recorded.
    pub name: String,
    /// Its readable form.
    pub short: String,
    /// Position of its group.
    pub group: usize,
    /// What a search looks in, in small letters.
    haystack: String,
}

/// A group of kinds.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Time of its kernels over all lanes, in ns.
    pub ns: f64,
    /// Its colour: below [`REST`] one of its own.
    pub paint: u8,
}

/// What is looked for. Nothing set shows everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Text in a kernel's name or group, in any case.
    pub text: String,
    /// A group by name.
    pub group: Option<String>,
}

impl Filter {
    /// Whether it leaves anything out.
    pub fn is_on(&self) -> bool {
        !self.text.trim().is_empty() || self.group.is_some()
    }
}

/// The colour of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Painted(Vec<u8>);

impl Painted {
    /// A kind's colour.
    pub fn of(&self, kind: u32) -> u8 {
        self.0.get(kind as usize).copied().unwrap_or(REST)
    }
}

/// All kinds and groups of a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kinds {
    kinds: Vec<Kind>,
    groups: Vec<Group>,
    by_kind: BTreeMap<KernelKind, u32>,
    by_group: BTreeMap<String, usize>,
}

impl Kinds {
    /// The position of a kind, which is added if it is new.
    pub fn intern(&mut self, kind: &KernelKind) -> u32 {
        if let Some(at) = self.by_kind.get(kind) {
            return *at;
        }
        let name = group::name(&kind.group, &kind.name);
        let group = match self.by_group.get(&name) {
            Some(at) => *at,
            None => {
                self.groups.push(Group {
                    name: name.clone(),
                    ns: 0.0,
                    paint: REST,
                });
                let at = self.groups.len() - 1;
                self.by_group.insert(name.clone(), at);
                at
            }
        };
        let short = readable(&kind.name);
        self.kinds.push(Kind {
            haystack: format!("{short}\n{}\n{name}", kind.name).to_lowercase(),
            name: kind.name.clone(),
            short,
            group,
        });
        let at = (self.kinds.len() - 1) as u32;
        self.by_kind.insert(kind.clone(), at);
        at
    }

    /// A kind.
    pub fn get(&self, kind: u32) -> Option<&Kind> {
        self.kinds.get(kind as usize)
    }

    /// A kind's group.
    pub fn group_of(&self, kind: u32) -> Option<&Group> {
        self.groups.get(self.get(kind)?.group)
    }

    /// Every group, those with a colour of their own first, by time.
    pub fn groups(&self) -> Vec<&Group> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by(|a, b| b.ns.total_cmp(&a.ns));
        groups
    }

    /// Gives colours to the groups with most of the time.
    pub(super) fn rank(&mut self, times: impl Iterator<Item = (u32, f64)>) {
        let mut by_kind = vec![0.0; self.kinds.len()];
        for (kind, ns) in times {
            if let Some(sum) = by_kind.get_mut(kind as usize) {
                *sum += ns;
            }
        }
        for group in &mut self.groups {
            (group.ns, group.paint) = (0.0, REST);
        }
        for (kind, ns) in self.kinds.iter().zip(by_kind) {
            if let Some(group) = self.groups.get_mut(kind.group) {
                group.ns += ns;
            }
        }
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        let time = |at: &usize| self.groups.get(*at).map_or(0.0, |group| group.ns);
        order.sort_by(|a, b| time(b).total_cmp(&time(a)));
        order.truncate(usize::from(REST));
        let names = order.iter().filter_map(|at| self.groups.get(*at));
        let names: Vec<&str> = names.map(|group| group.name.as_str()).collect();
        for (place, at) in places(&names, usize::from(REST)).into_iter().zip(order) {
            if let Some(group) = self.groups.get_mut(at) {
                group.paint = place as u8;
            }
        }
    }

    /// The colours of all kinds under a filter.
    pub(super) fn painted(&self, filter: &Filter) -> Painted {
        let text = filter.text.trim().to_lowercase();
        let paint = |kind: &Kind| {
            let group = self.groups.get(kind.group);
            let named = filter.group.as_ref();
            let fits = kind.haystack.contains(&text)
                && named.is_none_or(|name| group.is_some_and(|group| group.name == *name));
            match group {
                Some(group) if fits => group.paint,
                _ => DIM,
            }
        };
        Painted(self.kinds.iter().map(paint).collect())
    }
}
