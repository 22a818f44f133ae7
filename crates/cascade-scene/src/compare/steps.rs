//! Predicted requests and steps of several columns, row by row.

use cascade_api::StepDigest;

use crate::request::figure::{Unit, capital};

/// One quantity in every column.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRow {
    /// What it belongs to: `Request`, `Decode step`.
    pub of: String,
    /// What it is.
    pub what: String,
    /// How it is written.
    pub unit: Unit,
    /// The prediction of each column, in [`Self::unit`]'s measure; `None` where a column has none.
    pub values: Vec<Option<f64>>,
}

/// Every quantity that some column predicts: the request first, then each kind of step with its groups.
pub fn rows(columns: &[Option<&StepDigest>]) -> Vec<StepRow> {
    let mut rows = Vec::new();
    let mut push = |of: &str, what: &str, unit, value: &dyn Fn(&StepDigest) -> Option<f64>| {
        let values: Vec<_> = columns.iter().map(|column| column.and_then(value)).collect();
        if values.iter().any(Option::is_some) {
            rows.push(StepRow {
                of: of.to_owned(),
                what: what.to_owned(),
                unit,
                values,
            });
        }
    };
    push("Request", "Request time", Unit::Ms(3), &|digest| {
        digest.mean.e2e_ms.simulated
    });
    push("Request", "Time to first token", Unit::Ms(3), &|digest| {
        digest.mean.ttft_ms.simulated
    });
    push("Request", "Inter-token latency", Unit::Ms(3), &|digest| {
        digest.mean.itl_ms.simulated
    });
    let digests = || columns.iter().copied().flatten();
    let kinds = unique(digests().flat_map(|digest| digest.kinds.iter().map(|kind| kind.kind.as_str())));
    let groups = unique(digests().flat_map(|digest| digest.groups.iter().map(|group| group.group.as_str())));
    for kind in kinds {
        let of = format!("{} step", capital(kind));
        let step = |digest: &StepDigest| digest.kinds.iter().find(|step| step.kind == kind).cloned();
        push(&of, "Whole step", Unit::NsAsMs(3), &|digest| {
            step(digest)?.wall_ns.simulated
        });
        push(&of, "GPU busy", Unit::NsAsMicros(1), &|digest| {
            step(digest)?.gpu_busy_ns.simulated
        });
        push(&of, "Host, as measured", Unit::NsAsMs(3), &|digest| {
            step(digest)?.host_ns
        });
        for group in &groups {
            push(&of, group, Unit::NsAsMicros(1), &|digest| {
                let group = digest.groups.iter().find(|own| own.group == *group)?;
                group.step_ns.get(kind).copied()
            });
        }
    }
    rows
}

/// The kinds of step that both columns have, in order.
pub fn kinds(from: &StepDigest, to: &StepDigest) -> Vec<String> {
    let both = from
        .kinds
        .iter()
        .filter(|kind| to.kinds.iter().any(|other| other.kind == kind.kind));
    both.map(|kind| kind.kind.clone()).collect()
}

/// Each text once, in order of first appearance.
fn unique<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for text in all {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::{h100, h200};

    #[test]
    fn a_row_has_every_column_and_what_nobody_predicts_has_none() {
        let (h100, h200) = (h100(), h200());
        let rows = rows(&[Some(&h100), None, Some(&h200)]);
        let row = |of: &str, what: &str| rows.iter().find(|row| row.of == of && row.what == what);
        let request = row("Request", "Request time").unwrap();
        assert_eq!(request.values, [Some(262.14), None, Some(262.16)]);
        let group = row("Decode step", "lm_head GEMM").unwrap();
        assert_eq!(group.values[0], Some(26_263.6));
        assert!(row("Prefill step", "Whole step").is_some());
        assert!(row("Prefill step", "lm_head GEMM").is_none());
        assert_eq!(kinds(&h100, &h200), ["prefill", "decode"]);
        assert!(kinds(&h100, &StepDigest::default()).is_empty());
    }
}
