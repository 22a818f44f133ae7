//! Numbers as people read them. A no-break space stands between number and unit.

use cascade_api::Timestamp;

/// Between a number and its unit.
const NBSP: char = '\u{a0}';
/// Shown where there is no value yet.
pub const NONE: &str = "–";

/// A whole number with its thousands apart: `71,974`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A quantity of any size in three significant digits: `0.42`, `346`, `76.7 k`, `1.23 M`.
pub fn compact(n: f64) -> String {
    scaled(n, 1000.0, &["", "k", "M", "G", "T", "P"])
}

/// Nanoseconds in the unit that fits: `832 ns`, `5.45 µs`, `12.3 ms`, `1.20 s`.
pub fn duration_ns(ns: f64) -> String {
    scaled(ns, 1000.0, &["ns", "µs", "ms", "s"])
}

/// Bytes in binary units: `16.1 MiB`.
pub fn bytes(n: u64) -> String {
    scaled(n as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// Instructions a simulator gets through in a second: `511 k inst/s`.
pub fn sim_rate(ips: f64) -> String {
    scaled(
        ips,
        1000.0,
        &["inst/s", "k\u{a0}inst/s", "M\u{a0}inst/s", "G\u{a0}inst/s"],
    )
}

/// A deviation with its sign: `+3.0 %`, `−12.4 %`. What rounds to 0 has none.
pub fn deviation(fraction: f64) -> String {
    signed(fraction * 100.0, 1, "%")
}

/// A number with so many decimals: `254.45 ms`. Where figures stand in a column, digits must line up.
pub fn fixed(value: f64, decimals: usize, unit: &str) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let number = format!("{:.decimals$}", value.abs());
    with_unit(&format!("{}{number}", minus(value, &number)), unit)
}

/// The same with its sign, as differences have it: `+7.69 ms`, `−14.2 %`. What rounds to 0 has none.
pub fn signed(value: f64, decimals: usize, unit: &str) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let number = format!("{:.decimals$}", value.abs());
    let sign = match value > 0.0 && !is_zero(&number) {
        true => "+",
        false => minus(value, &number),
    };
    with_unit(&format!("{sign}{number}"), unit)
}

/// Whether a written number says nothing but zero.
pub(crate) fn is_zero(number: &str) -> bool {
    !number.bytes().any(|b| (b'1'..=b'9').contains(&b))
}

/// The sign before the size of `value`, written as `number`: what rounds to 0 is not below it.
fn minus(value: f64, number: &str) -> &'static str {
    if value < 0.0 && !is_zero(number) {
        "−"
    } else {
        ""
    }
}

/// A number and its unit with one space between them, whatever space the unit brings along.
fn with_unit(number: &str, unit: &str) -> String {
    match unit.trim_start() {
        "" => number.to_owned(),
        unit => format!("{number}{NBSP}{unit}"),
    }
}

/// How long ago, from seconds: `just now`, `42 s ago`, `3 min ago`, `5 h ago`, `2 d ago`. A clock that runs
/// behind the server's makes no negative age.
pub fn age(seconds: f64) -> String {
    let s = seconds.max(0.0);
    match s {
        s if s < 1.0 => "just now".to_owned(),
        s if s < 60.0 => format!("{s:.0}{NBSP}s ago"),
        s if s < 3600.0 => format!("{}{NBSP}min ago", (s / 60.0).floor()),
        s if s < 86_400.0 => format!("{}{NBSP}h ago", (s / 3600.0).floor()),
        s => format!("{}{NBSP}d ago", (s / 86_400.0).floor()),
    }
}

/// How long something took, from seconds: `3.1 s`, `4 min 05 s`, `1 h 02 min`.
pub fn elapsed(seconds: f64) -> String {
    let s = seconds.max(0.0);
    if s < 60.0 {
        return format!("{s:.1}{NBSP}s");
    }
    let whole = s.round();
    if whole < 3600.0 {
        return format!("{}{NBSP}min {:02}{NBSP}s", (whole / 60.0).floor(), whole % 60.0);
    }
    let minutes = (whole / 60.0).floor();
    format!(
        "{}{NBSP}h {:02}{NBSP}min",
        (minutes / 60.0).floor(),
        minutes % 60.0
    )
}

/// A point in time to the minute, in UTC: `2026-11-08 03:05 UTC`.
pub fn utc(at: Timestamp) -> String {
    let iso = at.to_string();
    match (iso.get(..10), iso.get(11..16)) {
        (Some(date), Some(time)) => format!("{date} {time} UTC"),
        _ => iso,
    }
}

/// A grid or block size: `108 × 1 × 1`.
pub fn dim3((x, y, z): (u32, u32, u32)) -> String {
    format!("{x} × {y} × {z}")
}

/// `1 kernel`, `2 kernels`.
pub fn plural(n: u64, one: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {one}{s}", count(n))
}

/// A kernel's number in its run as people and traces count, from 1; `kernel_index` counts from 0.
pub fn launch(index: u64) -> String {
    (index + 1).to_string()
}

/// `n` in the largest unit that keeps it at 1 or above, three significant digits.
fn scaled(n: f64, step: f64, units: &[&str]) -> String {
    if !n.is_finite() {
        return NONE.to_owned();
    }
    let mut value = n;
    let mut unit = units.first().copied().unwrap_or_default();
    for next in units.iter().skip(1) {
        // 999.5 and above would round to 1000.
        if value.abs() < step - 0.5 {
            break;
        }
        value /= step;
        unit = next;
    }
    let whole = (value - value.round()).abs() < 1e-9;
    let number = match value.abs() {
        v if whole || v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    };
    with_unit(&format!("{}{number}", minus(value, &number)), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain spaces are easier to read in the tests below.
    fn plain(text: String) -> String {
        text.replace(NBSP, " ")
    }

    #[test]
    fn numbers_keep_three_digits_and_find_their_unit() {
        let rows = [
            (0.0, "0 ns"),
            (5.0, "5 ns"),
            (832.4, "832 ns"),
            (999.6, "1.00 µs"),
            (5454.06, "5.45 µs"),
            (12_340_000.0, "12.3 ms"),
            (254_450_000.0, "254 ms"),
            (1.2e9, "1.20 s"),
            (7.2e12, "7200 s"),
        ];
        for (ns, text) in rows {
            assert_eq!(plain(duration_ns(ns)), text);
        }
        assert_eq!(plain(bytes(16_890_250)), "16.1 MiB");
        assert_eq!(plain(bytes(512)), "512 B");
        assert_eq!(plain(bytes(u64::MAX)), "16384 PiB");
        assert_eq!(plain(compact(76_713.0)), "76.7 k");
        assert_eq!(plain(compact(0.4231)), "0.42");
        assert_eq!(plain(sim_rate(510_774.0)), "511 k inst/s");
        assert_eq!(plain(sim_rate(77.0)), "77 inst/s");
        assert_eq!(compact(f64::NAN), NONE);
        assert_eq!(count(71_974), "71,974");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(count(12), "12");
    }

    #[test]
    fn figures_of_a_column_have_the_same_decimals() {
        assert_eq!(plain(fixed(254.4522, 2, "ms")), "254.45 ms");
        assert_eq!(plain(fixed(-1.5, 1, "µs")), "−1.5 µs");
        assert_eq!(fixed(f64::INFINITY, 2, "ms"), NONE);
        assert_eq!(plain(signed(7.6985, 2, "ms")), "+7.70 ms");
        assert_eq!(plain(signed(-14.237, 1, "%")), "−14.2 %");
        assert_eq!(plain(signed(-0.001, 2, "ms")), "0.00 ms");
    }

    #[test]
    fn times_read_like_speech() {
        assert_eq!(plain(age(-3.0)), "just now");
        assert_eq!(plain(age(59.4)), "59 s ago");
        assert_eq!(plain(age(61.0)), "1 min ago");
        assert_eq!(plain(age(90_000.0)), "1 d ago");
        assert_eq!(plain(elapsed(3.12)), "3.1 s");
        assert_eq!(plain(elapsed(245.0)), "4 min 05 s");
        assert_eq!(plain(elapsed(3720.0)), "1 h 02 min");
        assert_eq!(
            utc("2026-11-08T03:05:34.001386Z".parse().unwrap()),
            "2026-11-08 03:05 UTC"
        );
        assert_eq!(plain(deviation(0.0302)), "+3.0 %");
        assert_eq!(plain(deviation(-0.5)), "−50.0 %");
    }

    #[test]
    fn what_rounds_to_nothing_has_no_sign_and_a_unit_one_space() {
        for tiny in [0.0, -0.0, 4e-4, -4e-4] {
            assert_eq!(plain(deviation(tiny)), "0.0 %", "{tiny}");
            assert_eq!(plain(fixed(tiny, 1, "%")), "0.0 %", "{tiny}");
            assert_eq!(plain(signed(tiny, 2, "%")), "0.00 %", "{tiny}");
            assert!(!compact(tiny).contains(['-', '−']), "{tiny}");
        }
        assert_eq!(plain(signed(3.0, 1, " %")), "+3.0 %");
        assert_eq!(plain(fixed(3.0, 1, "\u{a0}%")), "3.0 %");
        assert_eq!(plain(duration_ns(-1500.0)), "−1.50 µs");
        assert_eq!(deviation(f64::NAN), NONE);
    }
}
