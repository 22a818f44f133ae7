//! The rules for requests of `/v1`: what changes nothing is let through, what cannot be given is refused.

use serde_json::{Map, Value};

use super::Checker;
use crate::{
    ChatCreate, ChatMessage, CompletionCreate, GenerationOptions, GpuName, Loc, MAX_CHOICES, MAX_MESSAGES,
    MAX_PROMPTS, MAX_REQUEST_TOKENS, Prompt, StreamOptions,
};

type Object = Map<String, Value>;

pub(super) fn completion_create(c: &mut Checker, value: &Value) -> Option<CompletionCreate> {
    let object = c.object(value)?;
    let prompt = c.required(object, "prompt", prompt);
    let echo = c.optional(object, "echo", Checker::boolean);
    refused(c, object, "suffix", "text after the completion is not supported");
    let options = options(c, object);
    Some(CompletionCreate {
        prompt: prompt?,
        echo: echo?.unwrap_or(false),
        options: options?,
    })
}

pub(super) fn chat_create(c: &mut Checker, value: &Value) -> Option<ChatCreate> {
    let object = c.object(value)?;
    let messages = c.required(object, "messages", |c, v| {
        most(c, v, MAX_MESSAGES)?;
        c.list(v, 1, message)
    });
    let tools = c.optional(object, "tools", |c, v| c.list(v, 0, |_, tool| Some(tool.clone())));
    let kwargs = c.optional(object, "chat_template_kwargs", Checker::dict);
    let options = options(c, object);
    Some(ChatCreate {
        messages: messages?,
        tools: tools?.filter(|tools| !tools.is_empty()),
        chat_template_kwargs: kwargs?.unwrap_or_default(),
        options: options?,
    })
}

fn options(c: &mut Checker, object: &Object) -> Option<GenerationOptions> {
    let model = c.required(object, "model", |c, v| {
        let model = c.string(v)?;
        if model.is_empty() {
            reject(c, v, "give the id of a trace or the name of a model");
            return None;
        }
        Some(model)
    });
    let gpu_config = c.optional(object, "gpu_config", |c, v| c.string(v).map(GpuName::from));
    let fresh = c.optional(object, "fresh", Checker::boolean);
    let tokens = |c: &mut Checker, v: &Value| whole(c, v, 0, MAX_REQUEST_TOKENS as i64);
    let old = c.optional(object, "max_tokens", tokens);
    let new = c.optional(object, "max_completion_tokens", tokens);
    if let (Some(Some(old)), Some(Some(new))) = (old, new)
        && old != new
    {
        let words = format!("max_tokens is {old} but max_completion_tokens is {new}; give one of them");
        at(c, object, "max_completion_tokens", &words);
    }
    let n = c.optional(object, "n", |c, v| whole(c, v, 1, i64::from(MAX_CHOICES)));
    let seed = c.optional(object, "seed", |c, v| match v.as_i64() {
        Some(seed) => Some(seed),
        None => {
            c.report("int_type", "Input should be a 64-bit integer", v, None);
            None
        }
    });
    let stream = c.optional(object, "stream", Checker::boolean);
    let stream_options = c.optional(object, "stream_options", stream_options);
    if stream == Some(None) || stream == Some(Some(false)) {
        refused(
            c,
            object,
            "stream_options",
            "stream_options needs \"stream\": true",
        );
    }
    choices(c, object);
    Some(GenerationOptions {
        model: model?,
        gpu_config: gpu_config?,
        fresh: fresh?.unwrap_or(false),
        max_tokens: old?,
        max_completion_tokens: new?,
        n: n?,
        seed: seed?,
        stream: stream?.unwrap_or(false),
        stream_options: stream_options?,
    })
}

/// What a caller would wait for in vain.
fn choices(c: &mut Checker, object: &Object) {
    let none = "log probabilities are not available: tokens are drawn at random";
    for name in ["logprobs", "top_logprobs", "prompt_logprobs"] {
        let off = |v: &Value| v == &Value::Bool(false) || v.as_f64() == Some(0.0);
        if object.get(name).is_some_and(|v| !off(v)) {
            refused(c, object, name, none);
        }
    }
    let n = object.get("n").and_then(Value::as_i64).unwrap_or(1);
    if object.get("best_of").is_some_and(|v| v.as_i64() != Some(n)) {
        refused(
            c,
            object,
            "best_of",
            "no choice is better than another; give n alone",
        );
    }
    let alone = "a request of /v1 is estimated alone; POST /api/scenarios takes settings of a scheduler";
    refused(c, object, "scheduler", alone);
}

fn stream_options(c: &mut Checker, value: &Value) -> Option<StreamOptions> {
    let object = c.object(value)?;
    let usage = c.optional(object, "include_usage", Checker::boolean)?;
    Some(StreamOptions {
        include_usage: usage.unwrap_or(false),
    })
}

fn prompt(c: &mut Checker, value: &Value) -> Option<Prompt> {
    if let Some(text) = value.as_str() {
        return Some(Prompt::Text(text.to_owned()));
    }
    let first = value.as_array().and_then(|items| items.first());
    let ids = |c: &mut Checker, v: &Value| c.list(v, 1, token_id);
    match first {
        Some(Value::String(_)) => {
            most(c, value, MAX_PROMPTS)?;
            c.list(value, 1, |c, v| c.string(v)).map(Prompt::Texts)
        }
        Some(Value::Number(_)) => ids(c, value).map(Prompt::Tokens),
        Some(Value::Array(_)) => {
            most(c, value, MAX_PROMPTS)?;
            c.list(value, 1, ids).map(Prompt::TokenLists)
        }
        _ => {
            let msg = "Input should be a text, a list of texts, a list of token ids or a list of such lists, not empty";
            c.report("prompt_type", msg, &Value::Null, None);
            None
        }
    }
}

fn token_id(c: &mut Checker, value: &Value) -> Option<u32> {
    whole(c, value, 0, i64::from(u32::MAX))
}

fn message(c: &mut Checker, value: &Value) -> Option<ChatMessage> {
    let object = c.object(value)?;
    let role = c.required(object, "role", |c, v| c.string(v));
    let content = c.optional(object, "content", content);
    let mut more = object.clone();
    more.remove("role");
    more.remove("content");
    Some(ChatMessage {
        role: role?,
        content: content?.unwrap_or_default(),
        more,
    })
}

/// A text, or parts of text joined by newlines, as vLLM joins them for templates that take texts.
fn content(c: &mut Checker, value: &Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    let parts = c.list(value, 0, |c, part| {
        if let Some(text) = part.as_str() {
            return Some(text.to_owned());
        }
        let object = c.object(part)?;
        let kind = object.get("type").and_then(Value::as_str).unwrap_or("text");
        if !matches!(kind, "text" | "input_text" | "refusal") {
            let words = format!("parts of type '{kind}' are not supported, only text");
            at(c, object, "type", &words);
            return None;
        }
        let field = if kind == "refusal" { "refusal" } else { "text" };
        c.required(object, field, |c, v| c.string(v))
    })?;
    Some(parts.join("\n"))
}

/// A JSON number that is whole.
fn whole(c: &mut Checker, value: &Value, ge: i64, le: i64) -> Option<u32> {
    if !value.is_number() {
        c.report("int_type", "Input should be a valid integer", value, None);
        return None;
    }
    c.integer(value, Some(ge), Some(le))
        .and_then(|n| u32::try_from(n).ok())
}

/// A list of at most so many items, if it is one.
fn most(c: &mut Checker, value: &Value, limit: usize) -> Option<()> {
    match value.as_array().map(Vec::len) {
        Some(length) if length > limit => {
            let msg = format!("List should have at most {limit} items, not {length}");
            c.report("too_long", msg, &Value::Null, None);
            None
        }
        _ => Some(()),
    }
}

/// Refuses a field that is there and neither null nor empty.
fn refused(c: &mut Checker, object: &Object, name: &str, reason: &str) {
    let given = |v: &Value| !v.is_null() && v.as_str() != Some("");
    if object.get(name).is_some_and(given) {
        at(c, object, name, reason);
    }
}

fn at(c: &mut Checker, object: &Object, name: &str, reason: &str) {
    let input = object.get(name).unwrap_or(&Value::Null);
    c.at(Loc::Name(name.into()), |c| reject(c, input, reason));
}

fn reject(c: &mut Checker, input: &Value, reason: &str) {
    c.report("value_error", reason, input, None);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::validate::Validate;

    fn completion(more: Value) -> Result<CompletionCreate, String> {
        let mut body = json!({"model": "m", "prompt": "p"});
        let fields = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        CompletionCreate::validate(body).map_err(|errors| {
            let error = errors.first().unwrap();
            format!("{:?}: {}", error.loc.last().unwrap(), error.msg)
        })
    }

    #[test]
    fn prompts_come_in_four_shapes() {
        let rows = [
            (json!("a"), Prompt::Text("a".into())),
            (json!(["a", "b"]), Prompt::Texts(vec!["a".into(), "b".into()])),
            (json!([1, 2]), Prompt::Tokens(vec![1, 2])),
            (
                json!([[1], [2, 3]]),
                Prompt::TokenLists(vec![vec![1], vec![2, 3]]),
            ),
        ];
        for (given, read) in rows {
            assert_eq!(completion(json!({"prompt": given})).unwrap().prompt, read);
        }
        for given in [
            json!([]),
            json!({}),
            json!(null),
            json!(["a", 1]),
            json!([[]]),
            json!([1, -1]),
        ] {
            assert!(completion(json!({"prompt": given})).is_err(), "{given}");
        }
    }

    #[test]
    fn what_changes_nothing_is_taken_and_what_would_be_missed_is_refused() {
        let taken = json!({"temperature": 0.5, "top_p": 1, "stop": ["x"], "logprobs": null, "best_of": 2, "n": 2,
            "suffix": null, "user": "u", "ignore_eos": true, "max_tokens": 3, "max_completion_tokens": 3, "seed": -1});
        let read = completion(taken).unwrap().options;
        assert_eq!((read.n, read.max_tokens, read.seed), (Some(2), Some(3), Some(-1)));
        for (more, words) in [
            (
                json!({"max_tokens": 1, "max_completion_tokens": 2}),
                "max_tokens is 1",
            ),
            (json!({"logprobs": 1}), "log probabilities"),
            (json!({"best_of": 4}), "n alone"),
            (json!({"n": 0}), "greater than or equal to 1"),
            (json!({"n": 129}), "less than or equal to 128"),
            (json!({"max_tokens": "3"}), "integer"),
            (json!({"max_tokens": -1}), "greater than or equal to 0"),
            (json!({"seed": 1.5}), "64-bit"),
            (json!({"scheduler": {}}), "alone"),
            (json!({"stream_options": {"include_usage": true}}), "needs"),
            (json!({"suffix": "x"}), "not supported"),
            (json!({"model": ""}), "id of a trace"),
            (json!({"model": 3}), "string"),
        ] {
            let error = completion(more.clone()).unwrap_err();
            assert!(error.contains(words), "{more}: {error}");
        }
    }

    #[test]
    fn messages_are_texts_or_parts_of_text() {
        let body = json!({"model": "m", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "name": "x"},
            {"role": "assistant", "content": null, "tool_calls": []}]});
        let chat = ChatCreate::validate(body).unwrap();
        let [first, second] = &chat.messages[..] else {
            panic!()
        };
        assert_eq!((first.content.as_str(), second.content.as_str()), ("a\nb", ""));
        assert_eq!(first.more, *json!({"name": "x"}).as_object().unwrap());
        for messages in [
            json!([]),
            json!([{"content": "x"}]),
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]),
            json!("hello"),
        ] {
            assert!(ChatCreate::validate(json!({"model": "m", "messages": messages})).is_err());
        }
    }
}
