//! Derived GPUs: what changes, what follows, what is refused.

use super::*;
use crate::testing::gpu;

fn changes(list: &[(&str, f64)]) -> BTreeMap<String, f64> {
    list.iter()
        .map(|(key, value)| ((*key).to_owned(), *value))
        .collect()
}

fn base(name: &str) -> Option<GpuModel> {
    super::super::builtin()
        .expect("shipped")
        .into_iter()
        .find(|model| model.name == name)
}

#[test]
fn every_fact_can_be_changed_and_says_that_it_is_hypothetical() {
    for model in super::super::builtin().expect("shipped") {
        let prefix = model.name.split('_').next().expect("a first part");
        let mut keys = Vec::new();
        model.each_fact(&mut |key, fact, _| keys.push((key, fact.value)));
        for (key, value) in keys {
            let derived = model
                .derive(&format!("{prefix}_MINE"), None, &changes(&[(&key, value)]))
                .unwrap_or_else(|error| panic!("{error}"));
            let mut found = false;
            derived.each_fact(&mut |other, fact, _| {
                found |= other == key && fact.source.starts_with("hypothetical: ");
            });
            assert!(found, "{key} of {}", model.name);
            // The same values under another name: only the name tells the hashes apart.
            let mut renamed = derived.clone();
            renamed.name.clone_from(&model.name);
            assert_eq!(renamed.facts_hash(), model.facts_hash());
        }
    }
}

#[test]
fn a_change_is_recorded_with_what_it_was() {
    let model = gpu("SM90_H100");
    let wide = model
        .derive(
            "SM90_H100_WIDE",
            None,
            &changes(&[("chip.sms", 160.0), ("tensor.rates.fp8", 8192.0)]),
        )
        .expect("valid");
    assert_eq!((wide.chip.sms.value, wide.sm), (160.0, 90));
    assert_eq!(wide.tensor.rate(super::super::TensorType::Fp8), Some(8192.0));
    let derived = wide.derived.as_ref().expect("derived");
    assert_eq!(derived.base, "SM90_H100");
    assert_eq!(
        derived.changes["chip.sms"],
        Change {
            from: 132.0,
            to: 160.0
        }
    );
    assert_eq!(wide.status, Status::Unvalidated);
    assert!(
        wide.status_note.contains("chip.sms 160 instead of 132"),
        "{}",
        wide.status_note
    );
    assert_ne!(wide.facts_hash(), model.facts_hash());
    let same = model.derive("SM90_SAME", None, &changes(&[("chip.sms", 132.0)]));
    assert_eq!(same.expect("valid").title, "SM90_H100 with chip.sms 132 as there");
}

#[test]
fn dram_keeps_its_nanoseconds_when_the_core_clock_changes() {
    let model = gpu("SM90_H100");
    let beyond = |model: &GpuModel| model.ns_from_cycles(model.latency.dram.value - model.latency.l2.value);
    let fast = model
        .derive("SM90_FAST", None, &changes(&[("chip.core_clock", 2970.0)]))
        .expect("valid");
    assert!((beyond(&fast) - beyond(&model)).abs() < 1e-9);
    assert_eq!(fast.latency.l2.value, model.latency.l2.value);
    let far = model
        .derive("SM90_FAR", None, &changes(&[("latency.l2", 400.0)]))
        .expect("valid");
    assert_eq!(
        far.latency.dram.value,
        model.latency.dram.value + 400.0 - model.latency.l2.value
    );
    let both = [("chip.core_clock", 2970.0), ("latency.dram", 500.0)];
    let both = model.derive("SM90_FAST", None, &changes(&both)).expect("valid");
    assert_eq!(both.latency.dram.value, 500.0, "what is said explicitly is taken");
}

#[test]
fn a_file_that_inherits_gives_the_same_gpu_and_is_written_as_it_is_read() {
    let text = "base = \"SM90_H100\"\nname = \"SM90_BIG\"\ntitle = \"Big\"\n[chip]\nsms = 160\nl2_size = 104857600\n\
                [units.fp32]\nlatency = 3.0\n[tensor.rates]\nbf16 = 4096\n";
    let model = read(text, "big.toml", &base).expect("valid");
    assert_eq!((model.name.as_str(), model.title.as_str()), ("SM90_BIG", "Big"));
    assert_eq!(
        (model.chip.sms.value, model.units.fp32.latency.value),
        (160.0, 3.0)
    );
    let written = model.derived_toml().expect("derived");
    assert_eq!(read(&written, "written.toml", &base).expect("valid"), model);
    assert_eq!(gpu("SM90_H100").derived_toml(), None);
    // A whole file needs no base.
    let whole = include_str!("../../../../../gpus/SM80_A100.toml");
    assert_eq!(
        read(whole, "a100.toml", &|_| None).expect("valid"),
        gpu("SM80_A100")
    );
}

#[test]
fn refusals_name_file_and_key() {
    let error = |text: &str| read(text, "my.toml", &base).expect_err("refused").to_string();
    let start = "base = \"SM90_H100\"\nname = \"SM90_X\"\n";
    for (text, part) in [
        (
            format!("{start}[chip]\nsms = 0\n"),
            "my.toml: chip.sms is 0 SM, expected 1 to 1024",
        ),
        (
            format!("{start}[chip]\nsms = 1.5\n"),
            "chip.sms is 1.5 SM, expected a whole number",
        ),
        (format!("{start}[chip]\nsms = nan\n"), "chip.sms is NaN SM"),
        (
            format!("{start}[chip]\nsmss = 1\n"),
            "chip.smss is not a value of SM90_H100",
        ),
        (
            format!("{start}[chip]\nsms = \"many\"\n"),
            "chip.sms is not a number",
        ),
        (
            format!("{start}status = \"validated\"\n"),
            "status is not a number",
        ),
        (
            "base = \"SM90_H900\"\nname = \"SM90_X\"\n".to_owned(),
            "base names \"SM90_H900\", which is no GPU that Cascade ships",
        ),
        ("base = 5\nname = \"SM90_X\"\n".to_owned(), "base is not a text"),
        ("base = \"SM90_H100\"\n".to_owned(), "name is missing"),
        (
            "base = \"SM90_H100\"\nname = \"SM80_X\"\n".to_owned(),
            "name starts with `SM90_`",
        ),
        (
            "base = \"SM90_H100\"\nname = \"SM90_../x\"\n".to_owned(),
            "name may only have letters",
        ),
        (
            format!("{start}[chip]\nsms = 1e300\n"),
            "chip.sms is 1e300 SM, expected 1 to 1024",
        ),
        (
            format!("{start}latency.l2 = 5000\nlatency.dram = 4000\n"),
            "latency.l2 is 5000 cycles, more than latency.dram (4000): change both",
        ),
        (
            format!("{start}latency.dram = 300\n"),
            "latency.dram is 300 cycles, less than latency.l2 (311): change both",
        ),
        (
            format!("{start}sm_core.shared_memory = 1048576\n"),
            "sm_core.shared_memory is 1048576 bytes, more than sm_core.l1_size (262144)",
        ),
        (
            "name = \"SM90_X\"\n[chip]\nsms = 4\n".to_owned(),
            "Plain numbers need a base, such as `base = \"SM90_H100\"`",
        ),
        (
            "base = \"SM90_H100\"\nname = [\n".to_owned(),
            "my.toml: TOML parse error at line 2",
        ),
    ] {
        let error = error(&text);
        assert!(error.contains(part), "{error}");
    }
    let derived = gpu("SM90_H100")
        .derive("SM90_A", None, &BTreeMap::new())
        .expect("valid");
    let error = derived
        .derive("SM90_B", None, &BTreeMap::new())
        .expect_err("refused")
        .to_string();
    assert!(error.contains("use SM90_H100 and repeat its changes"), "{error}");
}
