//! The scenarios are as varied as they claim.

use std::collections::BTreeMap;

use super::*;

/// What is there in how many of the scenarios.
fn census() -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut count = |what: String, is: bool| *counts.entry(what).or_insert(0) += u64::from(is);
    for index in 0..COUNT {
        let case = Case::new(index);
        let report = case.run(&mut Digest::default());
        let engine = &case.scheduler;
        count("reference".into(), engine.rules == Rules::Reference);
        count("priority".into(), engine.policy == Policy::Priority);
        count("caching".into(), engine.enable_prefix_caching);
        count("async".into(), engine.async_scheduling);
        count("preemptions".into(), report.preemptions > 0);
        count("many preemptions".into(), report.preemptions > 20);
        count("prefix hits".into(), report.prefix_cached_tokens > 0);
        count("refusals".into(), report.refused > 0);
        count("a queue".into(), report.peak_waiting > 10);
        count("goodput".into(), report.request_goodput.is_some());
        for provenance in &report.provenance {
            count(format!("{:?}", provenance.provenance), true);
        }
    }
    counts
}

#[test]
fn the_scenarios_are_varied() {
    let counts = census();
    let at_least = [
        ("reference", 30),
        ("priority", 40),
        ("caching", 60),
        ("async", 40),
        ("preemptions", 40),
        ("many preemptions", 15),
        ("prefix hits", 30),
        ("refusals", 20),
        ("a queue", 60),
        ("goodput", 100),
        ("Measured", 5),
        ("Interpolated", 5),
        ("Extrapolated", 60),
        ("Datasheet", 30),
        ("Fitted", 30),
    ];
    for (what, least) in at_least {
        let count = counts.get(what).copied().unwrap_or(0);
        assert!(count >= least, "{what}: {count} of {COUNT} scenarios; {counts:?}");
    }
}

#[test]
fn no_two_scenarios_are_alike() {
    let mut seen: Vec<u64> = (0..COUNT)
        .map(|index| {
            let mut digest = Digest::default();
            Case::new(index).run(&mut digest);
            digest.value()
        })
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len() as u64, COUNT);
}
