//! The waterfall: where the time goes from one column to another.

use std::sync::Arc;

use cascade_scene::compare::difference::{Difference, Level};
use cascade_scene::compare::waterfall::{Bar, Kind, Waterfall};
use cascade_scene::compare::{close, headline, signed_ns, steps, tone};
use cascade_scene::format;
use cascade_scene::request::figure::capital;
use leptos::prelude::*;

use super::view::{Levels, Pair, View, Waiting};
use crate::ui::{Button, Card, DataTable, DocLink, Icon, IconName, Switch, save_text};

/// From one column's total to the other's, part by part.
#[component]
pub(super) fn Fall(
    /// The page's state.
    view: View,
) -> impl IntoView {
    if view.columns() < 2 {
        return ().into_any();
    }
    let kinds = Memo::new(move |_| {
        let (from, to) = view.pair.get();
        view.digests.with_value(|digests| {
            let digest = |place: usize| digests.get(place).and_then(Option::as_ref);
            match (digest(from), digest(to)) {
                (Some(from), Some(to)) => steps::kinds(from, to),
                _ => Vec::new(),
            }
        })
    });
    let scope = Memo::new(move |_| {
        view.scope
            .get()
            .filter(|scope| kinds.with(|kinds| kinds.contains(scope)))
    });
    let fall = Memo::new(move |_| waterfall(view, scope.get().as_deref()));
    let scopes = move || {
        let kinds = kinds.get();
        (!kinds.is_empty()).then(|| {
            let step = |kind: String| (Some(kind.clone()), format!("{} step", capital(&kind)));
            let choices = [(None, "All kernels".to_owned())]
                .into_iter()
                .chain(kinds.into_iter().map(step));
            view! {
                <Switch
                    label="What the waterfall is about"
                    choices=choices.collect()
                    chosen=scope
                    on_choose=move |scope| view.look_at(scope)
                />
            }
        })
    };
    let levels = move || {
        scope
            .get()
            .is_none()
            .then(|| view! { <Levels view label="Bars of the waterfall" launches=false /> })
    };
    let csv = move |()| {
        if let Some(fall) = fall.get_untracked() {
            save_text("waterfall.csv", "text/csv", &fall.csv());
        }
    };
    let button = move || {
        view! {
            <Button on_press=csv disabled=Signal::derive(move || fall.with(Option::is_none))>
                <Icon name=IconName::Download />
                "CSV"
            </Button>
        }
    };
    let body = move || {
        fall.get().map(|fall| {
            let head = said(view, &fall);
            let hardly = hardly(view, scope.get().as_deref());
            let cut = (fall.low_ns > 0.0).then(|| {
                let text = format!("The axis starts at {}.", format::duration_ns(fall.low_ns));
                view! { <p class="muted small">{text}</p> }
            });
            let bars: Vec<_> = fall.bars.iter().map(|bar| one_bar(&fall, bar)).collect();
            let rows: Vec<_> = fall.bars.iter().map(row).collect();
            let columns = ["Part", "#Adds", "#Level after it"].map(String::from).to_vec();
            view! {
                <p class="compare-headline">{head}</p>
                {hardly}
                <ol class="waterfall" aria-label="Where the time goes, from the first column's total to the second's">{bars}</ol>
                {cut}
                <details class="behind">
                    <summary>"The same as a table"</summary>
                    <DataTable label="Parts of the difference" columns>{rows}</DataTable>
                </details>
            }
        })
    };
    view! {
        <Card title="Where the time went" aside=button>
            <div class="chart-bar">
                <Pair view />
                <div class="compare-pair">{scopes} {levels}</div>
            </div>
            <Waiting view />
            {body}
        </Card>
    }
    .into_any()
}

/// The bars for the pair; `None` while there is nothing to compare.
fn waterfall(view: View, scope: Option<&str>) -> Option<Waterfall> {
    let (from, to) = view.pair.get();
    let names = view.names.get_value();
    let names = [names.get(from)?.as_str(), names.get(to)?.as_str()];
    if let Some(kind) = scope {
        let digests = view.digests.get_value();
        let digest = |place: usize| digests.get(place).and_then(Option::as_ref);
        return Waterfall::of_step(digest(from)?, digest(to)?, kind, names);
    }
    let lines = view.lines.get()?;
    let shown = view.difference.get()?;
    // Single launches would be too many bars.
    let difference = match shown.level {
        Level::Launch => Arc::new(Difference::new(&lines, 0, 1, Level::Kernel)),
        Level::Group | Level::Kernel => shown,
    };
    Some(Waterfall::of_kernels(&difference, &lines, names))
}

/// The whole difference in a sentence.
fn said(view: View, fall: &Waterfall) -> String {
    let end = |bar: Option<&Bar>| bar.map_or(0.0, |bar| bar.end_ns);
    headline(&view.letters(), end(fall.bars.first()), end(fall.bars.last()))
}

/// What to know where the two hardly differ; nothing where they do.
fn hardly(view: View, scope: Option<&str>) -> Option<impl IntoView + use<>> {
    let [a, _] = view.letters();
    let text = match scope {
        None => close::kernels(view.lines.get()?.as_ref(), &a),
        Some(kind) => {
            let (from, to) = view.pair.get();
            let digests = view.digests.get_value();
            let digest = |place: usize| digests.get(place).and_then(Option::as_ref);
            close::step(digest(from)?, digest(to)?, kind, &a)
        }
    }?;
    Some(view! {
        <p class="muted small compare-close">
            {text} " What limits a kernel is said where it is selected in its run's timeline. "
            <DocLink href="/docs/results">"Reading results"</DocLink>
        </p>
    })
}

/// A bar with its name and what it adds.
fn one_bar(fall: &Waterfall, bar: &Bar) -> impl IntoView + use<> {
    let (left, width) = fall.place(bar);
    let value = match bar.kind {
        Kind::Total => format::duration_ns(bar.end_ns),
        _ => signed_ns(bar.delta_ns()),
    };
    let class = match bar.kind {
        Kind::Total => "total",
        _ => tone(&value),
    };
    let style = format!("left:{left:.3}%;width:{width:.3}%");
    view! {
        <li class=class>
            <span class="waterfall-name" title=bar.label.clone()>{bar.label.clone()}</span>
            <span class="waterfall-track" aria-hidden="true"><i style=style></i></span>
            <span class="waterfall-value">{value}</span>
        </li>
    }
}

/// The same as a row of the table.
fn row(bar: &Bar) -> impl IntoView + use<> {
    let adds = match bar.kind {
        Kind::Total => format::NONE.to_owned(),
        _ => signed_ns(bar.delta_ns()),
    };
    view! {
        <tr>
            <td>{bar.label.clone()}</td>
            <td class="number">{adds}</td>
            <td class="number">{format::duration_ns(bar.end_ns)}</td>
        </tr>
    }
}
