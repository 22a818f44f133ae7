//! What the page looks at: a pair of columns, a level and a scope, all in the address.

use std::sync::Arc;

use cascade_api::StepDigest;
use cascade_scene::compare::difference::{Difference, Level};
use cascade_scene::compare::letter;
use cascade_scene::compare::lines::Lines;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::facts::{Facts, Ready};
use crate::data::{self, DataError};
use crate::ui::Switch;

/// The page's state, shared by its parts.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// Kernel times, once they are there.
    pub(super) ready: RwSignal<Option<Arc<Ready>>>,
    /// Why kernel times could not be loaded.
    pub(super) failed: RwSignal<Option<DataError>>,
    /// Places of the column that is compared with and of the other; equal for a single column.
    pub(super) pair: Memo<(usize, usize)>,
    /// What rows and bars stand for.
    pub(super) level: Memo<Level>,
    /// The kind of step that the waterfall is about; `None` for all kernels.
    pub(super) scope: Memo<Option<String>>,
    /// The pair on common lines; `None` until there are kernel times, or with a single column.
    pub(super) lines: Memo<Option<Arc<Lines>>>,
    /// The pair's difference at the level; `None` until there are kernel times, or with a single column.
    pub(super) difference: Memo<Option<Arc<Difference>>>,
    /// Each column's predicted steps.
    pub(super) digests: StoredValue<Arc<Vec<Option<StepDigest>>>>,
    /// Each column's name.
    pub(super) names: StoredValue<Arc<Vec<String>>>,
    set_from: SignalSetter<Option<String>>,
    set_to: SignalSetter<Option<String>>,
    set_level: SignalSetter<Option<String>>,
    set_scope: SignalSetter<Option<String>>,
}

impl View {
    /// Reads the address and puts the kernel times on common lines; what did not come with the page is asked for
    /// once it is alive.
    pub(super) fn new(facts: Arc<Facts>) -> Self {
        let in_place = || NavigateOptions {
            scroll: false,
            replace: true,
            ..NavigateOptions::default()
        };
        let (from, set_from) = query_signal_with_options::<String>("from", in_place());
        let (to, set_to) = query_signal_with_options::<String>("to", in_place());
        let (by, set_level) = query_signal_with_options::<String>("by", in_place());
        let (scope, set_scope) = query_signal_with_options::<String>("in", in_place());
        let count = facts.picks.len();
        let place = move |asked: Option<String>| (0..count).find(|place| Some(letter(*place)) == asked);
        let pair = Memo::new(move |_| {
            let from = place(from.get()).unwrap_or(0);
            let other = |place: &usize| *place != from;
            let to = place(to.get()).filter(other).or_else(|| (0..count).find(other));
            (from, to.unwrap_or(from))
        });
        let ready = RwSignal::new(None);
        let failed = RwSignal::new(None);
        // Lines are long: whoever reads them works them through again, without comparing them with the old ones.
        let lines = Memo::new_with_compare(
            move |_| {
                let (from, to) = pair.get();
                let ready: Arc<Ready> = ready.get()?;
                (from != to).then(|| ready.lines(from, to).map(Arc::new))?
            },
            |_, _| true,
        );
        let level = Memo::new(move |_| {
            let asked = by.get();
            let found = Level::ALL
                .into_iter()
                .find(|level| Some(level.as_str()) == asked.as_deref());
            let pairing = lines.with(|lines: &Option<Arc<Lines>>| lines.as_ref().map(|lines| lines.pairing));
            let fits = |level: &Level| pairing.is_none_or(|pairing| level.fits(pairing));
            found.filter(fits).unwrap_or(Level::Group)
        });
        let difference = Memo::new_with_compare(
            move |_| {
                let (lines, level) = (lines.get()?, level.get());
                Some(Arc::new(Difference::new(&lines, 0, 1, level)))
            },
            |_, _| true,
        );
        let digests = Arc::new(facts.digests());
        let names = Arc::new(facts.names());
        let embedded: Option<Vec<_>> = facts.of.iter().map(|known| known.kernels.clone()).collect();
        match embedded {
            Some(kernels) => ready.set(Some(Arc::new(Ready::new(facts, kernels)))),
            None => {
                Effect::new(move || {
                    let facts = Arc::clone(&facts);
                    spawn_local(async move {
                        match load(&facts).await {
                            Ok(kernels) => _ = ready.try_set(Some(Arc::new(Ready::new(facts, kernels)))),
                            Err(error) => _ = failed.try_set(Some(error)),
                        }
                    });
                });
            }
        }
        Self {
            ready,
            failed,
            pair,
            level,
            scope,
            lines,
            difference,
            digests: StoredValue::new(digests),
            names: StoredValue::new(names),
            set_from,
            set_to,
            set_level,
            set_scope,
        }
    }

    /// How many columns there are.
    pub(super) fn columns(self) -> usize {
        self.names.with_value(|names| names.len())
    }

    /// Letters of the pair.
    pub(super) fn letters(self) -> [String; 2] {
        let (from, to) = self.pair.get();
        [letter(from), letter(to)]
    }

    /// Looks at all kernels, or at a kind of step.
    pub(super) fn look_at(self, scope: Option<String>) {
        self.set_scope.set(scope);
    }

    /// Takes another level.
    pub(super) fn take_level(self, level: Level) {
        self.set_level.set(Some(level.as_str().to_owned()));
    }
}

/// The kernel times of each run that did not come with the page.
async fn load(facts: &Facts) -> Result<Vec<cascade_api::KernelColumns>, DataError> {
    let mut all = Vec::with_capacity(facts.of.len());
    for known in &facts.of {
        all.push(match &known.kernels {
            Some(kernels) => kernels.clone(),
            None => data::kernel_columns(known.run.summary.id.clone()).await?,
        });
    }
    Ok(all)
}

/// Which two columns are looked at. Nothing to choose with fewer than two.
#[component]
pub(super) fn Pair(
    /// The page's state.
    view: View,
) -> impl IntoView {
    let choices: Vec<(usize, String)> = (0..view.columns()).map(|place| (place, letter(place))).collect();
    let from = Signal::derive(move || view.pair.get().0);
    let to = Signal::derive(move || view.pair.get().1);
    let (set_from, set_to) = (view.set_from, view.set_to);
    let swap_if = move |chosen: usize, other: usize, own: usize| {
        // A column cannot be compared with itself: choosing the other one turns the pair round.
        (chosen == other).then(|| letter(own))
    };
    let choose_from = move |place: usize| {
        let (from, to) = view.pair.get_untracked();
        if let Some(turned) = swap_if(place, to, from) {
            set_to.set(Some(turned));
        }
        set_from.set(Some(letter(place)));
    };
    let choose_to = move |place: usize| {
        let (from, to) = view.pair.get_untracked();
        if let Some(turned) = swap_if(place, from, to) {
            set_from.set(Some(turned));
        }
        set_to.set(Some(letter(place)));
    };
    view! {
        <div class="compare-pair">
            <span class="muted small" aria-hidden="true">"From"</span>
            <Switch label="Compare from" choices=choices.clone() chosen=from on_choose=choose_from />
            <span class="muted small" aria-hidden="true">"to"</span>
            <Switch label="Compare to" choices chosen=to on_choose=choose_to />
        </div>
    }
}

/// Groups, kernels or launches.
#[component]
pub(super) fn Levels(
    /// The page's state.
    view: View,
    /// What screen readers call the choice.
    label: &'static str,
    /// Whether single launches can be chosen, where they are paired.
    launches: bool,
) -> impl IntoView {
    let fits = move |level: &Level| {
        let pairing = view.lines.with(|lines| lines.as_ref().map(|lines| lines.pairing));
        *level != Level::Launch || (launches && pairing.is_some_and(|pairing| level.fits(pairing)))
    };
    let name = |level: Level| match level {
        Level::Group => "Groups",
        Level::Kernel => "Kernels",
        Level::Launch => "Launches",
    };
    move || {
        let levels = Level::ALL.into_iter().filter(fits);
        let choices: Vec<_> = levels.map(|level| (level, name(level).to_owned())).collect();
        view! { <Switch label choices chosen=view.level on_choose=move |level| view.take_level(level) /> }
    }
}

/// Says why there are no kernel times to show; nothing when there are.
#[component]
pub(super) fn Waiting(
    /// The page's state.
    view: View,
) -> impl IntoView {
    move || {
        if let Some(error) = view.failed.get() {
            return view! { <p class="field-error" role="alert">{error.to_string()}</p> }.into_any();
        }
        match view.ready.with(Option::is_none) {
            true => view! { <p class="loading" role="status">"Loading kernel times…"</p> }.into_any(),
            false => ().into_any(),
        }
    }
}
