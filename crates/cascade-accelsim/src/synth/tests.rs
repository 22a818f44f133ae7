//! Counts in closed form equal those of the written traces; the same shape gives the same bytes.

use std::collections::BTreeSet;
use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::list::{KernelList, Stats};
use crate::trace::{ThreadBlock, open};

/// Counts and opcodes of a kernel's trace, as read back.
fn read(kernel: &SynthKernel, format: TraceFormat) -> (Counts, BTreeSet<String>) {
    let mut bytes = Vec::new();
    kernel.write(3, &mut bytes, format).unwrap();
    let mut source = open(Cursor::new(&bytes), &format!("kernel-3{}", format.suffix())).unwrap();
    let header = source.header().clone();
    assert_eq!(
        (header.name.as_str(), header.id, header.grid),
        (kernel.name(), 3, kernel.grid())
    );
    assert_eq!(
        (header.block.count(), header.tracer_version),
        (kernel.threads().into(), Some(5))
    );
    assert_eq!(header.unknown, [("synthetic".into(), "1".into())]);
    let (mut counts, mut block, mut ids) = (Counts::default(), ThreadBlock::default(), BTreeSet::new());
    while source.next_block(&mut block).unwrap() {
        assert!(ids.insert((block.id.z, block.id.y, block.id.x)));
        assert_eq!(block.warps.len() as u32, kernel.threads() / 32);
        for warp in &block.warps {
            let last = warp.instrs.last().unwrap();
            assert_eq!(source.opcodes().name(last.opcode), "EXIT");
            for instr in &warp.instrs {
                counts.warp_instrs += 1;
                counts.thread_instrs += u64::from(instr.active());
                assert_eq!(instr.imms, [Some(0), None]);
                if instr.mem.is_some() {
                    let width = source.opcodes().name(instr.opcode).contains("128");
                    block.for_each_address(instr, |_, address| assert!(!width || address % 16 == 0));
                }
            }
        }
    }
    assert_eq!(ids.len() as u64, kernel.grid().count());
    (
        counts,
        source.opcodes().iter().map(|(_, name)| name.to_owned()).collect(),
    )
}

fn check(shape: KernelShape, arch: Arch) {
    let kernel = SynthKernel::new("k", shape, arch).unwrap();
    assert_eq!(read(&kernel, TraceFormat::Text).0, kernel.counts(), "{shape:?}");
}

fn arch() -> impl Strategy<Value = Arch> {
    proptest::sample::select(Arch::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn copies_count_exactly(bytes in 1u64..40_000, warps in 1u32..9, arch in arch()) {
        check(KernelShape::Copy(Copy { bytes, threads: warps * 32 }), arch);
    }

    #[test]
    fn chains_count_exactly(blocks in 1u32..4, warps in 1u32..5, iterations in 1u32..5, chains in 1u8..17, arch in arch()) {
        check(KernelShape::FmaChain(FmaChain { blocks, threads: warps * 32, iterations, chains }), arch);
    }

    #[test]
    fn gemms_count_exactly(m in 1u32..140, n in 1u32..140, k in 1u32..20, tiles in (0u32..3, 0u32..3), arch in arch()) {
        let (tile_m, tile_n) = (32 << tiles.0, 32 << tiles.1);
        check(KernelShape::Gemm(Gemm { m, n, k: k * 8, tile_m, tile_n }), arch);
    }

    #[test]
    fn reductions_count_exactly(elements in 1u64..9000, warps in 1u32..9, loads in 1u32..5, arch in arch()) {
        check(KernelShape::Reduction(Reduction { elements, threads: warps * 32, loads }), arch);
    }

    #[test]
    fn layer_norms_count_exactly(rows in 1u32..6, quads in 1u32..400, arch in arch()) {
        check(KernelShape::LayerNorm(LayerNorm { rows, hidden: quads * 4 }), arch);
    }

    #[test]
    fn attention_counts_exactly(sequences in 1u32..4, heads in 1u32..4, context in 1u32..300, arch in arch()) {
        check(KernelShape::Decode(Decode { sequences, heads, context }), arch);
    }
}

#[test]
fn shapes_that_make_no_kernel_are_refused() {
    let arch = Arch::new(80).unwrap();
    let of = |shape| SynthKernel::new("k", shape, arch).unwrap_err().to_string();
    assert!(
        of(KernelShape::Copy(Copy {
            bytes: 0,
            threads: 32
        }))
        .contains("extent")
    );
    assert!(
        of(KernelShape::Copy(Copy {
            bytes: 1,
            threads: 33
        }))
        .contains("multiple of 32")
    );
    assert!(
        of(KernelShape::Copy(Copy {
            bytes: 1 << 32,
            threads: 32
        }))
        .contains("thread blocks")
    );
    assert!(
        of(KernelShape::FmaChain(FmaChain {
            blocks: 1 << 20,
            threads: 1024,
            iterations: 1 << 20,
            chains: 1
        }))
        .contains("2^32")
    );
    assert!(
        of(KernelShape::Gemm(Gemm {
            m: 1,
            n: 1,
            k: 8,
            tile_m: 48,
            tile_n: 64
        }))
        .contains("tiles")
    );
    assert!(
        of(KernelShape::Decode(Decode {
            sequences: 1,
            heads: 1,
            context: 1 << 20
        }))
        .contains("48 KiB")
    );
    assert_eq!(Arch::new(61).unwrap_err(), SynthError::UnknownArch(61));
    assert!(
        model_like("gpt-5", 1, arch)
            .unwrap_err()
            .to_string()
            .contains("opt-125m")
    );
    assert!(
        model_like("opt-125m", 0, arch)
            .unwrap_err()
            .to_string()
            .contains("1 to 64")
    );
}

#[test]
fn tensor_instructions_are_those_of_the_architecture() {
    for (binary, opcode) in [
        (70, "HMMA.884.F32.F32.STEP0"),
        (75, "HMMA.1688.F32"),
        (80, "HMMA.16816.F32"),
        (90, "HMMA.16816.F32"),
    ] {
        let shape = KernelShape::Gemm(Gemm {
            m: 32,
            n: 32,
            k: 32,
            tile_m: 32,
            tile_n: 32,
        });
        let kernel = SynthKernel::new("k", shape, Arch::new(binary).unwrap()).unwrap();
        assert!(read(&kernel, TraceFormat::Text).1.contains(opcode));
    }
}

#[test]
fn a_model_like_pass_is_small_named_and_marked() {
    let trace = model_like("facebook/opt-125m", 2, Arch::new(80).unwrap()).unwrap();
    let list = KernelList::read(trace.kernels_list(TraceFormat::Text).as_bytes(), "kernelslist.g").unwrap();
    assert_eq!(
        (list.kernels().count(), list.notes.len()),
        (trace.kernels().len(), 0)
    );
    let stats = Stats::read(trace.stats().as_bytes(), SynthTrace::STATS_FILE).unwrap();
    assert!(stats.notes.is_empty());
    for (launch, kernel) in stats.launches.iter().zip(trace.kernels()) {
        assert_eq!(
            (launch.name.as_str(), launch.grid),
            (kernel.name(), kernel.grid())
        );
        assert_eq!(launch.reported_warp_instrs, Some(kernel.counts().warp_instrs));
    }
    assert_eq!(stats.launches.len(), trace.kernels().len());
    let metadata: serde_json::Value = serde_json::from_str(&trace.metadata()).unwrap();
    assert_eq!(metadata["synthetic"], true);
    assert_eq!(metadata["status"], "ok");
    assert_eq!(
        (&metadata["trace_gpu_arch"], &metadata["suggested_sim_config"]),
        (&"sm_80".into(), &"SM80_A100".into())
    );
    assert_eq!(metadata["layers"][1], "step 1 (decode)");
    assert!(
        metadata["note"]
            .as_str()
            .unwrap()
            .contains("layers 1 instead of 12")
    );
}

#[test]
fn one_step_stays_under_ten_megabytes_and_is_always_the_same() {
    for arch in Arch::ALL {
        let trace = model_like("opt-125m", 1, arch).unwrap();
        let (mut text, mut again, mut counts) = (Vec::new(), Vec::new(), Counts::default());
        for index in 0..trace.kernels().len() {
            trace.write_kernel(index, &mut text, TraceFormat::Text).unwrap();
            trace.write_kernel(index, &mut again, TraceFormat::Text).unwrap();
            let (found, _) = read(&trace.kernels()[index], TraceFormat::Text);
            counts.warp_instrs += found.warp_instrs;
            counts.thread_instrs += found.thread_instrs;
        }
        assert!(text == again);
        assert!(text.len() < 10_000_000, "{} bytes on {arch:?}", text.len());
        assert_eq!(counts, trace.counts());
    }
}

#[cfg(feature = "compression")]
#[test]
fn compressed_formats_hold_the_same_kernel() {
    let shape = KernelShape::LayerNorm(LayerNorm { rows: 3, hidden: 200 });
    let kernel = SynthKernel::new("k", shape, Arch::new(90).unwrap()).unwrap();
    for format in [TraceFormat::TextXz, TraceFormat::Packed] {
        assert_eq!(read(&kernel, format).0, kernel.counts());
    }
}
