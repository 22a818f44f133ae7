//! The API reference, made of the OpenAPI document that `/api/openapi.json` serves. The build reads the snapshot
//! that `server/tests/api/openapi.rs` holds equal to it, so it needs no server.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use super::examples::Examples;

/// The document, within the repository.
const SNAPSHOT: &str = "server/tests/api/snapshots/api__openapi__document.snap";
/// The page with every type.
const TYPES: &str = "api-types.md";
const SCHEMAS: &str = "#/components/schemas/";
const RESPONSES: &str = "#/components/responses/";

/// One method of one path.
pub(super) struct Operation<'a> {
    method: String,
    path: &'a str,
    spec: &'a Value,
}

impl Operation<'_> {
    /// Such as `POST /api/runs`.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn tag(&self) -> &str {
        self.spec
            .pointer("/tags/0")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn open(&self) -> bool {
        let security = self.spec.get("security").and_then(Value::as_array);
        security.is_some_and(|all| all.iter().any(|one| one.as_object().is_some_and(Map::is_empty)))
    }
}

/// How types are written: for people, as links, or for programs, as names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Links,
    Names,
}

/// The OpenAPI document.
pub(super) struct Api(Value);

impl Api {
    /// Reads the snapshot.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let file = root.join(SNAPSHOT);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let json = text.splitn(3, "---\n").nth(2).unwrap_or(&text);
        let document = serde_json::from_str(json).with_context(|| format!("{SNAPSHOT} holds no JSON"))?;
        Ok(Self(document))
    }

    #[cfg(test)]
    pub(super) const fn of(document: Value) -> Self {
        Self(document)
    }

    fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        let paths = self
            .0
            .get("paths")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        paths.flat_map(|(path, methods)| {
            methods
                .as_object()
                .into_iter()
                .flatten()
                .map(move |(method, spec)| Operation {
                    method: method.to_uppercase(),
                    path,
                    spec,
                })
        })
    }

    /// Every operation with its summary; `page` says which page shows an operation of a tag.
    pub(super) fn routes(&self, page: &dyn Fn(&str) -> Option<String>) -> String {
        let rows = self.operations().map(|operation| {
            let name = format!("`{}`", operation.name());
            let shown = match page(operation.tag()) {
                Some(file) => format!("[{name}]({file}#{})", super::markdown::slug(&operation.name())),
                None => name,
            };
            vec![shown, text(operation.spec, "summary")]
        });
        table(&["route", "what it does"], rows)
    }

    /// Every operation of a tag, with what it takes, answers and showed when it was tried.
    ///
    /// # Errors
    /// When no operation has the tag.
    pub(super) fn tag(&self, tag: &str, examples: &Examples) -> Result<String> {
        let mut out = String::new();
        for operation in self.operations().filter(|operation| operation.tag() == tag) {
            self.operation(&operation, examples, &mut out);
        }
        ensure!(!out.is_empty(), "the API has no operation tagged `{tag}`");
        Ok(out)
    }

    fn operation(&self, operation: &Operation<'_>, examples: &Examples, out: &mut String) {
        let spec = operation.spec;
        out.push_str(&format!("## {}\n\n{}", operation.name(), text(spec, "summary")));
        for more in [text(spec, "description"), open_note(operation)] {
            if !more.is_empty() {
                out.push_str(&format!(" {more}"));
            }
        }
        out.push_str("\n\n");
        let parameters = spec
            .get("parameters")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let rows: Vec<Vec<String>> = parameters
            .map(|p| {
                vec![
                    format!("`{}`", text(p, "name")),
                    text(p, "in"),
                    text(p, "description"),
                ]
            })
            .collect();
        if !rows.is_empty() {
            out.push_str(&table(&["parameter", "in", "meaning"], rows.into_iter()));
            out.push('\n');
        }
        let body = spec.pointer("/requestBody/content").and_then(Value::as_object);
        for (kind, content) in body.into_iter().flatten() {
            let schema = content.get("schema").unwrap_or(&Value::Null);
            out.push_str(&format!(
                "**Body**: {} (`{kind}`)\n\n",
                self.ty(schema, Style::Links)
            ));
            out.push_str(&self.fields(schema, Style::Links));
        }
        out.push_str(&self.answers(spec));
        for example in examples.of(&operation.name()) {
            out.push_str(&example.markdown());
        }
    }

    /// The answers: successes with their types, then errors as a list.
    fn answers(&self, spec: &Value) -> String {
        let mut out = String::new();
        let mut errors = Vec::new();
        for (status, answer) in spec
            .get("responses")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let named = answer
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|name| name.strip_prefix(RESPONSES));
            let answer = named
                .and_then(|name| self.0.pointer(&format!("/components/responses/{name}")))
                .unwrap_or(answer);
            if !status.starts_with('2') && !status.starts_with('3') {
                errors.push(vec![
                    format!("[`{status}`](api.md#errors)"),
                    text(answer, "description"),
                ]);
                continue;
            }
            out.push_str(&format!("**Answers** `{status}`"));
            let content = answer
                .get("content")
                .and_then(Value::as_object)
                .and_then(|all| all.iter().next());
            if let Some((kind, content)) = content {
                let schema = content.get("schema").unwrap_or(&Value::Null);
                out.push_str(&format!(" with {} (`{kind}`)", self.ty(schema, Style::Links)));
            }
            out.push_str(&format!(". {}\n\n", text(answer, "description")));
        }
        if !errors.is_empty() {
            out.push_str(&table(&["error", "when"], errors.into_iter()));
            out.push('\n');
        }
        out
    }

    /// Every type, for people.
    pub(super) fn types(&self) -> String {
        self.schemas()
            .map(|(name, schema)| format!("## {name}\n\n{}", self.describe(schema, Style::Links)))
            .collect()
    }

    fn schemas(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0
            .pointer("/components/schemas")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    }

    /// A type: its meaning, then its fields, values or forms.
    fn describe(&self, schema: &Value, style: Style) -> String {
        let mut out = text(schema, "description");
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        if let Some(forms) = schema.get("oneOf").and_then(Value::as_array) {
            for form in forms {
                out.push_str(&format!("- {}", self.form(form, style)));
                out.push('\n');
            }
            out.push('\n');
        } else if schema.get("properties").is_some() || schema.get("allOf").is_some() {
            out.push_str(&self.fields(schema, style));
        } else {
            out.push_str(&format!("A {}.\n\n", self.ty(schema, style)));
        }
        out
    }

    /// One form of a union in a line: the value that marks it, its meaning and its fields.
    fn form(&self, form: &Value, style: Style) -> String {
        let meaning = text(form, "description");
        let Some(properties) = form.get("properties").and_then(Value::as_object) else {
            return format!("{}: {meaning}", self.ty(form, style));
        };
        let mark = properties
            .iter()
            .find_map(|(name, field)| Some((name, only_value(field)?)));
        let head = mark.map_or_else(String::new, |(name, value)| format!("`{name}` = `{value}`: "));
        let others = properties
            .iter()
            .filter(|(name, _)| mark.is_none_or(|(marked, _)| marked != *name));
        let fields: Vec<String> = others
            .map(|(name, field)| {
                let note = text(field, "description");
                let note = if note.is_empty() {
                    note
                } else {
                    format!(": {}", note.trim_end_matches('.'))
                };
                format!(
                    "`{name}` ({}{}){note}",
                    self.ty(field, style),
                    optional(form, name)
                )
            })
            .collect();
        match fields.is_empty() {
            true => format!("{head}{meaning}"),
            false => format!("{head}{meaning} Fields: {}.", fields.join("; ")),
        }
    }

    /// The fields of an object, also of one that adds to others.
    fn fields(&self, schema: &Value, style: Style) -> String {
        let target =
            reference(schema).and_then(|name| self.0.pointer(&format!("/components/schemas/{name}")));
        let schema = target.unwrap_or(schema);
        let mut out = String::new();
        for part in schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            match reference(part) {
                Some(_) => out.push_str(&format!(
                    "Every field of {}, and these.\n\n",
                    self.ty(part, style)
                )),
                None => out.push_str(&self.fields(part, style)),
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let rows = properties.into_iter().flatten().map(|(name, field)| {
            let kind = format!("{}{}", self.ty(field, style), optional(schema, name));
            (name, kind, meaning(field))
        });
        match style {
            _ if properties.is_none_or(Map::is_empty) => {}
            Style::Links => {
                let rows = rows.map(|(name, kind, meaning)| vec![format!("`{name}`"), kind, meaning]);
                out.push_str(&table(&["field", "type", "meaning"], rows));
                out.push('\n');
            }
            Style::Names => {
                for (name, kind, meaning) in rows {
                    out.push_str(&format!("- `{name}` ({kind}): {meaning}\n"));
                }
                out.push('\n');
            }
        }
        out
    }

    /// A type in words.
    fn ty(&self, schema: &Value, style: Style) -> String {
        if let Some(name) = reference(schema) {
            return match style {
                Style::Links => format!("[`{name}`]({TYPES}#{})", super::markdown::slug(name)),
                Style::Names => name.to_owned(),
            };
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            if let Some(forms) = schema.get(key).and_then(Value::as_array) {
                let forms: Vec<String> = forms.iter().map(|form| self.ty(form, style)).collect();
                return forms.join(" or ");
            }
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let values: Vec<String> = values.iter().map(|value| format!("`{}`", plain(value))).collect();
            return values.join(" or ");
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(kind)) => vec![kind],
            _ => vec!["any value"],
        };
        let words = kinds.into_iter().map(|kind| match kind {
            "array" => format!(
                "list of {}",
                self.ty(schema.get("items").unwrap_or(&Value::Null), style)
            ),
            "object" => match schema
                .get("additionalProperties")
                .filter(|value| value.is_object())
            {
                Some(values) => format!("map to {}", self.ty(values, style)),
                None => "object".into(),
            },
            "string" if schema.get("format").and_then(Value::as_str) == Some("date-time") => {
                "time (ISO 8601)".into()
            }
            other => other.to_owned(),
        });
        words.collect::<Vec<_>>().join(" or ") + &range(schema)
    }

    /// Operations and types for an agent, in as few words as they allow; the types are those that the operations
    /// of these tags lead to.
    pub(super) fn brief(&self, tags: &[&str]) -> (String, String) {
        let mut routes = String::new();
        let mut wanted = Vec::new();
        for operation in self
            .operations()
            .filter(|operation| tags.contains(&operation.tag()))
        {
            references(operation.spec, &mut wanted);
            routes.push_str(&format!(
                "- `{}`: {}",
                operation.name(),
                text(operation.spec, "summary")
            ));
            let body = operation
                .spec
                .pointer("/requestBody/content")
                .and_then(Value::as_object);
            if let Some(schema) = body.and_then(|all| all.values().next()?.get("schema")) {
                routes.push_str(&format!(" Body: {}.", self.ty(schema, Style::Names)));
            }
            let answers = operation
                .spec
                .get("responses")
                .and_then(Value::as_object)
                .into_iter()
                .flatten();
            let mut errors = Vec::new();
            for (status, answer) in answers {
                let content = answer.get("content").and_then(Value::as_object);
                match content.and_then(|all| all.values().next()?.get("schema")) {
                    Some(schema) if status.starts_with('2') => {
                        routes.push_str(&format!(
                            " Answers `{status}`: {}.",
                            self.ty(schema, Style::Names)
                        ));
                    }
                    _ if status.starts_with('2') => routes.push_str(&format!(" Answers `{status}`.")),
                    _ => errors.push(status.as_str()),
                }
            }
            if !errors.is_empty() {
                routes.push_str(&format!(" Errors: {}.", errors.join(", ")));
            }
            routes.push('\n');
        }
        let mut seen: Vec<String> = Vec::new();
        while let Some(name) = wanted.pop() {
            if let (false, Some(schema)) = (
                seen.contains(&name),
                self.0.pointer(&format!("/components/schemas/{name}")),
            ) {
                references(schema, &mut wanted);
                seen.push(name);
            }
        }
        let types = self.schemas().filter(|(name, _)| seen.contains(name));
        let types =
            types.map(|(name, schema)| format!("### {name}\n\n{}", self.describe(schema, Style::Names)));
        (routes, types.collect())
    }
}

/// A Markdown table.
pub(super) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.replace('|', "\\|").replace('\n', " "))
            .collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut out = line(head.iter().map(|&cell| cell.to_owned()).collect());
    out.push_str(&line(vec!["---".into(); head.len()]));
    out.extend(rows.map(line));
    out
}

/// Every type that a value refers to.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(reference(value).map(str::to_owned));
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(SCHEMAS)
}

fn open_note(operation: &Operation<'_>) -> String {
    let said = text(operation.spec, "summary").contains("no token");
    if operation.open() && !said {
        "Needs no token.".into()
    } else {
        String::new()
    }
}

/// A text field on one line.
fn text(value: &Value, key: &str) -> String {
    let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A field's meaning, also where it stands on one of two forms.
fn meaning(field: &Value) -> String {
    let own = text(field, "description");
    let forms = field.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let mut all = std::iter::once(own).chain(forms.map(|form| text(form, "description")));
    all.find(|text| !text.is_empty()).unwrap_or_default()
}

fn optional(schema: &Value, name: &str) -> &'static str {
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    if required.into_iter().any(|required| required == name) {
        ""
    } else {
        ", optional"
    }
}

/// The value of a field that can have no other.
fn only_value(field: &Value) -> Option<&str> {
    match field.get("enum")?.as_array()?.as_slice() {
        [value] => value.as_str(),
        _ => None,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The limits of a value: ` (1 to 64)`. The least of a count, 0, goes without saying.
fn range(schema: &Value) -> String {
    let get = |key: &str| {
        schema
            .get(key)
            .filter(|value| value.as_f64() != Some(0.0))
            .map(plain)
    };
    let above = schema
        .get("exclusiveMinimum")
        .map(|value| format!("above {}", plain(value)));
    let parts = match (get("minimum"), get("maximum")) {
        (Some(low), Some(high)) => vec![format!("{low} to {high}")],
        (Some(low), None) => vec![format!("at least {low}")],
        (None, Some(high)) => vec![format!("at most {high}")],
        (None, None) => Vec::new(),
    };
    let items = get("minItems").map(|least| format!("at least {least}"));
    let all: Vec<String> = above.into_iter().chain(parts).chain(items).collect();
    if all.is_empty() {
        String::new()
    } else {
        format!(" ({})", all.join(", "))
    }
}

#[cfg(test)]
mod tests;
