//! Colours in code: comments, strings, words that open a command and variables. Enough for what the documents show
//! (shell, JSON, Python), at a hundredth of what a grammar engine would weigh.

/// Text as HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Code as HTML with its parts marked.
pub(super) fn code(lang: &str, text: &str) -> String {
    match lang {
        "sh" | "bash" | "python" | "toml" => marked(text, Some('#'), lang),
        "json" | "js" => marked(text, None, lang),
        _ => escape(text),
    }
}

/// Python's words that matter in a short example.
const PYTHON: &[&str] = &[
    "import", "from", "def", "return", "for", "in", "if", "else", "while", "with", "as", "not", "None",
    "True", "False", "print", "break", "raise", "try", "except",
];

fn marked(text: &str, comment: Option<char>, lang: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    let mut before = '\n';
    while let Some(c) = rest.chars().next() {
        let (class, length) = if Some(c) == comment && (before.is_whitespace()) {
            ("c", rest.find('\n').unwrap_or(rest.len()))
        } else if c == '"' || (c == '\'' && comment.is_some()) {
            let length = string(rest, c);
            let key = lang == "json" && rest.get(length..).is_some_and(|after| after.starts_with(':'));
            (if key { "k" } else { "s" }, length)
        } else if c == '$' && matches!(lang, "sh" | "bash") {
            let name = rest.get(1..).unwrap_or_default();
            let length = name
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(name.len());
            ("v", 1 + length)
        } else if c.is_alphanumeric() {
            let length = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
                .unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            let class = match lang {
                "python" if PYTHON.contains(&word) => "k",
                "json" if matches!(word, "true" | "false" | "null") => "v",
                "sh" | "bash" if word == "export" => "k",
                _ => "",
            };
            (class, length)
        } else {
            ("", c.len_utf8())
        };
        let (part, tail) = rest
            .split_at_checked(length.max(c.len_utf8()))
            .unwrap_or((rest, ""));
        if class.is_empty() {
            out.push_str(&escape(part));
        } else {
            out.push_str(&format!("<span class=\"{class}\">{}</span>", escape(part)));
        }
        before = part.chars().next_back().unwrap_or(before);
        rest = tail;
    }
    out
}

/// Bytes of the string that `text` begins with, quotes included; to the end where it is never closed.
fn string(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}
