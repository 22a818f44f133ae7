//! Tools above the canvas: level, alignment, search, zoom.

use cascade_api::TimelineLevel;
use cascade_scene::format;
use cascade_scene::timeline::{Align, Filter};
use leptos::prelude::*;

use super::card::Timeline;
use super::runs::{Offer, Runs};
use super::stage::Stage;
use crate::ui::Switch;

/// One row of tools.
#[component]
pub(super) fn Tools(
    /// The timeline.
    timeline: Timeline,
    /// Whether there are steps to show.
    steps: bool,
    /// Runs that could be added.
    offers: Vec<Offer>,
) -> impl IntoView {
    let told = timeline.told;
    let level = steps.then(|| {
        view! {
            <Switch
                label="Level"
                choices=vec![(TimelineLevel::Kernels, "Kernels".into()), (TimelineLevel::Steps, "Steps".into())]
                chosen=told.level
                on_choose=move |level| timeline.fetch(level, true)
            />
        }
    });
    let zoom = |stage: &mut Stage, factor: f64| {
        let middle = stage.camera.width / 2.0;
        stage.zoom(middle, factor);
    };
    view! {
        <div class="timeline-bar">
            {level}
            <Switch
                label="Line up by"
                choices=vec![(Align::Time, "By time".into()), (Align::Kernel, "By kernel".into())]
                chosen=told.align
                on_choose=move |align| timeline.change(|stage| stage.set_align(align))
            />
            <Search timeline />
            <div class="segmented" role="group" aria-label="Zoom">
                <button type="button" class="segment" aria-label="Zoom out" title="Zoom out (−)" on:click=move |_| timeline.change(|stage| zoom(stage, 2.0))>"−"</button>
                <button type="button" class="segment" aria-label="Zoom in" title="Zoom in (+)" on:click=move |_| timeline.change(|stage| zoom(stage, 0.5))>"+"</button>
                <button type="button" class="segment" title="Show everything (F)" on:click=move |_| timeline.change(Stage::fit)>"Fit"</button>
            </div>
            <Runs timeline offers />
        </div>
    }
}

/// The field that dims all other kernels.
#[component]
fn Search(
    /// The timeline.
    timeline: Timeline,
) -> impl IntoView {
    let told = timeline.told;
    let text = move || told.filter.with(|filter| filter.text.clone());
    let on = move || told.filter.with(Filter::is_on);
    let set = move |text: String| {
        timeline.change(|stage| {
            let filter = Filter {
                text,
                ..stage.scene.filter().clone()
            };
            stage.set_filter(filter);
        });
    };
    let go = move |back: bool| {
        timeline.change(|stage| {
            let from = stage.camera.selected;
            let pick = if back {
                stage.scene.previous(from)
            } else {
                stage.scene.next(from)
            };
            stage.select(pick);
        });
    };
    let count = move || {
        let (hits, hit) = (told.hits.get() as u64, told.hit.get());
        on().then(|| match (hits, hit) {
            (0, _) => "no hit".to_owned(),
            (_, None) => format::plural(hits, "hit"),
            (_, Some(hit)) => format!("{} of {}", format::count(hit as u64 + 1), format::count(hits)),
        })
    };
    let none = move || !on() || told.hits.get() == 0;
    view! {
        <div class="hit-search" role="search" aria-label="Kernels">
            <input
                class="input"
                type="search"
                placeholder="Find kernels"
                aria-label="Find kernels by name or group"
                prop:value=text
                on:input=move |event| set(event_target_value(&event))
                on:keydown=move |event| {
                    if event.key() == "Enter" {
                        event.prevent_default();
                        go(event.shift_key());
                    }
                }
            />
            <button type="button" class="button ghost" aria-label="Previous hit" title="Previous hit (Shift+Enter)" disabled=none on:click=move |_| go(true)>"↑"</button>
            <button type="button" class="button ghost" aria-label="Next hit" title="Next hit (Enter)" disabled=none on:click=move |_| go(false)>"↓"</button>
            <span class="muted timeline-count" role="status">{count}</span>
        </div>
    }
}
