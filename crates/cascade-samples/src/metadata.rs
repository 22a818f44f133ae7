//! What a sample says about itself: `metadata.json` and the timeline's `meta`.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::PROVENANCE;
use crate::build::{Profile, STEPS, TRACED};
use crate::files::{OUTPUT_TOKENS, PROMPT_TOKENS};
use crate::layout::Kind;

const MODEL: &str = "facebook/opt-125m";
const PROMPT: &str = "Hello, my name is";
const VLLM: &str = "0.21.0";
/// Repeats of the workload, the warm-up among them.
const REPEATS: u64 = 4;

/// The sentence that pages show.
fn note(profile: &Profile) -> String {
    format!("{PROVENANCE}: {}", profile.facts.note)
}

/// `metadata.json`.
pub(crate) fn metadata(profile: &Profile, simulated: usize) -> Value {
    let facts = &profile.facts;
    let configs: Vec<&str> = profile.configs.iter().map(|c| c.name).collect();
    let traced: usize = TRACED
        .iter()
        .map(|&s| profile.model.step(Kind::of(s)).len())
        .sum();
    json!({
        "model": MODEL,
        "gpu": facts.gpu,
        "trace_gpu_arch": facts.arch,
        "suggested_sim_config": configs.first(),
        "real_gpu_config": configs.first(),
        "sample": true,
        "sample_set": "opt125m-e2e",
        "sample_sim_configs": configs,
        "provenance": PROVENANCE,
        "note": note(profile),
        "reconstruction": {
            "exact": facts.exact,
            "derived": facts.derived,
            "distributed": facts.distributed,
            "missing": facts.missing,
        },
        "corrections": facts.corrections.iter().map(|(label, ns)| json!({
            "label": label,
            "subtract_ns": ns,
            "sample": "out-of-sample",
        })).collect::<Vec<_>>(),
        "kernel_count": traced,
        "first_uid": profile.first_uid,
        "simulated_kernels": simulated,
        "workload": {
            "prompt": PROMPT,
            "prompt_tokens": PROMPT_TOKENS,
            "max_tokens": OUTPUT_TOKENS,
            "repeats": REPEATS,
            "warm_up_repeats": 1,
            "steps_per_request": STEPS,
            "traced_steps": TRACED,
            "exec_mode": "eager",
            "async_scheduling": false,
            "vllm_version": VLLM,
        },
        "model_config": {
            "architecture": "OPTForCausalLM",
            "num_hidden_layers": 12,
            "hidden_size": 768,
            "num_attention_heads": 12,
            "num_key_value_heads": 12,
            "head_dim": 64,
            "dtype": "float16",
            "quantization": null,
            "tensor_parallel_size": 1,
        },
    })
}

/// The timeline's `meta`.
pub(crate) fn meta(profile: &Profile) -> IndexMap<String, Value> {
    let facts = &profile.facts;
    let meta = json!({
        "run_name": facts.run_name,
        "model": MODEL,
        "prompt": PROMPT,
        "max_tokens": OUTPUT_TOKENS,
        "repeats": REPEATS,
        "exec_mode": "eager",
        "gpu_name": facts.gpu_name,
        "sm_clock_mhz_median": facts.sm_mhz,
        "mem_clock_mhz": facts.mem_mhz,
        "vllm_version": VLLM,
        "note": note(profile),
        "reconstruction": {
            "distributed": facts.distributed,
            "missing": facts.missing,
        },
    });
    match meta {
        Value::Object(fields) => fields.into_iter().collect(),
        _ => Map::new().into_iter().collect(),
    }
}
