//! House rules that no compiler checks.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::sh::{cmd, output, print_line, root};

/// Longest file written by hand.
const MAX_LINES: usize = 600;
/// Most the median file may have.
const MAX_MEDIAN: usize = 150;

/// Texts that have no place in the tree: unfinished work and paths of one machine.
const FORBIDDEN: &[(&str, &str)] = &[
    ("todo!(", "finish it or open an issue"),
    ("unimplemented!(", "finish it or open an issue"),
    ("FIXME", "finish it or open an issue"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    ("#[ignore]", "a test that never runs"),
    ("#[should_panic]", "assert the error instead"),
];

/// Runs every rule and prints the table of file sizes.
pub(crate) fn tidy() -> Result<()> {
    let mut problems = Vec::new();
    let mut sizes = Vec::new();
    for path in tracked()? {
        let is_text = path.extension().and_then(|e| e.to_str()).is_some_and(|e| {
            matches!(
                e,
                "rs" | "py" | "ts" | "mjs" | "css" | "md" | "toml" | "sql" | "sh" | "json"
            )
        });
        if !is_text {
            continue;
        }
        let full = root().join(&path);
        let Ok(text) = std::fs::read_to_string(&full) else {
            continue;
        };
        check_words(&path, &text, &mut problems);
        if path.extension().is_some_and(|e| e == "rs") {
            check_rust(&path, &text, &mut problems);
            sizes.push((text.lines().count(), path));
        }
    }
    report(&mut sizes, &mut problems);
    if !problems.is_empty() {
        for problem in &problems {
            print_line(problem);
        }
        bail!("{} house rules are broken", problems.len());
    }
    Ok(())
}

fn tracked() -> Result<Vec<PathBuf>> {
    let list = output(&mut cmd(
        "git",
        &["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    ))
    .context("listing the repository's files")?;
    Ok(list
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .collect())
}

fn check_words(path: &Path, text: &str, problems: &mut Vec<String>) {
    if path == Path::new("xtask/src/tidy.rs") {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        for (word, why) in FORBIDDEN {
            if mentions(line, word) {
                problems.push(format!("{}:{}: {word} ({why})", path.display(), number + 1));
            }
        }
        if line.ends_with([' ', '\t']) && path.extension().is_some_and(|e| e == "rs") {
            problems.push(format!(
                "{}:{}: blanks at the end of the line",
                path.display(),
                number + 1
            ));
        }
    }
}

/// Whether a line has the word; a path counts where it starts, not inside a longer one.
fn mentions(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !word.starts_with('/')
            || before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '}' | '$'))
    })
}

fn check_rust(path: &Path, text: &str, problems: &mut Vec<String>) {
    let first = text
        .lines()
        .find(|line| !line.starts_with("#!"))
        .unwrap_or_default();
    if !first.starts_with("//!") {
        problems.push(format!(
            "{}: starts without a `//!` line that says what it is for",
            path.display()
        ));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        problems.push(format!(
            "{}: {lines} lines, at most {MAX_LINES}: split it by what it does",
            path.display()
        ));
    }
}

fn report(sizes: &mut [(usize, PathBuf)], problems: &mut Vec<String>) {
    sizes.sort();
    let at = |share: f64| {
        sizes
            .get(((sizes.len() as f64 - 1.0) * share).round() as usize)
            .map_or(0, |s| s.0)
    };
    let total: usize = sizes.iter().map(|s| s.0).sum();
    let longest = sizes
        .last()
        .map(|s| s.1.display().to_string())
        .unwrap_or_default();
    print_line("Rust files   lines   median   p90   max   longest");
    print_line(&format!(
        "{:>10} {total:>7} {:>8} {:>5} {:>5}   {longest}",
        sizes.len(),
        at(0.5),
        at(0.9),
        at(1.0)
    ));
    if at(0.5) > MAX_MEDIAN {
        problems.push(format!(
            "the median Rust file has {} lines, at most {MAX_MEDIAN}",
            at(0.5)
        ));
    }
}
