//! Datasheets of hypothetical GPUs.

use std::collections::BTreeMap;

use cascade_engine::gpu::builtin;

use super::super::{Entry, GpuCatalogue};
use super::*;

fn with(base: &str, changes: &[(&str, f64)]) -> Option<Datasheet> {
    let model = builtin()
        .unwrap()
        .into_iter()
        .find(|gpu| gpu.name == base)
        .unwrap();
    let (prefix, _) = base.split_once('_').unwrap();
    let changes: BTreeMap<String, f64> = changes.iter().map(|(key, to)| ((*key).to_owned(), *to)).collect();
    let made = model.derive(&format!("{prefix}_MINE"), None, &changes).unwrap();
    let catalogue = GpuCatalogue::default();
    let name: GpuName = made.name.as_str().into();
    catalogue.entries_mut().insert(name.clone(), Entry::ours(made));
    assert_eq!(
        catalogue.targets().len(),
        3 + usize::from(catalogue.datasheet(&name).is_some())
    );
    catalogue.datasheet(&name)
}

#[test]
fn figures_follow_the_facts_that_were_changed() {
    let h100 = datasheet("SM90_H100").unwrap();
    let fast = with("SM90_H100", &[("chip.dram_bandwidth", 6704.0)]).unwrap();
    assert_eq!(fast.bandwidth_tbs, 2.0 * h100.bandwidth_tbs);
    assert_eq!(
        (fast.compute_tflops, fast.memory_gb),
        (h100.compute_tflops, h100.memory_gb)
    );
    assert_eq!(fast.gpu, "SM90_MINE");
    assert!(
        fast.source
            .starts_with("hypothetical: SM90_H100 with chip.dram_bandwidth 6704 instead of 3352")
    );
    fast.check().unwrap();

    let wide = with(
        "SM90_H100",
        &[
            ("chip.sms", 264.0),
            ("chip.core_clock", 990.0),
            ("tensor.rates.fp16_f32", 4096.0),
        ],
    );
    let wide = wide.unwrap();
    assert!((wide.compute_tflops / h100.compute_tflops - 2.0).abs() < 1e-12);
    assert_eq!(wide.bandwidth_tbs, h100.bandwidth_tbs);

    // What no datasheet shows changes nothing in it; what comes from elsewhere has none.
    let slow = with("SM90_H100", &[("latency.l2", 400.0)]).unwrap();
    assert_eq!(
        (slow.compute_tflops, slow.bandwidth_tbs),
        (h100.compute_tflops, h100.bandwidth_tbs)
    );
    assert!(slow.source.contains("no change that its datasheet would show"));
    assert_eq!(with("SM89_RTX4090", &[("chip.sms", 100.0)]), None);
}
