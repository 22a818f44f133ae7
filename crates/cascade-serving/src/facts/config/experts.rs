//! Mixtures of experts.

use serde_json::Value;

use super::FactsError;
use super::fields::{EXPERTS, Fields, LAYERS, WIDTH};
use crate::facts::Experts;

/// The experts of a configuration; `ffn` is the width of its dense blocks.
pub(super) fn experts(fields: &Fields<'_>, layers: u32, ffn: u32) -> Result<Option<Experts>, FactsError> {
    let names = ["num_local_experts", "num_experts", "n_routed_experts"];
    let Some(total) = fields.number(&names, EXPERTS)?.filter(|total| *total > 0) else {
        return Ok(None);
    };
    let active = fields.need(&["num_experts_per_tok", "moe_k"], EXPERTS)?;
    if active > total {
        return Err(FactsError::Value {
            field: "num_experts_per_tok".to_owned(),
            found: active.to_string(),
            wanted: format!("at most the {total} experts"),
        });
    }
    let width = fields.count(&["moe_intermediate_size"], WIDTH)?.unwrap_or(ffn);
    let shared = match fields.number(&["shared_expert_intermediate_size"], WIDTH)? {
        Some(shared) => shared,
        None => fields.number(&["n_shared_experts"], EXPERTS)?.unwrap_or(0) * width,
    };
    Ok(Some(Experts {
        total,
        active,
        ffn: width,
        shared_ffn: shared,
        layers: sparse_layers(fields, layers)?,
    }))
}

/// How many layers have experts: DeepSeek begins with dense ones, Qwen lists them and may skip some.
fn sparse_layers(fields: &Fields<'_>, layers: u32) -> Result<u32, FactsError> {
    let first = fields.number(&["first_k_dense_replace"], LAYERS)?.unwrap_or(0);
    let every = fields
        .count(&["decoder_sparse_step", "moe_layer_freq"], LAYERS)?
        .unwrap_or(1);
    let dense = fields.0.get("mlp_only_layers").and_then(Value::as_array);
    let listed: Vec<u64> = dense.into_iter().flatten().filter_map(Value::as_u64).collect();
    let sparse = (first..layers).filter(|layer| {
        let position = if first > 0 { *layer } else { layer + 1 };
        position.is_multiple_of(every) && !listed.contains(&u64::from(*layer))
    });
    Ok(u32::try_from(sparse.count()).unwrap_or(layers))
}
