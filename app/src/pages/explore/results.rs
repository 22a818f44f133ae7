//! The figures of each GPU beside each other, with the low and high end of each within the efficiency ranges.

use cascade_scene::explorer::{GROUPS, Group, Metric};
use cascade_scene::format;
use leptos::prelude::*;

use super::run::Run;
use crate::ui::{Button, Notice, Tone};

/// What came out, or why nothing did.
#[component]
pub(super) fn Results(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let gpus = Memo::new(move |_| {
        run.figures(|figures| {
            figures
                .iter()
                .map(|(at, gpu, _)| (*at, (*gpu).to_owned()))
                .collect::<Vec<_>>()
        })
    });
    view! {
        <Status run />
        <Problems run />
        <div class="explore-cards" class:stale=move || run.stale()>
            {GROUPS.into_iter().map(|group| view! { <Figures run group gpus /> }).collect::<Vec<_>>()}
        </div>
    }
}

/// How long it took and how much was simulated.
#[component]
fn Status(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let text = move || {
        let sizes = run.figures(|figures| {
            let of = |value: fn(&cascade_scene::explorer::Figures) -> u64| {
                figures.iter().map(|(_, _, f)| value(f)).sum::<u64>()
            };
            (of(|f| f.requests), of(|f| f.steps))
        });
        let what = format!(
            "{} requests in {} steps",
            format::count(sizes.0),
            format::count(sizes.1)
        );
        if run.fetching.get() {
            return "Fetching step times…".to_owned();
        }
        match run.took.get() {
            _ if run.stale() && sizes.0 > 0 => format!("{what}, from before"),
            _ if run.stale() => "Nothing to show yet.".to_owned(),
            Some((ms, _)) => format!("{what}, simulated here in {}", format::duration_ns(ms * 1e6)),
            None if sizes.0 > 0 => format!("{what}, simulated on the server"),
            None => "Simulating…".to_owned(),
        }
    };
    view! { <p class="explore-status muted small" role="status" data-took=move || run.took.get().map(|(_, ms)| ms.to_string())>{text}</p> }
}

/// What is wrong and belongs to no control.
#[component]
fn Problems(
    /// The page's state.
    run: Run,
) -> impl IntoView {
    let problems = Memo::new(move |_| {
        let refused = run.sides.with(|sides| {
            let refusals = sides.iter().filter_map(|side| {
                let refusal = side.result.as_ref().err()?;
                Some(format!("{}: {}", side.gpu, refusal.problem))
            });
            refusals.collect::<Vec<_>>()
        });
        let own = run.problems();
        let fields = (!own.is_empty()).then(|| {
            let s = if own.len() == 1 {
                "field needs"
            } else {
                "fields need"
            };
            match run.figures(|figures| figures.is_empty()) {
                true => format!("{} {s} another value: {}", own.len(), own[0].text),
                false => format!("{} {s} another value. Figures shown are from before.", own.len()),
            }
        });
        run.broken
            .get()
            .into_iter()
            .chain(fields)
            .chain(refused)
            .collect::<Vec<_>>()
    });
    let notice = |text: String| view! { <Notice tone=Tone::Warn><p>{text}</p></Notice> };
    // What is not a control's fault may be gone by itself.
    let again = move || {
        let broken = run.broken.with(Option::is_some);
        broken.then(|| view! { <Button on_press=move |()| run.again()>"Try again"</Button> })
    };
    view! { {move || problems.get().into_iter().map(notice).collect::<Vec<_>>()} {again} }
}

/// The metrics of one card: a row for each, a column for each GPU.
#[component]
fn Figures(
    /// The page's state.
    run: Run,
    /// The card.
    group: Group,
    /// The GPUs with figures: place and name.
    gpus: Memo<Vec<(usize, String)>>,
) -> impl IntoView {
    let wide = group.metrics.len() > 3;
    let heads = move || {
        let head = |(at, gpu): (usize, String)| {
            view! {
                <th scope="col">
                    <i class=format!("swatch series-{at}") aria-hidden="true"></i>
                    {gpu}
                </th>
            }
        };
        gpus.get().into_iter().map(head).collect::<Vec<_>>()
    };
    let rows: Vec<_> = group
        .metrics
        .iter()
        .map(|metric| {
            let metric = *metric;
            let cells = move || {
                let cell = |(at, _): (usize, String)| view! { <Value run metric at /> };
                gpus.get().into_iter().map(cell).collect::<Vec<_>>()
            };
            view! { <tr><th scope="row">{metric.name()}</th>{cells}</tr> }
        })
        .collect();
    view! {
        <section class="card figures" class:wide=wide aria-label=group.name>
            <div class="card-head">
                <h2>{group.name}</h2>
            </div>
            <table>
                <thead>
                    <tr>
                        <td></td>
                        {heads}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <p class="muted small meaning">{group.meaning}</p>
        </section>
    }
}

/// One number and its band.
#[component]
fn Value(
    /// The page's state.
    run: Run,
    /// Which number.
    metric: Metric,
    /// The GPU's place.
    at: usize,
) -> impl IntoView {
    let value = Memo::new(move |_| {
        run.sides.with(|sides| {
            let figures = sides.get(at).and_then(|side| side.result.as_ref().ok());
            metric.text(figures.and_then(|figures| metric.of(&figures.values)))
        })
    });
    let band = Memo::new(move |_| {
        run.bands
            .with(|bands| bands.get(at).and_then(|band| metric.range(band.as_ref()?)))
    });
    view! {
        <td>
            <b data-metric=format!("{metric:?}")>{move || value.get()}</b>
            <span class="band" title="Low and high within the efficiency ranges">{move || band.get()}</span>
        </td>
    }
}
