//! What a scenario's `workload` looks like, for the API's document alone: `cascade-serving` reads it.

use serde::Serialize;
use utoipa::ToSchema;

/// A generated load: who sends requests, and the seed of everything random in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScenarioWorkload {
    /// The same seed gives the same requests on every platform [0].
    #[serde(default)]
    seed: u64,
    /// Who sends requests.
    load: ScenarioLoad,
}

/// Who sends requests.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ScenarioLoad {
    /// Requests that arrive whatever became of others.
    Open {
        #[schema(minimum = 1, maximum = 4096)]
        requests: u64,
        arrivals: ScenarioArrivals,
        lengths: ScenarioLengths,
        prefix: Option<ScenarioPrefix>,
    },
    /// Clients that send a request, wait for its end, think, and send the next.
    ClosedLoop {
        #[schema(minimum = 1, maximum = 4096)]
        requests: u64,
        #[schema(minimum = 1, maximum = 4096)]
        clients: u64,
        /// Seconds between an answer and the next request, on average [0].
        #[serde(default)]
        #[schema(minimum = 0)]
        think_s: f64,
        /// Whether that time is exponential rather than always the same [false].
        #[serde(default)]
        random_think: bool,
        lengths: ScenarioLengths,
        prefix: Option<ScenarioPrefix>,
    },
    /// Conversations: each turn's prompt repeats all that was said before.
    Sessions {
        #[schema(minimum = 1, maximum = 4096)]
        sessions: u64,
        /// When they begin.
        arrivals: ScenarioArrivals,
        /// Turns of a conversation.
        turns: ScenarioLength,
        /// Tokens that all conversations begin with [0].
        #[serde(default)]
        #[schema(minimum = 0, maximum = 1_000_000)]
        system_tokens: u32,
        /// What a user adds per turn, and how long the answers are.
        lengths: ScenarioLengths,
        /// Seconds between an answer and the next turn, exponential with this mean [0].
        #[serde(default)]
        #[schema(minimum = 0)]
        think_s: f64,
    },
}

/// When requests arrive; rates are per second.
#[derive(Serialize, ToSchema)]
#[serde(tag = "process", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ScenarioArrivals {
    /// All at time 0.
    AtOnce,
    /// Request i at `i / rate`.
    Fixed {
        #[schema(exclusive_minimum = 0)]
        rate: f64,
    },
    /// Exponential gaps.
    Poisson {
        #[schema(exclusive_minimum = 0)]
        rate: f64,
    },
    /// Gamma gaps; a `burstiness` of 1 is Poisson, less is burstier.
    Gamma {
        #[schema(exclusive_minimum = 0)]
        rate: f64,
        #[schema(exclusive_minimum = 0)]
        burstiness: f64,
    },
    /// `size` requests at once, every `period_s` seconds.
    Burst {
        #[schema(minimum = 1)]
        size: u64,
        #[schema(exclusive_minimum = 0)]
        period_s: f64,
    },
    /// Exponential gaps whose rate changes from request to request.
    Ramp {
        #[schema(exclusive_minimum = 0)]
        from_rate: f64,
        #[schema(exclusive_minimum = 0)]
        to_rate: f64,
        /// How it changes [linear].
        #[serde(default)]
        shape: ScenarioRamp,
    },
}

/// How a ramp gets from its first rate to its last.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ScenarioRamp {
    Linear,
    Exponential,
}

/// How long prompts and answers are.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScenarioLengths {
    /// Prompt tokens that no other request shares.
    prompt: ScenarioLength,
    /// Tokens to generate.
    output: ScenarioLength,
}

/// A number of tokens, drawn anew for each use.
#[derive(Serialize, ToSchema)]
#[serde(tag = "dist", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ScenarioLength {
    /// Always the same.
    Fixed {
        #[schema(minimum = 0, maximum = 1_000_000)]
        tokens: u32,
    },
    /// Uniform, both ends included.
    Uniform {
        #[schema(minimum = 0, maximum = 1_000_000)]
        low: u32,
        #[schema(minimum = 0, maximum = 1_000_000)]
        high: u32,
    },
    /// The exponential of a normal variable, rounded and held within limits.
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        #[schema(exclusive_minimum = 0)]
        sigma: f64,
        /// Fewest tokens [1].
        #[serde(default)]
        #[schema(minimum = 0, maximum = 1_000_000)]
        min: u32,
        /// Most tokens [1048576].
        #[serde(default)]
        #[schema(minimum = 0, maximum = 1_048_576)]
        max: u32,
    },
}

/// A prefix that prompts share.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScenarioPrefix {
    /// Its length in tokens, which come before the prompt's own.
    #[schema(minimum = 0, maximum = 1_000_000)]
    tokens: u32,
    /// How many different ones there are [1].
    #[serde(default)]
    #[schema(minimum = 1, maximum = 4294967295_i64)]
    groups: u32,
}
