//! The columns as cards: what each is, how far it can be trusted, and links to leave it out, to start from it and to
//! add others.

use std::sync::Arc;

use cascade_api::{Engine, TraceId};
use cascade_scene::compare::{MAX_SIDES, letter, mixed};
use cascade_scene::format;
use leptos::prelude::*;

use super::choice::{Pick, address, offered};
use super::facts::{Facts, GpuStatus, Ready};
use crate::data::segment;
use crate::site::use_site;
use crate::ui::{
    Badge, Card, CopyButton, EngineBadge, Icon, IconName, NoteText, Notice, ReplayBadge, SampleBadge,
    SampleNote, SyntheticBadge, Tone,
};

/// Columns offered at once.
const MAX_OFFERED: usize = 12;

/// The columns and what can be added.
#[component]
pub(super) fn Chooser(
    /// What is compared and what there is.
    facts: Arc<Facts>,
    /// Kernel times, once they are there.
    ready: RwSignal<Option<Arc<Ready>>>,
) -> impl IntoView {
    let picks = facts.picks.clone();
    let cards: Vec<_> = (0..picks.len())
        .map(|place| view! { <Column facts=Arc::clone(&facts) place ready /> })
        .collect();
    let sample = |pick: &Pick| {
        let run = facts.run(pick).map(|known| &known.run);
        run.is_some_and(|run| run.summary.sample || run.trace.sample)
    };
    let any_sample = picks.iter().any(sample);
    let none = picks.is_empty().then(|| {
        view! { <p class="muted">"Nothing is compared yet. Add two columns: a column is one GPU of one run."</p> }
    });
    let engines: Vec<Vec<Engine>> = picks.iter().map(|pick| engines(&facts, pick)).collect();
    let by_column: Vec<&[Engine]> = engines.iter().map(Vec::as_slice).collect();
    let mixing =
        mixed::engines(&by_column).map(|text| view! { <Notice tone=Tone::Warn><p>{text}</p></Notice> });
    let missing: Vec<_> = facts
        .missing
        .iter()
        .map(|text| {
            let text = format!("{text} is not in this workspace: the run is gone, or it has no such GPU.");
            view! { <Notice tone=Tone::Warn><p>{text}</p></Notice> }
        })
        .collect();
    let left_out = (!facts.left_out.is_empty()).then(|| {
        let names: Vec<_> = facts.left_out.iter().map(|pick| pick.gpu.as_str()).collect();
        let all = picks.len() + names.len();
        let text = format!(
            "{} of {all} columns are shown. Not shown: {}.",
            picks.len(),
            names.join(", ")
        );
        view! { <p class="muted small">{text}</p> }
    });
    let link = format!("{}{}", use_site().url.trim_end_matches('/'), address(&picks));
    let offers = offered(&facts.runs, &facts.traces, &picks);
    let copy = move || view! { <CopyButton text=link label="Copy the link to these columns" /> };
    view! {
        <Card title="Columns" aside=copy>
            {none}
            <div class="compare-columns">{cards}</div>
            {missing}
            {left_out}
            {mixing}
            <Offers picks offers />
            <SampleNote any=any_sample />
        </Card>
    }
}

/// The programs that made a column's numbers, each once.
fn engines(facts: &Facts, pick: &Pick) -> Vec<Engine> {
    let sims = facts.run(pick).map_or(&[][..], |known| &known.run.sims);
    let own = sims.iter().filter(|sim| sim.gpu_config == pick.gpu);
    let mut engines: Vec<Engine> = own.map(|sim| sim.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    engines
}

/// One column.
#[component]
fn Column(
    /// What is compared.
    facts: Arc<Facts>,
    /// Its place.
    place: usize,
    /// Kernel times, once they are there.
    ready: RwSignal<Option<Arc<Ready>>>,
) -> impl IntoView {
    let (pick, known) = facts
        .picks
        .get(place)
        .and_then(|pick| Some((pick, facts.run(pick)?)))?;
    let run = &known.run;
    let without: Vec<Pick> = facts
        .picks
        .iter()
        .filter(|other| *other != pick)
        .cloned()
        .collect();
    let mut from_here = without.clone();
    from_here.insert(0, pick.clone());
    let leave = format!("Leave {} of {} out", pick.gpu, pick.run);
    let start = (place > 0).then(|| {
        let others = format!(": compare the others with {} of {}", pick.gpu, pick.run);
        view! {
            <a class="button ghost" href=address(&from_here)>
                "Make A"
                <span class="visually-hidden">{others}</span>
            </a>
        }
    });
    let badges: Vec<_> = engines(&facts, pick)
        .into_iter()
        .map(|engine| view! { <EngineBadge engine /> })
        .collect();
    let status = facts.gpus.iter().find(|known| known.gpu == pick.gpu).map(trust);
    let sims = run.sims.iter().filter(|sim| sim.gpu_config == pick.gpu).count() as u64;
    let total = move || {
        let (kernels, ns) = ready.get()?.total(place)?;
        Some(format!(
            "{} in {}",
            format::duration_ns(ns),
            format::plural(kernels, "kernel")
        ))
    };
    let replicas = format::plural(sims, "replica");
    let run_href = format!("/runs/{}", segment(run.summary.id.as_str()));
    let trace_href = format!("/traces/{}", segment(run.trace.id.as_str()));
    let hue = format!("swatch series-{}", place % cascade_scene::chart::GPU_COLORS);
    Some(view! {
        <article class="compare-column" aria-label=format!("{}: {} of {}", letter(place), pick.gpu, pick.run)>
            <div class="tile-head">
                <h3><i class=hue aria-hidden="true"></i>{format!(" {} · {}", letter(place), pick.gpu)}</h3>
                <span class="compare-acts">
                    {start}
                    <a
                        class="button ghost icon-only"
                        href=address(&without)
                        aria-label=leave.clone()
                        title=leave
                    >
                        <Icon name=IconName::Cross />
                    </a>
                </span>
            </div>
            <p class="compare-total">{move || total().unwrap_or_else(|| format::NONE.to_owned())}</p>
            <p class="muted small">{format!("median over {replicas}, kernels end to end")}</p>
            <p class="small">
                <a href=run_href>{run.summary.id.to_string()}</a> " of " <a href=trace_href>{run.trace.id.to_string()}</a>
            </p>
            <div class="badges">
                {badges} {run.summary.sample.then(|| view! { <SampleBadge /> })}
                {run.trace.synthetic.then(|| view! { <SyntheticBadge /> })}
                {run.summary.replay.then(|| view! { <ReplayBadge /> })} {status}
            </div>
        </article>
    })
}

/// How far a GPU's description can be trusted.
fn trust(gpu: &GpuStatus) -> impl IntoView + use<> {
    let tone = match gpu.status.as_str() {
        "validated" => Tone::Good,
        "measured" => Tone::Neutral,
        _ => Tone::Warn,
    };
    view! {
        <Badge text=format!("GPU {}", gpu.status) tone />
        <p class="muted small compare-note"><NoteText note=gpu.note.clone() /></p>
    }
}

/// Columns to add, found by run, trace or GPU.
#[component]
fn Offers(
    /// The columns there are.
    picks: Vec<Pick>,
    /// Those that could join them.
    offers: Vec<(Pick, TraceId)>,
) -> impl IntoView {
    if offers.is_empty() {
        return ().into_any();
    }
    if picks.len() >= MAX_SIDES {
        let text = format!("{MAX_SIDES} columns are as many as fit; leave one out to add another.");
        return view! { <p class="muted small">{text}</p> }.into_any();
    }
    let text = RwSignal::new(String::new());
    let many = offers.len() > MAX_OFFERED;
    let open = picks.len() < 2;
    let found = move || {
        let text = text.get().trim().to_lowercase();
        let holds = |(pick, trace): &&(Pick, TraceId)| {
            [pick.run.as_str(), pick.gpu.as_str(), trace.as_str()]
                .iter()
                .any(|part| part.to_lowercase().contains(&text))
        };
        let link = |(pick, trace): &(Pick, TraceId)| {
            let mut all = picks.clone();
            all.push(pick.clone());
            view! {
                <li>
                    <a class="button" href=address(&all)>
                        <Icon name=IconName::Plus />
                        <span class="visually-hidden">"Add "</span>
                        {format!("{} ", pick.gpu)}
                        <span class="muted">{format!("{} of {trace}", pick.run)}</span>
                    </a>
                </li>
            }
        };
        offers
            .iter()
            .filter(holds)
            .take(MAX_OFFERED)
            .map(link)
            .collect::<Vec<_>>()
    };
    view! {
        <details class="behind" open=open>
            <summary>"Add a column"</summary>
            <input
                class="input compare-find"
                type="search"
                aria-label="Find a column to add by run, trace or GPU"
                placeholder="Run, trace or GPU"
                hidden=!many
                on:input=move |event| text.set(event_target_value(&event))
            />
            <ul class="chips">{found}</ul>
        </details>
    }
    .into_any()
}
