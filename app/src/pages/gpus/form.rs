//! What the form for a hypothetical GPU works out: which values differ, what is sent. No view here.

use std::collections::BTreeMap;

use cascade_api::limits::MAX_SWEEP_VALUES;
use cascade_api::{GpuConfigCreate, GpuFact, GpuSweep};

/// The number in a field, within the limits of its value; `None` where the field is empty.
pub(super) fn read_value(fact: &GpuFact, text: &str) -> Result<Option<f64>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(value) if (fact.min..=fact.max).contains(&value) => Ok((value != fact.value).then_some(value)),
        _ => Err(format!("A number from {} to {}", fact.min, fact.max)),
    }
}

/// The values of a sweep, separated by commas or spaces; `None` where there are none.
pub(super) fn read_sweep(fact: &GpuFact, text: &str) -> Result<Option<Vec<f64>>, String> {
    let words = text.split([',', ' ', ';']).filter(|word| !word.is_empty());
    let (min, max) = (fact.min, fact.max);
    let value = |word: &str| {
        let value = word.parse().ok().filter(|value| (min..=max).contains(value));
        value.ok_or_else(|| format!("{word} is no number from {min} to {max}; separate values by commas"))
    };
    let values: Vec<f64> = words.map(value).collect::<Result<_, _>>()?;
    match values.len() {
        0 => Ok(None),
        1..=MAX_SWEEP_VALUES => Ok(Some(values)),
        _ => Err(format!("At most {MAX_SWEEP_VALUES} values")),
    }
}

/// What the GPUs of a sweep are called before their values, as the server does where nobody names them.
pub(super) fn sweep_name(base: &str, key: &str) -> String {
    format!("{base}_{}", key.rsplit('.').next().unwrap_or(key))
}

/// Keys of which the first must not have more than the second. `latency.dram` moves with `latency.l2`.
const ORDERED: [(&str, &str); 3] = [
    ("latency.l1", "latency.l2"),
    ("latency.l2", "latency.dram"),
    ("sm_core.shared_memory", "sm_core.l1_size"),
];

/// A few sizes around what a value is, from half of it to twice, that fit the GPU's other `facts`.
pub(super) fn suggested(fact: &GpuFact, facts: &[GpuFact]) -> String {
    let of = |key: &str| {
        facts
            .iter()
            .find(|other| other.key == key)
            .map(|other| other.value)
    };
    let (mut min, mut max) = (fact.min, fact.max);
    for (low, high) in ORDERED {
        if fact.key == high {
            min = of(low).map_or(min, |low| min.max(low));
        }
        if fact.key == low && low != "latency.l2" {
            max = of(high).map_or(max, |high| max.min(high));
        }
    }
    let whole = fact.value.fract() == 0.0 && fact.value >= 2.0;
    let sizes = [0.5, 0.75, 1.0, 1.5, 2.0].map(|factor| {
        let size = (fact.value * factor).max(min).min(max);
        if whole { size.round() } else { size }
    });
    let mut sizes = sizes.to_vec();
    sizes.dedup();
    let sizes: Vec<String> = sizes.iter().map(f64::to_string).collect();
    sizes.join(", ")
}

/// The body that makes the GPU or the sweep; the sweep's own key is not among the changes.
pub(super) fn body(
    base: &str,
    name: &str,
    changes: BTreeMap<String, f64>,
    sweep: Option<(String, Vec<f64>)>,
) -> GpuConfigCreate {
    let mut changes = changes;
    if let Some((key, _)) = &sweep {
        changes.remove(key);
    }
    let name = name.trim();
    GpuConfigCreate {
        name: (!name.is_empty()).then(|| name.to_owned()),
        base: base.to_owned(),
        title: None,
        changes,
        sweep: sweep.map(|(key, values)| GpuSweep { key, values }),
    }
}

/// A dotted key in words: `chip.dram_bandwidth` reads `chip · DRAM bandwidth`.
pub(super) fn in_words(key: &str) -> String {
    /// Words that are abbreviations; so is every one with a digit.
    const SHORT: [&str; 8] = ["agu", "cta", "dram", "imad", "int", "lsu", "sfu", "sm"];
    let word = |word: &str| match word {
        "sms" => "SMs".to_owned(),
        "ctas" => "CTAs".to_owned(),
        _ if SHORT.contains(&word) || word.contains(|c: char| c.is_ascii_digit()) => {
            word.to_ascii_uppercase()
        }
        _ => word.to_owned(),
    };
    let part = |part: &str| part.split('_').map(word).collect::<Vec<_>>().join(" ");
    key.split('.').map(part).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sms() -> GpuFact {
        GpuFact {
            key: "chip.sms".into(),
            value: 132.0,
            unit: "SM".into(),
            source: "whitepaper".into(),
            min: 1.0,
            max: 1024.0,
        }
    }

    #[test]
    fn only_what_differs_is_a_change() {
        assert_eq!(read_value(&sms(), " "), Ok(None));
        assert_eq!(read_value(&sms(), "132"), Ok(None));
        assert_eq!(read_value(&sms(), " 160 "), Ok(Some(160.0)));
        for text in ["0", "1025", "many", "nan", "inf"] {
            assert_eq!(
                read_value(&sms(), text),
                Err("A number from 1 to 1024".into()),
                "{text}"
            );
        }
    }

    #[test]
    fn suggested_sizes_fit_the_other_values() {
        let fact = |key: &str, value: f64| GpuFact {
            key: key.into(),
            value,
            max: 1e9,
            ..sms()
        };
        let facts = [fact("latency.l2", 311.0), fact("latency.dram", 607.0)];
        assert_eq!(suggested(&facts[1], &facts), "311, 455, 607, 911, 1214");
        assert_eq!(suggested(&facts[0], &facts), "156, 233, 311, 467, 622");
        let facts = [
            fact("sm_core.shared_memory", 100.0),
            fact("sm_core.l1_size", 128.0),
        ];
        assert_eq!(suggested(&facts[0], &facts), "50, 75, 100, 128");
    }

    #[test]
    fn a_sweep_is_a_list_of_numbers() {
        assert_eq!(read_sweep(&sms(), ""), Ok(None));
        assert_eq!(
            read_sweep(&sms(), "66, 132 264"),
            Ok(Some(vec![66.0, 132.0, 264.0]))
        );
        assert!(read_sweep(&sms(), "66, 0").is_err());
        assert!(read_sweep(&sms(), &"5,".repeat(MAX_SWEEP_VALUES + 1)).is_err());
        assert_eq!(suggested(&sms(), &[]), "66, 99, 132, 198, 264");
        assert!(read_sweep(&sms(), &suggested(&sms(), &[])).is_ok());
    }

    #[test]
    fn a_swept_value_is_not_changed_too() {
        let changes = BTreeMap::from([("chip.sms".to_owned(), 1.0), ("chip.l2_size".to_owned(), 2.0)]);
        let body = body("B", " ", changes, Some(("chip.sms".to_owned(), vec![3.0])));
        assert_eq!((body.name, body.changes.len()), (None, 1));
        assert_eq!(in_words("chip.dram_bandwidth"), "chip · DRAM bandwidth");
        assert_eq!(in_words("chip.sms"), "chip · SMs");
        assert_eq!(in_words("sm_core.l1_size"), "SM core · L1 size");
    }
}
