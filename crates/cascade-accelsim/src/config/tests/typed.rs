//! Typed values, checks and names.

use super::*;

fn errors(text: &str) -> Vec<String> {
    GpuConfig::new(&read(text)).err().map_or_else(Vec::new, |error| {
        error.0.iter().map(ToString::to_string).collect()
    })
}

#[test]
fn values_are_typed_and_defaults_are_the_simulators() {
    let gpu = GpuConfig::new(&read(&format!(
        "{GPU}-gpgpu_l1_latency 0x27\n-gpgpu_shmem_option 0,8,100"
    )))
    .unwrap();
    assert_eq!(
        (gpu.sms(), gpu.l2_bytes(), gpu.l1_latency),
        (20, 64 * 128 * 16 * 32, 39)
    );
    assert_eq!((gpu.clocks.core_mhz, gpu.clocks.dram_mhz), (1000.0, 4000.5));
    assert_eq!(gpu.shmem_options_kb, [0, 8, 100]);
    let dl1 = gpu.dl1.unwrap();
    assert_eq!(
        (dl1.kind, dl1.sets, dl1.line_bytes, dl1.ways),
        (CacheKind::Sectored, 4, 128, 64)
    );
    assert_eq!(
        (dl1.write, dl1.mshr_entries, dl1.miss_queue, dl1.port_bytes),
        ('T', 512, 16, Some(32))
    );
    assert_eq!(
        gpu.trace.dp,
        Latency {
            latency: 4,
            initiation: 1
        }
    );
}

#[test]
fn old_cache_strings_are_read() {
    let old = Cache::parse("N:32:128:4,L:L:m:N:H,S:64:8,8").unwrap().unwrap();
    assert_eq!(
        (old.kind, old.index, old.miss_queue, old.port_bytes),
        (CacheKind::Normal, 'H', 8, None)
    );
    assert_eq!(Cache::parse("none"), Ok(None));
    assert_eq!(
        Cache::parse("S:4:128,L:L:m:N:H,S:64:8,8").unwrap_err(),
        "\"S:4:128\" has 3 parts and is not the geometry <S|N>:<sets>:<line>:<ways>"
    );
    assert!(
        Cache::parse("S:0:128:4,L:L:m:N:H,S:64:8,8")
            .unwrap_err()
            .contains("sets")
    );
}

#[test]
fn errors_name_file_and_line() {
    assert_eq!(errors(GPU), [""; 0]);
    let bad = GPU
        .replace("-gpgpu_n_mem 16", "-gpgpu_n_mem lots")
        .replace("1000:2000:", "");
    assert_eq!(
        errors(&format!(
            "{bad}-specialized_unit_1 1,4,4,BRA\n-trace_opcode_latency_initiation_dp 5"
        )),
        [
            "c:1: -gpgpu_clock_domains 3000:4000.5 is not core:icnt:L2:DRAM, four positive MHz",
            "c:5: -gpgpu_n_mem lots is not a whole number from 0 to 4294967295",
            "c:10: -trace_opcode_latency_initiation_dp 5 is not 2 whole numbers with commas",
            "c:9: -specialized_unit_1 1,4,4,BRA is not <enabled>,<units>,<max latency>,<ID_OC>,<OC_EX>,<name>",
        ]
    );
    assert!(errors("")[0].starts_with("config: -gpgpu_clock_domains is missing"));
}

#[test]
fn units_and_checks() {
    let text = format!(
        "{GPU}-trace_opcode_latency_initiation_dp 6,8\n-specialized_unit_3 1,4,32,4,4,TENSOR\n\
         -trace_opcode_latency_initiation_spec_op_3 33,2\n-specialized_unit_4 0,4,4,4,4,UDP\n\
         -gpgpu_memory_partition_indexing 2\n-gpgpu_n_mem 80"
    );
    let gpu = GpuConfig::new(&read(&text)).unwrap();
    assert_eq!(gpu.trace.specialized.len(), 1);
    assert_eq!(
        (
            gpu.trace.specialized[0].name.as_str(),
            gpu.trace.specialized[0].latency.latency
        ),
        ("TENSOR", 33)
    );
    let notes = check(&gpu);
    for part in [
        "n_mem 80 is not",
        "finds 256",
        "dp 6,8",
        "holds 32 cycles and its latency is 33",
    ] {
        assert!(notes.iter().any(|note| note.contains(part)), "{part}: {notes:?}");
    }
    assert_eq!(check(&GpuConfig::new(&read(GPU)).unwrap()), [""; 0]);
}

#[test]
fn architectures_from_names() {
    for (name, arch) in [
        ("SM86_RTX3070", Some("sm_86")),
        ("SM7_QV100", Some("sm_70")),
        ("SM75_RTX2060_S", Some("sm_75")),
        ("SM90_H100", Some("sm_90")),
        ("SM100_B200", Some("sm_100")),
        ("SM6_TITANX", Some("sm_60")),
        ("RTX3070", None),
        ("SM_X", None),
        ("SM86", None),
        ("SM8A_X", None),
        ("SM1234_X", None),
        ("", None),
    ] {
        assert_eq!(arch_from_name(name).as_deref(), arch, "{name}");
    }
}
