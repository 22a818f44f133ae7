//! What a kernel took and why, in words, charts and tables.

use cascade_api::{Help, KernelDetail, KernelExplanation, StatValue};
use cascade_scene::comparison::error;
use cascade_scene::request::PROVENANCE;
use cascade_scene::{format, kernel_name::readable};
use leptos::prelude::*;

use super::bars::{Against, Reached, Stacked};
use super::kernel_href;
use super::stats::Statistics;
use crate::data::segment;
use crate::ui::{Badge, EngineBadge, NoteText, SampleBadge, Stat, Tone};

/// A kernel with everything known of it.
#[component]
pub(super) fn Explained(
    /// The kernel.
    detail: KernelDetail,
    /// Whether it has a page to itself.
    #[prop(optional)]
    alone: bool,
) -> impl IntoView {
    let why = match &detail.explanation {
        Some(explanation) => view! { <Why explanation=explanation.clone() /> }.into_any(),
        None => view! {
            <p class="muted">"The simulator's log says how long this kernel took, but nothing about why."</p>
        }
        .into_any(),
    };
    view! {
        <article class="kernel-detail" aria-label="Kernel">
            <Head detail=detail.clone() alone />
            <Figures detail=detail.clone() />
            {why}
            <Statistics stat=detail.stat />
        </article>
    }
}

/// Its name, where it ran, and what its numbers are worth.
#[component]
fn Head(
    /// The kernel.
    detail: KernelDetail,
    /// Whether it has a page to itself.
    alone: bool,
) -> impl IntoView {
    let KernelDetail {
        stat,
        gpu_config: gpu,
        ..
    } = detail;
    let name = readable(&stat.kernel_name);
    let run = format!(
        "/runs/{}?sim={}&kernel={}",
        segment(detail.run_id.as_str()),
        segment(stat.sim_id.as_str()),
        stat.kernel_index
    );
    let index = stat.kernel_index;
    let turn = |label: &'static str, to: Option<u64>| {
        to.map(|to| view! { <a class="button ghost" href=kernel_href(&stat.sim_id, to)>{label}</a> })
    };
    let before = turn("← Previous", index.checked_sub(1));
    let after = turn(
        "Next →",
        Some(index + 1).filter(|next| *next < detail.kernels_done),
    );
    let title = if alone {
        view! {
            <nav class="breadcrumb" aria-label="Breadcrumb">
                <a href=run>{detail.run_id.to_string()}</a>
                <span aria-hidden="true">"/"</span>
            </nav>
            <h1 class="kernel-name">{name}</h1>
            <div class="actions">{before} {after}</div>
        }
        .into_any()
    } else {
        let page = kernel_href(&stat.sim_id, index);
        view! { <h2 class="kernel-name"><a href=page title="Open on a page of its own">{name}</a></h2> }
            .into_any()
    };
    let text = |key: &str| match stat.stats.get(key) {
        Some(StatValue::Text(text)) => Some(text.clone()),
        _ => None,
    };
    // The note of the simulation itself: the GPU's description may have changed since.
    let note = text("cascade_engine_status_note");
    let status = text("cascade_engine_status").map(|status| {
        let tone = if status.starts_with("validated") {
            Tone::Good
        } else {
            Tone::Warn
        };
        let title = note.clone().unwrap_or_else(|| {
            "Whether anybody has compared this GPU's results with the real one".to_owned()
        });
        view! { <Badge text=status tone title=title /> }
    });
    let said = |other: &String| note.as_deref().is_some_and(|note| other.ends_with(note));
    let origin = text("cascade_provenance").map(|origin| {
        let title = means(&origin);
        view! { <Badge text=origin title=title /> }
    });
    let notes: Vec<_> = note
        .iter()
        .chain(gpu.notes.iter().filter(|other| !said(other)))
        .map(|note| view! { <p class="muted small"><NoteText note=note.clone() /></p> })
        .collect();
    let full = (readable(&stat.kernel_name) != stat.kernel_name)
        .then(|| view! { <p class="kernel-full mono muted">{stat.kernel_name.clone()}</p> });
    let gpu_href = format!("/gpus/{}", segment(gpu.name.as_str()));
    let place = format!(
        "kernel {} of {}",
        format::count(index + 1),
        format::count(detail.kernels_done.max(index + 1))
    );
    view! {
        <header class="kernel-head">
            {title}
            {full}
            <p class="kernel-place">
                <a href=gpu_href>{gpu.name.to_string()}</a>
                {format!(" #{} · {place}", detail.replica)}
            </p>
            <div class="badges">
                <EngineBadge engine=detail.engine />
                {origin}
                {status}
                {detail.sample.then(|| view! { <SampleBadge /> })}
            </div>
            {notes}
        </header>
    }
}

/// What the word for a kernel's origin says of its numbers.
fn means(origin: &str) -> String {
    let word = origin.split([':', ' ']).next().unwrap_or_default();
    PROVENANCE.iter().find(|(known, _)| *known == word).map_or_else(
        || "How these numbers came about".to_owned(),
        |(_, means)| format!("These numbers: {means}"),
    )
}

/// How long it took.
#[component]
fn Figures(
    /// The kernel.
    detail: KernelDetail,
) -> impl IntoView {
    let stat = detail.stat;
    let none = || format::NONE.to_owned();
    let time = stat.sim_time_ns.map_or_else(none, format::duration_ns);
    let (cycles, instructions) = (stat.gpu_sim_cycle, stat.gpu_sim_insn);
    let [cycles, instructions] = [cycles, instructions].map(|n| n.map_or_else(none, format::count));
    let ipc = stat.gpu_ipc.map_or_else(none, format::compact);
    let real = detail.real_ns.map(|real| {
        let against = stat
            .sim_time_ns
            .and_then(|ns| error(ns, Some(real)))
            .map(|error| format!(" ({})", format::deviation(error)));
        view! {
            <Stat label="Real time" title="Measured on the real GPU; in brackets how far the simulation is off">
                {format::duration_ns(real)} {against}
            </Stat>
        }
    });
    let clock = detail.gpu_config.core_clock_mhz;
    let title = (clock > 0.0).then(|| format!("Cycles at {clock} MHz"));
    view! {
        <dl class="stats kernel-figures">
            <Stat label="Simulated time" title=title.unwrap_or_default()>{time}</Stat>
            {real}
            <Stat label="Cycles">{cycles}</Stat>
            <Stat label="Thread instructions">{instructions}</Stat>
            <Stat label="IPC" title="Thread instructions per cycle of the whole simulated GPU">
                {ipc}
            </Stat>
        </dl>
    }
}

/// What limits it, and what would help.
#[component]
fn Why(
    /// The explanation.
    explanation: KernelExplanation,
) -> impl IntoView {
    let KernelExplanation {
        limit,
        helps,
        parts,
        bounds,
        waits,
        rates,
        caveats,
    } = explanation;
    let helps = (!helps.is_empty()).then(|| {
        let items: Vec<_> = helps.into_iter().map(help).collect();
        view! { <section><h3>"What would help"</h3><ul class="helps">{items}</ul></section> }
    });
    let parts = (!parts.is_empty()).then(|| {
        view! {
            <section>
                <h3>"Where the time goes"</h3>
                <Stacked label="Parts of the kernel's time" unit="Cycles" parts />
            </section>
        }
    });
    let waits = (!waits.is_empty()).then(|| {
        view! {
            <section>
                <h3>"What the warps did or waited for"</h3>
                <Stacked label="Time of all warps" unit="Warp-cycles" parts=waits />
            </section>
        }
    });
    let bounds = (!bounds.is_empty()).then(|| {
        view! {
            <section>
                <h3>"Bound by bound"</h3>
                <p class="muted small">"How long each resource alone would take. What is near 100 % limits the kernel."</p>
                <Against label="Bounds" unit="Cycles" bars=bounds />
            </section>
        }
    });
    let rates = (!rates.is_empty()).then(|| {
        view! { <section><h3>"Reached"</h3><Reached rates /></section> }
    });
    let caveats = (!caveats.is_empty()).then(|| {
        let items: Vec<_> = caveats
            .into_iter()
            .map(|caveat| view! { <li>{caveat}</li> })
            .collect();
        view! { <section><h3>"Before you believe it"</h3><ul class="caveats muted">{items}</ul></section> }
    });
    view! {
        <p class="limit">{limit}</p>
        {helps}
        <div class="kernel-grid">{waits} {bounds} {parts} {rates}</div>
        {caveats}
    }
}

/// One thing that would help.
fn help(help: Help) -> impl IntoView {
    let mut letters = help.what.chars();
    let what: String = letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
    let gain = help
        .up_to
        .map(|times| view! { <span class="gain">{format!("up to {times:.2} × as fast")}</span> });
    view! { <li>{what} " " {gain}</li> }
}

#[cfg(test)]
mod tests {
    use super::means;

    #[test]
    fn an_origin_is_explained_with_or_without_its_number() {
        assert!(means("dedup:17").contains("same content"));
        assert!(means("exact").contains("simulated itself"));
        assert!(means("somehow").contains("came about"));
    }
}
