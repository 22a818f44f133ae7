//! Answers the page's asks and keeps what the last run came to.

use std::collections::BTreeMap;

use cascade_api::validate::Validate;
use cascade_api::{Loc, ScenarioCreate};
use cascade_scenario::{Ran, Refused, Scenario, with_efficiency};
use cascade_scene::explorer::{Answer, Ask, Refusal, Side, SideAsk, SideBase, Values, extremes};
use cascade_serving::datasheet::{Bound, Efficiency, datasheet};
use cascade_serving::facts::{ModelFacts, builtin};
use cascade_serving::profile::{HostTime, PerfProfile};
use serde_json::{Value, json};

use crate::figures::{figures, values};
use crate::rows;

/// Profiles, a file and the last run of each GPU.
pub struct Engine {
    clock: fn() -> f64,
    profiles: BTreeMap<String, PerfProfile>,
    file: String,
    kept: Vec<Option<Kept>>,
}

/// One GPU's scenario and what it came to.
pub(crate) struct Kept {
    pub(crate) profile: PerfProfile,
    ask: ScenarioCreate,
    pub(crate) ran: Ran,
    values: Values,
}

impl Engine {
    /// An engine without anything; `clock` says the time in ms.
    pub fn new(clock: fn() -> f64) -> Self {
        Self {
            clock,
            profiles: BTreeMap::new(),
            file: String::new(),
            kept: Vec::new(),
        }
    }

    /// Answers one ask; both are JSON.
    pub fn handle(&mut self, ask: &str) -> String {
        let answer = match serde_json::from_str(ask) {
            Ok(ask) => self.answer(ask),
            Err(error) => failed(format!(
                "The explorer's engine could not read what it was asked: {error}"
            )),
        };
        serde_json::to_string(&answer).unwrap_or_default()
    }

    /// Answers one ask.
    pub fn answer(&mut self, ask: Ask) -> Answer {
        match ask {
            Ask::Profile { name, profile } => match serde_json::from_value(profile) {
                Ok(profile) => {
                    self.profiles.insert(name, profile);
                    Answer::Kept
                }
                Err(error) => failed(format!("The profile of {name} could not be read: {error}")),
            },
            Ask::File { text } => {
                self.file = text;
                Answer::Kept
            }
            Ask::Run { sides } => self.run(&sides),
            Ask::Bands => Answer::Bands {
                bands: self.kept.iter().map(|kept| band(kept.as_ref()?)).collect(),
            },
            Ask::Rows {
                side,
                by,
                descending,
                page,
            } => self.with(side, |kept| rows::page(kept, by, descending, page)),
            Ask::Csv { side } => self.with(side, |kept| Answer::Text {
                text: rows::csv(&kept.ran),
            }),
            Ask::Export => self.export(),
        }
    }

    fn run(&mut self, sides: &[SideAsk]) -> Answer {
        let from = (self.clock)();
        let mut kept = Vec::with_capacity(sides.len());
        let mut answers = Vec::with_capacity(sides.len());
        for ask in sides {
            let side = self.side(ask);
            let result = side.as_ref().map(|(_, figures)| (**figures).clone());
            answers.push(Side {
                gpu: ask.gpu.clone(),
                result: result.map_err(Clone::clone),
            });
            kept.push(side.ok().map(|(kept, _)| kept));
        }
        self.kept = kept;
        Answer::Ran {
            sides: answers,
            ms: (self.clock)() - from,
        }
    }

    fn side(&self, ask: &SideAsk) -> Result<(Kept, Box<cascade_scene::explorer::Figures>), Refusal> {
        let profile = self.profile(ask)?;
        let mut body = ask.scenario.clone();
        if let Some(text) = body.pointer_mut("/request_trace/text") {
            if self.file.is_empty() {
                return Err(refusal(
                    "request_trace",
                    "Drop a trace file, or choose other arrivals.",
                ));
            }
            *text = Value::from(self.file.as_str());
        }
        let ask = ScenarioCreate::validate(body).map_err(|problems| invalid(&problems))?;
        let profile = with_efficiency(&profile, ask.efficiency).map_err(refused)?;
        let scenario = Scenario::new(&profile, &ask).map_err(refused)?;
        let ran = scenario.run(Bound::Assumed).map_err(refused)?;
        let figures = Box::new(figures(&profile, &scenario, &ran));
        let values = figures.values.clone();
        let kept = Kept {
            profile,
            ask,
            ran,
            values,
        };
        Ok((kept, figures))
    }

    fn profile(&self, ask: &SideAsk) -> Result<PerfProfile, Refusal> {
        let facts = match &ask.base {
            SideBase::Profile { name } => {
                let found = self.profiles.get(name).cloned();
                return found
                    .ok_or_else(|| refusal("trace_id", "The trace's profile has not come from the server."));
            }
            SideBase::Model { name } => builtin(name).map_err(|error| refusal("model", error))?,
            SideBase::Config { json } => {
                ModelFacts::parse("config.json", json.as_bytes()).map_err(|error| refusal("config", error))?
            }
        };
        let sheet = datasheet(&ask.gpu)
            .ok_or_else(|| refusal("gpu_config", format!("There is no datasheet of {}.", ask.gpu)))?;
        PerfProfile::from_datasheet(facts, sheet, Efficiency::default(), HostTime::default())
            .map_err(|error| refusal("gpu_config", error))
    }

    /// Answers from what a GPU's last run came to.
    fn with(&self, side: usize, answer: impl FnOnce(&Kept) -> Answer) -> Answer {
        match self.kept.get(side).and_then(Option::as_ref) {
            Some(kept) => answer(kept),
            None => failed("This GPU has no results to show.".to_owned()),
        }
    }

    /// What `POST /api/scenarios` would answer, by GPU.
    fn export(&self) -> Answer {
        let one = |kept: &Kept| {
            let scenario = Scenario::new(&kept.profile, &kept.ask).ok()?;
            let ends = [Bound::Low, Bound::High].map(|bound| scenario.run(bound).map(|ran| ran.report));
            let [Ok(low), Ok(high)] = ends else { return None };
            let again = scenario.run(Bound::Assumed).ok()?;
            let mut ask = kept.ask.clone();
            // A file may be megabytes, which its owner has.
            if let Some(trace) = &mut ask.request_trace {
                trace.text = "(the file's text is left out)".to_owned();
            }
            Some(json!({
                "gpu_config": kept.profile.gpu.gpu,
                "model": kept.profile.model.name,
                "scenario": ask,
                "outcome": scenario.outcome(again, [&low, &high]),
            }))
        };
        let all: Vec<Value> = self.kept.iter().flatten().filter_map(one).collect();
        match serde_json::to_string_pretty(&all) {
            Ok(text) => Answer::Text { text },
            Err(error) => failed(format!("The results could not be written: {error}")),
        }
    }
}

fn band(kept: &Kept) -> Option<(Values, Values)> {
    let scenario = Scenario::new(&kept.profile, &kept.ask).ok()?;
    let blocks = kept.ran.blocks();
    let end = |bound| scenario.run(bound).map(|ran| values(&ran.report, blocks));
    let (low, high) = (end(Bound::Low).ok()?, end(Bound::High).ok()?);
    Some(extremes(&[&kept.values, &low, &high]))
}

fn failed(problem: String) -> Answer {
    Answer::Failed { problem }
}

fn refusal(path: &str, problem: impl ToString) -> Refusal {
    Refusal {
        path: path.to_owned(),
        problem: problem.to_string(),
    }
}

fn refused(refused: Refused) -> Refusal {
    match refused {
        Refused::Field { field, problem } => refusal(&field, problem),
        Refused::Text(problem) => refusal("", problem),
    }
}

/// The first of a body's problems.
fn invalid(problems: &[cascade_api::FieldError]) -> Refusal {
    let Some(first) = problems.first() else {
        return refusal("", "The scenario does not fit.");
    };
    let names = first.loc.iter().filter_map(|loc| match loc {
        Loc::Name(name) if name != "body" => Some(name.as_str()),
        _ => None,
    });
    let path: Vec<&str> = names.collect();
    refusal(&path.join("."), &first.msg)
}
