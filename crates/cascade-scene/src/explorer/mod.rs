//! The scenario explorer as plain data: its controls and links, what page and worker tell each other, its charts.

mod answer;
mod ask;
mod chart;
mod field;
mod metric;
mod preset;
mod state;
#[cfg(test)]
mod tests;

pub use answer::*;
pub use ask::{FILE_TEXT, key_of};
pub use chart::{Chart, Line, Over, PerStep, Unit, cdf, over_time, per_step};
pub use field::{FIELDS, Field, Key, Kind, PLACES, Scale, Section, place, text, value_at};
pub use metric::{GROUPS, Group, Latency, Metric, Values, extremes};
pub use preset::{PRESETS, Preset};
pub use state::{Base, MAX_GPUS, MAX_LINK_BYTES, Problem, State, VERSION};

/// Models that are built in, by name: those of `cascade_serving::facts`, which a test of the worker holds this to.
pub const MODELS: [&str; 18] = [
    "facebook/opt-125m",
    "facebook/opt-1.3b",
    "openai-community/gpt2",
    "meta-llama/Llama-3.1-8B",
    "meta-llama/Llama-3.1-70B",
    "meta-llama/Llama-3.2-1B",
    "meta-llama/Llama-3.2-3B",
    "Qwen/Qwen2.5-0.5B",
    "Qwen/Qwen2.5-7B",
    "Qwen/Qwen2.5-32B",
    "Qwen/Qwen3-8B",
    "Qwen/Qwen3-32B",
    "Qwen/Qwen3-30B-A3B",
    "mistralai/Mistral-7B-v0.3",
    "mistralai/Mixtral-8x7B-v0.1",
    "google/gemma-2-9b",
    "microsoft/phi-2",
    "deepseek-ai/DeepSeek-V2-Lite",
];

/// GPUs with a datasheet: those of `cascade_serving::datasheet`, which the same test holds this to.
pub const GPUS: [&str; 14] = [
    "SM100_B200",
    "SM120_RTX_PRO_6000",
    "SM75_RTX2060",
    "SM7_QV100",
    "SM80_A100",
    "SM80_A100_40GB",
    "SM86_A10",
    "SM86_RTX3070",
    "SM89_L4",
    "SM89_L40S",
    "SM89_RTX4090",
    "SM90_H100",
    "SM90_H100_PCIE",
    "SM90_H200",
];
