//! What is run in every build of the request layer, native and WASM, to hold one against the other.
//!
//! [`digest`] is one number for 200 random scenarios; [`loads`] are the ones whose speed is measured. Built for
//! `wasm32-unknown-unknown` the module needs no imports and exports both as plain functions.

#![expect(clippy::expect_used, reason = "a check stops at the first surprise")]

pub mod digest;
pub mod loads;
pub mod scenarios;

use digest::Digest;
use loads::{config, open, roofline};

use cascade_serving::metrics::{Collector, MetricsOptions};
use cascade_serving::sim::{DEFAULT_MAX_STEPS, simulate};
use cascade_serving::workload::Arrivals;

/// The digest of all scenarios.
#[expect(unsafe_code, reason = "an export that JavaScript can call without a binding")]
#[unsafe(no_mangle)]
pub extern "C" fn scenarios_digest() -> u64 {
    let mut digest = Digest::default();
    for index in 0..scenarios::COUNT {
        scenarios::Case::new(index).run(&mut digest);
    }
    digest.value()
}

/// Simulates `requests` requests of load W1, or of W2 if `at_once`, and returns how many steps they took.
#[expect(unsafe_code, reason = "an export that JavaScript can call without a binding")]
#[unsafe(no_mangle)]
pub extern "C" fn load_steps(requests: u32, at_once: bool) -> u32 {
    let arrivals = if at_once {
        Arrivals::AtOnce
    } else {
        loads::W1_ARRIVALS
    };
    let workload = open(requests.into(), arrivals);
    let mut collector = Collector::new(MetricsOptions::default());
    let mut source = workload.source().expect("a valid load");
    simulate(
        &config(false),
        &roofline(),
        source.as_mut(),
        &mut collector,
        DEFAULT_MAX_STEPS,
    )
    .expect("ends");
    u32::try_from(collector.report().steps).unwrap_or(u32::MAX)
}
