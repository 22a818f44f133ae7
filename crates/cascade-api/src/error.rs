//! The body of every error answer.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// `{"detail": …}`: a sentence, or a list with one entry for each problem of a request body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// What is wrong.
    pub detail: Detail,
}

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Detail {
    /// A sentence.
    Text(String),
    /// One entry for each field that does not fit.
    Fields(Vec<FieldError>),
}

/// One field that does not fit its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldError {
    /// The rule that was broken, such as `greater_than_equal`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Path to the field, from `body`, `query` or `path`.
    pub loc: Vec<Loc>,
    /// The rule as a sentence.
    pub msg: String,
    /// What was given.
    #[cfg_attr(feature = "openapi", schema(value_type = Value))]
    pub input: serde_json::Value,
    /// The rule's limit, for rules that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub ctx: Option<serde_json::Value>,
}

/// A step in a field's path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Loc {
    /// A field's name.
    Name(String),
    /// A position in a list.
    Index(u64),
}

// serde's own way to tell the kinds apart buffers the value, and browsers load the code for that with every page.
impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Kinds;
        impl<'de> Visitor<'de> for Kinds {
            type Value = Detail;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sentence, or a list of fields that do not fit")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Detail, E> {
                Ok(Detail::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, fields: A) -> Result<Detail, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(fields)).map(Detail::Fields)
            }
        }
        from.deserialize_any(Kinds)
    }
}

impl<'de> Deserialize<'de> for Loc {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Kinds;
        impl Visitor<'_> for Kinds {
            type Value = Loc;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field's name or a position")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Loc, E> {
                Ok(Loc::Name(name.to_owned()))
            }

            fn visit_u64<E: Error>(self, index: u64) -> Result<Loc, E> {
                Ok(Loc::Index(index))
            }
        }
        from.deserialize_any(Kinds)
    }
}

impl ErrorBody {
    /// An error told in one sentence.
    pub fn text(detail: impl Into<String>) -> Self {
        Self {
            detail: Detail::Text(detail.into()),
        }
    }
}

impl fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Detail::Text(text) => f.write_str(text),
            Detail::Fields(fields) => {
                for (i, field) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str("; ")?;
                    }
                    for (j, step) in field.loc.iter().enumerate() {
                        let dot = if j > 0 { "." } else { "" };
                        match step {
                            Loc::Name(name) => write!(f, "{dot}{name}")?,
                            Loc::Index(index) => write!(f, "{dot}{index}")?,
                        }
                    }
                    write!(f, ": {}", field.msg)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorBody;

    #[test]
    fn both_kinds_come_back_as_they_were() {
        for text in [
            r#"{"detail":"No such run."}"#,
            r#"{"detail":[{"type":"missing","loc":["body","entries",0],"msg":"Field required","input":{"a":[1]}}]}"#,
        ] {
            let body: ErrorBody = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&body).unwrap(), text);
        }
        serde_json::from_str::<ErrorBody>(r#"{"detail":1}"#).unwrap_err();
    }
}
