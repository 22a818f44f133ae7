//! Kernel groups as a table that can be sorted: how far each is off, and how much of a step it is.

use std::cmp::Ordering;

use cascade_api::{GroupDigest, StepDigest};

use super::figure::main_kind;

/// One group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// Its role.
    pub group: String,
    /// Launches that were simulated.
    pub launches: u64,
    /// Mean measured time of a launch in ns; `None` where the simulated GPU was not measured.
    pub real_ns: Option<f64>,
    /// Mean simulated time of a launch in ns.
    pub simulated_ns: Option<f64>,
    /// Signed error in per cent.
    pub error_pct: Option<f64>,
    /// Its part of the groups' simulated time in a step of the most frequent kind, 0 to 1.
    pub share: Option<f64>,
    /// Launches by provenance, such as `93 exact, 619 dedup`.
    pub provenance: String,
}

/// What the table can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOrder {
    /// Role, alphabetically.
    Group,
    /// Launches.
    Launches,
    /// Measured time.
    Real,
    /// Simulated time.
    Simulated,
    /// Signed error.
    Error,
    /// Part of a step.
    Share,
}

/// The groups in the digest's order.
pub fn rows(digest: &StepDigest) -> Vec<GroupRow> {
    let kind = main_kind(digest)
        .map(|kind| kind.kind.clone())
        .unwrap_or_default();
    let in_step = |group: &GroupDigest| group.step_ns.get(&kind).copied();
    let all: f64 = digest.groups.iter().filter_map(in_step).sum();
    let row = |group: &GroupDigest| GroupRow {
        group: group.group.clone(),
        launches: group.launches,
        real_ns: group.mean_ns.real.filter(|_| !digest.counterfactual),
        simulated_ns: group.mean_ns.simulated,
        error_pct: group.mean_ns.error_pct,
        share: in_step(group).filter(|_| all > 0.0).map(|ns| ns / all),
        provenance: super::PROVENANCE
            .iter()
            .filter_map(|(name, _)| {
                let launches = group.provenance.get(*name).filter(|n| **n > 0)?;
                Some(format!("{} {name}", crate::format::count(*launches)))
            })
            .collect::<Vec<_>>()
            .join(", "),
    };
    digest.groups.iter().map(row).collect()
}

/// Sorts the rows; a missing value is last either way.
pub fn sort(rows: &mut [GroupRow], order: GroupOrder, descending: bool) {
    rows.sort_by(|a, b| match order {
        GroupOrder::Group => turned(a.group.cmp(&b.group), descending),
        GroupOrder::Launches => turned(a.launches.cmp(&b.launches), descending),
        GroupOrder::Real => by(a.real_ns, b.real_ns, descending),
        GroupOrder::Simulated => by(a.simulated_ns, b.simulated_ns, descending),
        GroupOrder::Error => by(a.error_pct, b.error_pct, descending),
        GroupOrder::Share => by(a.share, b.share, descending),
    });
}

/// The bar of an error that diverges from the middle of its track: (left edge, width) in per cent of the track,
/// where the largest error of the table reaches the end.
pub fn error_bar(error_pct: f64, largest: f64) -> (f64, f64) {
    let width = (error_pct.abs() / largest.max(f64::MIN_POSITIVE)).min(1.0) * 50.0;
    (if error_pct < 0.0 { 50.0 - width } else { 50.0 }, width)
}

/// The largest error of the table without its sign; 0 without any.
pub fn largest_error(rows: &[GroupRow]) -> f64 {
    rows.iter()
        .filter_map(|row| row.error_pct)
        .fold(0.0, |most, error| most.max(error.abs()))
}

/// Values that may be missing: the missing ones last.
fn by(a: Option<f64>, b: Option<f64>, descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => turned(a.total_cmp(&b), descending),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// An order, the other way round if asked for.
fn turned(order: Ordering, descending: bool) -> Ordering {
    if descending { order.reverse() } else { order }
}

#[cfg(test)]
mod tests;
