//! A form that was not taken: what is wrong, at which field, and the way there.

use cascade_api::{Detail, ErrorBody};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// What is wrong with a form, shared out to its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Ids of fields with what is wrong there, the first to be mended first.
    pub(crate) fields: Vec<(String, String)>,
    /// What belongs to no field.
    pub(crate) other: Option<String>,
}

impl Refusal {
    /// One that is about no field.
    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self {
            fields: Vec::new(),
            other: Some(text.into()),
        }
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.other.is_none()
    }

    /// Adds what is wrong at a field.
    pub(crate) fn add(&mut self, id: impl Into<String>, text: impl Into<String>) {
        self.fields.push((id.into(), text.into()));
    }

    /// What is wrong at a field.
    pub(crate) fn at(&self, id: &str) -> Option<String> {
        let (_, text) = self.fields.iter().find(|(at, _)| at == id)?;
        Some(text.clone())
    }

    /// What is known after a field was changed: what was said of it and of the whole form no longer holds.
    pub(crate) fn without(&self, id: &str) -> Self {
        let fields = self.fields.iter().filter(|(at, _)| at != id);
        Self {
            fields: fields.cloned().collect(),
            other: None,
        }
    }

    /// Puts the focus on the first field that is wrong; without one it stays where it is.
    pub(crate) fn focus(&self) {
        if let Some((id, _)) = self.fields.first() {
            focus_on(id.clone());
        }
    }
}

/// Puts the focus on a field, once what is wrong stands beside it.
pub(crate) fn focus_on(id: String) {
    request_animation_frame(move || {
        let field = document().get_element_by_id(&id);
        if let Some(field) = field.and_then(|field| field.dyn_into::<web_sys::HtmlElement>().ok()) {
            _ = field.focus();
        }
    });
}

/// A rule's sentence without the words that only programs look for.
pub(crate) fn plain(msg: &str) -> String {
    let msg = msg.strip_prefix("Value error, ").unwrap_or(msg).replace('`', "");
    let mut letters = msg.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// An answer in sentences, without the paths of its fields.
pub(crate) fn plain_answer(body: &ErrorBody) -> String {
    match &body.detail {
        Detail::Text(text) => text.clone(),
        Detail::Fields(fields) => {
            let said: Vec<_> = fields.iter().map(|field| plain(&field.msg)).collect();
            said.join("; ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorBody, Refusal, plain, plain_answer};

    #[test]
    fn a_changed_field_is_no_longer_wrong() {
        let mut refusal = Refusal::other("too many");
        refusal.add("name", "taken");
        refusal.add("size", "too small");
        let left = refusal.without("name");
        assert_eq!(
            (left.at("name"), left.at("size")),
            (None, Some("too small".to_owned()))
        );
        assert_eq!(left.other, None);
        assert!(!left.is_empty() && left.without("size").is_empty());
    }

    #[test]
    fn sentences_are_for_people() {
        assert_eq!(plain("Value error, starts with `SM90_`"), "Starts with SM90_");
        assert_eq!(plain("Field required"), "Field required");
        assert_eq!(plain(""), "");
        let text =
            r#"{"detail":[{"type":"value_error","loc":["body","name"],"msg":"Value error, no","input":""}]}"#;
        let body: ErrorBody = serde_json::from_str(text).unwrap();
        assert_eq!(plain_answer(&body), "No");
        assert_eq!(plain_answer(&ErrorBody::text("no `name`")), "no `name`");
    }
}
