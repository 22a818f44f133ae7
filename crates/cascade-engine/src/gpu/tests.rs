//! GPU files: the shipped ones are sound, broken ones are refused with file and key.

use cascade_accelsim::config::{Config, GpuConfig, Source};

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

/// The options of a config as far as the engine reads them, in the values of an RTX 3070.
const CONFIG: &str = "\
-gpgpu_compute_capability_major 8 -gpgpu_compute_capability_minor 6 -gpgpu_n_clusters 46 -gpgpu_n_cores_per_cluster 1
-gpgpu_n_mem 16 -gpgpu_n_sub_partition_per_mchannel 2 -gpgpu_clock_domains 1132:1132:1132:3500.5
-gpgpu_shader_registers 65536 -gpgpu_shader_core_pipeline 1536:32 -gpgpu_shader_cta 32 -gpgpu_shmem_size 102400
-gpgpu_shmem_num_banks 32 -gpgpu_num_sched_per_core 4 -gpgpu_num_sp_units 4 -gpgpu_num_sfu_units 4
-gpgpu_num_dp_units 4 -gpgpu_num_int_units 4 -gpgpu_num_tensor_core_units 4 -gpgpu_unified_l1d_size 128
-gpgpu_cache:dl1 S:4:128:256,L:T:m:L:L,A:384:48,16:0,32 -gpgpu_cache:dl2 S:64:128:16,L:B:m:L:P,A:192:4,32:0,32
-gpgpu_l1_latency 39 -gpgpu_smem_latency 29 -gpgpu_l2_rop_latency 187 -dram_latency 254 -gpgpu_kernel_launch_latency 5000
-gpgpu_dram_buswidth 2 -gpgpu_dram_burst_length 16 -dram_data_command_freq_ratio 4 -gpgpu_n_mem_per_ctrlr 1
-network_mode 2 -icnt_flit_size 40
-trace_opcode_latency_initiation_int 2,2 -trace_opcode_latency_initiation_sp 2,1 -trace_opcode_latency_initiation_dp 64,64
-trace_opcode_latency_initiation_sfu 21,8 -trace_opcode_latency_initiation_tensor 32,32
-specialized_unit_1 1,4,4,4,4,BRA -trace_opcode_latency_initiation_spec_op_1 4,4";

fn from_config(name: &str, more: &str) -> Result<GpuModel, String> {
    let text = format!("{CONFIG}\n{more}\n");
    let source = Source {
        name: "gpgpusim.config",
        text: text.as_bytes(),
    };
    let config = Config::read(&[source], &mut |file| Err(format!("no {file}")));
    let config = GpuConfig::new(&config).map_err(|error| error.to_string())?;
    GpuModel::from_gpgpusim(name, &config).map_err(|error| error.to_string())
}

#[test]
fn a_config_becomes_a_gpu_by_its_own_formulas() {
    let model = from_config("SM86_RTX3070", "").expect("valid");
    assert_eq!(
        (model.sm, model.chip.sms.value, model.chip.l2_size.count()),
        (86, 46.0, 4 << 20)
    );
    assert!((model.chip.dram_bandwidth.value - 448.064).abs() < 1e-9);
    assert_eq!(model.tensor.rate(TensorType::Fp16F32), Some(256.0));
    assert_eq!(
        (model.units.fp32.interval.value, model.units.sfu.interval.value),
        (1.0, 8.0)
    );
    assert!(model.status_note.contains("5000 cycles is not added"));
    // The simple DRAM model moves 32 bytes per channel and clock, whatever the bus is.
    let simple = from_config(
        "SM90_X",
        "-gpgpu_simple_dram_model 1 -gpgpu_n_mem 40 -gpgpu_clock_domains 1980:3106:3106:3106",
    );
    assert!((simple.expect("valid").chip.dram_bandwidth.value - 3975.68).abs() < 1e-9);
    let error = from_config("SM86_RTX3070", "-gpgpu_clock_domains 1:1:1:1").expect_err("refused");
    assert!(
        error.starts_with("SM86_RTX3070: chip.core_clock is 1 MHz"),
        "{error}"
    );
}

#[test]
fn disagreements_name_what_differs_by_more_than_a_tenth() {
    let facts = gpu("SM86_RTX3070");
    let keys = |config: &GpuModel| {
        disagreements(&facts, config)
            .into_iter()
            .map(|found| found.key)
            .collect::<Vec<_>>()
    };
    let config = from_config("SM86_RTX3070", "").expect("valid");
    let found = keys(&config);
    assert!(
        found.contains(&"chip.core_clock".to_owned()) && !found.contains(&"chip.dram_bandwidth".to_owned()),
        "{found:?}"
    );
    let wrong = from_config("SM86_RTX3070", "-gpgpu_clock_domains 1725:1725:1725:6048").expect("valid");
    let found = keys(&wrong);
    assert!(
        !found.contains(&"chip.core_clock".to_owned()) && found.contains(&"chip.dram_bandwidth".to_owned()),
        "{found:?}"
    );
    assert!(disagreements(&facts, &facts).is_empty());
}
