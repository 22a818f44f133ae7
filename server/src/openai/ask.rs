//! What a request comes down to: sequences of so many prompt and output tokens, on a trace and a GPU.

use std::sync::Arc;

use cascade_api::{
    ChatCreate, CompletionCreate, DEFAULT_MAX_MODEL_LEN, GenerationOptions, MAX_REQUEST_TOKENS, TraceId,
    TraceSummary,
};
use serde_json::{Map, Value};
use tokio::task::JoinError;

use super::problem::Problem;
use super::prompts::{self, Counted, Source};
use super::text::Vocabulary;
use super::tokens::folders;
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
    /// Its prompt token by token: equal prefixes share KV blocks. As many as `prompt_tokens`.
    pub(crate) ids: Arc<[u32]>,
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

impl Ask {
    /// The ask of a completion.
    pub(super) async fn completion(service: &Service, body: CompletionCreate) -> Result<Self, Problem> {
        let CompletionCreate {
            prompt,
            echo,
            options,
        } = body;
        let count =
            move |vocabulary: &Vocabulary, vocab| prompts::of_completion(vocabulary, &prompt, echo, vocab);
        Self::new(service, options, count).await
    }

    /// The ask of a chat.
    pub(super) async fn chat(service: &Service, body: ChatCreate) -> Result<Self, Problem> {
        let options = body.options.clone();
        Self::new(service, options, move |vocabulary, _| {
            prompts::of_chat(vocabulary, &body)
        })
        .await
    }

    async fn new<Count>(service: &Service, options: GenerationOptions, count: Count) -> Result<Self, Problem>
    where
        Count: FnOnce(&Vocabulary, u32) -> Result<(Source, Vec<Counted>), Problem> + Send + 'static,
    {
        let found = find(service, &options).await?;
        let (asked, trace, vocab) = (service.clone(), found.trace.clone(), found.model.vocab);
        // Reading a tokenizer and splitting a long prompt take a while.
        let counted = tokio::task::spawn_blocking(move || {
            let vocabulary = vocabulary(&asked, &trace, vocab)?;
            let (source, prompts) = count(&vocabulary, vocab)?;
            Ok::<_, Problem>((vocabulary, source, prompts))
        });
        // The library may break off on a file that makes no sense.
        let (vocabulary, source, prompts) = counted.await.map_err(|error| broken(&found, &error))??;
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
            if prompt.tokens() + u64::from(output) > longest {
                return Err(Problem::too_long(longest, prompt.tokens(), u64::from(output)));
            }
            total += u64::from(n) * (prompt.tokens() + u64::from(output));
            if total > MAX_REQUEST_TOKENS {
                let message = format!(
                    "the choices have more than {MAX_REQUEST_TOKENS} prompt and output tokens together, the most of \
                     one request; give fewer prompts, a smaller n or a smaller max_tokens"
                );
                return Err(Problem::request(400, "too_many_tokens", None, message));
            }
            let sequence = Sequence {
                // Within the longest sequence, which fits.
                prompt_tokens: u32::try_from(prompt.tokens()).unwrap_or(u32::MAX),
                output_tokens: output,
                ids: Arc::clone(&prompt.ids),
                echo: prompt.echo.clone(),
            };
            sequences.extend((0..n).map(|_| sequence.clone()));
        }
        Ok(Self {
            found,
            sequences,
            prompt_tokens: prompts.iter().map(Counted::tokens).sum(),
            prompt_tokens_source: source.name(),
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

/// The tokens of a trace's model, if they are known.
fn vocabulary(service: &Service, trace: &TraceSummary, vocab: u32) -> Result<Vocabulary, Problem> {
    let settings = &service.settings;
    let own = settings.traces_dir().join(trace.id.as_str());
    let folders = folders(&own, &settings.tokenizers_dir, trace.model.as_deref());
    let tokens = service.tokenizers.get(&folders)?;
    Ok(tokens.map_or(Vocabulary::Size(vocab), Vocabulary::Tokens))
}

fn broken(found: &Found, error: &JoinError) -> Problem {
    tracing::error!(trace = %found.trace.id, %error, "a tokenizer broke off");
    let model = found.trace.model.as_deref().unwrap_or_default();
    let message =
        format!("the tokenizer of {model} broke off: its files make no sense; mend them, or take them away");
    Problem::request(422, "tokenizer_unusable", Some("model"), message)
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
