//! Configurations of well-known models, as their makers published them.

use super::{FactsError, ModelFacts};

/// A model's name and the fields of its `config.json` that matter, from its page on huggingface.co.
const MODELS: [(&str, &str); 18] = [
    (
        "facebook/opt-125m",
        r#"{"model_type":"opt","num_hidden_layers":12,"hidden_size":768,"num_attention_heads":12,"ffn_dim":3072,
        "vocab_size":50272,"max_position_embeddings":2048,"torch_dtype":"float16"}"#,
    ),
    (
        "facebook/opt-1.3b",
        r#"{"model_type":"opt","num_hidden_layers":24,"hidden_size":2048,"num_attention_heads":32,"ffn_dim":8192,
        "vocab_size":50272,"max_position_embeddings":2048,"torch_dtype":"float16"}"#,
    ),
    (
        "openai-community/gpt2",
        r#"{"model_type":"gpt2","n_layer":12,"n_embd":768,"n_head":12,"vocab_size":50257,"n_positions":1024,
        "torch_dtype":"float32"}"#,
    ),
    (
        "meta-llama/Llama-3.1-8B",
        r#"{"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,
        "num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"max_position_embeddings":131072,
        "tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "meta-llama/Llama-3.1-70B",
        r#"{"model_type":"llama","num_hidden_layers":80,"hidden_size":8192,"num_attention_heads":64,
        "num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256,"max_position_embeddings":131072,
        "tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "meta-llama/Llama-3.2-1B",
        r#"{"model_type":"llama","num_hidden_layers":16,"hidden_size":2048,"num_attention_heads":32,
        "num_key_value_heads":8,"head_dim":64,"intermediate_size":8192,"vocab_size":128256,
        "max_position_embeddings":131072,"tie_word_embeddings":true,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "meta-llama/Llama-3.2-3B",
        r#"{"model_type":"llama","num_hidden_layers":28,"hidden_size":3072,"num_attention_heads":24,
        "num_key_value_heads":8,"head_dim":128,"intermediate_size":8192,"vocab_size":128256,
        "max_position_embeddings":131072,"tie_word_embeddings":true,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "Qwen/Qwen2.5-0.5B",
        r#"{"model_type":"qwen2","num_hidden_layers":24,"hidden_size":896,"num_attention_heads":14,
        "num_key_value_heads":2,"intermediate_size":4864,"vocab_size":151936,"max_position_embeddings":32768,
        "tie_word_embeddings":true,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "Qwen/Qwen2.5-7B",
        r#"{"model_type":"qwen2","num_hidden_layers":28,"hidden_size":3584,"num_attention_heads":28,
        "num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"max_position_embeddings":131072,
        "tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "Qwen/Qwen2.5-32B",
        r#"{"model_type":"qwen2","num_hidden_layers":64,"hidden_size":5120,"num_attention_heads":40,
        "num_key_value_heads":8,"intermediate_size":27648,"vocab_size":152064,"max_position_embeddings":131072,
        "tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "Qwen/Qwen3-8B",
        r#"{"model_type":"qwen3","num_hidden_layers":36,"hidden_size":4096,"num_attention_heads":32,
        "num_key_value_heads":8,"head_dim":128,"intermediate_size":12288,"vocab_size":151936,
        "max_position_embeddings":40960,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "Qwen/Qwen3-32B",
        r#"{"model_type":"qwen3","num_hidden_layers":64,"hidden_size":5120,"num_attention_heads":64,
        "num_key_value_heads":8,"head_dim":128,"intermediate_size":25600,"vocab_size":151936,
        "max_position_embeddings":40960,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "Qwen/Qwen3-30B-A3B",
        r#"{"model_type":"qwen3_moe","num_hidden_layers":48,"hidden_size":2048,"num_attention_heads":32,
        "num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"moe_intermediate_size":768,
        "num_experts":128,"num_experts_per_tok":8,"decoder_sparse_step":1,"mlp_only_layers":[],
        "vocab_size":151936,"max_position_embeddings":40960,"tie_word_embeddings":false,
        "torch_dtype":"bfloat16"}"#,
    ),
    (
        "mistralai/Mistral-7B-v0.3",
        r#"{"model_type":"mistral","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,
        "num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32768,"max_position_embeddings":32768,
        "tie_word_embeddings":false,"torch_dtype":"bfloat16"}"#,
    ),
    (
        "mistralai/Mixtral-8x7B-v0.1",
        r#"{"model_type":"mixtral","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,
        "num_key_value_heads":8,"intermediate_size":14336,"num_local_experts":8,"num_experts_per_tok":2,
        "vocab_size":32000,"max_position_embeddings":32768,"tie_word_embeddings":false,
        "torch_dtype":"bfloat16"}"#,
    ),
    (
        "google/gemma-2-9b",
        r#"{"model_type":"gemma2","num_hidden_layers":42,"hidden_size":3584,"num_attention_heads":16,
        "num_key_value_heads":8,"head_dim":256,"intermediate_size":14336,"vocab_size":256000,
        "max_position_embeddings":8192,"sliding_window":4096,"torch_dtype":"float32"}"#,
    ),
    (
        "microsoft/phi-2",
        r#"{"model_type":"phi","num_hidden_layers":32,"hidden_size":2560,"num_attention_heads":32,
        "intermediate_size":10240,"vocab_size":51200,"max_position_embeddings":2048,
        "tie_word_embeddings":false,"torch_dtype":"float16"}"#,
    ),
    (
        "deepseek-ai/DeepSeek-V2-Lite",
        r#"{"model_type":"deepseek_v2","num_hidden_layers":27,"hidden_size":2048,"num_attention_heads":16,
        "num_key_value_heads":16,"intermediate_size":10944,"moe_intermediate_size":1408,"n_routed_experts":64,
        "n_shared_experts":2,"num_experts_per_tok":6,"first_k_dense_replace":1,"moe_layer_freq":1,
        "kv_lora_rank":512,"q_lora_rank":null,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
        "vocab_size":102400,"max_position_embeddings":163840,"tie_word_embeddings":false,
        "torch_dtype":"bfloat16"}"#,
    ),
];

/// The names of the built-in models.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, _)| *name)
}

/// The facts of a built-in model.
///
/// # Errors
/// [`FactsError::Unknown`] for any other name.
pub fn builtin(name: &str) -> Result<ModelFacts, FactsError> {
    let found = MODELS.iter().find(|(known, _)| *known == name);
    let (name, config) = found.ok_or_else(|| FactsError::Unknown(name.to_owned()))?;
    ModelFacts::parse(name, config.as_bytes())
}
