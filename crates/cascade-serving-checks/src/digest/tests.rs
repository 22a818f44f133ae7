//! The digest misses nothing that a simulation tells.

use cascade_serving::sim::Sink;
use serde_json::Value;

use super::*;
use crate::scenarios::Case;

fn digest_of(value: &impl fmt::Debug) -> u64 {
    let mut digest = Digest::default();
    digest.add(value);
    digest.value()
}

/// Changes each number below `value` by the least that it can, one at a time.
fn changed_numbers(value: &Value, path: &str, each: &mut impl FnMut(&str, Value)) {
    match value {
        Value::Number(number) => each(
            path,
            match number.as_u64() {
                Some(whole) => Value::from(whole + 1),
                None => Value::from(number.as_f64().unwrap().next_up()),
            },
        ),
        Value::Object(fields) => {
            for (name, field) in fields {
                changed_numbers(field, &format!("{path}/{name}"), each);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                changed_numbers(item, &format!("{path}/{index}"), each);
            }
        }
        _ => {}
    }
}

/// A value whose every number, moved by the least step, gives another digest.
fn sensitive<T>(value: &T) -> usize
where
    T: fmt::Debug + serde::Serialize + serde::de::DeserializeOwned,
{
    let json = serde_json::to_value(value).unwrap();
    let expected = digest_of(value);
    let mut changes = 0;
    changed_numbers(&json, "", &mut |path, number| {
        let mut json = json.clone();
        *json.pointer_mut(path).unwrap() = number;
        let changed: T = serde_json::from_value(json).unwrap();
        assert_ne!(digest_of(&changed), expected, "{path} does not count");
        changes += 1;
    });
    changes
}

#[test]
fn every_metric_and_record_field_counts() {
    // A scenario with limits, a price and more than a few requests.
    let (case, report) = (0..)
        .map(|index| (Case::new(index), Case::new(index).run(&mut Digest::default())))
        .find(|(case, report)| {
            report.request_goodput.is_some()
                && report.completed > 20
                && case.metrics.price_per_gpu_hour.is_some()
        })
        .unwrap();
    let numbers = sensitive(&report);
    assert!(numbers > 60, "{numbers} numbers in a report");
    let mut collector = Collector::new(case.metrics.clone());
    let mut source = case.load.source();
    case.time
        .with(|time| {
            cascade_serving::sim::simulate(&case.scheduler, &time, source.as_mut(), &mut collector, 1_000_000)
        })
        .unwrap();
    let numbers = sensitive(&collector.requests().last().copied().unwrap());
    assert!(numbers >= 9, "{numbers} numbers in a record");
}

#[test]
fn every_call_counts() {
    let told = |tell: &dyn Fn(&mut Listener)| {
        let mut digest = Digest::default();
        let mut listener = Listener::new(&mut digest, Collector::new(Default::default()));
        tell(&mut listener);
        digest.value()
    };
    let gap = |ns, count| told(&move |listener: &mut Listener| listener.inter_token(ns, count));
    assert_ne!(gap(5, 1), gap(6, 1));
    assert_ne!(gap(5, 1), gap(5, 2));
    let twice = told(&|listener| {
        listener.inter_token(5, 1);
        listener.inter_token(5, 1);
    });
    assert_ne!(gap(5, 1), twice);
}
