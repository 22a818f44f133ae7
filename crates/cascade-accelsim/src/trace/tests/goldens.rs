//! Instruction counts of real traces, where the shared data folder exists.

use std::fs::File;
use std::io::BufReader;

use super::data;
use crate::trace::{BlockSource, ThreadBlock, TraceError, TraceReader};

/// Warp and thread instructions of a trace.
fn count(source: &mut dyn BlockSource) -> Result<(usize, u64), TraceError> {
    let (mut warp, mut thread, mut block) = (0, 0, ThreadBlock::default());
    while source.next_block(&mut block)? {
        for instr in block.warps.iter().flat_map(|warp| &warp.instrs) {
            warp += 1;
            thread += u64::from(instr.active());
        }
    }
    Ok((warp, thread))
}

fn text(path: &str) -> Option<Result<(usize, u64), TraceError>> {
    let path = data(path)?;
    let reader = TraceReader::open(BufReader::new(File::open(&path).unwrap()), path.to_str().unwrap());
    Some(reader.and_then(|mut reader| count(&mut reader)))
}

#[test]
fn real_traces_have_their_known_counts() {
    for (path, warp) in [
        ("traces/vectoradd-gtx1080-v4/kernel-1.traceg", 344),
        ("traces/matrixmul-gtx1080-v4/kernel-1.traceg", 4416),
        ("traces/vectoradd-a100-v5/kernel-1.traceg", 26601),
        ("traces/bfs-a100-v3/kernel-1.traceg", 1799),
        ("traces/bfs-a100-v3/kernel-2.traceg", 1814),
        ("traces/bfs-a100-v3/kernel-12.traceg", 3314),
        ("traces/bfs-a100-v3/kernel-14.traceg", 1694),
        ("traces/ffma-h100-v5/kernel-1-ctx_0x55e3a796e730.traceg", 1328),
        ("traces/atax-h100-v5/kernel-1.traceg", 60),
        ("traces/atax-h100-v6/kernel-1.traceg", 60),
    ] {
        if let Some(counts) = text(path) {
            assert_eq!(counts.unwrap().0, warp, "{path}");
        }
    }
}

#[test]
fn thread_instructions_match_the_published_sums() {
    for (path, thread) in [
        ("traces/vectoradd-gtx1080-v4/kernel-1.traceg", 10_516),
        ("traces/matrixmul-gtx1080-v4/kernel-1.traceg", 139_264),
    ] {
        if let Some(counts) = text(path) {
            assert_eq!(counts.unwrap().1, thread, "{path}");
        }
    }
}

#[test]
fn the_cut_lud_excerpt_is_named_as_cut() {
    if let Some(counts) = text("traces/lud-v1-excerpt/lud-kernel-8.v1.excerpt.traceg") {
        let error = counts.unwrap_err().to_string();
        assert!(
            error.contains("cut off") && error.contains("14 of 1027"),
            "{error}"
        );
    }
}

#[test]
fn a_raw_trace_asks_to_be_processed() {
    if let Some(counts) = text("traces/raw-vecadd-v3/kernel-1.trace") {
        assert!(counts.unwrap_err().to_string().contains("post-process"));
    }
}

#[test]
fn real_headers_of_every_tracer_version_are_read() {
    for (path, tracer, nvbit, binary, shmem) in [
        (
            "traces/lud-v1-excerpt/lud-kernel-8.v1.excerpt.traceg",
            None,
            None,
            70,
            3072,
        ),
        (
            "traces/bfs-a100-v3/kernel-1.traceg",
            Some(3),
            Some("1.5.3"),
            80,
            0,
        ),
        (
            "traces/matrixmul-gtx1080-v4/kernel-1.traceg",
            Some(4),
            Some("1.5.5"),
            61,
            8192,
        ),
        (
            "traces/ffma-h100-v5/kernel-1-ctx_0x55e3a796e730.traceg",
            Some(5),
            Some("1.7.4"),
            90,
            0,
        ),
        ("traces/atax-h100-v6/kernel-1.traceg", Some(6), Some("1.8"), 90, 0),
    ] {
        let Some(path) = data(path) else { continue };
        let reader = TraceReader::open(BufReader::new(File::open(&path).unwrap()), "t").unwrap();
        let header = reader.header();
        assert_eq!(
            (header.tracer_version, header.nvbit_version.as_deref()),
            (tracer, nvbit)
        );
        assert_eq!(
            (header.binary_version, header.shmem_bytes, header.unknown.len()),
            (binary, shmem, 0)
        );
    }
}
