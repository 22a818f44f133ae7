//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Things by their number: `1 kernel`, `2,000 kernels`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {thing}{s}", grouped(number))
}

/// A count that a log gave as a float.
pub(crate) fn grouped_f64(number: f64) -> String {
    if number >= 0.0 && number < 2f64.powi(53) {
        grouped(number.round() as u64)
    } else {
        number.to_string()
    }
}

/// Nanoseconds with a fitting unit and four digits: `5.454 us`.
pub(crate) fn time_ns(ns: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let (scale, unit) = UNITS
        .into_iter()
        .find(|(scale, _)| ns.abs() >= *scale)
        .unwrap_or((1.0, "ns"));
    format!("{} {unit}", four_digits(ns / scale))
}

/// Bytes with a fitting unit: `1.500 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match UNITS.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => format!("{} {unit}", four_digits(bytes as f64 / (1u64 << shift) as f64)),
        None => format!("{bytes} B"),
    }
}

/// A number below a few thousand with four digits in all.
pub(crate) fn four_digits(number: f64) -> String {
    let decimals = match number.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{number:.decimals$}")
}

/// A name cut to `width` characters, its middle left out.
pub(crate) fn shortened(name: &str, width: usize) -> String {
    let count = name.chars().count();
    if count <= width {
        return name.to_owned();
    }
    let (head, tail) = (
        width.saturating_sub(1) * 2 / 3,
        width.saturating_sub(1) - width.saturating_sub(1) * 2 / 3,
    );
    let start: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(count - tail).collect();
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::{bytes, counted, grouped, shortened, time_ns};

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [0, 999, 1000, 1234567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0.0, 5454.06, 1.5e6, 2.5e9].map(time_ns),
            ["0.000 ns", "5.454 us", "1.500 ms", "2.500 s"]
        );
        assert_eq!(
            [17, 1536, 100 << 20].map(bytes),
            ["17 B", "1.500 KiB", "100.0 MiB"]
        );
        assert_eq!(
            [0, 1, 2].map(|n| counted(n, "kernel")),
            ["0 kernels", "1 kernel", "2 kernels"]
        );
        assert_eq!(shortened("abcdefghij", 7), "abcd…ij");
        assert_eq!(shortened("äöü", 3), "äöü");
    }
}
