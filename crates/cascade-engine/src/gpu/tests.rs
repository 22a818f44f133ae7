//! GPU files: the shipped ones are sound, broken ones are refused with file and key.

use super::*;
use crate::testing::gpu;

const H100: &str = include_str!("../../../../gpus/SM90_H100.toml");

#[test]
fn every_shipped_file_is_valid_named_after_its_gpu_and_sorted() {
    let models = builtin().expect("all valid");
    let names: Vec<_> = models.iter().map(|model| model.name.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    assert_eq!(names.len(), 7);
    for model in &models {
        assert!(model.name.starts_with(&format!(
            "SM{}",
            model.sm / if model.name.starts_with("SM7_") { 10 } else { 1 }
        )));
    }
}

/// Peak rates that NVIDIA prints must follow from the facts.
#[test]
fn peak_rates_follow_from_the_facts() {
    let tflops = |name: &str, kind: TensorType, mhz: f64| {
        let model = gpu(name);
        2.0 * model.tensor.rate(kind).expect("supported") * model.chip.sms.value * mhz * 1e6 / 1e12
    };
    for (name, kind, mhz, expected) in [
        ("SM80_A100", TensorType::Bf16, 1410.0, 312.0),
        ("SM80_A100", TensorType::Int8, 1410.0, 624.0),
        ("SM90_H100", TensorType::Fp16F32, 1830.0, 989.4),
        ("SM90_H200", TensorType::Fp64, 1980.0, 66.9),
        ("SM86_RTX3070", TensorType::Fp16F32, 1725.0, 40.6),
        ("SM89_RTX4090", TensorType::Fp16F32, 2520.0, 165.2),
    ] {
        let got = tflops(name, kind, mhz);
        assert!(
            (got / expected - 1.0).abs() < 0.01,
            "{name} {kind:?}: {got} instead of {expected}"
        );
    }
}

#[test]
fn refusals_name_file_and_key() {
    let broken = |from: &str, to: &str| {
        assert!(H100.contains(from), "the file has `{from}`");
        GpuModel::from_toml(&H100.replacen(from, to, 1), "my.toml")
            .expect_err("refused")
            .to_string()
    };
    let error = broken("sms = { value = 132,", "sms = { value = 0,");
    assert!(
        error.starts_with("my.toml: chip.sms is 0 SM, expected 1 to 1024"),
        "{error}"
    );
    let error = broken("sms = { value = 132,", "sms = { value = 1.5,");
    assert!(
        error.contains("chip.sms") && error.contains("whole number"),
        "{error}"
    );
    let error = broken("value = 3352, unit = \"GB/s\"", "value = 3.352, unit = \"TB/s\"");
    assert!(
        error.contains("chip.dram_bandwidth has the unit `TB/s`, expected `GB/s`"),
        "{error}"
    );
    let error = broken(
        "[latency]",
        "[latency]\nl3 = { value = 1, unit = \"cycles\", source = \"x\" }",
    );
    assert!(
        error.starts_with("my.toml: ") && error.contains("unknown field `l3`"),
        "{error}"
    );
    let error = broken("\nfp8 =", "\nfp7 =");
    assert!(error.contains("fp7"), "{error}");
    let error = broken("[units.sfu]", "[units.sfx]");
    assert!(error.contains("sfx"), "{error}");
    let error = broken("source = \"NVIDIA H100 whitepaper\" }", "source = \" \" }");
    assert!(error.contains("chip.sms has no source"), "{error}");
    let error = broken("value = 132", "value = nan");
    assert!(error.contains("chip.sms"), "{error}");
}

#[test]
fn the_hash_changes_with_a_value_and_not_with_a_source() {
    let model = gpu("SM90_H100");
    let mut other = model.clone();
    other.chip.sms.source = "elsewhere".to_owned();
    assert_eq!(model.facts_hash(), other.facts_hash());
    other.chip.sms.value = 114.0;
    assert_ne!(model.facts_hash(), other.facts_hash());
    assert_eq!(model.facts_hash().len(), 16);
}
