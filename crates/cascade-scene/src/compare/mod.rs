//! Any columns side by side, a column being one GPU of one run: where they differ by kernel, by group and by step,
//! how far each is from real time, and how far its replicas lie apart.

pub mod close;
pub mod csv;
pub mod difference;
pub mod lines;
pub mod mixed;
pub mod scatter;
pub mod spread;
pub mod steps;
#[cfg(test)]
pub(crate) mod testing;
pub mod waterfall;

use cascade_api::{KernelColumn, KernelColumns, TraceId};

use crate::format;

/// Most columns at once; more than this nobody reads.
pub const MAX_SIDES: usize = 8;

/// What a column's kernel times are.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The trace that its run simulates.
    pub trace: &'a TraceId,
    /// The run's kernels.
    pub kernels: &'a KernelColumns,
    /// The GPU's times.
    pub column: &'a KernelColumn,
}

/// What a column is called: `A`, `B`, … by its place.
pub fn letter(place: usize) -> String {
    let letters = 'A'..='Z';
    letters
        .into_iter()
        .nth(place)
        .map_or_else(|| (place + 1).to_string(), String::from)
}

/// A difference in the unit that fits, with its sign: `+1.20 µs`. What is no difference, or rounds to none, has none.
pub fn signed_ns(ns: f64) -> String {
    let text = format::duration_ns(ns);
    if ns > 0.0 && !format::is_zero(&text) {
        format!("+{text}")
    } else {
        text
    }
}

/// How a signed difference is coloured: `more`, `less`, or neither where it rounds to nothing.
pub fn tone(signed: &str) -> &'static str {
    match signed.chars().next() {
        Some('+') => "more",
        Some('−') => "less",
        _ => "",
    }
}

/// Two totals in a sentence: `A takes 3.20 ms, B 2.90 ms: −300 µs (−9.4 %).` Where both read the same, it says so
/// instead of the same number twice.
pub fn headline([a, b]: &[String; 2], from: f64, to: f64) -> String {
    let (first, second, difference) = (
        format::duration_ns(from),
        format::duration_ns(to),
        signed_ns(to - from),
    );
    if (to - from).is_finite() && format::is_zero(&difference) {
        return format!("{a} takes {first}, {b} the same.");
    }
    let second = if first == second {
        "about the same".to_owned()
    } else {
        second
    };
    let part = relative(from, to).map(|part| format!(" ({})", format::deviation(part)));
    format!(
        "{a} takes {first}, {b} {second}: {difference}{}.",
        part.unwrap_or_default()
    )
}

/// A relative difference, `(to - from) / from`; `None` where there is nothing to relate to.
pub fn relative(from: f64, to: f64) -> Option<f64> {
    let whole = from.is_finite() && to.is_finite() && from > 0.0;
    whole.then(|| (to - from) / from)
}

#[cfg(test)]
mod tests {
    use super::{headline, signed_ns, tone};

    #[test]
    fn the_same_is_not_said_twice() {
        let said = |from, to| headline(&["A".into(), "B".into()], from, to).replace('\u{a0}', " ");
        assert_eq!(
            said(3_200_000.0, 2_900_000.0),
            "A takes 3.20 ms, B 2.90 ms: −300 µs (−9.4 %)."
        );
        assert_eq!(
            said(3_352_000.0, 3_352_400.0),
            "A takes 3.35 ms, B about the same: +400 ns (0.0 %)."
        );
        assert_eq!(said(3352.0, 3352.0), "A takes 3.35 µs, B the same.");
        assert_eq!(said(3352.0, 3352.0 - 1e-7), "A takes 3.35 µs, B the same.");
        assert_eq!(said(0.0, 5.0), "A takes 0 ns, B 5 ns: +5 ns.");
    }

    #[test]
    fn a_difference_that_rounds_to_nothing_has_no_sign_and_no_colour() {
        for (ns, text, colour) in [
            (1200.0, "+1.20 µs", "more"),
            (-1200.0, "−1.20 µs", "less"),
            (0.0, "0 ns", ""),
            (-1e-4, "0.00 ns", ""),
            (1e-12, "0 ns", ""),
        ] {
            let written = signed_ns(ns).replace('\u{a0}', " ");
            assert_eq!(written, text, "{ns}");
            assert_eq!(tone(&written), colour, "{ns}");
        }
    }
}
