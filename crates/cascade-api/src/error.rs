//! The body of every error answer.

use serde::{Deserialize, Serialize};

/// `{"detail": …}`: a sentence, or a list with one entry for each problem of a request body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// What is wrong.
    pub detail: Detail,
}

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Loc {
    /// A field's name.
    Name(String),
    /// A position in a list.
    Index(u64),
}

impl ErrorBody {
    /// An error told in one sentence.
    pub fn text(detail: impl Into<String>) -> Self {
        Self {
            detail: Detail::Text(detail.into()),
        }
    }
}

impl std::fmt::Display for ErrorBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
