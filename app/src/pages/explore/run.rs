//! The state of the page and what runs because of it.

use std::time::Duration;

use cascade_scene::explorer::{
    Answer, Ask, Base, Figures, Key, Problem, Side, SideAsk, SideBase, State, Values, key_of,
};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::lab::{Lab, now};
use crate::data;

/// The address follows the controls once they have rested so long: browsers allow few changes of it.
const ADDRESS_AFTER: Duration = Duration::from_millis(400);

/// How long nothing changes before what is not at hand is worked out.
const QUIET: Duration = Duration::from_millis(120);

/// Least time between two drawings of the charts, in ms: frames are for the controls.
const CHART_EVERY: f64 = 90.0;

/// Controls and figures.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// What the controls say.
    pub(super) state: RwSignal<State>,
    /// What it last came to, by GPU.
    pub(super) sides: RwSignal<Vec<Side>>,
    /// Both ends of each number, by GPU, once they are known.
    pub(super) bands: RwSignal<Vec<Option<(Values, Values)>>>,
    /// Counts the answers after which nothing was asked for [`QUIET`]: what takes longer to work out or to show than
    /// a figure follows these, so that it does not hold up a slider.
    pub(super) settled: RwSignal<u32>,
    /// Time of the simulations, and from the change to the answer, in ms.
    pub(super) took: RwSignal<Option<(f64, f64)>>,
    /// What is wrong and belongs to no control.
    pub(super) broken: RwSignal<Option<String>>,
    /// Whether step times are on their way: what is shown is of what was chosen before.
    pub(super) fetching: RwSignal<bool>,
    /// Profiles that are in the worker, or on their way to it.
    profiles: RwSignal<Vec<(String, bool)>>,
    /// Counts the files that were dropped: their text is no part of the state.
    pub(super) file: RwSignal<u32>,
    /// Counts what the charts follow: answers, but no more of them than [`CHART_EVERY`] lets through.
    charted: RwSignal<u32>,
    charted_at: StoredValue<f64>,
    /// When the last run was asked for.
    asked: StoredValue<f64>,
    lab: Lab,
}

impl Run {
    /// Starts from a link's state and what the server made of it.
    pub(super) fn new(state: State, first: Option<Answer>) -> Self {
        let sides = match first {
            Some(Answer::Ran { sides, .. }) => sides,
            _ => Vec::new(),
        };
        let (broken, profiles) = (RwSignal::new(None), RwSignal::new(Vec::<(String, bool)>::new()));
        let fetching = RwSignal::new(false);
        let run = Self {
            state: RwSignal::new(state),
            sides: RwSignal::new(sides),
            bands: RwSignal::new(Vec::new()),
            settled: RwSignal::new(0),
            took: RwSignal::new(None),
            broken,
            fetching,
            profiles,
            file: RwSignal::new(0),
            charted: RwSignal::new(0),
            charted_at: StoredValue::new(0.0),
            asked: StoredValue::new(0.0),
            lab: Lab::new(move |problem| {
                // A profile that was on its way to the worker went with it; the next run asks for it again.
                profiles.update_untracked(|all| all.retain(|(_, here)| *here));
                fetching.set(false);
                broken.set(Some(problem));
            }),
        };
        Effect::new(move || run.start());
        Effect::new(move |before: Option<Option<()>>| {
            let link = run.state.with(State::link);
            // The first time the address says it already.
            before?;
            let timer = set_timeout_with_handle(move || show_link(&link), ADDRESS_AFTER).ok()?;
            // A later state has another link, and another page has an address of its own.
            on_cleanup(move || timer.clear());
            Some(())
        });
        run
    }

    /// What is wrong with a control: by itself, or as the engine says.
    pub(super) fn problem(self, key: Key) -> Option<String> {
        let own = self
            .state
            .with(|state| state.problems().into_iter().find(|p| p.key == Some(key)));
        own.map(|problem| problem.text).or_else(|| {
            self.sides.with(|sides| {
                let refusals = sides
                    .iter()
                    .filter_map(|side| Some((&side.gpu, side.result.as_ref().err()?)));
                let mut ours = refusals.filter(|(_, refusal)| key_of(&refusal.path) == Some(key));
                ours.next()
                    .map(|(gpu, refusal)| format!("{gpu}: {}", refusal.problem))
            })
        })
    }

    /// Whether the figures are not those of what the controls say.
    pub(super) fn stale(self) -> bool {
        self.fetching.get() || self.broken.with(Option::is_some) || !self.problems().is_empty()
    }

    /// Asks again for what could not be had.
    pub(super) fn again(self) {
        self.broken.set(None);
        self.file.update(|n| *n += 1);
    }

    /// Every problem of the controls that matter.
    pub(super) fn problems(self) -> Vec<Problem> {
        self.state.with(State::problems)
    }

    /// Reads the figures of the GPUs that have some: place, name, figures.
    pub(super) fn figures<T>(self, read: impl FnOnce(&[(usize, &str, &Figures)]) -> T) -> T {
        self.sides.with(|sides| {
            let figures: Vec<_> = sides
                .iter()
                .enumerate()
                .filter_map(|(at, side)| Some((at, side.gpu.as_str(), side.result.as_ref().ok()?)))
                .collect();
            read(&figures)
        })
    }

    /// Asks the worker something about its last run.
    pub(super) fn ask(self, ask: Ask, then: impl FnOnce(Answer) + 'static) {
        self.lab.ask(ask, then);
    }

    /// Takes a request trace's text.
    pub(super) fn take_file(self, name: String, text: String) {
        self.lab.keep(Ask::File { text }, move |_| {
            self.file.update(|n| *n += 1);
            self.state.update(|state| {
                state.file = Some(name);
                state.set(Key::Load, "file");
            });
        });
    }

    /// The asks of the state; `None` while something is wrong or a profile is on its way.
    fn asks(self) -> Option<Vec<SideAsk>> {
        let state = self.state.get();
        if !state.problems().is_empty() {
            self.fetching.set(false);
            return None;
        }
        let mut asks = Vec::new();
        let mut missing = false;
        for (at, gpu) in state.gpus().into_iter().enumerate() {
            let base = match state.base() {
                Base::Model(name) => SideBase::Model { name },
                Base::Config => SideBase::Config {
                    json: state.get(Key::Config).to_owned(),
                },
                Base::Trace(trace) => {
                    let name = format!("{trace}/{gpu}");
                    missing |= !self.profile(&trace, &gpu, &name);
                    SideBase::Profile { name }
                }
            };
            let scenario = state.scenario(at).ok()?;
            asks.push(SideAsk { gpu, base, scenario });
        }
        // The server's figures are of the very state that the page begins with.
        let servers = self.took.with_untracked(Option::is_none) && !self.sides.with_untracked(Vec::is_empty);
        self.fetching.set(missing && !servers);
        (!missing).then_some(asks)
    }

    /// Whether a profile is in the worker; fetches it if it has not been asked for.
    fn profile(self, trace: &str, gpu: &str, name: &str) -> bool {
        let known = self
            .profiles
            .with(|all| all.iter().find(|(known, _)| known == name).map(|(_, here)| *here));
        if let Some(here) = known {
            return here;
        }
        self.profiles
            .update_untracked(|all| all.push((name.to_owned(), false)));
        let (trace, gpu, name) = (trace.to_owned(), gpu.to_owned(), name.to_owned());
        spawn_local(async move {
            match data::scenario_profile(trace, gpu.clone()).await {
                Ok(answer) => {
                    let profile = answer.profile.into();
                    self.lab.keep(
                        Ask::Profile {
                            name: name.clone(),
                            profile,
                        },
                        move |_| {
                            self.profiles.update(|all| {
                                for (known, here) in all.iter_mut() {
                                    *here |= *known == name;
                                }
                            });
                        },
                    );
                }
                Err(error) => {
                    self.fetching.set(false);
                    self.broken.set(Some(format!("{gpu}: {error}")));
                    // Chosen again, it is asked for again.
                    self.profiles
                        .update_untracked(|all| all.retain(|(known, _)| *known != name));
                }
            }
        });
        false
    }

    /// Runs what the state says; called again whenever it changes.
    fn start(self) {
        self.file.track();
        let Some(sides) = self.asks() else { return };
        let from = now();
        self.asked.set_value(from);
        self.lab.ask(Ask::Run { sides }, move |answer| match answer {
            Answer::Ran { sides, ms } => {
                self.broken.set(None);
                self.bands.set(Vec::new());
                self.sides.set(sides);
                self.took.set(Some((ms, now() - from)));
                if now() - self.charted_at.get_value() > CHART_EVERY {
                    self.charted_at.set_value(now());
                    self.charted.update(|n| *n += 1);
                }
                self.settle(from);
            }
            Answer::Failed { problem } => self.broken.set(Some(problem)),
            _ => {}
        });
    }
}

impl Run {
    /// Once it is quiet after the run asked for at `asked`: its bands, and whatever else follows.
    fn settle(self, asked: f64) {
        let quiet = move || {
            if self.asked.try_get_value() != Some(asked) {
                return;
            }
            self.lab.ask(Ask::Bands, move |answer| {
                if let Answer::Bands { bands } = answer {
                    self.bands.set(bands);
                }
            });
            self.charted.update(|n| *n += 1);
            self.settled.update(|n| *n += 1);
        };
        set_timeout(quiet, QUIET);
    }

    /// As [`Run::figures`], followed as often as charts are drawn.
    pub(super) fn charted<T>(self, read: impl FnOnce(&[(usize, &str, &Figures)]) -> T) -> T {
        self.charted.track();
        untrack(|| self.figures(read))
    }

    /// As [`Run::figures`], followed only once it is quiet.
    pub(super) fn settled<T>(self, read: impl FnOnce(&[(usize, &str, &Figures)]) -> T) -> T {
        self.settled.track();
        untrack(|| self.figures(read))
    }
}

/// Puts a link into the address without a step back to what was there.
fn show_link(link: &str) {
    let path = if link == State::default().link() {
        "/explore".to_owned()
    } else {
        format!("/explore?{link}")
    };
    let shown = window()
        .history()
        .and_then(|history| history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&path)));
    if let Err(error) = shown {
        leptos::logging::warn!("the address could not be changed: {error:?}");
    }
}
