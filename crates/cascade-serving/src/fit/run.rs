//! Reads a recorded run: the engine's settings and when each request was queued, started and answered.

use serde::Deserialize;
use thiserror::Error;

use crate::content::Content;
use crate::request::Request;
use crate::scheduler::SchedulerConfig;
use crate::workload::{List, to_ns};

/// A real server's run.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRun {
    /// The engine's settings; `num_gpu_blocks` is 0 if the run does not tell it.
    pub config: SchedulerConfig,
    /// The requests as they came.
    pub requests: Vec<MeasuredRequest>,
    /// What the engine did in each second.
    pub ticks: Vec<Tick>,
}

/// What the engine did since the tick before, as it reports itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// Time since the first request, in seconds.
    pub t: f64,
    /// Prompt tokens per second.
    pub prompt_throughput: f64,
    /// Tokens emitted per second.
    pub gen_throughput: f64,
    /// Running requests.
    pub running: f64,
}

/// When things happened to a request. Times are ns since the first one was queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredRequest {
    /// Prompt length in tokens.
    pub prompt_tokens: u32,
    /// Tokens emitted.
    pub output_tokens: u32,
    /// Entry into the scheduler's queue.
    pub queued_ns: u64,
    /// First token.
    pub first_token_ns: u64,
    /// Last token.
    pub last_token_ns: u64,
}

/// What is wrong with a run's files.
#[derive(Debug, Error)]
pub enum RunError {
    /// The settings cannot be read.
    #[error("meta.json: {0}")]
    Meta(serde_json::Error),
    /// A request cannot be read.
    #[error("requests.jsonl, line {line}: {error}")]
    Request {
        /// The line, from 1.
        line: usize,
        /// Why.
        error: serde_json::Error,
    },
    /// A second cannot be read.
    #[error("timeseries.csv, line {line}: needs numbers in the first four columns, which are {TICK_COLUMNS}")]
    Tick {
        /// The line, from 1.
        line: usize,
    },
    /// A request's times are not in order.
    #[error(
        "requests.jsonl, line {line}: queued, first token and last token must follow each other, none before the first request"
    )]
    Order {
        /// The line, from 1.
        line: usize,
    },
}

/// How the header of a time series begins.
const TICK_COLUMNS: &str = "t,prompt_throughput,gen_throughput,running";

#[derive(Deserialize)]
struct Meta {
    engine_kwargs: EngineKwargs,
    kv_cache: Option<KvCache>,
    resolved_config: Option<Resolved>,
}

#[derive(Deserialize)]
struct EngineKwargs {
    max_num_seqs: u32,
    max_num_batched_tokens: u32,
    max_model_len: Option<u32>,
}

#[derive(Deserialize)]
struct KvCache {
    num_gpu_blocks: u32,
    block_size: u32,
    enable_prefix_caching: bool,
}

#[derive(Deserialize)]
struct Resolved {
    scheduler_config: ResolvedScheduler,
}

#[derive(Deserialize)]
struct ResolvedScheduler {
    async_scheduling: bool,
    enable_chunked_prefill: bool,
    long_prefill_token_threshold: u32,
    scheduler_reserve_full_isl: bool,
}

#[derive(Deserialize)]
struct Row {
    input_toks: u32,
    output_toks: u32,
    queued_ts: f64,
    first_token_ts: f64,
    last_token_ts: f64,
}

impl MeasuredRun {
    /// Reads a run's `meta.json`, `requests.jsonl` and `timeseries.csv`. What `meta.json` does not tell has the default of vLLM
    /// 0.19: asynchronous scheduling, chunked prefill, prefix caching, blocks of 16 tokens.
    pub fn parse(meta: &str, requests: &str, timeseries: &str) -> Result<Self, RunError> {
        let meta: Meta = serde_json::from_str(meta).map_err(RunError::Meta)?;
        let mut config = SchedulerConfig {
            max_num_seqs: meta.engine_kwargs.max_num_seqs,
            max_num_batched_tokens: meta.engine_kwargs.max_num_batched_tokens,
            async_scheduling: true,
            ..SchedulerConfig::default()
        };
        config.max_model_len = meta.engine_kwargs.max_model_len.unwrap_or(config.max_model_len);
        if let Some(kv) = meta.kv_cache {
            config.num_gpu_blocks = kv.num_gpu_blocks;
            config.block_size = kv.block_size;
            config.enable_prefix_caching = kv.enable_prefix_caching;
        }
        if let Some(Resolved {
            scheduler_config: resolved,
        }) = meta.resolved_config
        {
            config.async_scheduling = resolved.async_scheduling;
            config.enable_chunked_prefill = resolved.enable_chunked_prefill;
            config.long_prefill_token_threshold = resolved.long_prefill_token_threshold;
            config.scheduler_reserve_full_isl = resolved.scheduler_reserve_full_isl;
        }
        let mut run = Self {
            config,
            requests: Vec::new(),
            ticks: ticks(timeseries)?,
        };
        let mut start = None;
        for (index, text) in requests.lines().enumerate() {
            let line = index + 1;
            let row: Row = serde_json::from_str(text).map_err(|error| RunError::Request { line, error })?;
            let start = *start.get_or_insert(row.queued_ts);
            if !(start <= row.queued_ts
                && row.queued_ts <= row.first_token_ts
                && row.first_token_ts <= row.last_token_ts)
            {
                return Err(RunError::Order { line });
            }
            run.requests.push(MeasuredRequest {
                prompt_tokens: row.input_toks,
                output_tokens: row.output_toks,
                queued_ns: to_ns(row.queued_ts - start),
                first_token_ns: to_ns(row.first_token_ts - start),
                last_token_ns: to_ns(row.last_token_ts - start),
            });
        }
        Ok(run)
    }

    /// From the first request to the last token, in ns.
    pub fn duration_ns(&self) -> u64 {
        self.requests
            .iter()
            .map(|request| request.last_token_ns)
            .max()
            .unwrap_or_default()
    }

    /// The run without the requests that were queued at `until_ns` or later.
    pub(super) fn before(&self, until_ns: u64) -> Self {
        let requests = self
            .requests
            .iter()
            .filter(|request| request.queued_ns < until_ns);
        Self {
            config: self.config.clone(),
            requests: requests.copied().collect(),
            ticks: self.ticks.clone(),
        }
    }

    /// The requests as a load. No two share a prefix, but one that was preempted may find its own blocks.
    pub fn source(&self) -> List {
        let request = |(id, request): (usize, &MeasuredRequest)| Request {
            content: Some(Content {
                prompt: Box::default(),
                output: id as u64,
            }),
            ..Request::new(
                id as u64,
                request.queued_ns,
                request.prompt_tokens,
                request.output_tokens,
            )
        };
        List::new(self.requests.iter().enumerate().map(request).collect())
    }
}

fn ticks(timeseries: &str) -> Result<Vec<Tick>, RunError> {
    let mut lines = timeseries.lines();
    if !lines
        .next()
        .is_some_and(|header| header.starts_with(TICK_COLUMNS))
    {
        return Err(RunError::Tick { line: 1 });
    }
    let tick = |(index, line): (usize, &str)| {
        let mut fields = line.split(',').map(str::parse);
        let mut next = || fields.next()?.ok();
        let mut tick = || {
            Some(Tick {
                t: next()?,
                prompt_throughput: next()?,
                gen_throughput: next()?,
                running: next()?,
            })
        };
        tick().ok_or(RunError::Tick { line: index + 2 })
    };
    lines.enumerate().map(tick).collect()
}
