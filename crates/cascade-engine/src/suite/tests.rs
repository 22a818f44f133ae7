//! The suite holds on the GPUs that we ship, and a broken engine would fail it.

use super::*;
use crate::testing::gpu;

fn holds_on(name: &str) {
    let gpu = gpu(name);
    for kind in KINDS {
        let found = kind.run(&gpu);
        assert!(
            !found.checks.is_empty() || !found.skipped.is_empty(),
            "{}: nothing was asked",
            kind.name
        );
        for check in &found.checks {
            assert!(check.holds(), "{name}, {}: {check:?}", kind.name);
        }
    }
}

#[test]
fn it_holds_on_an_a100() {
    holds_on("SM80_A100");
}

#[test]
fn it_holds_on_an_h100_with_nothing_left_out() {
    let h100 = gpu("SM90_H100");
    let quick = KINDS.iter().filter(|kind| kind.number != 16);
    assert!(
        quick
            .map(|kind| kind.run(&h100))
            .all(|found| found.skipped.is_empty())
    );
    holds_on("SM90_H100");
}

#[test]
fn a_check_tells_right_from_wrong() {
    let check = |expected, got, rule| Check {
        kind: 1,
        name: String::new(),
        unit: String::new(),
        expected,
        got,
        rule,
        why: String::new(),
    };
    assert!(check(100.0, 102.0, Rule::Near(0.02)).holds());
    assert!(!check(100.0, 97.0, Rule::Near(0.02)).holds());
    assert!(!check(100.0, 101.0, Rule::AtMost(0.0)).holds());
    assert!(check(100.0, 99.0, Rule::AtMost(0.0)).holds());
    assert!(!check(100.0, 99.0, Rule::AtLeast(0.0)).holds());
    for rule in [Rule::Near(0.5), Rule::AtMost(0.5), Rule::AtLeast(0.5)] {
        assert!(!check(100.0, f64::NAN, rule).holds(), "a failure is no success");
    }
    // The expectation follows the GPU's description: a wrong one would be noticed.
    let mut odd = gpu("SM80_A100");
    odd.units.fp32.latency.value = 11.0;
    let found = KINDS[0].run(&odd);
    assert!(
        found.failures().next().is_none(),
        "{:?}",
        found.failures().collect::<Vec<_>>()
    );
    assert!(
        found
            .checks
            .iter()
            .any(|check| check.expected == 5500.0 && check.got == 5500.0)
    );
}
