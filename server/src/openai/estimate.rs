//! The estimate: each choice as if it were alone on the GPU, told at once. Nothing is batched.

use std::collections::BTreeMap;
use std::sync::Arc;

use cascade_api::{CascadeInfo, ChoiceTimes};
use cascade_serving::predict::{PredictError, Prediction, simulate_request};
use cascade_serving::profile::PerfProfile;
use futures::{StreamExt, stream};

use super::ask::Ask;
use super::beat::{Beat, Beats};
use super::problem::Problem;
use super::told;
use super::wait::{Wait, Waited};
use crate::error::Error;
use crate::runs::Service;

/// What a request comes to, once its base sim is there.
pub(super) fn beats(service: &Service, ask: Arc<Ask>) -> Beats {
    let start = Estimate {
        service: service.clone(),
        ask,
        place: Place::Start,
    };
    stream::unfold(start, Estimate::next).boxed()
}

struct Estimate {
    service: Service,
    ask: Arc<Ask>,
    place: Place,
}

enum Place {
    Start,
    Waiting(Wait<CascadeInfo>),
    Out {
        round: u32,
        choice: usize,
        info: Box<CascadeInfo>,
    },
    End,
}

impl Estimate {
    async fn next(mut self) -> Option<(Result<Beat, Problem>, Self)> {
        loop {
            match std::mem::replace(&mut self.place, Place::End) {
                Place::Start => match start(self.service.clone(), Arc::clone(&self.ask)).await {
                    Ok(place) => self.place = place,
                    Err(problem) => return Some((Err(problem), self)),
                },
                Place::Waiting(mut wait) => match wait.next(&self.service).await {
                    Ok(Waited::Word(word)) => {
                        self.place = Place::Waiting(wait);
                        return Some((Ok(Beat::Waiting(word)), self));
                    }
                    Ok(Waited::Done(info)) => {
                        let info = Box::new(info);
                        self.place = Place::Out {
                            round: 0,
                            choice: 0,
                            info,
                        };
                    }
                    Err(problem) => return Some((Err(problem), self)),
                },
                Place::Out { round, choice, info } => {
                    let Some(sequence) = self.ask.sequences.get(choice) else {
                        let longest = self
                            .ask
                            .sequences
                            .iter()
                            .map(|sequence| sequence.output_tokens)
                            .max();
                        if longest.is_none_or(|longest| round + 1 >= longest) {
                            return Some((Ok(Beat::Done(info)), self));
                        }
                        self.place = Place::Out {
                            round: round + 1,
                            choice: 0,
                            info,
                        };
                        continue;
                    };
                    let out = round < sequence.output_tokens;
                    self.place = Place::Out {
                        round,
                        choice: choice + 1,
                        info,
                    };
                    if out {
                        return Some((Ok(Beat::Token { choice }), self));
                    }
                }
                Place::End => return None,
            }
        }
    }
}

async fn start(service: Service, ask: Arc<Ask>) -> Result<Place, Problem> {
    let chosen = service.scenario_choose(&ask.found).await?;
    let sim = chosen.sim_id.clone();
    let info = async move {
        let base = service.scenario_finish(&ask.found, chosen).await?;
        let (profile, asked) = (Arc::clone(&base.profile), Arc::clone(&ask));
        let predicted = tokio::task::spawn_blocking(move || predict(&profile, &asked));
        let (first, choices) = predicted.await.map_err(Error::from)??;
        let timing = told::timing(&base.profile, &first);
        told::info(&service, &ask, &base, "estimate", timing, choices).await
    };
    Ok(Place::Waiting(Wait::new(sim, info)))
}

/// The first choice in full, and the times of every choice where there are several.
pub(super) fn predict(profile: &PerfProfile, ask: &Ask) -> Result<(Prediction, Vec<ChoiceTimes>), Problem> {
    let mut by_size: BTreeMap<(u32, u32), Prediction> = BTreeMap::new();
    let mut choices = Vec::with_capacity(ask.sequences.len());
    let mut first = None;
    for (sequence, index) in ask.sequences.iter().zip(0..) {
        let (prompt_tokens, output_tokens) = (sequence.prompt_tokens, sequence.output_tokens);
        let prediction = match by_size.get(&(prompt_tokens, output_tokens)) {
            Some(prediction) => prediction,
            None => {
                let made = simulate_request(profile, prompt_tokens, output_tokens).map_err(refused)?;
                by_size.entry((prompt_tokens, output_tokens)).or_insert(made)
            }
        };
        choices.push(ChoiceTimes {
            index,
            prompt_tokens,
            output_tokens,
            times: told::times(&prediction.latency),
        });
        if first.is_none() {
            first = Some(prediction.clone());
        }
    }
    if choices.len() == 1 {
        choices.clear();
    }
    let first =
        first.ok_or_else(|| Problem::request(400, "invalid_value", Some("prompt"), "there is no prompt"))?;
    Ok((first, choices))
}

fn refused(error: PredictError) -> Problem {
    Problem::request(
        400,
        "context_length_exceeded",
        Some("max_tokens"),
        error.to_string(),
    )
}
