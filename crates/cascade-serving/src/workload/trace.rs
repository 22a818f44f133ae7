//! Request traces: Azure's CSV, Mooncake's JSONL, lists of lengths, and our own CSV and JSONL.
//!
//! The form is told by the first line: a JSON object, or a CSV header whose column names say what they hold.

mod csv;
mod json;

use std::io::BufRead;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::List;
use crate::request::Request;

/// Longest line of a trace, in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// Most requests read from a trace.
pub const MAX_TRACE_REQUESTS: usize = 5_000_000;
/// Largest arrival, in seconds: 30 years.
const MAX_SECONDS: f64 = 1e9;

/// What is wrong with a trace, and where.
#[derive(Debug, Error)]
#[error("{file}:{line}: {field}: {message}")]
pub struct TraceFileError {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column or key.
    pub field: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// How a trace is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TraceOptions {
    /// Divides the time between arrivals: 2 plays the trace at twice its rate.
    pub speedup: f64,
    /// Reads no more than this many requests.
    pub limit: usize,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            speedup: 1.0,
            limit: MAX_TRACE_REQUESTS,
        }
    }
}

/// One row, whatever the form. `field` names of errors are those of the form.
struct Row {
    arrival_s: f64,
    prompt_tokens: u32,
    output_tokens: u32,
    priority: i32,
    /// Mooncake's names of the prompt's blocks of 512 tokens.
    hash_ids: Option<Vec<u64>>,
}

/// A field and what is wrong with it.
type Wrong = (String, String);

fn wrong(field: &str, message: impl Into<String>) -> Wrong {
    (field.to_owned(), message.into())
}

enum Form {
    Csv(csv::Columns),
    Json,
}

impl Form {
    fn row(&self, line: &str) -> Result<Row, Wrong> {
        match self {
            Self::Csv(columns) => columns.row(line),
            Self::Json => json::row(line),
        }
    }
}

/// Reads a trace. `file` is the name for errors. Arrivals count from the first one.
pub fn read_trace(
    file: &str,
    mut input: impl BufRead,
    options: TraceOptions,
) -> Result<List, TraceFileError> {
    let at = |line: usize, (field, message): Wrong| TraceFileError {
        file: file.to_owned(),
        line,
        field,
        message,
    };
    if !(options.speedup.is_finite() && options.speedup > 0.0) {
        return Err(at(
            0,
            wrong(
                "speedup",
                format!("is {}: give a number above 0", options.speedup),
            ),
        ));
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut form = None;
    let mut buffer = Vec::new();
    for number in 1.. {
        let line = next_line(&mut input, &mut buffer).map_err(|wrong| at(number, wrong))?;
        let Some(line) = line else { break };
        if line.is_empty() {
            continue;
        }
        match &form {
            None if line.starts_with('{') => {
                rows.push(json::row(line).map_err(|wrong| at(number, wrong))?);
                form = Some(Form::Json);
            }
            None => {
                form = Some(Form::Csv(
                    csv::Columns::of(line).map_err(|wrong| at(number, wrong))?,
                ))
            }
            Some(form) => rows.push(form.row(line).map_err(|wrong| at(number, wrong))?),
        }
        if rows.len() >= options.limit {
            break;
        }
        if rows.len() >= MAX_TRACE_REQUESTS {
            let message = format!("the trace has more than {MAX_TRACE_REQUESTS} requests: set a limit");
            return Err(at(number, wrong("requests", message)));
        }
    }
    Ok(List::new(requests(rows, options.speedup)))
}

fn next_line<'a>(input: &mut impl BufRead, buffer: &'a mut Vec<u8>) -> Result<Option<&'a str>, Wrong> {
    use std::io::Read;
    buffer.clear();
    let mut limited = input.by_ref().take(MAX_LINE_BYTES as u64 + 1);
    let read = limited
        .read_until(b'\n', buffer)
        .map_err(|error| wrong("line", error.to_string()))?;
    if read > MAX_LINE_BYTES {
        return Err(wrong("line", format!("is longer than {MAX_LINE_BYTES} bytes")));
    }
    let text = std::str::from_utf8(buffer).map_err(|error| wrong("line", error.to_string()))?;
    Ok((read > 0).then(|| text.trim_start_matches('\u{feff}').trim()))
}

fn requests(rows: Vec<Row>, speedup: f64) -> Vec<Request> {
    let first = rows.iter().map(|row| row.arrival_s).fold(f64::INFINITY, f64::min);
    let request = |(id, row): (usize, Row)| {
        let arrival_ns = super::to_ns((row.arrival_s - first) / speedup);
        let content = row
            .hash_ids
            .map(|ids| json::content(&ids, row.prompt_tokens, id as u64));
        Request {
            priority: row.priority,
            content,
            ..Request::new(id as u64, arrival_ns, row.prompt_tokens, row.output_tokens)
        }
    };
    rows.into_iter().enumerate().map(request).collect()
}

fn seconds(field: &str, value: f64) -> Result<f64, Wrong> {
    if value.is_finite() && (0.0..=MAX_SECONDS).contains(&value) {
        Ok(value)
    } else {
        Err(wrong(
            field,
            format!("{value} is not a time: give seconds from 0 to {MAX_SECONDS}"),
        ))
    }
}

#[cfg(test)]
mod tests;
