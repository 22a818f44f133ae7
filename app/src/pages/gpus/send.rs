//! What the form for a hypothetical GPU sends, and which of its fields an answer is about. No view here.

use std::collections::BTreeMap;

use cascade_api::{Detail, ErrorBody, GpuConfigCreate, GpuFact, Loc};

use super::form::{body, in_words, read_value};
use crate::ui::{Refusal, plain, plain_answer};

/// Ids of the form's fields.
pub(super) const NAME: &str = "gpu-name";
/// What the GPU is made from.
pub(super) const BASE: &str = "gpu-base";
/// Which value is swept.
pub(super) const SWEEP: &str = "gpu-sweep";
/// The sizes of the swept value.
pub(super) const SIZES: &str = "gpu-sizes";

/// The id of a value's field.
pub(super) fn value_id(key: &str) -> String {
    format!("value-{}", key.replace('.', "-"))
}

/// A sweep as it is typed: its key and values, `None` where nothing is swept, or what is wrong with the sizes.
pub(super) type Swept = Result<Option<(String, Vec<f64>)>, String>;

/// What is sent, or what is missing before it can be.
pub(super) fn read(
    base: &str,
    name: &str,
    swept: Swept,
    values: &[(GpuFact, String)],
) -> Result<GpuConfigCreate, Refusal> {
    let mut refusal = Refusal::default();
    // A sweep may leave the name out: its GPUs are named after the base and the value.
    if name.trim().is_empty() && matches!(swept, Ok(None)) {
        let prefix = prefix(base);
        refusal.add(
            NAME,
            format!("A name is needed; it starts with {prefix}, as in {prefix}MINE"),
        );
    }
    let swept = swept.unwrap_or_else(|wrong| {
        refusal.add(SIZES, wrong);
        None
    });
    let mut changes = BTreeMap::new();
    for (fact, text) in values {
        match read_value(fact, text) {
            Ok(Some(value)) => _ = changes.insert(fact.key.clone(), value),
            Ok(None) => {}
            Err(wrong) => refusal.add(value_id(&fact.key), wrong),
        }
    }
    if refusal.fields.is_empty() && changes.is_empty() && swept.is_none() {
        refusal.other = Some(format!(
            "Nothing differs from {base} yet: fill in a value below, or sweep one."
        ));
    }
    if refusal.is_empty() {
        Ok(body(base, name, changes, swept))
    } else {
        Err(refusal)
    }
}

/// How the names of GPUs made from `base` begin: `SM90_` of `SM90_H100`.
pub(super) fn prefix(base: &str) -> &str {
    base.split_inclusive('_').next().unwrap_or_default()
}

/// Reads the server's answer: a list names the fields, a sentence may name the GPU that there is already.
pub(super) fn share_out(error: &ErrorBody, sent: &GpuConfigCreate, facts: &[GpuFact]) -> Refusal {
    let Detail::Fields(fields) = &error.detail else {
        let text = plain_answer(error);
        let name = sent.name.as_deref().unwrap_or_default();
        if name.is_empty() || !text.contains(name) {
            return Refusal::other(text);
        }
        let mut refusal = Refusal::default();
        refusal.add(NAME, plain(&text));
        return refusal;
    };
    let (mut refusal, mut other) = (Refusal::default(), Vec::new());
    for field in fields {
        let path: Vec<&str> = field
            .loc
            .iter()
            .filter_map(|step| match step {
                Loc::Name(name) => Some(name.as_str()),
                Loc::Index(_) => None,
            })
            .collect();
        match path.as_slice() {
            ["body", "name"] => refusal.add(NAME, said(&field.msg, "name", "A name")),
            ["body", "base"] => refusal.add(BASE, said(&field.msg, "base", "A base")),
            ["body", "sweep", "values", ..] => {
                let key = sent.sweep.as_ref().map_or("", |sweep| sweep.key.as_str());
                refusal.add(SIZES, said(&field.msg, key, &in_words(key)));
            }
            ["body", "sweep", ..] => refusal.add(SWEEP, plain(&field.msg)),
            ["body", "changes", key] if facts.iter().any(|fact| fact.key == *key) => {
                refusal.add(value_id(key), said(&field.msg, key, &in_words(key)));
            }
            _ => other.push(plain(&field.msg)),
        }
    }
    refusal.other = (!other.is_empty()).then(|| other.join("; "));
    refusal
}

/// A rule's sentence with `words` in the place of the `key` that it begins with.
fn said(msg: &str, key: &str, words: &str) -> String {
    let msg = msg.strip_prefix("Value error, ").unwrap_or(msg);
    match msg.strip_prefix(key).filter(|rest| rest.starts_with(' ')) {
        Some(rest) => plain(&format!("{words}{rest}")),
        None => plain(msg),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fact(key: &str) -> GpuFact {
        GpuFact {
            key: key.into(),
            value: 132.0,
            unit: "SM".into(),
            source: "whitepaper".into(),
            min: 1.0,
            max: 1024.0,
        }
    }

    fn values(texts: &[(&str, &str)]) -> Vec<(GpuFact, String)> {
        texts
            .iter()
            .map(|(key, text)| (fact(key), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn what_is_missing_is_said_at_its_field() {
        let read = |name: &str, swept: Swept, text: &str| {
            super::read("SM90_H100", name, swept, &values(&[("chip.sms", text)]))
        };
        let wrong = read(" ", Ok(None), "0").unwrap_err();
        let places: Vec<_> = wrong.fields.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(places, [NAME, "value-chip-sms"], "the first comes first");
        assert!(wrong.at(NAME).unwrap().contains("SM90_MINE"));

        let same = read("SM90_MINE", Ok(None), "132").unwrap_err();
        assert!(same.fields.is_empty() && same.other.unwrap().contains("Nothing differs"));
        let sizes = read("", Err("Numbers".into()), "").unwrap_err();
        assert_eq!(sizes.fields, [(SIZES.to_owned(), "Numbers".to_owned())]);

        let sent = read(" SM90_MINE ", Ok(None), "160").unwrap();
        assert_eq!(
            (sent.name.as_deref(), sent.changes["chip.sms"]),
            (Some("SM90_MINE"), 160.0)
        );
        let sweep = read("", Ok(Some(("chip.sms".into(), vec![66.0]))), "").unwrap();
        assert_eq!(sweep.name, None, "a sweep names its GPUs itself");
    }

    fn sent() -> GpuConfigCreate {
        let sweep = Some(("latency.l1".to_owned(), vec![1.0]));
        body("SM90_H100", "SM90_MINE", BTreeMap::new(), sweep)
    }

    #[test]
    fn an_answer_goes_to_the_fields_it_is_about() {
        let one = |loc: serde_json::Value, msg: &str| json!({"type": "value_error", "loc": loc, "msg": msg, "input": 0});
        let list = json!({"detail": [
            one(json!(["body", "name"]), "Value error, name starts with `SM90_`, as its base does"),
            one(json!(["body", "changes", "chip.sms"]), "Value error, chip.sms is 0 SM: too few"),
            one(json!(["body", "sweep", "values", 0]), "Value error, latency.l1 is 1 cycle"),
            one(json!(["body", "changes", "tensor.rates"]), "Value error, tensor.rates is empty"),
        ]});
        let refusal = share_out(
            &serde_json::from_value(list).unwrap(),
            &sent(),
            &[fact("chip.sms")],
        );
        let at = |id: &str| refusal.at(id).unwrap_or_default();
        assert_eq!(at(NAME), "A name starts with SM90_, as its base does");
        assert_eq!(at("value-chip-sms"), "Chip · SMs is 0 SM: too few");
        assert_eq!(at(SIZES), "Latency · L1 is 1 cycle");
        assert_eq!(refusal.other.as_deref(), Some("Tensor.rates is empty"));
    }

    #[test]
    fn a_name_that_is_taken_is_the_names_error() {
        let taken = ErrorBody::text("there is another GPU named SM90_MINE: choose another name");
        let refusal = share_out(&taken, &sent(), &[]);
        assert!(refusal.at(NAME).unwrap().starts_with("There is another GPU"));
        let full = share_out(&ErrorBody::text("there can be at most 1000"), &sent(), &[]);
        assert_eq!(full.other.as_deref(), Some("there can be at most 1000"));
    }
}
