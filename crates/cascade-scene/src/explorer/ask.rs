//! From the controls to the scenario that each GPU runs.

use serde_json::{Map, Value, json};

use super::field::{FIELDS, Key, Section};
use super::state::{Base, Problem, State};

/// The text that stands for the dropped file in a scenario: the worker holds the file.
pub const FILE_TEXT: &str = "";

impl State {
    /// The controls that matter for what is chosen elsewhere.
    pub fn shown(&self, section: Section) -> Vec<Key> {
        let all = FIELDS.iter().filter(|field| field.section == section);
        all.map(|field| field.key)
            .filter(|key| self.matters(*key))
            .collect()
    }

    fn matters(&self, key: Key) -> bool {
        let load = self.get(Key::Load);
        let file = load == "file";
        let vllm = self.get(Key::Rules) == "vllm-v1";
        match key {
            Key::Base | Key::Config | Key::Gpus | Key::Prices => false,
            Key::Requests => !matches!(load, "sessions" | "file"),
            Key::Rate => matches!(load, "poisson" | "fixed" | "gamma" | "ramp" | "sessions"),
            Key::ToRate => load == "ramp",
            Key::Burstiness => load == "gamma",
            Key::Burst | Key::Period => load == "burst",
            Key::Clients => load == "closed",
            Key::Sessions | Key::Turns => load == "sessions",
            Key::Think => matches!(load, "closed" | "sessions"),
            Key::Speedup | Key::Limit => file,
            Key::Seed => !file,
            Key::Prompt | Key::PromptSpread | Key::Output | Key::OutputSpread | Key::Prefix => !file,
            Key::Groups => !file && load != "sessions",
            Key::Prefixes | Key::Async | Key::Reserve | Key::Long | Key::Order => vllm,
            _ => true,
        }
    }

    /// Everything wrong with the controls that matter.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for field in FIELDS.iter().filter(|field| self.matters(field.key)) {
            if let Some(text) = self.problem(field.key) {
                let key = Some(field.key);
                problems.push(Problem { key, text });
            }
        }
        let gpus = self.gpus();
        if gpus.is_empty() {
            let text = "Choose at least one GPU.".to_owned();
            let key = Some(Key::Gpus);
            problems.push(Problem { key, text });
        }
        if self.base() == Base::Config && self.get(Key::Config).trim().is_empty() {
            let text = "Paste a config.json.".to_owned();
            let key = Some(Key::Config);
            problems.push(Problem { key, text });
        }
        problems.extend((0..gpus.len()).filter_map(|at| self.price(at).err()));
        problems
    }

    /// The body of `POST /api/scenarios` for the GPU at a place. The request trace is [`FILE_TEXT`].
    ///
    /// # Errors
    /// Every control that is wrong.
    pub fn scenario(&self, at: usize) -> Result<Value, Vec<Problem>> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut body = Map::new();
        let (key, base) = match self.base() {
            Base::Trace(trace) => ("trace_id", trace),
            Base::Model(model) => ("model", model),
            Base::Config => ("model", "config.json".to_owned()),
        };
        body.insert(key.to_owned(), base.into());
        body.insert("gpu_config".to_owned(), self.gpus().get(at).cloned().into());
        body.extend(self.load());
        body.insert("policy".to_owned(), self.get(Key::Rules).into());
        body.insert("scheduler".to_owned(), self.scheduler().into());
        let slo = [
            ("ttft_ms", Key::SloTtft),
            ("tpot_ms", Key::SloTpot),
            ("e2el_ms", Key::SloE2e),
        ];
        body.insert("slo".to_owned(), self.given(&slo).into());
        if let Ok(Some(price)) = self.price(at) {
            body.insert("price_per_gpu_hour".to_owned(), price.into());
        }
        let share = |key| json!({ "assumed": self.number(key) });
        let efficiency = [("compute", Key::Compute), ("bandwidth", Key::Bandwidth)];
        let changed = efficiency
            .iter()
            .filter(|(_, key)| self.get(*key) != key.field().default);
        let changed: Map<String, Value> = changed
            .map(|(name, key)| ((*name).to_owned(), share(*key)))
            .collect();
        if !changed.is_empty() {
            body.insert("efficiency".to_owned(), changed.into());
        }
        Ok(body.into())
    }

    /// The numbers that are there, by name.
    fn given(&self, fields: &[(&str, Key)]) -> Map<String, Value> {
        let one = |(name, key): &(&str, Key)| Some(((*name).to_owned(), number(self.number(*key)?)));
        fields.iter().filter_map(one).collect()
    }

    fn load(&self) -> Map<String, Value> {
        let of = |key| number(self.number(key).unwrap_or_default());
        let load = self.get(Key::Load);
        if load == "file" {
            let file = self.file.clone().unwrap_or_default();
            let trace = json!({ "text": FILE_TEXT, "file": file, "speedup": of(Key::Speedup), "limit": of(Key::Limit) });
            return Map::from_iter([("request_trace".to_owned(), trace)]);
        }
        let rate = of(Key::Rate);
        let arrivals = match load {
            "fixed" => json!({ "process": "fixed", "rate": rate }),
            "gamma" => json!({ "process": "gamma", "rate": rate, "burstiness": of(Key::Burstiness) }),
            "burst" => json!({ "process": "burst", "size": of(Key::Burst), "period_s": of(Key::Period) }),
            "ramp" => json!({ "process": "ramp", "from_rate": rate, "to_rate": of(Key::ToRate) }),
            "at-once" => json!({ "process": "at_once" }),
            _ => json!({ "process": "poisson", "rate": rate }),
        };
        let lengths = json!({
            "prompt": self.length(Key::Prompt, Key::PromptSpread),
            "output": self.length(Key::Output, Key::OutputSpread),
        });
        let prefix = (self.number(Key::Prefix) > Some(0.0))
            .then(|| json!({ "tokens": of(Key::Prefix), "groups": of(Key::Groups) }));
        let load = match load {
            "closed" => json!({
                "kind": "closed_loop", "requests": of(Key::Requests), "clients": of(Key::Clients),
                "think_s": of(Key::Think), "random_think": true, "lengths": lengths, "prefix": prefix,
            }),
            "sessions" => json!({
                "kind": "sessions", "sessions": of(Key::Sessions), "arrivals": arrivals,
                "turns": { "dist": "fixed", "tokens": of(Key::Turns) }, "system_tokens": of(Key::Prefix),
                "lengths": lengths, "think_s": of(Key::Think),
            }),
            _ => json!({
                "kind": "open", "requests": of(Key::Requests), "arrivals": arrivals, "lengths": lengths,
                "prefix": prefix,
            }),
        };
        Map::from_iter([(
            "workload".to_owned(),
            json!({ "seed": of(Key::Seed), "load": load }),
        )])
    }

    /// A length: always the same without a spread, else log-normal around its median.
    fn length(&self, median: Key, spread: Key) -> Value {
        let tokens = self.number(median).unwrap_or(1.0);
        match self.number(spread) {
            Some(sigma) if sigma > 0.0 => {
                json!({ "dist": "lognormal", "mu": libm::log(tokens), "sigma": sigma })
            }
            _ => json!({ "dist": "fixed", "tokens": number(tokens) }),
        }
    }

    fn scheduler(&self) -> Map<String, Value> {
        let mut settings = self.given(&[
            ("max_num_seqs", Key::Seqs),
            ("max_num_batched_tokens", Key::Tokens),
            ("gpu_memory_utilization", Key::Memory),
            ("num_kv_blocks", Key::Blocks),
            ("block_size", Key::BlockSize),
            ("max_model_len", Key::MaxLen),
        ]);
        settings.insert("enable_chunked_prefill".to_owned(), self.on(Key::Chunked).into());
        if self.get(Key::Rules) == "vllm-v1" {
            let switches = [
                ("enable_prefix_caching", Key::Prefixes),
                ("async_scheduling", Key::Async),
                ("scheduler_reserve_full_isl", Key::Reserve),
            ];
            settings.extend(switches.map(|(name, key)| (name.to_owned(), self.on(key).into())));
            settings.extend(self.given(&[("long_prefill_token_threshold", Key::Long)]));
            settings.insert("policy".to_owned(), self.get(Key::Order).into());
        }
        settings
    }
}

/// A number as JSON, whole where it is: the API takes no `8.0` for a count.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        // Exact: whole and within 53 bits.
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

/// The control that a field of the API stands for, by its path with dots.
pub fn key_of(path: &str) -> Option<Key> {
    let name = path.strip_prefix("scheduler.").unwrap_or(path);
    Some(match name {
        "max_num_seqs" => Key::Seqs,
        "max_num_batched_tokens" => Key::Tokens,
        "gpu_memory_utilization" => Key::Memory,
        "num_kv_blocks" => Key::Blocks,
        "block_size" => Key::BlockSize,
        "max_model_len" => Key::MaxLen,
        "long_prefill_token_threshold" => Key::Long,
        "request_trace" | "workload" => Key::Load,
        "efficiency" => Key::Compute,
        "price_per_gpu_hour" => Key::Prices,
        "gpu_config" => Key::Gpus,
        "model" | "trace_id" => Key::Base,
        "config" => Key::Config,
        _ => return None,
    })
}
