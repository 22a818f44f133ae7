//! Tests of model facts against published parameter counts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Billions of parameters, all and for one token, as the makers state them.
const PUBLISHED: [(&str, f64, f64); 14] = [
    ("facebook/opt-125m", 0.125, 0.125),
    ("facebook/opt-1.3b", 1.316, 1.316),
    ("openai-community/gpt2", 0.124, 0.124),
    ("meta-llama/Llama-3.1-8B", 8.03, 8.03),
    ("meta-llama/Llama-3.1-70B", 70.6, 70.6),
    ("meta-llama/Llama-3.2-1B", 1.24, 1.24),
    ("Qwen/Qwen2.5-7B", 7.62, 7.62),
    ("Qwen/Qwen3-8B", 8.19, 8.19),
    ("Qwen/Qwen3-30B-A3B", 30.5, 3.35),
    ("mistralai/Mistral-7B-v0.3", 7.25, 7.25),
    ("mistralai/Mixtral-8x7B-v0.1", 46.7, 12.9),
    ("google/gemma-2-9b", 9.24, 9.24),
    ("microsoft/phi-2", 2.78, 2.78),
    ("deepseek-ai/DeepSeek-V2-Lite", 15.7, 2.66),
];

#[test]
fn parameters_are_those_published() {
    for (name, all, active) in PUBLISHED {
        let facts = builtin(name).unwrap();
        let billions = |params: u64| params as f64 / 1e9;
        let total = billions(facts.total_params());
        assert!((total / all - 1.0).abs() < 0.01, "{name}: {total}");
        let used = billions(facts.active_params() + facts.embedding_params());
        assert!((used / active - 1.0).abs() < 0.01, "{name}: {used} active");
    }
}

#[test]
fn every_built_in_model_is_read() {
    for name in builtin_names() {
        builtin(name).unwrap();
    }
    assert_eq!(builtin("x"), Err(FactsError::Unknown("x".to_owned())));
}

#[test]
fn opt_125m_is_as_specified() {
    let facts = builtin("facebook/opt-125m").unwrap();
    assert_eq!(facts.body_params(), 84_934_656);
    assert_eq!(facts.head_params(), 38_608_896);
    assert_eq!(facts.kv_bytes_per_token(), 36_864);
    assert_eq!(facts.attention_flops(), 4 * 12 * 768);
    assert!(facts.assumptions.is_empty(), "{:?}", facts.assumptions);
}

#[test]
fn kv_bytes_follow_heads_and_latents() {
    assert_eq!(
        builtin("meta-llama/Llama-3.1-8B").unwrap().kv_bytes_per_token(),
        131_072
    );
    // 27 layers x (512 + 64) x 2 bytes.
    assert_eq!(
        builtin("deepseek-ai/DeepSeek-V2-Lite")
            .unwrap()
            .kv_bytes_per_token(),
        31_104
    );
}

#[test]
fn missing_widths_are_assumed_and_said() {
    let metadata =
        json!({"architecture": "OPTForCausalLM", "num_layers": 12, "hidden_size": 768, "num_heads": 12});
    let facts = ModelFacts::from_config("opt", metadata.as_object().unwrap()).unwrap();
    assert_eq!((facts.ffn, facts.vocab, facts.dtype_bytes), (3072, 50_272, 2));
    assert_eq!(facts.assumptions.len(), 3, "{:?}", facts.assumptions);
}

fn llama(change: &[(&str, Value)]) -> Result<ModelFacts, FactsError> {
    let mut config = json!({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 100,
        "torch_dtype": "bfloat16"});
    for (field, value) in change {
        config[field] = value.clone();
    }
    ModelFacts::parse("llama", config.to_string().as_bytes())
}

#[test]
fn errors_name_the_field() {
    let error = |change: &[(&str, Value)]| llama(change).unwrap_err().to_string();
    assert!(error(&[("num_hidden_layers", Value::Null)]).contains("num_hidden_layers is missing"));
    assert!(error(&[("vocab_size", Value::Null)]).contains("vocab_size is missing"));
    assert!(error(&[("num_attention_heads", json!(6))]).contains("head_dim is missing"));
    let text = error(&[("num_key_value_heads", json!(3))]);
    assert!(
        text.contains("num_key_value_heads is 3; it must be a divisor of the 4"),
        "{text}"
    );
    let text = error(&[("hidden_size", json!(-1))]);
    assert!(
        text.contains("hidden_size is -1; it must be a whole number from 1"),
        "{text}"
    );
    assert!(error(&[("torch_dtype", json!("int4"))]).contains("torch_dtype is \"int4\""));
    assert!(error(&[("quantization_config", json!({}))]).contains("quantized"));
    assert!(error(&[("quantization", json!("fp8"))]).contains("quantized"));
    assert!(error(&[("tensor_parallel_size", json!(2))]).contains("several GPUs"));
    assert!(error(&[("num_experts", json!(2)), ("num_experts_per_tok", json!(3))]).contains("at most the 2"));
    assert!(
        ModelFacts::parse("x", b"[]")
            .unwrap_err()
            .to_string()
            .contains("not an object")
    );
}

#[test]
fn a_text_part_and_a_window_are_said() {
    let inner = json!({"text_config": {"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 64,
        "num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 96, "sliding_window": 32,
        "dtype": "float16"}});
    let facts = ModelFacts::parse("m", inner.to_string().as_bytes()).unwrap();
    assert_eq!(facts.assumptions.len(), 2, "{:?}", facts.assumptions);
}

/// Every field that is read, and values that a broken file may hold.
fn any_field() -> impl Strategy<Value = (&'static str, Value)> {
    let names = [
        "model_type",
        "num_hidden_layers",
        "hidden_size",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "intermediate_size",
        "vocab_size",
        "max_position_embeddings",
        "tie_word_embeddings",
        "torch_dtype",
        "num_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "n_shared_experts",
        "first_k_dense_replace",
        "decoder_sparse_step",
        "mlp_only_layers",
        "kv_lora_rank",
        "q_lora_rank",
        "qk_rope_head_dim",
        "qk_nope_head_dim",
        "v_head_dim",
        "sliding_window",
        "text_config",
        "quantization_config",
        "architectures",
    ];
    let values = prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["X"])),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        (0_u32..70).prop_map(|n| json!(n)),
        any::<f64>().prop_map(|x| json!(x)),
        Just(json!("opt")),
        Just(json!("float16")),
        Just(json!("float32")),
    ];
    (prop::sample::select(names.to_vec()), values)
}

proptest! {
    #[test]
    fn a_broken_configuration_is_an_error_or_a_shape_that_can_be_counted(
        changes in prop::collection::vec(any_field(), 1..6),
    ) {
        if let Ok(facts) = llama(&changes) {
            prop_assert!(facts.kv_bytes_per_token() > 0 && facts.total_params() > 0);
            prop_assert!(facts.active_params() <= facts.body_params());
        }
    }

    #[test]
    fn experts_read_lie_between_one_tokens_and_all(tokens in 1_u32..100_000) {
        let facts = builtin("Qwen/Qwen3-30B-A3B").unwrap();
        let experts = facts.experts.unwrap();
        let share = experts.share_used(f64::from(tokens));
        prop_assert!((8.0 / 128.0 - 1e-12..=1.0).contains(&share));
        prop_assert!(share <= experts.share_used(f64::from(tokens + 1)));
    }

    #[test]
    fn any_shape_within_the_limits_can_be_counted(
        layers in 1_u32..=4096, hidden in 1_u32..=131_072, heads in 1_u32..=1024, dim in 1_u32..=131_072,
        ffn in 1_u32..=131_072, vocab in 1_u32..=33_554_432, experts in 1_u32..=1024,
    ) {
        let facts = llama(&[("num_hidden_layers", json!(layers)), ("hidden_size", json!(hidden)),
            ("num_attention_heads", json!(heads)), ("num_key_value_heads", json!(heads)),
            ("head_dim", json!(dim)), ("intermediate_size", json!(ffn)), ("vocab_size", json!(vocab)),
            ("num_experts", json!(experts)), ("num_experts_per_tok", json!(1))]).unwrap();
        prop_assert!(facts.weight_bytes() >= 2 * facts.body_params());
        prop_assert!(facts.active_params() <= facts.body_params());
        prop_assert!(facts.flops_per_token(1 << 25).is_finite());
    }
}
