//! What a request comes down to: sequences of so many prompt and output tokens, on a trace and a GPU.

use std::sync::Arc;

use cascade_api::{
    ChatCreate, CompletionCreate, DEFAULT_MAX_MODEL_LEN, GenerationOptions, MAX_REQUEST_TOKENS, Prompt,
    TraceId,
};
use serde_json::{Map, Value};

use super::problem::Problem;
use super::text::Vocabulary;
use crate::error::Error;
use crate::runs::Service;
use crate::scenarios::base::{Found, Wanted};

/// Output tokens where neither the caller nor the trace says how many: OpenAI's default for completions.
const DEFAULT_OUTPUT: u32 = 16;

/// One sequence: a prompt, and how many tokens to put after it.
#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    /// Its prompt tokens, at least 1.
    pub(crate) prompt_tokens: u32,
    /// Its output tokens.
    pub(crate) output_tokens: u32,
    /// The prompt as text, where the answer repeats it.
    pub(crate) echo: Option<Arc<str>>,
}

/// A request, ready to be timed.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The trace, GPU and model.
    pub(crate) found: Found,
    /// One for each choice: those of the first prompt, then those of the second.
    pub(crate) sequences: Vec<Sequence>,
    /// Tokens of all prompts, each counted once.
    pub(crate) prompt_tokens: u64,
    /// How they were counted.
    pub(crate) prompt_tokens_source: &'static str,
    /// Where text comes from.
    pub(crate) vocabulary: Vocabulary,
    /// The seed of the text.
    pub(crate) seed: i64,
}

/// A prompt whose tokens were counted.
struct Counted {
    tokens: u64,
    echo: Option<Arc<str>>,
}

impl Ask {
    /// The ask of a completion.
    pub(super) async fn completion(service: &Service, body: CompletionCreate) -> Result<Self, Problem> {
        let found = find(service, &body.options).await?;
        let vocabulary = Vocabulary::Size(found.model.vocab);
        let echo = |text: &str| body.echo.then(|| Arc::from(text));
        let text = |text: &String| Counted {
            tokens: estimated(text),
            echo: echo(text),
        };
        let ids = |ids: &Vec<u32>| Counted {
            tokens: ids.len() as u64,
            echo: echo(&placeholders(ids)),
        };
        let (source, prompts) = match &body.prompt {
            Prompt::Text(prompt) => (ESTIMATED, vec![text(prompt)]),
            Prompt::Texts(prompts) => (ESTIMATED, prompts.iter().map(text).collect()),
            Prompt::Tokens(prompt) => (TOKEN_IDS, vec![ids(prompt)]),
            Prompt::TokenLists(prompts) => (TOKEN_IDS, prompts.iter().map(ids).collect()),
        };
        Self::new(service, found, vocabulary, source, prompts, &body.options).await
    }

    /// The ask of a chat.
    pub(super) async fn chat(service: &Service, body: ChatCreate) -> Result<Self, Problem> {
        let found = find(service, &body.options).await?;
        let vocabulary = Vocabulary::Size(found.model.vocab);
        let contents: Vec<&str> = body
            .messages
            .iter()
            .map(|message| message.content.as_str())
            .collect();
        let prompt = Counted {
            tokens: estimated(&contents.join("\n")),
            echo: None,
        };
        Self::new(service, found, vocabulary, ESTIMATED, vec![prompt], &body.options).await
    }

    async fn new(
        service: &Service,
        found: Found,
        vocabulary: Vocabulary,
        prompt_tokens_source: &'static str,
        prompts: Vec<Counted>,
        options: &GenerationOptions,
    ) -> Result<Self, Problem> {
        let metadata = service
            .db
            .trace_metadata(&found.trace.id)
            .await
            .map_err(Error::from)?;
        let metadata = metadata.unwrap_or_default();
        let asked = options.max_tokens.or(options.max_completion_tokens);
        let output = asked
            .or_else(|| recorded(&metadata, "max_tokens"))
            .unwrap_or(DEFAULT_OUTPUT);
        let longest = recorded(&metadata, "max_model_len").or(found.model.max_positions);
        let longest = u64::from(longest.unwrap_or(DEFAULT_MAX_MODEL_LEN));
        let n = options.n.unwrap_or(1);
        let mut sequences = Vec::new();
        let mut total = 0;
        for prompt in &prompts {
            if prompt.tokens + u64::from(output) > longest {
                return Err(Problem::too_long(longest, prompt.tokens, u64::from(output)));
            }
            total += u64::from(n) * (prompt.tokens + u64::from(output));
            if total > MAX_REQUEST_TOKENS {
                let message = format!(
                    "the choices have more than {MAX_REQUEST_TOKENS} prompt and output tokens together, the most of \
                     one request; give fewer prompts, a smaller n or a smaller max_tokens"
                );
                return Err(Problem::request(400, "too_many_tokens", None, message));
            }
            let sequence = Sequence {
                // Within the longest sequence, which fits.
                prompt_tokens: u32::try_from(prompt.tokens).unwrap_or(u32::MAX),
                output_tokens: output,
                echo: prompt.echo.clone(),
            };
            sequences.extend((0..n).map(|_| sequence.clone()));
        }
        Ok(Self {
            found,
            sequences,
            prompt_tokens: prompts.iter().map(|prompt| prompt.tokens).sum(),
            prompt_tokens_source,
            vocabulary,
            seed: options.seed.map_or_else(drawn, Ok)?,
        })
    }

    /// Output tokens of all choices.
    pub(super) fn output_tokens(&self) -> u64 {
        self.sequences
            .iter()
            .map(|sequence| u64::from(sequence.output_tokens))
            .sum()
    }
}

/// The prompt was not tokenised: there is no tokenizer of the model.
const ESTIMATED: &str = "estimated:utf8-bytes/4";
/// The prompt came as token ids.
const TOKEN_IDS: &str = "token_ids";

/// Tokens of a text without a tokenizer: a quarter of its UTF-8 bytes, rounded up, at least 1.
fn estimated(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4).max(1)
}

/// Token ids as text without a tokenizer.
fn placeholders(ids: &[u32]) -> String {
    let words: Vec<String> = ids.iter().map(|id| format!("tok{id}")).collect();
    words.join(" ")
}

/// The trace by its id, else by its model's name.
async fn find(service: &Service, options: &GenerationOptions) -> Result<Found, Problem> {
    let id = TraceId::from(options.model.clone());
    let (gpu, fresh) = (options.gpu_config.clone(), options.fresh);
    let known = service.db.trace_get(&id).await.map_err(Error::from)?.is_some();
    let wanted = match known {
        true => Wanted::trace(id, gpu, fresh),
        false => Wanted::model(options.model.clone(), gpu, fresh),
    };
    let found = service.scenario_find(&wanted).await;
    found.map_err(|error| match error {
        Error::NoModel(name) => Problem::request(
            404,
            "model_not_found",
            Some("model"),
            format!("the model '{name}' is neither the id of a trace nor the model of a ready one; GET /v1/models lists both"),
        ),
        error => error.into(),
    })
}

/// A number that the trace's metadata gives for the traced run.
fn recorded(metadata: &Map<String, Value>, field: &str) -> Option<u32> {
    let places = ["workload", "run", "model_config"]
        .iter()
        .filter_map(|place| metadata.get(*place)?.get(field));
    let mut found = places.chain(metadata.get(field));
    found
        .find_map(Value::as_u64)
        .and_then(|number| u32::try_from(number).ok())
}

/// A seed that JSON numbers hold exactly.
fn drawn() -> Result<i64, Problem> {
    let bits = getrandom::u32().map_err(|error| Error::Io {
        what: "cannot draw a seed",
        source: error.into(),
    })?;
    Ok(i64::from(bits))
}
