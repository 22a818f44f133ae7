//! Live: the choices join the other requests in one engine, and each token is told when it is due.

use std::sync::Arc;
use std::time::Instant;

use cascade_api::{CascadeInfo, LiveTimes};
use cascade_serving::sim::Record;
use futures::{StreamExt, stream};
use tokio::task::JoinHandle;

use super::ask::Ask;
use super::beat::{Beat, Beats};
use super::estimate::predict;
use super::problem::Problem;
use super::told;
use super::wait::{Wait, Waited};
use crate::error::Error;
use crate::live::{QueueFull, Sequence, StartError, Ticket, Told};
use crate::runs::Service;
use crate::scenarios::base::Base;

/// Joins the engine once the base sim is there; the request has arrived when it was received.
pub(super) fn beats(service: &Service, ask: Arc<Ask>, received: Instant) -> Beats {
    let start = Live {
        service: service.clone(),
        ask,
        received,
        place: Place::Start,
    };
    stream::unfold(start, Live::next).boxed()
}

struct Live {
    service: Service,
    ask: Arc<Ask>,
    received: Instant,
    place: Place,
}

enum Place {
    Start,
    Waiting(Wait<Base>),
    Out {
        ticket: Ticket,
        /// What the answer ends with, but for what happened in the engine.
        info: JoinHandle<Result<CascadeInfo, Problem>>,
        times: Vec<LiveTimes>,
    },
    End,
}

impl Live {
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
                    Ok(Waited::Done(base)) => match self.join(base) {
                        Ok(place) => self.place = place,
                        Err(problem) => return Some((Err(problem), self)),
                    },
                    Err(problem) => return Some((Err(problem), self)),
                },
                Place::Out {
                    mut ticket,
                    info,
                    mut times,
                } => match ticket.next().await {
                    Some(Told::Token { choice, .. }) => {
                        self.place = Place::Out { ticket, info, times };
                        return Some((Ok(Beat::Token { choice }), self));
                    }
                    Some(Told::Ended { choice, record }) => {
                        if let Some(refusal) = record.refusal {
                            let problem = Problem::request(400, "request_refused", None, refusal.to_string());
                            return Some((Err(problem), self));
                        }
                        times.push(live_times(choice, &record));
                        self.place = Place::Out { ticket, info, times };
                    }
                    // Every choice is told its end, unless the engine itself broke off.
                    None if times.len() < self.ask.sequences.len() => {
                        let message = "the live engine stopped before the answer was complete; send it again";
                        let problem = Problem::unavailable("engine_stopped", message.to_owned());
                        return Some((Err(problem), self));
                    }
                    None => return Some((done(info, times).await.map(Beat::Done), self)),
                },
                Place::End => return None,
            }
        }
    }

    fn join(&self, base: Base) -> Result<Place, Problem> {
        let v1 = &self.service.settings.v1;
        let config = cascade_scenario::scheduler(v1.policy.rules(), &v1.scheduler.0, &base.profile)?;
        self.fits(config.max_model_len, v1.max_num_queued_reqs)?;
        let model = self.ask.found.trace.model.as_deref().unwrap_or_default();
        let engine = self.service.live.get(
            &base.sim_id,
            (model, &base.gpu_config),
            &base.profile,
            v1.max_num_queued_reqs,
            || Ok::<_, Problem>(config),
        )?;
        let sequences = self.ask.sequences.iter();
        let sequences = sequences
            .map(|sequence| Sequence::of_tokens(sequence.ids.iter().copied(), sequence.output_tokens))
            .collect();
        let ticket = engine.submit(self.received, sequences)?;
        let (service, ask) = (self.service.clone(), Arc::clone(&self.ask));
        Ok(Place::Out {
            ticket,
            info: tokio::spawn(async move { info(&service, ask, &base).await }),
            times: Vec::new(),
        })
    }
}

impl Live {
    /// Whether the engine would compute every token, and could ever queue the choices: its own limits may be
    /// lower than the model's.
    fn fits(&self, longest: u32, queue: usize) -> Result<(), Problem> {
        let sequences = &self.ask.sequences;
        if sequences.len() > queue {
            let message = format!(
                "{} choices were asked for, but at most {queue} requests wait here; give fewer prompts or a smaller n",
                sequences.len()
            );
            return Err(Problem::request(400, "too_many_choices", Some("n"), message));
        }
        let longest = u64::from(longest);
        let tokens =
            |one: &super::ask::Sequence| (u64::from(one.prompt_tokens), u64::from(one.output_tokens));
        match sequences
            .iter()
            .map(tokens)
            .find(|(prompt, output)| prompt + output > longest)
        {
            Some((prompt, output)) => Err(Problem::too_long(longest, prompt, output)),
            None => Ok(()),
        }
    }
}

async fn start(service: Service, ask: Arc<Ask>) -> Result<Place, Problem> {
    let chosen = service.scenario_choose(&ask.found).await?;
    let sim = chosen.sim_id.clone();
    let base = async move { Ok(service.scenario_finish(&ask.found, chosen).await?) };
    Ok(Place::Waiting(Wait::new(sim, base)))
}

/// All that is known beforehand: what each choice would take alone, and what that rests on.
async fn info(service: &Service, ask: Arc<Ask>, base: &Base) -> Result<CascadeInfo, Problem> {
    let (profile, asked) = (Arc::clone(&base.profile), Arc::clone(&ask));
    let predicted = tokio::task::spawn_blocking(move || predict(&profile, &asked));
    let (first, choices) = predicted.await.map_err(Error::from)??;
    let timing = told::timing(&base.profile, &first);
    told::info(service, &ask, base, "live", timing, choices).await
}

async fn done(
    info: JoinHandle<Result<CascadeInfo, Problem>>,
    mut times: Vec<LiveTimes>,
) -> Result<Box<CascadeInfo>, Problem> {
    let mut info = info.await.map_err(Error::from)??;
    times.sort_by_key(|times| times.index);
    info.live = times;
    Ok(Box::new(info))
}

fn live_times(choice: usize, record: &Record) -> LiveTimes {
    let ms = |ns: u64| ns as f64 / 1e6;
    LiveTimes {
        // A request has at most 128 choices for each of its prompts.
        index: u32::try_from(choice).unwrap_or(u32::MAX),
        arrival_s: record.arrival_ns as f64 / 1e9,
        queue_ms: ms(record.queue_ns()),
        ttft_ms: record.ttft_ns().map(ms),
        tpot_ms: record.tpot_ns().map(|ns| ns / 1e6),
        e2e_ms: ms(record.e2e_ns()),
        cached_tokens: record.cached_tokens,
        preemptions: record.preemptions,
    }
}

impl From<StartError> for Problem {
    fn from(error: StartError) -> Self {
        tracing::warn!(%error, "a live engine was not started");
        Self::unavailable("engine_not_started", error.to_string())
    }
}

impl From<QueueFull> for Problem {
    fn from(error: QueueFull) -> Self {
        Self::unavailable("engine_overloaded", error.to_string())
    }
}
