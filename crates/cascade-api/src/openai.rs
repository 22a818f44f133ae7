//! What the OpenAI-compatible `/v1` takes, and its errors.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::GpuName;

/// Most choices of one prompt.
pub const MAX_CHOICES: u32 = 128;
/// Most prompts of one request.
pub const MAX_PROMPTS: usize = 2_048;
/// Most messages of one chat.
pub const MAX_MESSAGES: usize = 4_096;
/// Most prompt and output tokens of one request, over all choices.
pub const MAX_REQUEST_TOKENS: u64 = 1_000_000;

/// What completions and chats have in common. Fields that only say which token comes next (`temperature`, `top_p`,
/// `stop`, `tools` and so on) are taken and have no effect: what comes back is not the model's text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct GenerationOptions {
    /// The id of a ready trace, or the name of a model, which stands for its newest ready trace.
    pub model: String,
    /// The GPU; by default the one that the trace suggests, else the one it was captured on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_config: Option<GpuName>,
    /// Simulate the trace anew (replay it, for a sample), whatever there is already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Output tokens of each choice; by default those of the traced workload. All of them come: nothing ends a text
    /// early.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1_000_000))]
    pub max_tokens: Option<u32>,
    /// The same by its newer name. Both together must agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1_000_000))]
    pub max_completion_tokens: Option<u32>,
    /// Choices of each prompt, each estimated as if it were alone [1].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 128))]
    pub n: Option<u32>,
    /// The same seed gives the same text; by default one is drawn, and told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Whether to answer with server-sent events.
    pub stream: bool,
    /// Settings of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
}

/// Settings of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct StreamOptions {
    /// Whether a last chunk has the usage.
    pub include_usage: bool,
}

/// What `POST /v1/completions` takes. Further fields are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CompletionCreate {
    /// What to complete.
    pub prompt: Prompt,
    /// Whether each text begins with its prompt.
    #[serde(default)]
    pub echo: bool,
    /// All else.
    #[serde(flatten)]
    pub options: GenerationOptions,
}

/// One prompt or several, as text or as token ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Prompt {
    /// One text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// The token ids of one prompt.
    Tokens(Vec<u32>),
    /// The token ids of several prompts.
    TokenLists(Vec<Vec<u32>>),
}

/// What `POST /v1/chat/completions` takes. Further fields are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatCreate {
    /// The conversation so far.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 4096))]
    pub messages: Vec<ChatMessage>,
    /// Descriptions of functions, handed to the chat template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<Object>>))]
    pub tools: Option<Vec<Value>>,
    /// Further variables of the chat template, as in vLLM.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub chat_template_kwargs: Map<String, Value>,
    /// All else.
    #[serde(flatten)]
    pub options: GenerationOptions,
}

/// One message of a chat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChatMessage {
    /// Who says it, such as `system`, `user` or `assistant`.
    pub role: String,
    /// What is said: a text, or a list of parts `{"type": "text", "text": …}`, which are joined by newlines.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<ChatContent>))]
    pub content: String,
    /// All else, such as `name` or `tool_calls`, for the chat template.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub more: Map<String, Value>,
}

/// What is said: a text, or parts of text.
#[cfg(feature = "openapi")]
#[derive(utoipa::ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum ChatContent {
    Text(String),
    Parts(Vec<ChatTextPart>),
}

/// A part of what is said.
#[cfg(feature = "openapi")]
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ChatTextPart {
    /// `text`; parts of other types are refused.
    r#type: String,
    /// The text.
    text: String,
}

/// The body of an error of `/v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenAiErrorBody {
    /// What is wrong.
    pub error: OpenAiError,
}

/// What is wrong, in OpenAI's shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenAiError {
    /// A sentence.
    pub message: String,
    /// `invalid_request_error` for what the caller can change, else `server_error`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The field, if it is one.
    pub param: Option<String>,
    /// A word for programs.
    pub code: Option<String>,
}
