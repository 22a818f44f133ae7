//! Reading single fields, each by any of its names, within limits.

use serde_json::{Map, Value};

use super::FactsError;

/// The most layers of a model. This and the next limits keep every count below 2^64.
pub(super) const LAYERS: u64 = 1 << 12;
/// The largest width of anything.
pub(super) const WIDTH: u64 = 1 << 17;
/// The most heads of a layer.
pub(super) const HEADS: u64 = 1 << 10;
/// The most tokens of a vocabulary, and the longest sequence.
pub(super) const VOCAB: u64 = 1 << 25;
/// The most experts of a layer.
pub(super) const EXPERTS: u64 = 1 << 10;

/// The fields of a configuration.
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl Fields<'_> {
    /// Whether a field is there and not null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// The first of these fields that is there: a whole number from 0 to `most`.
    pub(super) fn number(&self, names: &[&str], most: u64) -> Result<Option<u32>, FactsError> {
        self.between(names, 0, most)
    }

    /// The first of these fields that is there: a whole number from 1 to `most`.
    pub(super) fn count(&self, names: &[&str], most: u64) -> Result<Option<u32>, FactsError> {
        self.between(names, 1, most)
    }

    /// As [`Fields::count`], for what cannot be assumed.
    pub(super) fn need(&self, names: &[&'static str], most: u64) -> Result<u32, FactsError> {
        self.count(names, most)?.ok_or(FactsError::Missing {
            field: names.first().copied().unwrap_or_default(),
            hint: "the model's config.json as it was published",
        })
    }

    fn between(&self, names: &[&str], least: u64, most: u64) -> Result<Option<u32>, FactsError> {
        let Some(name) = names.iter().find(|name| self.has(name)) else {
            return Ok(None);
        };
        let value = self.0.get(*name);
        let number = value
            .and_then(Value::as_u64)
            .filter(|n| (least..=most).contains(n));
        match number.and_then(|n| u32::try_from(n).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(FactsError::Value {
                field: (*name).to_owned(),
                found: value.map(Value::to_string).unwrap_or_default(),
                wanted: format!("a whole number from {least} to {most}"),
            }),
        }
    }

    /// A field that is true or false.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// A field that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The attention window, where one is used.
    pub(super) fn window(&self) -> Result<Option<u32>, FactsError> {
        let window = self.count(&["sliding_window"], VOCAB)?;
        Ok(window.filter(|_| self.flag("use_sliding_window") != Some(false)))
    }

    /// Bytes of a weight as vLLM loads it: 32-bit weights are cast to 16 bits (`dtype="auto"`).
    pub(super) fn dtype_bytes(&self, assumptions: &mut Vec<String>) -> Result<u32, FactsError> {
        let name = ["dtype", "torch_dtype"].into_iter().find(|name| self.has(name));
        let Some(name) = name else {
            assumptions.push("The number format is not given; 2 bytes are assumed.".to_owned());
            return Ok(2);
        };
        let text = self.text(name).unwrap_or_default();
        match text.strip_prefix("torch.").unwrap_or(text) {
            "float16" | "bfloat16" | "half" => Ok(2),
            "float32" | "float" => {
                assumptions.push("Weights of 32 bits are served in 16 bits, as vLLM does.".to_owned());
                Ok(2)
            }
            _ => Err(FactsError::Value {
                field: name.to_owned(),
                found: self.0.get(name).map(Value::to_string).unwrap_or_default(),
                wanted: "float16, bfloat16 or float32".to_owned(),
            }),
        }
    }
}
