//! Answers as short as a page can show them.

use serde_json::{Map, Value};

/// Items of a list that are kept, in a short answer and in a long one.
const ITEMS: [usize; 2] = [2, 1];
/// Items of a list without lists and maps that are kept in any answer.
const PLAIN_ITEMS: usize = 4;
/// Fields of a map that are kept when it has many more, as the statistics of a kernel have.
const FIELDS: usize = 24;
/// Letters of a text that are kept.
const LETTERS: usize = 220;
/// Letters of a line of text that are kept.
const LINE: usize = 400;
/// Letters of an event that are kept.
const EVENT: usize = 700;
/// Lines of a text answer, and of one in JSON, that are kept.
const LINES: [usize; 2] = [40, 90];

/// The answer's language and the answer, cut. What is left out is said in its place, as `… 30 more`.
pub(super) fn short(text: &str) -> (&'static str, String) {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        let lines = text.trim_end().lines().map(line).collect::<Vec<_>>();
        return ("text", first(lines, LINES[0]));
    };
    let [few, least] = ITEMS.map(|items| pretty(&cut(value.clone(), items)));
    let shown = if few.lines().count() <= LINES[1] {
        few
    } else {
        least
    };
    (
        "json",
        first(shown.lines().map(str::to_owned).collect(), LINES[1]),
    )
}

/// The first lines, and how many more there are.
fn first(mut lines: Vec<String>, keep: usize) -> String {
    let more = lines.len().saturating_sub(keep);
    lines.truncate(keep);
    if more > 0 {
        lines.push(format!("… {more} more lines"));
    }
    lines.join("\n")
}

/// A line of text, or of an event stream, whose JSON is cut as any other.
fn line(line: &str) -> String {
    match line.strip_prefix("data: ").map(serde_json::from_str::<Value>) {
        Some(Ok(event)) => letters(&format!("data: {}", cut(event, ITEMS[0])), EVENT),
        _ => letters(line, LINE),
    }
}

fn letters(text: &str, keep: usize) -> String {
    let kept: String = text.chars().take(keep).collect();
    if kept.len() < text.len() {
        format!("{kept}…")
    } else {
        kept
    }
}

fn cut(value: Value, items: usize) -> Value {
    match value {
        Value::Array(list) => {
            let plain = list.iter().all(|item| !item.is_object() && !item.is_array());
            let keep = if plain { PLAIN_ITEMS } else { items };
            let more = list.len().saturating_sub(keep);
            let mut kept: Vec<Value> = list.into_iter().take(keep).map(|item| cut(item, items)).collect();
            if more > 0 {
                kept.push(Value::String(format!("… {more} more")));
            }
            Value::Array(kept)
        }
        Value::Object(fields) => {
            let more = fields.len().saturating_sub(FIELDS);
            let keep = if more > 8 { FIELDS / 2 } else { fields.len() };
            let left = fields.len() - keep;
            let mut kept: Map<String, Value> = fields
                .into_iter()
                .take(keep)
                .map(|(k, v)| (k, cut(v, items)))
                .collect();
            if left > 0 {
                kept.insert("…".into(), Value::String(format!("{left} more")));
            }
            Value::Object(kept)
        }
        Value::String(text) => Value::String(letters(&text, LETTERS)),
        other => other,
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn long_lists_maps_and_texts_are_cut_and_say_so() {
        let (lang, text) = short(r#"{"a": [1, 2, 3], "b": [{}, {}, {}, {}], "c": [1, 2, 3, 4, 5]}"#);
        assert_eq!(lang, "json");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"a": [1, 2, 3], "b": [{}, {}, "… 2 more"], "c": [1, 2, 3, 4, "… 1 more"]})
        );
        let many: Vec<String> = (0..60).map(|i| format!("\"k{i}\": {i}")).collect();
        let (_, text) = short(&format!("{{{}}}", many.join(",")));
        assert!(
            text.contains("\"k11\": 11") && text.contains("\"…\": \"48 more\""),
            "{text}"
        );
        let (_, text) = short(&format!("\"{}\"", "a".repeat(300)));
        assert_eq!(text.chars().count(), 223);
    }

    #[test]
    fn events_and_plain_text_stay_text() {
        let (lang, text) = short("data: {\"l\": [[],[],[]]}\n\n: keepalive\n");
        assert_eq!(
            (lang, text.as_str()),
            ("text", "data: {\"l\":[[],[],\"… 1 more\"]}\n\n: keepalive")
        );
        let (_, text) = short(&"line\n".repeat(50));
        assert!(text.ends_with("… 10 more lines"));
    }
}
