//! The engine that a scenario asks for, with every default filled in.

use cascade_api::{DEFAULT_MAX_MODEL_LEN, QueueOrder, ScenarioCreate, ScenarioScheduler, SchedulingRules};
use cascade_serving::datasheet::GIB;
use cascade_serving::kv::{KvCapacity, KvError, VllmMemory};
use cascade_serving::profile::PerfProfile;
use cascade_serving::scheduler::{Policy, Rules, SchedulerConfig, Usage};
use serde_json::{Map, Value, json};

use super::Refused;
use super::load::generated;

/// `max_num_seqs` under the reference rules.
const REFERENCE_SEQS: u32 = 256;
/// `max_num_batched_tokens` under the reference rules.
const REFERENCE_TOKENS: u32 = 8_192;
/// `gpu_memory_utilization` that vLLM 0.33 takes where nothing says otherwise.
const VLLM_UTILIZATION: f64 = 0.92;

/// The engine of these settings on a profile's GPU, as a scenario would have it.
///
/// # Errors
/// Settings that cannot be.
pub fn scheduler(
    rules: SchedulingRules,
    settings: &ScenarioScheduler,
    profile: &PerfProfile,
) -> Result<SchedulerConfig, Refused> {
    let ask = ScenarioCreate {
        policy: Some(rules),
        scheduler: settings.clone(),
        ..ScenarioCreate::default()
    };
    Engine::new(&ask, profile).map(|engine| engine.config)
}

/// Checks that these rules know every setting that is given.
///
/// # Errors
/// A setting of vLLM's rules under others.
pub fn check_rules(rules: SchedulingRules, settings: &ScenarioScheduler) -> Result<(), Refused> {
    match only_of_vllm(settings) {
        Some(field) if rules == SchedulingRules::Reference => Err(Refused::field(
            &format!("scheduler.{field}"),
            "this setting needs \"policy\": \"vllm-v1\"",
        )),
        _ => Ok(()),
    }
}

/// An engine and how its memory is divided.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) config: SchedulerConfig,
    pub(super) kv: KvCapacity,
    pub(super) max_model_len: u32,
    utilization: f64,
    pub(super) assumptions: Vec<String>,
}

impl Engine {
    pub(super) fn new(ask: &ScenarioCreate, profile: &PerfProfile) -> Result<Self, Refused> {
        let rules = ask.policy.unwrap_or(match generated(ask) {
            true => SchedulingRules::VllmV1,
            false => SchedulingRules::Reference,
        });
        let settings = &ask.scheduler;
        check_rules(rules, settings)?;
        let mut assumptions = vec![
            "The scheduler's settings and the KV blocks are not in the trace: those here are assumptions."
                .to_owned(),
        ];
        let run = profile.run.as_ref();
        let known = run
            .and_then(|run| run.max_model_len)
            .or(profile.model.max_positions);
        let max_model_len = settings.max_model_len.or(known).unwrap_or_else(|| {
            assumptions.push(format!(
                "The model's longest sequence is not known; {DEFAULT_MAX_MODEL_LEN} tokens are assumed."
            ));
            DEFAULT_MAX_MODEL_LEN
        });
        let recorded = run.and_then(|run| run.gpu_memory_utilization);
        let utilization = settings.gpu_memory_utilization.unwrap_or(match rules {
            SchedulingRules::Reference => profile.gpu_memory_utilization(),
            SchedulingRules::VllmV1 => recorded.unwrap_or(VLLM_UTILIZATION),
        });
        if settings.gpu_memory_utilization.or(recorded).is_none() && settings.num_kv_blocks.is_none() {
            assumptions.push(format!(
                "gpu_memory_utilization is taken to be {utilization}: neither the scenario nor the traced run gives it."
            ));
        }
        let mut config = match rules {
            SchedulingRules::Reference => reference(max_model_len),
            SchedulingRules::VllmV1 => vllm(settings, profile, max_model_len),
        };
        config.block_size = settings.block_size.unwrap_or(config.block_size);
        config.max_num_seqs = settings.max_num_seqs.unwrap_or(config.max_num_seqs);
        config.max_num_batched_tokens = settings
            .max_num_batched_tokens
            .unwrap_or(config.max_num_batched_tokens);
        config.enable_chunked_prefill = settings.enable_chunked_prefill.unwrap_or(true);
        let kv = capacity(rules, settings, profile, &config, utilization).map_err(|error| match error {
            KvError::Setting { .. } => Refused::field("scheduler", error),
            KvError::NoRoom { .. } => Refused::field("scheduler.gpu_memory_utilization", error),
        })?;
        config.num_gpu_blocks = u32::try_from(kv.blocks).unwrap_or(u32::MAX);
        config
            .check()
            .map_err(|error| Refused::field("scheduler", error))?;
        Ok(Self {
            config,
            kv,
            max_model_len,
            utilization,
            assumptions,
        })
    }

    /// The settings by the names that a scenario gives them.
    pub(super) fn resolved(&self) -> Map<String, Value> {
        let SchedulerConfig { rules, policy, .. } = &self.config;
        let config = &self.config;
        let mut map = Map::new();
        let fields = [
            ("rules", json!(rules)),
            ("max_num_seqs", json!(config.max_num_seqs)),
            ("max_num_batched_tokens", json!(config.max_num_batched_tokens)),
            ("block_size", json!(config.block_size)),
            ("enable_chunked_prefill", json!(config.enable_chunked_prefill)),
            ("gpu_memory_utilization", json!(self.utilization)),
            ("num_kv_blocks", json!(config.num_gpu_blocks)),
            ("max_model_len", json!(self.max_model_len)),
        ];
        map.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        if *rules == Rules::VllmV1 {
            let fields = [
                ("policy", json!(policy)),
                (
                    "long_prefill_token_threshold",
                    json!(config.long_prefill_token_threshold),
                ),
                (
                    "scheduler_reserve_full_isl",
                    json!(config.scheduler_reserve_full_isl),
                ),
                ("watermark", json!(config.watermark)),
                ("enable_prefix_caching", json!(config.enable_prefix_caching)),
                ("async_scheduling", json!(config.async_scheduling)),
            ];
            map.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        }
        map
    }
}

fn reference(max_model_len: u32) -> SchedulerConfig {
    SchedulerConfig {
        rules: Rules::Reference,
        max_num_seqs: REFERENCE_SEQS,
        max_num_batched_tokens: REFERENCE_TOKENS,
        // A prompt as long as the model allows, with no output, is computed too.
        max_model_len: max_model_len.saturating_add(1),
        enable_prefix_caching: false,
        ..SchedulerConfig::default()
    }
}

fn vllm(settings: &ScenarioScheduler, profile: &PerfProfile, max_model_len: u32) -> SchedulerConfig {
    let defaults = SchedulerConfig::default();
    let config = SchedulerConfig {
        rules: Rules::VllmV1,
        policy: match settings.policy {
            Some(QueueOrder::Priority) => Policy::Priority,
            Some(QueueOrder::Fcfs) | None => Policy::Fcfs,
        },
        max_model_len,
        enable_chunked_prefill: settings.enable_chunked_prefill.unwrap_or(true),
        long_prefill_token_threshold: settings.long_prefill_token_threshold.unwrap_or(0),
        scheduler_reserve_full_isl: settings
            .scheduler_reserve_full_isl
            .unwrap_or(defaults.scheduler_reserve_full_isl),
        watermark: settings.watermark.unwrap_or(0.0),
        enable_prefix_caching: settings.enable_prefix_caching.unwrap_or(true),
        async_scheduling: settings.async_scheduling.unwrap_or(false),
        ..defaults
    };
    let gpu = &profile.gpu;
    let memory = gpu.cuda_memory_gib.map_or(gpu.memory_bytes(), |gib| gib * GIB);
    // `as` saturates; memory is checked to be positive.
    config.with_default_limits(&gpu.gpu, memory as u64, Usage::Server)
}

fn capacity(
    rules: SchedulingRules,
    settings: &ScenarioScheduler,
    profile: &PerfProfile,
    config: &SchedulerConfig,
    utilization: f64,
) -> Result<KvCapacity, KvError> {
    let (model, gpu) = (&profile.model, &profile.gpu);
    match (settings.num_kv_blocks, rules) {
        (Some(blocks), _) => Ok(KvCapacity::given(model, u64::from(blocks), config.block_size)),
        (None, SchedulingRules::Reference) => {
            KvCapacity::reference(model, gpu, utilization, config.block_size)
        }
        (None, SchedulingRules::VllmV1) => {
            let memory = VllmMemory {
                utilization,
                block_size: config.block_size,
                max_num_batched_tokens: config.max_num_batched_tokens,
                max_num_seqs: config.max_num_seqs,
                ..VllmMemory::default()
            };
            KvCapacity::vllm(model, gpu, &memory)
        }
    }
}

/// A setting that only vLLM's rules know.
fn only_of_vllm(settings: &ScenarioScheduler) -> Option<&'static str> {
    let given = [
        ("policy", settings.policy.is_some()),
        (
            "long_prefill_token_threshold",
            settings.long_prefill_token_threshold.is_some(),
        ),
        (
            "scheduler_reserve_full_isl",
            settings.scheduler_reserve_full_isl.is_some(),
        ),
        ("watermark", settings.watermark.is_some()),
        ("enable_prefix_caching", settings.enable_prefix_caching.is_some()),
        ("async_scheduling", settings.async_scheduling.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
}
