//! The files themselves: same bytes again, what they say of themselves, what belongs together.

use std::collections::BTreeMap;

use cascade_accelsim::log::{Ending, LogEvent, read_log};
use cascade_steps::{MappedKernel, Provenance, parse_mapping};
use serde_json::Value;

use super::*;
use crate::{PROVENANCE, samples};

#[test]
fn making_the_samples_again_gives_the_committed_bytes() {
    let mut packed = 0;
    for sample in samples().unwrap() {
        let mut names = Vec::new();
        for file in sample.files {
            let there = match file.packed {
                true => committed(sample.name, &file.name),
                false => std::fs::read(folder(sample.name).join(&file.name)).unwrap(),
            };
            assert!(
                there == file.bytes,
                "{}/{} differs: run `cargo xtask samples`",
                sample.name,
                file.name
            );
            let says_so = String::from_utf8(there).unwrap().contains(PROVENANCE);
            assert!(says_so, "{} says where it comes from", file.name);
            names.push(if file.packed {
                format!("{}.gz", file.name)
            } else {
                file.name
            });
        }
        names.sort();
        let there = std::fs::read_dir(folder(sample.name))
            .unwrap()
            .map(|e| e.unwrap());
        let mut there: Vec<(String, u64)> = there
            .map(|e| (e.file_name().into_string().unwrap(), e.metadata().unwrap().len()))
            .collect();
        there.sort();
        packed += there.iter().map(|(_, bytes)| bytes).sum::<u64>();
        assert_eq!(there.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
    }
    assert!(packed < 1_500_000, "{packed} bytes in the repository");
}

fn mapping(sample: &str) -> Vec<MappedKernel> {
    parse_mapping(&committed(sample, "kernel_mapping.json")).unwrap()
}

#[test]
fn every_steady_launch_is_mapped_to_a_simulated_kernel() {
    for (sample, kernels, counts) in [
        (H100, 31, [("dedup", 681), ("exact", 31), ("identical", 16_376)]),
        (A100, 33, [("dedup", 591), ("exact", 33), ("identical", 14_100)]),
    ] {
        let rows = mapping(sample);
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        let mut uids: BTreeMap<u64, &str> = BTreeMap::new();
        for row in &rows {
            let provenance: Provenance = row.provenance.as_deref().unwrap().parse().unwrap();
            *found.entry(provenance.label()).or_default() += 1;
            assert_eq!(*uids.entry(row.uid).or_insert(&row.name), row.name);
            if let Provenance::Dedup(uid) = provenance {
                assert_eq!(uid, row.uid);
            }
        }
        assert_eq!(found.into_iter().collect::<Vec<_>>(), counts);
        assert_eq!(uids.len(), kernels);
        let launches = |timeline: &Timeline| -> Vec<(i64, i64, i64, String)> {
            let steps = timeline.steady();
            steps
                .flat_map(|s| {
                    s.kernels
                        .iter()
                        .map(|k| (s.repeat, s.step, k.seq, k.shape.name.clone()))
                })
                .collect()
        };
        let mapped = rows
            .into_iter()
            .map(|r| (r.repeat, r.step, r.seq, r.name))
            .collect::<Vec<_>>();
        assert!(
            mapped == launches(&real(sample)),
            "each launch once, with its own name"
        );
    }
}

#[test]
fn published_uids_are_where_they_were() {
    let rows = mapping(H100);
    let exact: BTreeMap<u64, (i64, &str)> = rows
        .iter()
        .filter(|r| r.provenance.as_deref() == Some("exact"))
        .map(|r| (r.uid, (r.step, r.name.as_str())))
        .collect();
    for (uid, step, part) in [
        (6217, 0, "indexSelectSmallIndex"),
        (6221, 0, "layer_norm"),
        (6222, 0, "nvjet"),
        (6226, 0, "nvjet"),
        (6229, 0, "nvjet"),
        (6231, 0, "splitK"),
        (6379, 0, "elementwise"),
        (6577, 2, "layer_norm"),
        (6579, 2, "reshape_and_cache"),
        (6580, 2, "FlashAttnFwdSm90"),
    ] {
        let (at, name) = exact[&uid];
        assert!(at == step && name.contains(part), "{uid}: step {at}, {name}");
    }
}

#[test]
fn logs_hold_the_kernels_of_the_mapping_with_the_cycles_of_the_durations() {
    for (sample, config) in [(H100, "SM90_H100"), (H100, "SM90_H200"), (A100, "SM80_A100")] {
        let log = committed(sample, &format!("accelsim.{config}.log"));
        let mut kernels: BTreeMap<u64, (String, u64)> = BTreeMap::new();
        let summary = read_log(&log[..], &mut |event| {
            if let LogEvent::Kernel(block) = event {
                assert_eq!(block.gpu_sim_insn, None, "nobody published it");
                let cycles = block.gpu_sim_cycle.unwrap();
                kernels.insert(block.uids[0], (block.names[0].clone(), cycles));
            }
        });
        assert_eq!(summary.unwrap().ending, Ending::Complete);
        let names: BTreeMap<u64, String> = mapping(sample).into_iter().map(|r| (r.uid, r.name)).collect();
        assert!(kernels.keys().eq(names.keys()));
        for (uid, (name, _)) in &kernels {
            assert_eq!(name, &names[uid]);
        }
        let durations = durations(sample, config);
        let mhz = durations.core_clock_mhz.unwrap();
        for row in &durations.durations {
            let cycles = row.cycles.unwrap();
            assert_eq!(kernels[&row.uid.unwrap()].1, cycles);
            assert_eq!(row.duration_ns, cycles as f64 * 1_000.0 / mhz);
        }
    }
}

#[test]
fn metadata_says_what_is_known_and_what_is_not() {
    for (sample, gpu, configs) in [
        (H100, "H100", vec!["SM90_H100", "SM90_H200"]),
        (A100, "A100-80GB", vec!["SM80_A100"]),
    ] {
        let json = std::fs::read(folder(sample).join("metadata.json")).unwrap();
        let metadata: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(metadata["gpu"], gpu);
        assert_eq!(metadata["sample"], true);
        assert_eq!(metadata["sample_sim_configs"], serde_json::json!(configs));
        assert_eq!(metadata["real_gpu_config"], configs[0]);
        for part in ["exact", "derived", "distributed", "missing"] {
            assert!(!metadata["reconstruction"][part].as_array().unwrap().is_empty());
        }
    }
}

#[test]
fn what_nobody_published_is_null() {
    for sample in [H100, A100] {
        let timeline = real(sample);
        let warm_up: Vec<_> = timeline.steps.iter().filter(|s| s.warmup).collect();
        assert_eq!(warm_up.len(), 32);
        for step in warm_up {
            assert_eq!((step.baseline_wall_ns, step.gpu_busy_ns), (None, None));
            assert!(step.kernels.is_empty());
        }
        for step in &timeline.steps {
            assert_eq!((step.profiled_wall_ns, step.profiled_gap_before_ns), (None, None));
        }
        for request in &timeline.requests {
            assert_eq!((request.itl_ms_p50, request.queued_ms), (None, None));
            assert_eq!(request.ttft_ms.is_some(), sample == H100 && !request.warmup);
        }
    }
}
