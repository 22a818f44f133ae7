//! The scenario that a file and flags describe: the body of `POST /api/scenarios`.

use std::path::PathBuf;

use cascade_api::limits::MAX_JSON_BYTES;
use serde_json::{Map, Value};

use crate::cli::Result;
use crate::cli::fail::Fail;
use crate::cli::remote::Remote;
use crate::cli::steps::read;

/// A scenario and where its step times come from.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("base"))]
pub(crate) struct Args {
    /// The scenario as JSON, as POST /api/scenarios takes it; - is standard input. Flags override it
    file: Option<PathBuf>,
    /// Without a server: a bundled sample, h100, h200 or a100
    #[arg(long, value_name = "NAME", group = "base")]
    pub(super) sample: Option<String>,
    /// Without a server: simulated_timeline.json, or a measured timeline with --durations
    #[arg(long, value_name = "FILE", group = "base")]
    pub(super) timeline: Option<PathBuf>,
    /// Simulated times that replace those of --timeline, sim_durations.json
    #[arg(long, value_name = "FILE", requires = "timeline")]
    pub(super) durations: Option<PathBuf>,
    /// The trace's metadata.json, for a --timeline of a model that is not built in
    #[arg(long, value_name = "FILE", requires = "timeline")]
    pub(super) metadata: Option<PathBuf>,
    /// Without a server or a trace: a built-in model on a GPU's datasheet
    #[arg(long, value_name = "MODEL", group = "base", requires = "gpu")]
    pub(super) datasheet: Option<String>,
    /// A trace of the app
    #[arg(long, value_name = "ID", group = "base")]
    trace: Option<String>,
    /// A model of the app: stands for its newest trace
    #[arg(long, value_name = "NAME", group = "base")]
    model: Option<String>,
    /// The GPU [default: the trace's or the timeline's]
    #[arg(long, value_name = "NAME")]
    pub(super) gpu: Option<String>,
    /// That many equal requests
    #[arg(long, value_name = "N")]
    requests: Option<u32>,
    /// Prompt tokens of each
    #[arg(long, value_name = "TOKENS")]
    prompt: Option<u32>,
    /// Output tokens of each
    #[arg(long, value_name = "TOKENS")]
    output: Option<u32>,
    /// Requests a second [default: all at once]
    #[arg(long, value_name = "RATE")]
    rate: Option<f64>,
    /// A request trace as the load: Azure's CSV, Mooncake's JSONL, or own columns
    #[arg(long, value_name = "FILE")]
    load_trace: Option<PathBuf>,
    /// Takes no more than this many requests of --load-trace
    #[arg(long, value_name = "N", requires = "load_trace")]
    limit: Option<u32>,
    /// Whose rules: vllm-v1 or reference
    #[arg(long, value_name = "RULES")]
    policy: Option<String>,
    /// Any field of the scenario, such as scheduler.max_num_seqs=64 or slo.ttft_ms=200; may be given several times
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
    #[command(flatten)]
    pub(super) remote: Remote,
}

/// `path=value`, where the value is JSON or else text.
fn setting(text: &str) -> Result<(String, Value), String> {
    let (path, text) = text.split_once('=').ok_or("give PATH=VALUE")?;
    Ok((path.to_owned(), value(text)))
}

/// JSON, or else the text as it is.
pub(super) fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_not_json| Value::from(text))
}

impl Args {
    /// The body that they describe.
    pub(super) fn body(&self) -> Result<Value> {
        let mut body = match &self.file {
            Some(path) => {
                let parsed = serde_json::from_slice(&read(path, MAX_JSON_BYTES)?);
                parsed.map_err(|error| Fail::usage(format_args!("{}: {error}", path.display())))?
            }
            None => Value::Object(Map::new()),
        };
        let number = |given: Option<u32>| given.map(Value::from);
        let text = |given: &Option<String>| given.clone().map(Value::from);
        let flags = [
            ("trace_id", text(&self.trace)),
            ("model", text(&self.model)),
            ("gpu_config", text(&self.gpu)),
            ("num_requests", number(self.requests)),
            ("prompt_tokens", number(self.prompt)),
            ("output_tokens", number(self.output)),
            ("arrival_rate_rps", self.rate.map(Value::from)),
            ("policy", text(&self.policy)),
        ];
        for (path, value) in flags {
            if let Some(value) = value {
                put(&mut body, path, value)?;
            }
        }
        if let Some(path) = &self.load_trace {
            let text = String::from_utf8(read(path, MAX_JSON_BYTES)?);
            let text = text.map_err(|error| Fail::usage(format_args!("{}: {error}", path.display())))?;
            put(&mut body, "request_trace.text", Value::from(text))?;
            put(
                &mut body,
                "request_trace.file",
                Value::from(path.display().to_string()),
            )?;
            if let Some(limit) = self.limit {
                put(&mut body, "request_trace.limit", Value::from(limit))?;
            }
        }
        for (path, value) in &self.set {
            put(&mut body, path, value.clone())?;
        }
        Ok(body)
    }
}

/// Sets the field at a path of names with dots between.
pub(super) fn put(body: &mut Value, path: &str, value: Value) -> Result {
    cascade_scenario::put(body, path, value).map_err(|problem| Fail::usage(format_args!("{path}: {problem}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{put, value};

    #[test]
    fn a_path_makes_what_it_needs() {
        let mut body = json!({"requests": [{"output_tokens": 1}]});
        put(&mut body, "scheduler.max_num_seqs", value("4")).unwrap();
        put(&mut body, "requests.0.output_tokens", value("2")).unwrap();
        put(&mut body, "policy", value("reference")).unwrap();
        let expected = json!({"requests": [{"output_tokens": 2}], "scheduler": {"max_num_seqs": 4}, "policy": "reference"});
        assert_eq!(body, expected);
        assert!(put(&mut body, "requests.1.id", value("x")).is_err());
        assert!(put(&mut body, "policy.name", value("x")).is_err());
    }
}
