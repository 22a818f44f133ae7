//! What limits a kernel and what would help, in plain words, from the statistics of its block.

mod counters;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::StatValue;

pub use counters::counters;

/// Shares below this are noise and left out.
const SMALLEST_SHARE: f64 = 0.005;
/// Speed-ups below this are not worth naming.
const SMALLEST_GAIN: f64 = 1.02;
/// Most that one resource is taken to improve when "what would help" is worked out.
const IMPROVED: f64 = 2.0;
/// Shares of coverage below this are told.
const FULL_COVERAGE: f64 = 0.9995;

/// Why one kernel takes as long as it does on one GPU, ready to be shown: sentences, and the numbers of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KernelExplanation {
    /// One sentence: what limits it.
    pub limit: String,
    /// What would make it faster, most first.
    pub helps: Vec<Help>,
    /// The parts of its time in core cycles: fixed overhead, launch, body.
    pub parts: Vec<Bar>,
    /// What each resource alone would take, in core cycles, with its share of the body; largest first.
    pub bounds: Vec<Bar>,
    /// Warp-cycles by what the warps did or waited for, with their share of all; largest first.
    pub waits: Vec<Bar>,
    /// Shares reached of what the GPU has.
    pub rates: Vec<Rate>,
    /// What to know before believing the numbers.
    pub caveats: Vec<String>,
}

/// One bar of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bar {
    /// Name of the statistic, such as `dram`.
    pub key: String,
    /// What to call it.
    pub label: String,
    /// Cycles.
    pub cycles: f64,
    /// Share of the whole, 0 to 1.
    pub share: f64,
}

/// How much of something was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rate {
    /// Name of the statistic, such as `dram`.
    pub key: String,
    /// What to call it.
    pub label: String,
    /// 0 to 1.
    pub share: f64,
    /// The same in its unit, such as `1,580 of 1,555 GB/s`; empty where there is none.
    pub text: String,
}

/// Something that would help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Help {
    /// What to change.
    pub what: String,
    /// The kernel would be at most so many times as fast; `None` where no bound says.
    pub up_to: Option<f64>,
}

/// A kernel's statistics.
struct Stats<'a>(&'a IndexMap<String, StatValue>);

impl Stats<'_> {
    fn text(&self, key: &str) -> Option<String> {
        match self.0.get(&format!("cascade_engine_{key}"))? {
            StatValue::Text(text) => Some(text.clone()),
            StatValue::Number(number) => Some(number.to_string()),
        }
    }

    fn number(&self, key: &str) -> Option<f64> {
        match self.0.get(&format!("cascade_engine_{key}"))? {
            StatValue::Number(number) => Some(*number),
            StatValue::Text(text) => text.parse().ok(),
        }
    }

    /// Every statistic whose name begins with `prefix`, with the rest of its name.
    fn with(&self, prefix: &str) -> Vec<(String, f64)> {
        let start = format!("cascade_engine_{prefix}");
        let named = self.0.keys().filter_map(|key| key.strip_prefix(&start));
        named
            .filter_map(|rest| Some((rest.to_owned(), self.number(&format!("{prefix}{rest}"))?)))
            .collect()
    }
}

/// Explains a kernel from its block's statistics. `None` when Cascade's engine did not make them.
pub fn explain(stats: &IndexMap<String, StatValue>) -> Option<KernelExplanation> {
    let stats = Stats(stats);
    stats.text("level")?;
    let body = stats.number("body_cycles")?;
    let t0 = stats.number("t0_cycles").unwrap_or(0.0);
    let fill = stats.number("fill_cycles").unwrap_or(0.0);
    let whole = body + t0 + fill;
    let parts = bars(
        [("t0", t0), ("fill", fill), ("body", body)].map(|(key, cycles)| (key.to_owned(), cycles)),
        whole,
        part_label,
    );
    let bounds = sorted(bars(stats.with("bound_"), body, bound_label));
    let mut waits = stats.with("stall_");
    if let (false, Some(issue)) = (waits.is_empty(), stats.number("issue_cycles")) {
        waits.push(("issue".to_owned(), issue));
    }
    let all: f64 = waits.iter().map(|(_, cycles)| cycles).sum();
    let waits = sorted(bars(waits, all, wait_label));
    let winner = stats.text("winning_bound").unwrap_or_default();
    Some(KernelExplanation {
        limit: limit(&winner, &stats, &waits, body, t0),
        helps: helps(&winner, &stats, &bounds, &waits, whole, body),
        parts,
        bounds,
        waits,
        rates: rates(&stats),
        caveats: caveats(&stats),
    })
}

fn bars(
    from: impl IntoIterator<Item = (String, f64)>,
    whole: f64,
    label: impl Fn(&str) -> Option<&'static str>,
) -> Vec<Bar> {
    let share = |cycles: f64| if whole > 0.0 { cycles / whole } else { 0.0 };
    from.into_iter()
        .filter(|(_, cycles)| *cycles > 0.0 && share(*cycles) >= SMALLEST_SHARE)
        .map(|(key, cycles)| Bar {
            label: label(&key).map_or_else(|| key.replace('_', " "), str::to_owned),
            share: share(cycles),
            cycles,
            key,
        })
        .collect()
}

fn sorted(mut bars: Vec<Bar>) -> Vec<Bar> {
    bars.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
    bars
}

fn part_label(key: &str) -> Option<&'static str> {
    Some(match key {
        "t0" => "fixed overhead of any kernel",
        "fill" => "launching the first blocks",
        "body" => "the kernel's work",
        _ => return None,
    })
}

fn bound_label(key: &str) -> Option<&'static str> {
    Some(match key {
        "issue" => "issuing instructions",
        "unit" => "the busiest arithmetic unit",
        "tensor" => "tensor cores",
        "lsu" => "the load/store path (L1 and shared memory)",
        "l2_port" => "an SM's port to L2",
        "l2" => "L2 bandwidth",
        "dram" => "DRAM bandwidth",
        "chain" => "the longest chain of dependent instructions",
        "launch" => "launching thread blocks",
        "latency" => "waiting that no bandwidth explains",
        _ => return None,
    })
}

fn wait_label(key: &str) -> Option<&'static str> {
    Some(match key {
        "issue" => "issuing",
        "arithmetic" => "arithmetic results",
        "tensor" => "tensor-core results",
        "special" => "constants and special registers",
        "branch" => "branches",
        "shared" => "data from shared memory",
        "l1" => "data from L1",
        "l2" => "data from L2",
        "dram" => "data from DRAM",
        "unit_busy" => "a busy arithmetic unit",
        "lsu_busy" => "the busy load/store path",
        "barrier" => "other warps at a barrier",
        "mbarrier" => "asynchronous data (mbarrier)",
        "async_copy" => "asynchronous copies",
        "gmma" => "warp-group multiplies",
        "cluster" => "other blocks of the cluster",
        "fence" => "its own writes (fence)",
        "not_selected" => "their turn to issue",
        _ => return None,
    })
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn limit(winner: &str, stats: &Stats<'_>, waits: &[Bar], body: f64, t0: f64) -> String {
    let of_body = |key: &str| {
        let bound = stats.number(&format!("bound_{key}")).unwrap_or(0.0);
        if body > 0.0 {
            percent(bound / body)
        } else {
            "0 %".to_owned()
        }
    };
    match winner {
        "overhead" => format!(
            "The fixed overhead of a kernel ({t0:.0} cycles) is longer than its work ({body:.0} cycles)."
        ),
        "latency" => match waits
            .iter()
            .find(|bar| !matches!(bar.key.as_str(), "issue" | "not_selected"))
        {
            Some(wait) => format!(
                "Latency: no resource is busy half of the time. {} of the warps' time is spent waiting for {}.",
                percent(wait.share),
                wait.label
            ),
            None => "Latency: no resource is busy half of the time.".to_owned(),
        },
        other => {
            let label = bound_label(other).unwrap_or("an unnamed resource");
            format!(
                "It is limited by {label}, which alone takes {} of the kernel's work.",
                of_body(other)
            )
        }
    }
}

/// What to change about the resource that a bound is about.
fn remedy(bound: &str) -> Option<&'static str> {
    Some(match bound {
        "issue" => "more SMs, a higher clock, or fewer instructions",
        "unit" => "more SMs, a higher clock, or fewer instructions of the busiest kind",
        "tensor" => "more or faster tensor cores, or a smaller data type",
        "lsu" => "wider, coalesced or conflict-free accesses to L1 and shared memory",
        "l2_port" => "more SMs at work, or more reuse in L1 and shared memory",
        "l2" => "more L2 bandwidth, or more reuse in L1 and shared memory",
        "dram" => "more DRAM bandwidth, a larger L2, or fewer bytes (a smaller data type, fusion)",
        "chain" => "a higher clock, or more independent instructions",
        "launch" => "fewer and larger thread blocks",
        _ => return None,
    })
}

/// What to change when warps mostly wait for something.
fn wait_remedy(wait: &str) -> Option<&'static str> {
    Some(match wait {
        "arithmetic" | "tensor" | "special" | "branch" | "gmma" => {
            "more warps on each SM, or more independent instructions in each warp"
        }
        "shared" | "l1" | "l2" | "dram" | "async_copy" | "mbarrier" => {
            "more loads under way: more warps on each SM, deeper prefetching, or data that lies closer"
        }
        "unit_busy" => "work spread over other arithmetic units",
        "lsu_busy" => "fewer or wider memory instructions",
        "barrier" | "cluster" => "fewer barriers, or more blocks on each SM to fill the time",
        "fence" => "fewer fences",
        _ => return None,
    })
}

/// How many times as fast the kernel could be, were one bound [`IMPROVED`] times as good: the body shrinks by
/// what that bound stands out over the next, at most.
fn gain(bounds: &[Bar], key: &str, whole: f64, body: f64) -> Option<f64> {
    let bound = bounds.iter().find(|bar| bar.key == key)?.cycles;
    let others = bounds.iter().filter(|bar| bar.key != key && bar.key != "latency");
    let next = others.map(|bar| bar.cycles).fold(bound / IMPROVED, f64::max);
    let saved = (bound - next).max(0.0);
    let rest = whole - saved.min(body);
    (rest > 0.0).then(|| whole / rest)
}

fn helps(winner: &str, stats: &Stats<'_>, bounds: &[Bar], waits: &[Bar], whole: f64, body: f64) -> Vec<Help> {
    let mut helps = Vec::new();
    let mut add = |what: String, up_to: Option<f64>| {
        if up_to.is_none_or(|times| times >= SMALLEST_GAIN) {
            helps.push(Help { what, up_to });
        }
    };
    if winner == "overhead" {
        let up_to = (body > 0.0).then(|| whole / body);
        add("fewer and larger kernels (fusion, CUDA graphs)".to_owned(), up_to);
    }
    if let Some(what) = remedy(winner) {
        add(what.to_owned(), gain(bounds, winner, whole, body));
    }
    let waits = waits.iter().filter(|bar| bar.share >= 0.1);
    let mut told: Vec<&str> = Vec::new();
    for what in waits.filter_map(|bar| wait_remedy(&bar.key)) {
        if winner == "latency" && !told.contains(&what) {
            told.push(what);
            add(what.to_owned(), None);
        }
    }
    let limited = stats.text("limited_by").unwrap_or_default();
    let small = stats.number("blocks_in_grid").unwrap_or(0.0);
    if limited == "grid" && winner != "overhead" {
        add(
            format!("more thread blocks: the grid's {small:.0} do not fill the SMs"),
            None,
        );
    } else if winner == "latency" {
        let what = match limited.as_str() {
            "regs" => "fewer registers a thread, so that more warps fit on an SM",
            "shmem" => "less shared memory a block, so that more blocks fit on an SM",
            _ => return helps,
        };
        add(what.to_owned(), None);
    }
    helps
}

fn rates(stats: &Stats<'_>) -> Vec<Rate> {
    let bandwidth = |key: &str| {
        let reached = stats.number(&format!("{key}_gb_s"))?;
        let peak = stats.number(&format!("{key}_peak_gb_s"))?;
        Some(format!("{reached:.0} of {peak:.0} GB/s"))
    };
    let hits = |key: &str| {
        let all = stats.number(&format!("{key}_sectors"))?;
        let hits = stats.number(&format!("{key}_hits"))?;
        (all > 0.0).then(|| (hits / all, format!("{hits:.0} of {all:.0} sectors")))
    };
    let mut rates = Vec::new();
    let mut add = |key: &str, label: &str, share: f64, text: String| {
        rates.push(Rate {
            key: key.to_owned(),
            label: label.to_owned(),
            share,
            text,
        });
    };
    for (key, label) in [("dram", "DRAM bandwidth"), ("l2", "L2 bandwidth")] {
        if let Some(share) = stats.number(&format!("{key}_share")) {
            add(key, label, share, bandwidth(key).unwrap_or_default());
        }
    }
    if let Some(share) = stats.number("issue_share") {
        add("issue", "issue slots", share, String::new());
    }
    for (key, name, label) in [("l1", "l1_hits", "hits in L1"), ("l2", "l2_hits", "hits in L2")] {
        if let Some((share, text)) = hits(key) {
            add(name, label, share, text);
        }
    }
    rates
}

fn caveats(stats: &Stats<'_>) -> Vec<String> {
    let mut caveats = Vec::new();
    let status = stats.text("status").unwrap_or_default();
    if !status.starts_with("validated") {
        caveats.push("Nobody has compared this GPU's results with the real one.".to_owned());
    }
    match stats.text("level").as_deref() {
        Some("L0") => {
            caveats.push("Level 0: bounds without queues and waiting; a real kernel is slower.".to_owned())
        }
        _ if stats.text("l2_start").as_deref() == Some("cold") => {
            caveats.push("L2 was empty when the kernel started.".to_owned());
        }
        _ => {}
    }
    if let Some(why) = stats.text("fallback") {
        caveats.push(format!("It could not be simulated, so it was bounded: {why}"));
    }
    if let (Some(fraction), Some(error)) = (stats.number("sampled_fraction"), stats.number("sampling_error"))
        && fraction < 1.0
    {
        caveats.push(format!(
            "{} of its instructions were simulated, the rest extrapolated; estimated error {:.1} %.",
            percent(fraction),
            error * 100.0
        ));
    }
    if stats.number("predicates_inferred").is_some_and(|n| n > 0.0) {
        caveats.push("The trace lists no predicates; branches wait for the last comparison.".to_owned());
    }
    if stats.number("mbarriers_inferred").is_some_and(|n| n > 0.0) {
        caveats.push("The trace does not say which mbarriers start open; that was inferred.".to_owned());
    }
    if let Some(coverage) = stats.number("coverage").filter(|share| *share < FULL_COVERAGE) {
        caveats.push(format!(
            "{:.1} % of its instructions are of kinds that the engine does not know.",
            (1.0 - coverage) * 100.0
        ));
    }
    let [traced, grid] = ["blocks_traced", "blocks_in_grid"].map(|key| stats.number(key).unwrap_or(0.0));
    if traced < grid {
        caveats.push(format!("Only {traced:.0} of its {grid:.0} blocks were traced."));
    }
    caveats
}

#[cfg(test)]
mod tests;
