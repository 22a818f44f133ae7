//! Everything that the explorer's controls say, as text, and the link that carries it.

use std::collections::BTreeMap;

use super::field::{FIELDS, Field, Key, Kind, text};

/// Version of the links; a link of another one is refused.
pub const VERSION: &str = "1";
/// Longest link that is read, in bytes: a config.json and every field fit.
pub const MAX_LINK_BYTES: usize = 16 << 10;
/// Most GPUs side by side.
pub const MAX_GPUS: usize = 4;
/// Known in the link and nowhere else: the version, and the file whose text no link can carry.
const VERSION_NAME: &str = "v";
const FILE_NAME: &str = "file";

/// What is wrong with a control, or with the link where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The control.
    pub key: Option<Key>,
    /// What is wrong and what to do.
    pub text: String,
}

/// What step times come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A built-in model on a GPU's datasheet.
    Model(String),
    /// A pasted config.json on a GPU's datasheet.
    Config,
    /// Finished sims of a trace.
    Trace(String),
}

/// The controls: what each reads where it differs from its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    values: BTreeMap<Key, String>,
    /// The name of the dropped file, whose text is held elsewhere.
    pub file: Option<String>,
}

impl State {
    /// What a control reads.
    pub fn get(&self, key: Key) -> &str {
        self.values.get(&key).map_or(key.field().default, String::as_str)
    }

    /// Sets a control.
    pub fn set(&mut self, key: Key, value: &str) {
        if value == key.field().default {
            self.values.remove(&key);
        } else {
            self.values.insert(key, value.to_owned());
        }
    }

    /// Whether a switch is on.
    pub fn on(&self, key: Key) -> bool {
        self.get(key) == "on"
    }

    /// A number; `None` where it is empty or wrong.
    pub fn number(&self, key: Key) -> Option<f64> {
        let value = self.get(key).trim().parse::<f64>().ok()?;
        self.problem(key).is_none().then_some(value)
    }

    /// What is wrong with a control's text.
    pub fn problem(&self, key: Key) -> Option<String> {
        let field = key.field();
        let value = self.get(key).trim();
        match field.kind {
            Kind::Text => None,
            Kind::Choice(choices) => {
                let known = choices.iter().any(|(choice, _)| *choice == value);
                let names: Vec<_> = choices.iter().map(|(choice, _)| *choice).collect();
                (!known).then(|| format!("“{value}” is none of {}", names.join(", ")))
            }
            Kind::Number { .. } if value.is_empty() => {
                (!field.optional()).then(|| "Give a number.".to_owned())
            }
            Kind::Number {
                min, max, step, unit, ..
            } => {
                let unit = if unit.is_empty() {
                    String::new()
                } else {
                    format!(" {unit}")
                };
                match value.parse::<f64>() {
                    Ok(n) if !n.is_finite() || n < min || max < n => Some(format!(
                        "Give a number from {} to {}{unit}.",
                        text(min),
                        text(max)
                    )),
                    Ok(n) if step >= 1.0 && n.fract() != 0.0 => Some("Give a whole number.".to_owned()),
                    Ok(_) => None,
                    Err(_) => Some(format!("“{value}” is not a number.")),
                }
            }
        }
    }

    /// What step times come from.
    pub fn base(&self) -> Base {
        let text = self.get(Key::Base);
        if let Some(trace) = text.strip_prefix("trace:") {
            return Base::Trace(trace.to_owned());
        }
        match text.strip_prefix("model:") {
            Some(model) => Base::Model(model.to_owned()),
            None => Base::Config,
        }
    }

    /// The GPUs, in the order of the page.
    pub fn gpus(&self) -> Vec<String> {
        let names = self.get(Key::Gpus).split(',').map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .take(MAX_GPUS)
            .collect()
    }

    /// Takes a GPU in, or out.
    pub fn toggle_gpu(&mut self, gpu: &str) {
        let mut gpus = self.gpus();
        let mut prices: Vec<String> = (0..gpus.len()).map(|at| self.price_text(at)).collect();
        match gpus.iter().position(|name| name == gpu) {
            Some(at) => {
                gpus.remove(at);
                prices.remove(at);
            }
            None if gpus.len() < MAX_GPUS => {
                gpus.push(gpu.to_owned());
                prices.push(String::new());
            }
            None => {}
        }
        self.set(Key::Gpus, &gpus.join(","));
        self.set_prices(&prices);
    }

    /// What the price of the GPU at a place reads.
    pub fn price_text(&self, at: usize) -> String {
        let prices = self.get(Key::Prices);
        prices.split(',').nth(at).unwrap_or_default().trim().to_owned()
    }

    /// Sets the price of the GPU at a place.
    pub fn set_price(&mut self, at: usize, price: &str) {
        let mut prices: Vec<String> = (0..self.gpus().len()).map(|at| self.price_text(at)).collect();
        if let Some(place) = prices.get_mut(at) {
            *place = price.replace(',', ".");
        }
        self.set_prices(&prices);
    }

    fn set_prices(&mut self, prices: &[String]) {
        let text = prices.join(",");
        self.set(Key::Prices, text.trim_end_matches(','));
    }

    /// The price of the GPU at a place.
    ///
    /// # Errors
    /// A text that is no price.
    pub fn price(&self, at: usize) -> Result<Option<f64>, Problem> {
        let text = self.price_text(at);
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse::<f64>() {
            Ok(price) if price.is_finite() && (0.0..=1e6).contains(&price) => Ok(Some(price)),
            _ => Err(Problem {
                key: Some(Key::Prices),
                text: format!("“{text}” is not a price from 0 to 1,000,000."),
            }),
        }
    }

    /// The query of a link to this state: the version and every control that is not at its default.
    pub fn link(&self) -> String {
        let mut out = format!("{VERSION_NAME}={VERSION}");
        let values = self.values.iter().map(|(key, value)| (key.field().name, value));
        let file = self.file.iter().map(|file| (FILE_NAME, file));
        for (name, value) in values.chain(file) {
            out.push('&');
            out.push_str(name);
            out.push('=');
            encode(&mut out, value);
        }
        out
    }

    /// Reads a link's query, with or without its `?`; what cannot be read is told, the rest is taken.
    ///
    /// Without a version it is a link that another page made by hand.
    pub fn read(query: &str) -> (Self, Vec<Problem>) {
        let query = query.strip_prefix('?').unwrap_or(query);
        let whole = |text: String| vec![Problem { key: None, text }];
        if query.len() > MAX_LINK_BYTES {
            let text = format!(
                "This link is longer than the {MAX_LINK_BYTES} bytes that are read. The defaults are shown."
            );
            return (Self::default(), whole(text));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs: Vec<(String, String)> = pairs
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(name), decode(value))
            })
            .collect();
        let version = pairs.iter().find(|(name, _)| name == VERSION_NAME);
        if let Some((_, version)) = version.filter(|(_, version)| version != VERSION) {
            let text = format!(
                "This link is of version “{version}” of the explorer, which reads version {VERSION}. The defaults are shown."
            );
            return (Self::default(), whole(text));
        }
        let (mut state, mut problems) = (Self::default(), Vec::new());
        for (name, value) in pairs {
            match (Key::named(&name), name.as_str()) {
                (Some(key), _) => state.set(key, &value),
                (None, VERSION_NAME) => {}
                (None, FILE_NAME) => state.file = Some(value),
                (None, _) => problems.push(Problem {
                    key: None,
                    text: format!(
                        "The link says “{name}”, which the explorer does not know; it is left out."
                    ),
                }),
            }
        }
        for field in FIELDS {
            let Field { key, kind, .. } = *field;
            // A wrong number is shown in its field; a choice has no place for a wrong value.
            if matches!(kind, Kind::Choice(_))
                && let Some(problem) = state.problem(key)
            {
                problems.push(Problem {
                    key: Some(key),
                    text: format!("{}: {problem}. The default is shown.", field.label),
                });
                state.values.remove(&key);
            }
        }
        (state, problems)
    }
}

/// Appends `text` percent-encoded; `:`, `/` and `,` may stand in a query (RFC 3986 §3.4) and keep links readable.
fn encode(out: &mut String, text: &str) {
    use std::fmt::Write;
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/,".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            _ = write!(out, "%{byte:02X}");
        }
    }
}

/// Undoes [`encode`], and `+` for a space; what is not encoded well stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        let pair = match after {
            [high, low, ..] if *first == b'%' => hex(high).zip(hex(low)),
            _ => None,
        };
        if let Some((high, low)) = pair {
            // Two hexadecimal digits are a byte.
            bytes.push((high * 16 + low) as u8);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(if *first == b'+' { b' ' } else { *first });
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
