//! The rules for single fields.

use serde_json::{Map, Value, json};

use crate::{FieldError, Loc};

/// Collects problems while a body is read; keeps the path to the field it is at.
#[derive(Debug)]
pub struct Checker {
    path: Vec<Loc>,
    errors: Vec<FieldError>,
}

impl Default for Checker {
    fn default() -> Self {
        Self {
            path: vec![Loc::Name("body".into())],
            errors: Vec::new(),
        }
    }
}

impl Checker {
    /// A checker at the top of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value, if nothing was wrong.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Vec<FieldError>> {
        match value {
            Some(value) if self.errors.is_empty() => Ok(value),
            _ => Err(self.errors),
        }
    }

    /// Notes a problem at the current path.
    pub fn report(&mut self, kind: &str, msg: impl Into<String>, input: &Value, ctx: Option<Value>) {
        let error = FieldError {
            kind: kind.into(),
            loc: self.path.clone(),
            msg: msg.into(),
            input: input.clone(),
            ctx,
        };
        self.errors.push(error);
    }

    /// Runs `check` one step deeper.
    pub fn at<T>(&mut self, step: Loc, check: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = check(self);
        self.path.pop();
        result
    }

    /// The value as an object.
    pub fn object<'v>(&mut self, value: &'v Value) -> Option<&'v Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            let msg = "Input should be a valid dictionary or object to extract fields from";
            self.report("model_attributes_type", msg, value, None);
        }
        object
    }

    /// A field that must be there.
    pub fn required<'v, T>(
        &mut self,
        object: &'v Map<String, Value>,
        name: &str,
        check: impl FnOnce(&mut Self, &'v Value) -> Option<T>,
    ) -> Option<T> {
        self.at(Loc::Name(name.into()), |c| match object.get(name) {
            Some(value) => check(c, value),
            None => {
                c.errors
                    .push(missing(c.path.clone(), Value::Object(object.clone())));
                None
            }
        })
    }

    /// A field that may be missing or `null`; the outer `None` means that it was there and wrong.
    pub fn optional<'v, T>(
        &mut self,
        object: &'v Map<String, Value>,
        name: &str,
        check: impl FnOnce(&mut Self, &'v Value) -> Option<T>,
    ) -> Option<Option<T>> {
        match object.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) => self.at(Loc::Name(name.into()), |c| check(c, value)).map(Some),
        }
    }

    /// A string.
    pub fn string(&mut self, value: &Value) -> Option<String> {
        if !value.is_string() {
            self.report("string_type", "Input should be a valid string", value, None);
        }
        value.as_str().map(str::to_owned)
    }

    /// True or false; nothing else counts as either.
    pub fn boolean(&mut self, value: &Value) -> Option<bool> {
        let found = value.as_bool();
        if found.is_none() {
            self.report("bool_type", "Input should be a valid boolean", value, None);
        }
        found
    }

    /// A whole number within `ge..=le`. Numeric strings are taken too, as lax pydantic models do.
    pub fn integer(&mut self, value: &Value, ge: Option<i64>, le: Option<i64>) -> Option<i64> {
        let number = match value {
            Value::Number(n) if n.is_i64() => n.as_i64(),
            Value::Number(n) => match n.as_f64() {
                Some(f) if f.fract() != 0.0 => {
                    let msg = "Input should be a valid integer, got a number with a fractional part";
                    self.report("int_from_float", msg, value, None);
                    return None;
                }
                Some(f) if f.abs() < 9e15 => Some(f as i64),
                _ => {
                    let msg = "Unable to parse input string as an integer, exceeded maximum size";
                    self.report("int_parsing_size", msg, value, None);
                    return None;
                }
            },
            Value::String(text) => match text.trim().parse() {
                Ok(number) => Some(number),
                Err(_) => {
                    let msg = "Input should be a valid integer, unable to parse string as an integer";
                    self.report("int_parsing", msg, value, None);
                    return None;
                }
            },
            _ => None,
        };
        let Some(number) = number else {
            self.report("int_type", "Input should be a valid integer", value, None);
            return None;
        };
        if let Some(ge) = ge.filter(|ge| number < *ge) {
            let msg = format!("Input should be greater than or equal to {ge}");
            self.report("greater_than_equal", msg, value, Some(json!({ "ge": ge })));
            return None;
        }
        if let Some(le) = le.filter(|le| number > *le) {
            let msg = format!("Input should be less than or equal to {le}");
            self.report("less_than_equal", msg, value, Some(json!({ "le": le })));
            return None;
        }
        Some(number)
    }

    /// A list with at least `min` items, each read by `item`; every item's problems are reported.
    pub fn list<'v, T>(
        &mut self,
        value: &'v Value,
        min: usize,
        mut item: impl FnMut(&mut Self, &'v Value) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(items) = value.as_array() else {
            self.report("list_type", "Input should be a valid list", value, None);
            return None;
        };
        if items.len() < min {
            let plural = if min == 1 { "" } else { "s" };
            let msg = format!(
                "List should have at least {min} item{plural} after validation, not {}",
                items.len()
            );
            let ctx = json!({ "field_type": "List", "min_length": min, "actual_length": items.len() });
            self.report("too_short", msg, value, Some(ctx));
            return None;
        }
        let read: Vec<Option<T>> = items
            .iter()
            .zip(0..)
            .map(|(v, i)| self.at(Loc::Index(i), |c| item(c, v)))
            .collect();
        read.into_iter().collect()
    }

    /// A dictionary, kept as it is.
    pub fn dict(&mut self, value: &Value) -> Option<Map<String, Value>> {
        if !value.is_object() {
            self.report("dict_type", "Input should be a valid dictionary", value, None);
        }
        value.as_object().cloned()
    }

    /// One of a closed list of texts.
    pub fn literal<T>(&mut self, value: &Value, choices: &[(&str, T)]) -> Option<T>
    where
        T: Copy,
    {
        if let Some((_, choice)) = value
            .as_str()
            .and_then(|text| choices.iter().find(|(name, _)| *name == text))
        {
            return Some(*choice);
        }
        let quoted: Vec<String> = choices.iter().map(|(name, _)| format!("'{name}'")).collect();
        let expected = match quoted.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => quoted.concat(),
        };
        let ctx = json!({ "expected": expected });
        self.report(
            "literal_error",
            format!("Input should be {expected}"),
            value,
            Some(ctx),
        );
        None
    }
}

/// The report of a field that is not there.
pub(super) fn missing(loc: Vec<Loc>, input: Value) -> FieldError {
    FieldError {
        kind: "missing".into(),
        loc,
        msg: "Field required".into(),
        input,
        ctx: None,
    }
}

/// The report of a body that is not JSON, with the byte at which reading stopped.
pub(super) fn bad_json(bytes: &[u8], error: &serde_json::Error) -> FieldError {
    let before: usize = bytes
        .split_inclusive(|b| *b == b'\n')
        .take(error.line().saturating_sub(1))
        .map(<[u8]>::len)
        .sum();
    let position = (before + error.column().saturating_sub(1)).min(bytes.len()) as u64;
    let reason = error.to_string();
    let reason = reason
        .split(" at line ")
        .next()
        .unwrap_or("invalid JSON")
        .to_owned();
    FieldError {
        kind: "json_invalid".into(),
        loc: vec![Loc::Name("body".into()), Loc::Index(position)],
        msg: "JSON decode error".into(),
        input: json!({}),
        ctx: Some(json!({ "error": reason })),
    }
}
