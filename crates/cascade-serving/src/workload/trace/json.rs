//! JSONL traces: Mooncake's (`timestamp` in ms, `input_length`, `output_length`, `hash_ids`) and ours
//! (`arrival_s`, `prompt_tokens`, `output_tokens`, `priority`).

use serde_json::{Map, Value};

use super::{Row, Wrong, seconds, wrong};
use crate::content::{Content, Segment};

/// Tokens that one of Mooncake's hash ids stands for.
const HASHED_TOKENS: u32 = 512;

/// Reads a line.
pub(super) fn row(line: &str) -> Result<Row, Wrong> {
    let object: Map<String, Value> = serde_json::from_str(line)
        .map_err(|error| wrong("line", format!("is not a JSON object: {error}")))?;
    let arrival_s = match (object.get("arrival_s"), object.get("timestamp")) {
        (Some(value), _) => seconds("arrival_s", real("arrival_s", value)?)?,
        (None, Some(value)) => seconds("timestamp", real("timestamp", value)? / 1e3)?,
        (None, None) => 0.0,
    };
    let hash_ids = object.get("hash_ids").map(ids).transpose()?;
    Ok(Row {
        arrival_s,
        prompt_tokens: tokens(&object, ["prompt_tokens", "input_length"])?,
        output_tokens: tokens(&object, ["output_tokens", "output_length"])?,
        priority: match object.get("priority") {
            None => 0,
            Some(value) => real("priority", value)? as i32,
        },
        hash_ids,
    })
}

fn real(field: &str, value: &Value) -> Result<f64, Wrong> {
    value
        .as_f64()
        .ok_or_else(|| wrong(field, format!("{value} is not a number")))
}

fn tokens(object: &Map<String, Value>, names: [&str; 2]) -> Result<u32, Wrong> {
    let found = names.iter().find_map(|name| Some((name, object.get(*name)?)));
    let (name, value) =
        found.ok_or_else(|| wrong(names[0], format!("is missing, and so is {}", names[1])))?;
    let fits = value.as_u64().and_then(|count| u32::try_from(count).ok());
    fits.ok_or_else(|| wrong(name, format!("{value} is not a number of tokens")))
}

fn ids(value: &Value) -> Result<Vec<u64>, Wrong> {
    let unfit = || wrong("hash_ids", format!("{value} is not a list of whole numbers"));
    value
        .as_array()
        .and_then(|list| list.iter().map(Value::as_u64).collect())
        .ok_or_else(unfit)
}

/// Equal ids mean equal text; the last one may cover less than its 512 tokens.
pub(super) fn content(ids: &[u64], prompt_tokens: u32, request: u64) -> Content {
    let mut left = prompt_tokens;
    let mut segments = Vec::with_capacity(ids.len() + 1);
    for id in ids {
        let len = left.min(HASHED_TOKENS);
        if len > 0 {
            segments.push(Segment {
                id: *id,
                start: 0,
                len,
            });
        }
        left -= len;
    }
    let own = (1 << 62) | request;
    if left > 0 {
        segments.push(Segment {
            id: own,
            start: 0,
            len: left,
        });
    }
    Content {
        prompt: segments.into(),
        output: own | (1 << 61),
    }
}
