//! Where a step's time goes: a bar for the real GPU and for each simulated one, stacked from the gap before the
//! step, host time and the kernel groups.

use std::collections::BTreeMap;

use cascade_api::{GroupDigest, KindDigest, StepDigest};

use super::Column;
use super::figure::Unit;
use crate::chart::{GPU_COLORS, Hue, ticks};
use crate::group::places;
use crate::own_times;

/// Groups with a colour of their own; the others are added up.
const GROUPS: usize = GPU_COLORS - 1;
/// Marks on the axis aim at this number.
const TICKS: usize = 5;
/// Bars up to this long, in ns, are written in µs.
const MICROS_TO: f64 = 2e6;
/// A part below this fraction of the GPU's busy time is rounding and gets no layer.
const NEGLIGIBLE: f64 = 1e-4;

/// What a layer of the stack stands for, from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its name: `Host`, `Attention`.
    pub name: String,
    /// Its colour.
    pub hue: Hue,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// `Real` with the GPU's name, or a simulated GPU.
    pub label: String,
    /// Whether it was measured.
    pub real: bool,
    /// Time of each layer in ns; `None` where it is not known.
    pub parts: Vec<Option<f64>>,
}

impl Bar {
    /// All parts together, in ns.
    pub fn total_ns(&self) -> f64 {
        self.parts.iter().flatten().sum()
    }

    /// The layer at `ns` from the bar's start.
    pub fn layer_at(&self, ns: f64) -> Option<usize> {
        let mut end = 0.0;
        self.parts.iter().position(|part| {
            end += part.unwrap_or(0.0);
            ns < end
        })
    }
}

/// Stacked bars of one kind of step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackChart {
    /// The layers, from left to right.
    pub layers: Vec<Layer>,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
    /// Upper end of the axis in ns.
    pub top_ns: f64,
    /// Marks on the axis in ns, from 0 up.
    pub ticks: Vec<f64>,
}

impl StackChart {
    /// How totals and parts are written: one unit for all, by the longest bar.
    pub const fn unit(&self) -> Unit {
        if self.top_ns < MICROS_TO {
            Unit::NsAsMicros(1)
        } else {
            Unit::NsAsMs(3)
        }
    }
}

/// The parts of one bar before layers are chosen, in ns.
struct Parts {
    gap: Option<f64>,
    host: Option<f64>,
    groups: BTreeMap<String, f64>,
    unmodeled: Option<f64>,
    /// Busy time that neither groups nor the unmodeled part account for.
    rest: f64,
}

impl StackChart {
    /// The mean step of `kind` on the real GPU of the first column, then on each column's GPU. `gpu_only` leaves
    /// gap and host out, which otherwise hide the GPU where it is idle most of the time.
    pub fn new(columns: &[Column], kind: &str, gpu_only: bool) -> Self {
        let mut bars: Vec<(String, bool, Parts)> = Vec::new();
        if let Some((first, step)) = columns
            .iter()
            .find_map(|column| Some((&column.digest, step(&column.digest, kind)?)))
            && let Some(parts) = parts(first, step, true)
        {
            let gpu = first.real_gpu.as_deref().unwrap_or("GPU");
            bars.push((own_times(gpu), true, parts));
        }
        for column in columns {
            if let Some(parts) =
                step(&column.digest, kind).and_then(|step| parts(&column.digest, step, false))
            {
                bars.push((column.label.clone(), false, parts));
            }
        }
        stack(bars, gpu_only)
    }
}

/// The digest's mean step of one kind.
fn step<'a>(digest: &'a StepDigest, kind: &str) -> Option<&'a KindDigest> {
    digest.kinds.iter().find(|step| step.kind == kind)
}

/// Takes a step apart; `None` without a busy time.
fn parts(digest: &StepDigest, step: &KindDigest, real: bool) -> Option<Parts> {
    let busy = if real {
        step.gpu_busy_ns.real
    } else {
        step.gpu_busy_ns.simulated
    }?;
    let time = |group: &GroupDigest| {
        let times = if real { &group.real_step_ns } else { &group.step_ns };
        times.get(&step.kind).copied()
    };
    let groups: BTreeMap<String, f64> = digest
        .groups
        .iter()
        .filter_map(|group| Some((group.group.clone(), time(group)?)))
        .collect();
    let rest = busy - groups.values().sum::<f64>() - step.unmodeled_gpu_ns.unwrap_or(0.0);
    Some(Parts {
        gap: step.gap_before_ns,
        host: step.host_ns,
        groups,
        unmodeled: step.unmodeled_gpu_ns,
        rest: if rest > busy * NEGLIGIBLE { rest } else { 0.0 },
    })
}

/// Chooses the layers and puts every bar's parts into them.
fn stack(bars: Vec<(String, bool, Parts)>, gpu_only: bool) -> StackChart {
    let mut largest: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, ns) in bars.iter().flat_map(|(_, _, parts)| &parts.groups) {
        let most = largest.entry(name).or_default();
        *most = most.max(*ns);
    }
    let mut names: Vec<(&str, f64)> = largest.into_iter().collect();
    names.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    // One group more is shown rather than a sum of one.
    let own = if names.len() <= GPU_COLORS {
        GPU_COLORS
    } else {
        GROUPS
    };
    let small = names.split_off(own.min(names.len()));
    let small: Vec<&str> = small.into_iter().map(|(name, _)| name).collect();

    type Read<'a> = Box<dyn Fn(&Parts) -> Option<f64> + 'a>;
    let mut layers: Vec<(String, Hue, Read<'_>)> = Vec::new();
    if !gpu_only {
        layers.push((
            "Gap before the step".into(),
            Hue::Gap,
            Box::new(|parts| parts.gap),
        ));
        layers.push(("Host".into(), Hue::Host, Box::new(|parts| parts.host)));
    }
    let shown: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
    for (place, name) in places(&shown, own).into_iter().zip(shown) {
        layers.push((
            name.to_owned(),
            Hue::Gpu(place),
            Box::new(move |parts| parts.groups.get(name).copied()),
        ));
    }
    if !small.is_empty() {
        let name = format!("{} smaller groups", small.len());
        let sum = move |parts: &Parts| Some(small.iter().filter_map(|name| parts.groups.get(*name)).sum());
        layers.push((name, Hue::Gpu(GROUPS), Box::new(sum)));
    }
    layers.push((
        "GPU time of no traced kernel".into(),
        Hue::Unmodeled,
        Box::new(|parts| parts.unmodeled),
    ));
    if bars.iter().any(|(_, _, parts)| parts.rest > 0.0) {
        layers.push((
            "GPU time not split by group".into(),
            Hue::Rest,
            Box::new(|parts| Some(parts.rest)),
        ));
    }
    layers.retain(|(_, _, read)| {
        bars.iter()
            .any(|(_, _, parts)| read(parts).is_some_and(|ns| ns > 0.0))
    });

    let read: Vec<Bar> = bars
        .iter()
        .map(|(label, real, parts)| Bar {
            label: label.clone(),
            real: *real,
            parts: layers.iter().map(|(_, _, read)| read(parts)).collect(),
        })
        .collect();
    let ticks = ticks(read.iter().map(Bar::total_ns).fold(0.0, f64::max), TICKS);
    StackChart {
        layers: layers
            .into_iter()
            .map(|(name, hue, _)| Layer { name, hue })
            .collect(),
        bars: read,
        top_ns: ticks.last().copied().unwrap_or(1.0),
        ticks,
    }
}

#[cfg(test)]
mod tests;
