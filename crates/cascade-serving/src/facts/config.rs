//! Reading a Hugging Face `config.json`.

mod experts;
mod family;
mod fields;

use serde_json::{Map, Value};

use super::{Latent, ModelFacts};
use experts::experts;
use family::Family;
use fields::{Fields, HEADS, LAYERS, VOCAB, WIDTH};

/// The largest `config.json` that is read.
pub const MAX_CONFIG_BYTES: usize = 1 << 20;

/// The vocabulary of every OPT model, for metadata of a profile that does not give it.
const OPT_VOCAB: u32 = 50_272;

/// Why a configuration gives no facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactsError {
    /// Larger than [`MAX_CONFIG_BYTES`].
    #[error("config.json: {0} bytes are more than the {MAX_CONFIG_BYTES} that are read")]
    TooLarge(usize),
    /// Not a JSON object.
    #[error("config.json: {0}")]
    Json(String),
    /// A field that cannot be assumed.
    #[error("config.json: {field} is missing; give {hint}")]
    Missing {
        /// The field's usual name.
        field: &'static str,
        /// What it is.
        hint: &'static str,
    },
    /// A field whose value cannot be.
    #[error("config.json: {field} is {found}; it must be {wanted}")]
    Value {
        /// The field as the file names it.
        field: String,
        /// What the file holds.
        found: String,
        /// What it should hold.
        wanted: String,
    },
    /// A model that the formulas do not describe.
    #[error("config.json: {field}: {problem}")]
    Unsupported {
        /// The field that says so.
        field: &'static str,
        /// What is not covered.
        problem: &'static str,
    },
    /// No model of this name is built in.
    #[error("no model `{0}` is built in; give its config.json")]
    Unknown(String),
}

impl ModelFacts {
    /// Reads a `config.json`; `name` is the model's name.
    ///
    /// # Errors
    /// A field that is missing and cannot be assumed, or a model that is not covered; the field is named.
    pub fn parse(name: &str, json: &[u8]) -> Result<Self, FactsError> {
        if json.len() > MAX_CONFIG_BYTES {
            return Err(FactsError::TooLarge(json.len()));
        }
        let value: Value = serde_json::from_slice(json).map_err(|e| FactsError::Json(e.to_string()))?;
        let config = value.as_object();
        Self::from_config(
            name,
            config.ok_or_else(|| FactsError::Json("not an object".to_owned()))?,
        )
    }

    /// The facts of a traced model: from the fields that the trace recorded, else from the built-in table.
    ///
    /// # Errors
    /// As [`ModelFacts::parse`], or a model that is neither described nor built in.
    pub fn for_trace(name: &str, recorded: Option<&Map<String, Value>>) -> Result<Self, FactsError> {
        match recorded {
            Some(config) => Self::from_config(name, config),
            None => super::builtin(name),
        }
    }

    /// Reads the fields of a configuration, or of a profile's metadata that names them alike.
    ///
    /// # Errors
    /// As [`ModelFacts::parse`].
    pub fn from_config(name: &str, config: &Map<String, Value>) -> Result<Self, FactsError> {
        let mut assumptions = Vec::new();
        let text = config.get("text_config").and_then(Value::as_object);
        if text.is_some() {
            assumptions.push("Only the text part of the model is described.".to_owned());
        }
        let fields = Fields(text.unwrap_or(config));
        covered(&fields)?;
        let family = Family::of(&fields);
        let layers = fields.need(
            &["num_hidden_layers", "n_layer", "n_layers", "num_layers"],
            LAYERS,
        )?;
        let hidden = fields.need(&["hidden_size", "n_embd", "d_model"], WIDTH)?;
        let heads = fields.need(&["num_attention_heads", "n_head", "n_heads", "num_heads"], HEADS)?;
        let (latent, latent_dim) = latent(&fields)?.unzip();
        let kv_heads = match fields.count(&["num_key_value_heads", "num_kv_heads"], HEADS)? {
            Some(kv_heads) if latent.is_none() => kv_heads,
            None if fields.flag("multi_query") == Some(true) => 1,
            _ => heads,
        };
        if !heads.is_multiple_of(kv_heads) {
            return Err(FactsError::Value {
                field: "num_key_value_heads".to_owned(),
                found: kv_heads.to_string(),
                wanted: format!("a divisor of the {heads} attention heads"),
            });
        }
        let head_dim =
            match latent_dim.map_or_else(|| fields.count(&["head_dim"], WIDTH), |dim| Ok(Some(dim)))? {
                Some(dim) => dim,
                None if hidden.is_multiple_of(heads) => hidden / heads,
                None => {
                    let hint = "the width of a head: hidden_size is no multiple of num_attention_heads";
                    return Err(FactsError::Missing {
                        field: "head_dim",
                        hint,
                    });
                }
            };
        let ffn = fields.count(
            &["intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size"],
            WIDTH,
        )?;
        let ffn = ffn.unwrap_or_else(|| {
            let four = hidden * 4;
            if !family.ffn_is_four_times() {
                assumptions.push(format!(
                    "The feed-forward width is not given; 4 x hidden = {four} is assumed."
                ));
            }
            four
        });
        let vocab = match fields.count(&["vocab_size"], VOCAB)? {
            None if family.name == "opt" => {
                assumptions.push(format!(
                    "The vocabulary is not given; OPT's {OPT_VOCAB} tokens are assumed."
                ));
                OPT_VOCAB
            }
            None => fields.need(&["vocab_size"], VOCAB)?,
            Some(vocab) => vocab,
        };
        if let Some(window) = fields.window()? {
            assumptions.push(format!(
                "Attention windows of {window} tokens are not modelled: every layer reads and keeps the whole context."
            ));
        }
        let max_positions = fields.count(
            &["max_position_embeddings", "n_positions", "max_model_len"],
            VOCAB,
        )?;
        Ok(Self {
            name: name.to_owned(),
            layers,
            hidden,
            heads,
            kv_heads,
            head_dim,
            ffn,
            gated: family.gated(&fields, &mut assumptions),
            vocab,
            tied: family.tied(&fields, &mut assumptions),
            position_rows: family.position_rows(max_positions),
            max_positions,
            experts: experts(&fields, layers, ffn)?,
            latent,
            dtype_bytes: fields.dtype_bytes(&mut assumptions)?,
            architecture: family.name,
            assumptions,
        })
    }
}

/// Refuses what the formulas do not describe.
fn covered(fields: &Fields<'_>) -> Result<(), FactsError> {
    let unsupported = |field, problem| Err(FactsError::Unsupported { field, problem });
    // The second is a profile's metadata.
    for field in ["quantization_config", "quantization"] {
        if fields.has(field) {
            return unsupported(field, "quantized models are not covered");
        }
    }
    match fields.count(&["tensor_parallel_size"], HEADS)? {
        None | Some(1) => Ok(()),
        Some(_) => unsupported("tensor_parallel_size", "a model on several GPUs is not covered"),
    }
}

/// DeepSeek's latent attention with the width of a query head.
fn latent(fields: &Fields<'_>) -> Result<Option<(Latent, u32)>, FactsError> {
    let Some(kv_rank) = fields.count(&["kv_lora_rank"], WIDTH)? else {
        return Ok(None);
    };
    let rope_dim = fields.need(&["qk_rope_head_dim"], WIDTH)?;
    let latent = Latent {
        kv_rank,
        q_rank: fields.count(&["q_lora_rank"], WIDTH)?.unwrap_or(0),
        rope_dim,
        v_dim: fields.need(&["v_head_dim"], WIDTH)?,
    };
    Ok(Some((
        latent,
        fields.need(&["qk_nope_head_dim"], WIDTH)? + rope_dim,
    )))
}
