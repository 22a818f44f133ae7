//! What page and worker say to each other. All of it is bounded: the records stay in the worker.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::metric::Values;

/// Where a side's step times come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "base", rename_all = "snake_case")]
pub enum SideBase {
    /// A built-in model on the GPU's datasheet.
    Model {
        /// Its name.
        name: String,
    },
    /// A config.json on the GPU's datasheet.
    Config {
        /// The file's text.
        json: String,
    },
    /// A profile that was handed over under this name.
    Profile {
        /// The name.
        name: String,
    },
}

/// One GPU and what runs on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideAsk {
    /// The GPU.
    pub gpu: String,
    /// Where step times come from.
    #[serde(flatten)]
    pub base: SideBase,
    /// The body of `POST /api/scenarios`.
    pub scenario: Value,
}

/// Columns that the request table can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// By number, which is the order of the load.
    Number,
    /// By arrival.
    Arrival,
    /// By prompt length.
    Prompt,
    /// By output length.
    Output,
    /// By time in the queue.
    Queue,
    /// By time to first token.
    Ttft,
    /// By time per output token.
    Tpot,
    /// By end-to-end latency.
    E2e,
    /// By preemptions.
    Preemptions,
}

/// What the page asks of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    /// Keep a profile from the server.
    Profile {
        /// The name to keep it under.
        name: String,
        /// The profile.
        profile: Value,
    },
    /// Keep the text of a request trace.
    File {
        /// The text.
        text: String,
    },
    /// Run a scenario on each GPU.
    Run {
        /// The GPUs.
        sides: Vec<SideAsk>,
    },
    /// Run the same at both ends of the efficiency ranges.
    Bands,
    /// A page of requests.
    Rows {
        /// Which GPU.
        side: usize,
        /// The column to sort by.
        by: Column,
        /// Whether the largest comes first.
        descending: bool,
        /// The page, from 0.
        page: usize,
    },
    /// All requests of a GPU as CSV.
    Csv {
        /// Which GPU.
        side: usize,
    },
    /// Everything that a GPU's scenario came to, as `POST /api/scenarios` would answer it.
    Export,
}

/// What the worker answers. A failure has no other form: a broken worker says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// It is kept.
    Kept,
    /// What came out, by GPU.
    Ran {
        /// In the order asked.
        sides: Vec<Side>,
        /// Time that the simulations took, in ms.
        ms: f64,
    },
    /// Both ends of each number, by GPU.
    Bands {
        /// Low and high values of each GPU; none for one that was refused.
        bands: Vec<Option<(Values, Values)>>,
    },
    /// A page of requests.
    Rows {
        /// The rows.
        rows: Vec<Row>,
        /// Requests in all.
        total: usize,
        /// The page shown, from 0.
        page: usize,
    },
    /// A file's text.
    Text {
        /// The text.
        text: String,
    },
    /// What could not be done.
    Failed {
        /// Why.
        problem: String,
    },
}

/// Rows on a page of requests.
pub const ROWS: usize = 25;
/// Most points of a line over time or over steps.
pub const POINTS: usize = 180;
/// Points of a distribution: whole percentiles.
pub const QUANTILES: usize = 101;

/// What one GPU's scenario came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The GPU.
    pub gpu: String,
    /// What came out, or why nothing did.
    pub result: Result<Figures, Refusal>,
}

/// Why a scenario is not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The field of the API, with dots; empty where no field says it.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// The figures of one GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Every metric.
    pub values: Values,
    /// Requests that came.
    pub requests: u64,
    /// Of which refused.
    pub refused: u64,
    /// Steps executed.
    pub steps: u64,
    /// Steps by provenance.
    pub provenance: Vec<(String, u64)>,
    /// What step times rest on, in words.
    pub basis: String,
    /// What was assumed, in sentences.
    pub assumptions: Vec<String>,
    /// What looks wrong, in sentences.
    pub warnings: Vec<String>,
    /// The engine's settings, defaults filled in.
    pub settings: Map<String, Value>,
    /// KV blocks and the sum they come from.
    pub kv: Map<String, Value>,
    /// KV blocks in all, for shares of them.
    pub blocks: u64,
    /// Latencies at whole percentiles, in ms: TTFT, TPOT, E2E, queue.
    pub quantiles: [Vec<f64>; 4],
    /// What happened over time.
    pub time: TimeLines,
    /// What steps were made of.
    pub per_step: StepLines,
    /// Time that all requests together waited, in ms, by reason.
    pub waits_ms: Vec<(String, f64)>,
}

/// Means over equal parts of the time from the first arrival to the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeLines {
    /// End of each part, in s.
    pub at_s: Vec<f64>,
    /// Output tokens per second.
    pub throughput: Vec<f64>,
    /// Mean time to first token of the requests that arrived, in ms; none where none did.
    pub ttft_ms: Vec<Option<f64>>,
    /// Mean end-to-end latency of the requests that arrived, in ms.
    pub e2e_ms: Vec<Option<f64>>,
    /// Running requests.
    pub running: Vec<f64>,
    /// Waiting requests.
    pub waiting: Vec<f64>,
    /// Share of the KV blocks in use.
    pub kv: Vec<f64>,
}

/// Means over equal numbers of steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepLines {
    /// Steps behind each point; the last may have fewer.
    pub steps_per_point: u64,
    /// Prefill tokens.
    pub prefill: Vec<f64>,
    /// Decode tokens.
    pub decode: Vec<f64>,
    /// KV blocks in use.
    pub kv_blocks: Vec<f64>,
    /// Names of the parts of a step's time.
    pub parts: Vec<String>,
    /// Time of each part at each point, in ns.
    pub part_ns: Vec<Vec<f64>>,
}

/// One request of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Arrival in s.
    pub arrival_s: f64,
    /// Prompt tokens.
    pub prompt: u32,
    /// Tokens emitted.
    pub output: u32,
    /// Time in the queue, in ms.
    pub queue_ms: f64,
    /// Time to first token, in ms.
    pub ttft_ms: Option<f64>,
    /// Time per output token, in ms.
    pub tpot_ms: Option<f64>,
    /// End to end, in ms.
    pub e2e_ms: f64,
    /// Prompt tokens found in the prefix cache.
    pub cached: u32,
    /// Times preempted.
    pub preemptions: u32,
    /// Why it waited, in words; or why it was refused.
    pub why: String,
}
