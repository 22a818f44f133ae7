//! What a model's family leaves unsaid in its configuration: the defaults of its configuration class.

use serde_json::Value;

use super::fields::Fields;

/// Families with an ungated feed-forward block.
const UNGATED: [&str; 10] = [
    "opt",
    "gpt2",
    "gpt_bigcode",
    "gpt_neox",
    "gptj",
    "bloom",
    "mpt",
    "falcon",
    "phi",
    "starcoder2",
];

/// Families with a gated feed-forward block.
const GATED: [&str; 20] = [
    "llama",
    "mistral",
    "mixtral",
    "ministral",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "phi3",
    "phimoe",
    "olmo2",
    "olmoe",
    "granite",
    "cohere",
    "deepseek_v2",
    "deepseek_v3",
];

/// Families whose output projection is the embedding table unless the file says otherwise.
const TIED: [&str; 12] = [
    "opt",
    "gpt2",
    "gpt_bigcode",
    "bloom",
    "mpt",
    "falcon",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "cohere",
    "starcoder2",
];

/// Families whose feed-forward width is `4 × hidden` where the file does not give it.
const FOUR_TIMES: [&str; 6] = ["gpt2", "gpt_bigcode", "gptj", "bloom", "mpt", "falcon"];

/// A family of models.
pub(super) struct Family {
    /// `model_type`, or the first of `architectures`.
    pub(super) name: String,
}

impl Family {
    /// The family that the fields name.
    pub(super) fn of(fields: &Fields<'_>) -> Self {
        let classes = fields.0.get("architectures").and_then(Value::as_array);
        let class = classes.and_then(|list| list.first()).and_then(Value::as_str);
        let class = class.or_else(|| fields.text("architecture"));
        let name = match (fields.text("model_type"), class) {
            (Some(name), _) => name.to_owned(),
            (None, Some(class)) => {
                let short = class.strip_suffix("ForCausalLM").unwrap_or(class);
                short.to_ascii_lowercase()
            }
            (None, None) => "unknown".to_owned(),
        };
        Self { name }
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }

    /// Whether feed-forward blocks have a gate.
    pub(super) fn gated(&self, fields: &Fields<'_>, assumptions: &mut Vec<String>) -> bool {
        if self.is_one_of(&GATED) || self.is_one_of(&UNGATED) {
            return self.is_one_of(&GATED);
        }
        let activation = ["hidden_act", "activation_function", "hidden_activation"];
        let gated = activation
            .into_iter()
            .find_map(|name| fields.text(name))
            .is_some_and(|name| matches!(name, "silu" | "swish"));
        let projections = if gated {
            "three projections (gated)"
        } else {
            "two projections (ungated)"
        };
        assumptions.push(format!(
            "Feed-forward blocks of `{}` are taken to have {projections}.",
            self.name
        ));
        gated
    }

    /// Whether the output projection is the embedding table.
    pub(super) fn tied(&self, fields: &Fields<'_>, assumptions: &mut Vec<String>) -> bool {
        if let Some(tied) = fields.flag("tie_word_embeddings") {
            return tied;
        }
        let known = self.is_one_of(&GATED) || self.is_one_of(&UNGATED);
        if !known {
            assumptions.push("The output projection is taken to be the embedding table.".to_owned());
        }
        !known || self.is_one_of(&TIED)
    }

    /// Whether a feed-forward width that is not given is `4 × hidden` by definition.
    pub(super) fn ffn_is_four_times(&self) -> bool {
        self.is_one_of(&FOUR_TIMES)
    }

    /// Rows of a learned position table. OPT's starts at the third.
    pub(super) fn position_rows(&self, max_positions: Option<u32>) -> u32 {
        let rows = max_positions.unwrap_or(0);
        match self.name.as_str() {
            "opt" if rows > 0 => rows + 2,
            "gpt2" | "gpt_bigcode" => rows,
            _ => 0,
        }
    }
}
