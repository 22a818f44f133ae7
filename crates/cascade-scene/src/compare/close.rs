//! Why two columns hardly differ, as far as what was compared says it.

use cascade_api::StepDigest;

use super::difference::{Difference, Level};
use super::lines::{Lines, Pairing};
use super::relative;
use crate::format;

/// Columns that differ by less than this, as a fraction, hardly differ.
const CLOSE: f64 = 0.02;

/// What to know of two columns whose kernels take nearly the same time; `None` where they do not. `a` is what the
/// first is called.
pub fn kernels(lines: &Lines, a: &str) -> Option<String> {
    let whole = |side: usize| lines.total(side).ns.unwrap_or(0.0);
    let mut text = little(whole(0), whole(1))?;
    let groups = Difference::new(lines, 0, 1, Level::Group);
    let longest = groups.rows.iter().max_by(|x, y| x.from_ns.total_cmp(&y.from_ns));
    if let Some((row, change)) = longest.and_then(|row| Some((row, row.relative()?))) {
        text += &format!(
            " The longest part, {}, is {} of {a} and changes by {}.",
            groups.name(lines, row),
            share(row.from_ns, groups.from_ns),
            format::deviation(change)
        );
    }
    if let Some(ns) = middle_launch(lines) {
        text += &format!(
            " Half of {a}'s launches take {} or less.",
            format::duration_ns(ns)
        );
    }
    Some(text)
}

/// The same of a mean step of `kind`, whose host time is often most of it.
pub fn step(from: &StepDigest, to: &StepDigest, kind: &str, a: &str) -> Option<String> {
    let step = |digest: &StepDigest| {
        let step = digest.kinds.iter().find(|step| step.kind == kind)?;
        Some((step.wall_ns.simulated?, step.host_ns))
    };
    let ((from_ns, host_ns), (to_ns, _)) = (step(from)?, step(to)?);
    let mut text = little(from_ns, to_ns)?;
    if let Some(host_ns) = host_ns.filter(|ns| *ns > 0.0) {
        text += &format!(
            " Host time is {} of {a}: it is kept as measured, whatever the GPU.",
            share(host_ns, from_ns)
        );
    }
    Some(text)
}

/// Says by how little they differ; `None` where it is not little.
fn little(from: f64, to: f64) -> Option<String> {
    let part = relative(from, to)?.abs();
    if part >= CLOSE {
        return None;
    }
    let by = format::fixed(part * 100.0, 1, "%");
    let by = match format::is_zero(&by) {
        true => format!("less than {}", format::fixed(0.1, 1, "%")),
        false => by,
    };
    Some(format!(
        "These two differ by {by}: less than a model's own error usually is, so neither counts as faster."
    ))
}

/// A part of a whole in per cent.
fn share(part: f64, whole: f64) -> String {
    format::fixed(part / whole.max(f64::MIN_POSITIVE) * 100.0, 0, "%")
}

/// The middle duration of the first column's launches in ns; `None` where only their sums are known.
fn middle_launch(lines: &Lines) -> Option<f64> {
    if lines.pairing != Pairing::Position {
        return None;
    }
    let first = lines.iter().filter_map(|(_, cells)| cells.first()?.ns);
    let mut all: Vec<f64> = first.collect();
    let middle = all.len().checked_sub(1)? / 2;
    Some(*all.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::{kernels, step};
    use crate::compare::lines::Lines;
    use crate::compare::testing::{kernel, run, sides};
    use crate::request::tests::{h100, h200};

    fn said(second: &[Option<f64>]) -> Option<String> {
        let own = [kernel("gemm", "GEMM", 4), kernel("norm", "Layer norm", 1)];
        let first = [Some(3_000.0), Some(1_000.0), Some(1_000.0)];
        let run = run(&own, &[0, 1, 1], &[("SM90_H100", &first), ("SM90_H200", second)]);
        let trace = "t".into();
        let text = kernels(&Lines::new(&sides(&trace, &run)), "A");
        text.map(|text| text.replace('\u{a0}', " "))
    }

    #[test]
    fn what_hardly_differs_is_explained_by_what_is_known() {
        let text = said(&[Some(2_980.0), Some(1_000.0), Some(1_000.0)]).unwrap();
        assert!(text.starts_with("These two differ by 0.4 %: "), "{text}");
        assert!(
            text.contains("The longest part, GEMM, is 60 % of A and changes by −0.7 %."),
            "{text}"
        );
        assert!(
            text.ends_with("Half of A's launches take 1 µs or less."),
            "{text}"
        );
        let same = said(&[Some(3_000.0), Some(1_000.0), Some(1_000.0)]).unwrap();
        assert!(same.contains("less than 0.1 %"), "{same}");
        assert_eq!(said(&[Some(2_000.0), Some(1_000.0), Some(1_000.0)]), None);
    }

    #[test]
    fn a_step_that_hardly_differs_says_what_its_host_takes() {
        let text = step(&h100(), &h200(), "decode", "A").unwrap();
        assert!(text.contains("Host time is 9"), "{text}");
        assert_eq!(step(&h100(), &h200(), "none", "A"), None);
    }
}
