//! Tests of the import of a sim's kernels.

use indexmap::IndexMap;

use super::*;
use crate::parse_mapping;

fn kernel(uid: u64, name: &str, cycles: Option<u64>) -> KernelStat {
    KernelStat {
        sim_id: "sim-000000000001".into(),
        kernel_index: uid,
        kernel_name: name.to_owned(),
        kernel_launch_uid: Some(uid),
        gpu_sim_cycle: cycles,
        gpu_sim_insn: None,
        gpu_ipc: None,
        sim_time_ns: None,
        stats: IndexMap::new(),
    }
}

fn import(mapping: &str, kernels: &[KernelStat]) -> Result<SimDurations, ImportError> {
    let source = Source {
        engine: Some("accel-sim".to_owned()),
        gpu_config: Some("SM90_H100".to_owned()),
        core_clock_mhz: 1980.0,
    };
    from_kernels(&parse_mapping(mapping.as_bytes()).unwrap(), kernels, source)
}

const MAPPING: &str = r#"[
    {"uid":7,"name":"a","repeat":1,"step":0,"seq":0},
    {"uid":7,"name":"a","repeat":1,"step":2,"seq":0},
    {"uid":8,"name":"b","repeat":1,"step":0,"seq":1,"provenance":"dedup:6579","by":"plan"}]"#;

#[test]
fn what_the_engine_did_not_simulate_itself_is_not_exact() {
    let mut shared = kernel(7, "a", Some(3960));
    let origin = StatValue::Text("dedup:3".to_owned());
    shared.stats.insert(PROVENANCE_KEY.to_owned(), origin);
    let times = import(MAPPING, &[kernel(8, "b", Some(990)), shared]).unwrap();
    let labels: Vec<String> = times.durations.iter().map(|d| d.provenance.to_string()).collect();
    assert_eq!(labels, ["dedup:3", "dedup:7", "dedup:6579"]);
}

#[test]
fn cycles_become_time_and_launches_that_share_a_kernel_say_so() {
    let times = import(MAPPING, &[kernel(8, "b", Some(990)), kernel(7, "a", Some(3960))]).unwrap();
    let list = |f: fn(&SimDuration) -> String| times.durations.iter().map(f).collect::<Vec<_>>().join(" ");
    assert_eq!(list(|d| d.provenance.to_string()), "exact dedup:7 dedup:6579");
    assert_eq!(list(|d| d.duration_ns.to_string()), "2000 2000 500");
    assert_eq!(
        list(|d| format!("{:?}", d.cycles)),
        "Some(3960) Some(3960) Some(990)"
    );
    let json = serde_json::to_vec(&times).unwrap();
    assert_eq!(SimDurations::parse(&json).unwrap(), times);
}

#[test]
fn a_kernel_that_does_not_fit_is_named() {
    let error = |kernels: &[KernelStat]| import(MAPPING, kernels).unwrap_err().to_string();
    let a = kernel(7, "a", Some(1));
    assert!(
        error(std::slice::from_ref(&a))
            .starts_with("kernel_mapping.json names kernel 8 `b`, but the log has no finished kernel")
    );
    assert!(
        error(&[a.clone(), kernel(8, "c", Some(1))]).contains("kernel 8 is `b`, but in the log it is `c`")
    );
    assert!(error(&[a.clone(), kernel(8, "b", None)]).contains("no gpu_sim_cycle for kernel 8 `b`"));
    assert!(error(&[a.clone(), a]).starts_with("the log has kernel 7 `a` twice"));
    let label = MAPPING.replace("dedup:6579", "guessed");
    let error = import(&label, &[kernel(7, "a", Some(1)), kernel(8, "b", Some(1))]).unwrap_err();
    assert!(error.to_string().contains("kernel 8: `guessed` is none of exact"));
}

#[test]
fn a_mapping_names_its_row_and_field_and_keeps_what_it_does_not_know() {
    let error =
        parse_mapping(br#"[{"uid":1,"name":"a","repeat":1,"step":0,"seq":0},{"uid":-1}]"#).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("kernel_mapping.json: [1]: uid: invalid value"),
        "{error}"
    );
    let rows = parse_mapping(MAPPING.as_bytes()).unwrap();
    let again: serde_json::Value = serde_json::from_str(MAPPING).unwrap();
    assert_eq!(serde_json::to_value(&rows).unwrap(), again);
}
