//! The load of a scenario as a source of requests, held to the service's limits.

use cascade_api::{
    MAX_ARRIVAL_S, MAX_SCENARIO_REQUESTS, MAX_SCENARIO_TOKENS, RequestTrace, ScenarioCreate, ScenarioRequest,
};
use cascade_serving::request::Request;
use cascade_serving::workload::{List, Load as Kind, Source, TraceOptions, Workload, read_trace};
use serde_json::Value;

use super::Refused;
use super::engine::Engine;

/// Requests to come, and how those that came are called.
pub(super) struct Load {
    source: Box<dyn Source>,
    /// The field that it comes from.
    field: &'static str,
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
        let mut names = Vec::new();
        let (field, source): (_, Box<dyn Source>) = match (&ask.requests, &ask.workload, &ask.request_trace) {
            (Some(requests), ..) => {
                names = requests.iter().map(|request| request.id.clone()).collect();
                ("requests", Box::new(list(requests, engine)?))
            }
            (None, Some(workload), _) => ("workload", made(workload)?),
            (None, None, Some(trace)) => ("request_trace", Box::new(recorded(trace)?)),
            (None, None, None) => ("num_requests", Box::new(list(&short(ask), engine)?)),
        };
        Ok(Self {
            source,
            field,
            names,
            listed: !generated(ask),
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
            Some(limit) => Err(Refused::field(self.field, limit)),
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

/// Whether the load is one whose single requests the caller did not choose.
pub(super) fn generated(ask: &ScenarioCreate) -> bool {
    ask.workload.is_some() || ask.request_trace.is_some()
}

/// A recorded load; one request more than may come, so that it is seen to pass the limit.
fn recorded(trace: &RequestTrace) -> Result<List, Refused> {
    let options = TraceOptions {
        speedup: trace.speedup.unwrap_or(1.0),
        limit: trace.limit.unwrap_or(MAX_SCENARIO_REQUESTS + 1) as usize,
    };
    let file = trace.file.as_deref().unwrap_or("text");
    let list = read_trace(file, trace.text.as_bytes(), options);
    list.map_err(|error| Refused::field("request_trace", error))
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

fn made(workload: &serde_json::Map<String, Value>) -> Result<Box<dyn Source>, Refused> {
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
