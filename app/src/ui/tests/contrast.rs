//! Whether the colours can be read: contrast of every text colour on every ground it stands on, in both themes.

use std::collections::BTreeMap;

/// The tokens as the pages load them.
const TOKENS: &str = include_str!("../../../../style/parts/tokens.css");
/// Least contrast of text (WCAG 2.2, 1.4.3).
const TEXT: f64 = 4.5;
/// Least contrast of what is not text but has to be seen (WCAG 2.2, 1.4.11).
const GRAPHIC: f64 = 3.0;
/// Grounds that text stands on.
const GROUNDS: [&str; 4] = ["bg", "surface", "surface-2", "surface-3"];

/// Red, green, blue.
type Rgb = [u8; 3];

/// Reads `#rrggbb`.
fn colour(text: &str) -> Option<Rgb> {
    let number = u32::from_str_radix(text.trim().strip_prefix('#')?, 16).ok()?;
    (text.trim().len() == 7).then_some([(number >> 16) as u8, (number >> 8) as u8, number as u8])
}

/// Every colour token: light, dark.
fn tokens() -> BTreeMap<&'static str, [Rgb; 2]> {
    let line = |line: &'static str| {
        let (name, value) = line.trim().strip_prefix("--")?.split_once(':')?;
        let pair = value.trim().strip_prefix("light-dark(")?.strip_suffix(");")?;
        let (light, dark) = pair.split_once(',')?;
        Some((name, [colour(light)?, colour(dark)?]))
    };
    TOKENS.lines().filter_map(line).collect()
}

/// Relative luminance (WCAG 2.2's definition for sRGB).
fn luminance(colour: Rgb) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    };
    let [r, g, b] = colour.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Contrast ratio, 1 to 21 (WCAG 2.2).
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The pairs below `least`, in words.
fn too_faint(pairs: impl IntoIterator<Item = (String, String)>, least: f64) -> Vec<String> {
    let tokens = tokens();
    let mut faint = Vec::new();
    for (front, ground) in pairs {
        for (theme, name) in ["light", "dark"].into_iter().enumerate() {
            let of = |token: &str| tokens.get(token).unwrap_or_else(|| panic!("no token --{token}"))[theme];
            let ratio = contrast(of(&front), of(&ground));
            if ratio < least {
                faint.push(format!("{front} on {ground}, {name}: {ratio:.2}, not {least}"));
            }
        }
    }
    faint
}

/// Every pair of a front and a ground.
fn each(fronts: &[&str], grounds: &[&str]) -> Vec<(String, String)> {
    let all = fronts
        .iter()
        .flat_map(|front| grounds.iter().map(move |ground| (*front, *ground)));
    all.map(|(front, ground)| (front.to_owned(), ground.to_owned()))
        .collect()
}

#[test]
fn the_ratio_is_the_one_of_the_standard() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
    assert!(
        (contrast([119; 3], [255; 3]) - 4.48).abs() < 0.005,
        "#777 on white"
    );
    assert!(tokens().len() > 30, "the tokens are read: {:?}", tokens().keys());
}

#[test]
fn text_can_be_read_on_every_ground() {
    let mut pairs = each(&["text", "text-2"], &GROUNDS);
    pairs.extend(each(&["accent", "good", "warn", "bad"], &GROUNDS));
    // Badges and notices: a tone on its own ground; words of notices too.
    for tone in ["accent", "good", "warn", "bad"] {
        let soft = format!("{tone}-soft");
        pairs.extend(each(&[tone, "text", "text-2"], &[soft.as_str()]));
    }
    pairs.extend(each(&["on-accent"], &["accent", "accent-hover"]));
    // A tooltip is the page inside out.
    pairs.extend(each(&["bg"], &["text"]));
    assert_eq!(too_faint(pairs, TEXT), Vec::<String>::new());
}

#[test]
fn edges_of_fields_and_lines_of_charts_can_be_seen() {
    let series: Vec<String> = (0..8).map(|n| format!("series-{n}")).collect();
    let mut fronts: Vec<&str> = series.iter().map(String::as_str).collect();
    fronts.extend(["line-field", "accent", "bad"]);
    assert_eq!(
        too_faint(each(&fronts, &["bg", "surface"]), GRAPHIC),
        Vec::<String>::new()
    );
}
