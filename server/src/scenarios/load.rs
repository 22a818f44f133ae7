//! The load of a scenario as a source of requests, held to the service's limits.

use cascade_api::{
    MAX_ARRIVAL_S, MAX_SCENARIO_REQUESTS, MAX_SCENARIO_TOKENS, ScenarioCreate, ScenarioRequest,
};
use cascade_serving::request::Request;
use cascade_serving::workload::{List, Load as Kind, Source, Workload};
use serde_json::Value;

use super::Refused;
use super::engine::Engine;

/// Requests to come, and how those that came are called.
pub(super) struct Load {
    source: Box<dyn Source>,
    /// Names of listed requests; the others are called by their number.
    names: Vec<Option<String>>,
    /// Whether every request must be served: the caller chose each.
    pub(super) listed: bool,
    requests: u32,
    tokens: u64,
    /// The limit that was passed, after which no request comes.
    over: Option<String>,
}

impl Load {
    pub(super) fn new(ask: &ScenarioCreate, engine: &Engine) -> Result<Self, Refused> {
        let (source, names): (Box<dyn Source>, _) = match (&ask.requests, &ask.workload) {
            (Some(requests), _) => {
                let names = requests.iter().map(|request| request.id.clone()).collect();
                (Box::new(list(requests, engine)?), names)
            }
            (None, Some(workload)) => (generated(workload)?, Vec::new()),
            (None, None) => (Box::new(list(&short(ask), engine)?), Vec::new()),
        };
        Ok(Self {
            source,
            names,
            listed: ask.workload.is_none(),
            requests: 0,
            tokens: 0,
            over: None,
        })
    }

    /// The name of a request by its number.
    pub(super) fn name(&self, id: u64) -> String {
        let position = usize::try_from(id).unwrap_or(usize::MAX);
        let name = self.names.get(position).cloned().flatten();
        name.unwrap_or_else(|| format!("request-{id}"))
    }

    /// Whether all requests came.
    pub(super) fn check(&self) -> Result<(), Refused> {
        match &self.over {
            Some(limit) => Err(Refused::field("workload", limit)),
            None => Ok(()),
        }
    }
}

impl Source for Load {
    fn next_arrival_ns(&mut self) -> Option<u64> {
        if self.over.is_some() {
            return None;
        }
        let next = self.source.next_arrival_ns()?;
        if next as f64 / 1e9 > MAX_ARRIVAL_S {
            self.over = Some(format!(
                "requests arrive after {MAX_ARRIVAL_S} s, which is the latest that is simulated"
            ));
            return None;
        }
        Some(next)
    }

    fn pop(&mut self) -> Option<Request> {
        let request = self.source.pop()?;
        self.requests += 1;
        self.tokens += u64::from(request.prompt_tokens) + u64::from(request.output_tokens);
        if self.requests > MAX_SCENARIO_REQUESTS {
            self.over = Some(format!(
                "has more than {MAX_SCENARIO_REQUESTS} requests, the most that are simulated"
            ));
        } else if self.tokens > MAX_SCENARIO_TOKENS {
            self.over = Some(format!(
                "its first {} requests pass {MAX_SCENARIO_TOKENS} prompt and output tokens, the most that are simulated",
                self.requests
            ));
        }
        self.over.is_none().then_some(request)
    }

    fn finished(&mut self, id: u64, now_ns: u64) {
        self.source.finished(id, now_ns);
    }
}

/// The requests that the short form stands for.
fn short(ask: &ScenarioCreate) -> Vec<ScenarioRequest> {
    let rate = ask.arrival_rate_rps.filter(|rate| *rate > 0.0);
    let request = |index: u32| ScenarioRequest {
        arrival_s: rate.map_or(0.0, |rate| f64::from(index) / rate),
        prompt_tokens: ask.prompt_tokens.unwrap_or(0),
        output_tokens: ask.output_tokens.unwrap_or(0),
        ..ScenarioRequest::default()
    };
    (0..ask.num_requests.unwrap_or(0)).map(request).collect()
}

/// Listed requests, each of which must fit the model.
fn list(requests: &[ScenarioRequest], engine: &Engine) -> Result<List, Refused> {
    let mut made = Vec::with_capacity(requests.len());
    for (request, id) in requests.iter().zip(0..) {
        let tokens = u64::from(request.prompt_tokens) + u64::from(request.output_tokens);
        if tokens > u64::from(engine.max_model_len) {
            return Err(Refused::text(format!(
                "request {id} has {} prompt and {} output tokens; at most {} fit the model",
                request.prompt_tokens, request.output_tokens, engine.max_model_len
            )));
        }
        // `as` saturates; arrivals are checked to be at most 1e9 s.
        let arrival_ns = (request.arrival_s * 1e9).round() as u64;
        made.push(Request {
            priority: request.priority.unwrap_or(0),
            ..Request::new(id, arrival_ns, request.prompt_tokens, request.output_tokens)
        });
    }
    Ok(List::new(made))
}

fn generated(workload: &serde_json::Map<String, Value>) -> Result<Box<dyn Source>, Refused> {
    let workload: Workload = serde_json::from_value(Value::Object(workload.clone()))
        .map_err(|error| Refused::field("workload", error))?;
    // Known beforehand, these cost nothing to refuse; the rest is counted as it comes.
    let (what, count) = match &workload.load {
        Kind::Open { requests, .. } => ("requests", *requests),
        Kind::ClosedLoop {
            requests, clients, ..
        } => ("requests or clients", *requests.max(clients)),
        Kind::Sessions { sessions, .. } => ("sessions", *sessions),
    };
    if count > u64::from(MAX_SCENARIO_REQUESTS) {
        let problem = format!("has {count} {what}; at most {MAX_SCENARIO_REQUESTS} are simulated");
        return Err(Refused::field("workload", problem));
    }
    workload
        .source()
        .map_err(|error| Refused::field("workload", error))
}
