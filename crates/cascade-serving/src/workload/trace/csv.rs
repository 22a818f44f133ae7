//! CSV traces: the header says which column holds what. Fields are not quoted in any of the known traces.

use jiff::civil::DateTime;

use super::{Row, Wrong, seconds, wrong};

/// Where things stand in a line.
pub(super) struct Columns {
    count: usize,
    arrival: Option<(usize, Clock)>,
    prompt: usize,
    output: usize,
    priority: Option<usize>,
}

#[derive(Clone, Copy)]
enum Clock {
    Seconds,
    /// Azure's `2023-11-16 18:15:46.6805900`.
    Date,
}

const SECONDS: [&str; 2] = ["arrival_s", "arrived_at"];
const DATE: &str = "TIMESTAMP";
/// Ours, LLMServingSim's, Azure's and Vidur's names.
const PROMPT: [&str; 4] = [
    "prompt_tokens",
    "input_toks",
    "ContextTokens",
    "num_prefill_tokens",
];
const OUTPUT: [&str; 4] = [
    "output_tokens",
    "output_toks",
    "GeneratedTokens",
    "num_decode_tokens",
];

impl Columns {
    /// Reads a header.
    pub(super) fn of(line: &str) -> Result<Self, Wrong> {
        let names: Vec<&str> = line.split(',').map(str::trim).collect();
        let find = |known: &[&str]| names.iter().position(|name| known.contains(name));
        let need = |known: &[&str]| {
            let missing = || {
                wrong(
                    "header",
                    format!("has none of the columns {}: \"{line}\"", known.join(", ")),
                )
            };
            find(known).ok_or_else(missing)
        };
        let arrival = match (find(&SECONDS), find(&[DATE])) {
            (Some(at), _) => Some((at, Clock::Seconds)),
            (None, Some(at)) => Some((at, Clock::Date)),
            (None, None) => None,
        };
        Ok(Self {
            count: names.len(),
            arrival,
            prompt: need(&PROMPT)?,
            output: need(&OUTPUT)?,
            priority: find(&["priority"]),
        })
    }

    /// Reads a line. Without an arrival column all requests arrive at once.
    pub(super) fn row(&self, line: &str) -> Result<Row, Wrong> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != self.count {
            return Err(wrong(
                "line",
                format!("has {} fields and the header {}", fields.len(), self.count),
            ));
        }
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let arrival_s = match self.arrival {
            None => 0.0,
            Some((at, Clock::Seconds)) => seconds("arrival", number("arrival", field(at))?)?,
            Some((at, Clock::Date)) => date(field(at))?,
        };
        Ok(Row {
            arrival_s,
            prompt_tokens: number("prompt tokens", field(self.prompt))?,
            output_tokens: number("output tokens", field(self.output))?,
            priority: self.priority.map_or(Ok(0), |at| number("priority", field(at)))?,
            hash_ids: None,
        })
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, Wrong> {
    let unfit = |_| wrong(name, format!("\"{text}\" is not a number that fits"));
    text.parse().map_err(unfit)
}

/// Seconds since 2000; only differences count.
fn date(text: &str) -> Result<f64, Wrong> {
    let unfit = || {
        wrong(
            DATE,
            format!("\"{text}\" is not a time such as 2023-11-16 18:15:46.6805900"),
        )
    };
    let time: DateTime = text.parse().ok().ok_or_else(unfit)?;
    let epoch = jiff::civil::date(2000, 1, 1).at(0, 0, 0, 0);
    let since = time.duration_since(epoch);
    seconds(DATE, since.as_secs_f64())
}
