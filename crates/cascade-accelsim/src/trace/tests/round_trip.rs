//! Text to xz to packed and back gives the same bytes, for real and for random traces; damage never panics.

use std::fmt::Write;
use std::io::Cursor;

use proptest::prelude::*;

use super::data;
use crate::trace::{ThreadBlock, TraceError, TraceFormat, create, open, tracez};

/// `bytes` of a processed trace in another format.
fn convert(bytes: &[u8], name: &str, format: TraceFormat) -> Result<Vec<u8>, TraceError> {
    let mut source = open(Cursor::new(bytes), name)?;
    let mut output = Vec::new();
    let header = source.header_text().to_vec();
    let mut sink = create(&mut output, format, &header, Vec::new()).unwrap();
    while source.copy_block(sink.as_mut())? {}
    sink.finish().unwrap();
    drop(sink);
    Ok(output)
}

fn blocks(bytes: &[u8], name: &str) -> Result<Vec<ThreadBlock>, TraceError> {
    let mut source = open(Cursor::new(bytes), name)?;
    let (mut all, mut block) = (Vec::new(), ThreadBlock::default());
    while source.next_block(&mut block)? {
        all.push(block.clone());
    }
    Ok(all)
}

/// Through all formats and back to text.
fn around(text: &[u8]) -> Vec<u8> {
    let xz = convert(text, "k.traceg", TraceFormat::TextXz).unwrap();
    let packed = convert(&xz, "k.traceg.xz", TraceFormat::Packed).unwrap();
    convert(&packed, "k.tracez", TraceFormat::Text).unwrap()
}

#[test]
fn real_traces_survive_all_formats() {
    for path in [
        "traces/vectoradd-a100-v5",
        "traces/bfs-a100-v3",
        "traces-micro/ldg_list",
        "traces-micro/hmma_8w",
    ] {
        let Some(path) = data(path) else { continue };
        let text = std::fs::read(path.join("kernel-1.traceg")).unwrap();
        let canonical = convert(&text, "k.traceg", TraceFormat::Text).unwrap();
        assert!(around(&text) == canonical, "{}", path.display());
        assert_eq!(
            blocks(&text, "k.traceg").unwrap(),
            blocks(&canonical, "k.traceg").unwrap()
        );
    }
}

#[test]
fn every_micro_trace_is_read_to_its_end() {
    let Some(folder) = data("traces-micro") else {
        return;
    };
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        for name in ["kernel-1.traceg", "kernel-1.traceg.xz"] {
            let Ok(file) = std::fs::File::open(folder.join(name)) else {
                continue;
            };
            let mut source = open(file, name).unwrap();
            let (mut instrs, mut block) = (0, ThreadBlock::default());
            while source.next_block(&mut block).unwrap() {
                instrs += block.warps.iter().map(|warp| warp.instrs.len()).sum::<usize>();
            }
            assert!(instrs > 0, "{}", folder.display());
            if folder.ends_with("gemmtile") {
                assert_eq!(instrs, 993_696);
            }
            read += 1;
        }
    }
    assert!(read > 20, "{read}");
}

/// A packed trace of two blocks, the first with a warp of `lines` instructions, some in a replay region.
fn packed(lines: u32, options: &tracez::Options) -> Vec<u8> {
    let text = text_of(&[
        vec![
            (0..lines)
                .map(|i| format!("{i:04x} ffffffff 0 NOP 0 0 0 "))
                .collect(),
            vec![],
        ],
        vec![vec![
            "0000 ffffffff 0 REPLAY_START 0 0 0 0".into(),
            "0010 ffffffff 0 A 0 0 0".into(),
            "0020 ffffffff 0 B 0 0 0".into(),
            "0030 ffffffff 0 REPLAY_END 0 0 0 0".into(),
            "0040 ffffffff 0 EXIT 0 0 0".into(),
        ]],
    ]);
    let mut source = open(Cursor::new(text.as_bytes()), "k.traceg").unwrap();
    let mut output = Vec::new();
    let header = source.header_text().to_vec();
    let mut writer = tracez::Writer::new(&mut output, &header, options).unwrap();
    while source.copy_block(&mut writer).unwrap() {}
    crate::trace::BlockSink::finish(&mut writer).unwrap();
    drop(writer);
    assert_eq!(
        convert(&output, "k.tracez", TraceFormat::Text).unwrap(),
        text.as_bytes()
    );
    output
}

fn text_of(blocks: &[Vec<Vec<String>>]) -> String {
    let mut text = String::from(
        "-kernel name = k\n-kernel id = 1\n-grid dim = (9,1,1)\n-block dim = (96,1,1)\n-nregs = 8\n\
         -accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = PC\n\n",
    );
    for (block, warps) in blocks.iter().enumerate() {
        write!(text, "\n#BEGIN_TB\n\nthread block = {block},0,0\n").unwrap();
        for (warp, lines) in warps.iter().enumerate() {
            write!(text, "\nwarp = {warp}\ninsts = {}\n", lines.len()).unwrap();
            for line in lines {
                writeln!(text, "{line}").unwrap();
            }
        }
        text += "\n#END_TB\n";
    }
    text
}

#[test]
fn subchunks_dictionaries_and_replay_regions_read_back() {
    let samples: Vec<Vec<u8>> = (0..200)
        .map(|i| format!("{i:04x} ffffffff 0 NOP 0 0 0 \n").repeat(20).into_bytes())
        .collect();
    let dictionary = tracez::train_dictionary(&samples);
    assert!(!dictionary.is_empty());
    let plain = packed(5000, &tracez::Options::default());
    for subchunk_instrs in [0, 1, 2, 100] {
        for dictionary in [Vec::new(), dictionary.clone()] {
            packed(
                50,
                &tracez::Options {
                    subchunk_instrs,
                    dictionary,
                },
            );
        }
    }
    // The replay region of four lines stays in one sub-chunk although each may hold one line.
    let single = packed(
        1,
        &tracez::Options {
            subchunk_instrs: 1,
            dictionary: Vec::new(),
        },
    );
    let index = u64::from_le_bytes(*single.last_chunk().unwrap()) as usize;
    let replay = &single[index + 4 + 44 + (16 + 4) + 16 + 44..];
    assert_eq!(replay[..8], [5, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(replay[16..24], [4, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(blocks(&plain, "k.tracez").unwrap()[0].warps[0].instrs.len(), 5000);
}

#[test]
fn clusters_survive_packing_and_their_absence_too() {
    let mut text = text_of(&[vec![vec![]], vec![vec!["0000 ffffffff 0 EXIT 0 0 0".into()]]]);
    let of = |text: &str| {
        blocks(&around(text.as_bytes()), "k.traceg")
            .unwrap()
            .iter()
            .map(|b| b.cluster)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&text), [None, None]);
    text = text.replace(
        "block = 1,0,0\n",
        "block = 1,0,0\ncluster id = 0,0,0\ncluster cta = 1,0,0\ncluster rank = 1\n",
    );
    assert_eq!(
        of(&text).iter().map(|c| c.map(|c| c.rank)).collect::<Vec<_>>(),
        [Some(0), Some(1)]
    );
}

#[test]
fn damaged_packed_files_are_explained() {
    let good = packed(30, &tracez::Options::default());
    let of = |bytes: &[u8]| blocks(bytes, "k.tracez").unwrap_err().to_string();
    assert!(of(&good[..good.len() - 1]).starts_with("k.tracez: "));
    assert!(of(&good[..10]).contains("its header is cut off"));
    let nul = good.iter().position(|byte| *byte == 0).unwrap();
    let mut index = good.clone();
    let at = index.len() - 8;
    index[at..].fill(0xff);
    assert!(of(&index).contains("the index does not lie behind the body"));
    let mut body = good.clone();
    body[nul + 9] ^= 1;
    assert!(of(&body).contains("index and body disagree"));
    let mut frame = good;
    frame[nul + 9 + 12] ^= 1;
    assert!(of(&frame).starts_with("k.tracez: "));
}

#[test]
fn compressed_files_are_known_by_their_first_bytes() {
    let text = text_of(&[vec![vec!["0000 ffffffff 0 EXIT 0 0 0".into()]]]);
    for format in [TraceFormat::Text, TraceFormat::TextXz, TraceFormat::Packed] {
        let bytes = convert(text.as_bytes(), "k", format).unwrap();
        assert_eq!(blocks(&bytes, "no suffix").unwrap().len(), 1);
    }
}

#[test]
fn names_tell_formats() {
    let format = |name| TraceFormat::of_name(name);
    assert_eq!(format("kernel-1-ctx_0x1.trace.xz"), Some(TraceFormat::RawXz));
    assert_eq!(format("kernel-1.traceg"), Some(TraceFormat::Text));
    assert_eq!(format("kernel-1.trace.zip"), None);
    assert_eq!(
        TraceFormat::Packed.rename("kernel-1-ctx_0x1.trace.xz"),
        "kernel-1-ctx_0x1.tracez"
    );
}

fn instruction() -> impl Strategy<Value = String> {
    let reg = prop_oneof![
        (0u8..=255).prop_map(|n| format!("R{n}")),
        (0u8..=63).prop_map(|n| format!("UR{n}"))
    ];
    let regs = |most| {
        proptest::collection::vec(reg.clone(), 0..=most)
            .prop_map(|regs| format!("{} {}", regs.len(), regs.join(" ")))
    };
    let run = (0u32..32, 1u32..=32).prop_map(|(from, len)| (u32::MAX >> (32 - len.min(32 - from))) << from);
    let memory = prop_oneof![
        (any::<u32>()).prop_map(|mask| (mask, "0".into())),
        (run, any::<u64>(), any::<i16>())
            .prop_map(|(mask, base, stride)| (mask, format!("4 1 {base:#x} {stride}"))),
        (any::<u32>(), any::<u64>(), any::<i32>()).prop_map(|(mask, base, delta)| {
            let deltas = format!(" {delta}").repeat(mask.count_ones().saturating_sub(1) as usize);
            (mask, format!("8 2 {base:#x}{deltas}"))
        }),
        (any::<u32>(), any::<u64>()).prop_map(|(mask, address)| {
            (
                mask,
                format!(
                    "2 0{}",
                    format!(" {address:#018x}").repeat(mask.count_ones() as usize)
                ),
            )
        }),
    ];
    let imms = proptest::collection::vec(any::<i64>(), 0..3)
        .prop_map(|imms| imms.iter().map(|imm| format!(" {imm}")).collect::<String>());
    (
        0u32..0x10_0000,
        regs(1),
        "[A-Z][A-Z0-9_]{0,5}(\\.[A-Z0-9]{1,4}){0,3}",
        regs(5),
        memory,
        imms,
    )
        .prop_map(|(pc, dst, opcode, src, (mask, memory), imms)| {
            // Opcodes with extra fields have their own tests.
            let opcode = opcode.replace("GMMA", "HMMA");
            let line = format!("{pc:04x} {mask:08x} {dst} {opcode} {src} {memory}{imms} ");
            line.replace("  ", " ")
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_traces_survive_all_formats(
        trace in proptest::collection::vec(
            proptest::collection::vec(proptest::collection::vec(instruction(), 0..6), 0..3), 0..4),
    ) {
        let text = text_of(&trace);
        let back = around(text.as_bytes());
        prop_assert_eq!(String::from_utf8(back).unwrap(), text.clone());
        let read = blocks(text.as_bytes(), "k.traceg").unwrap();
        let counts = |blocks: &[Vec<Vec<String>>]| blocks.iter().map(|b| b.iter().map(Vec::len).collect()).collect::<Vec<Vec<_>>>();
        let found: Vec<Vec<_>> = read.iter().map(|b| b.warps.iter().map(|w| w.instrs.len()).collect()).collect();
        prop_assert_eq!(found, counts(&trace));
        for (block, warps) in read.iter().zip(&trace) {
            for (instr, line) in block.warps.iter().flat_map(|w| &w.instrs).zip(warps.iter().flatten()) {
                let mut lanes = 0;
                block.for_each_address(instr, |lane, _| lanes |= 1 << lane);
                prop_assert_eq!(lanes, if instr.mem.is_some() { instr.mask } else { 0 });
                let start = format!("{:04x} {:08x} {} ", instr.pc, instr.mask, instr.dsts.as_slice().len());
                prop_assert!(line.starts_with(&start));
            }
        }
    }

    #[test]
    fn damaged_traces_never_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        for format in [TraceFormat::Text, TraceFormat::TextXz, TraceFormat::Packed] {
            let good = packed(40, &tracez::Options { subchunk_instrs: 7, dictionary: Vec::new() });
            let mut bytes = convert(&good, "k.tracez", format).unwrap();
            let len = bytes.len();
            bytes[at.index(len)] = byte;
            if byte & 1 == 0 {
                bytes.truncate(cut.index(len));
            }
            if let Ok(blocks) = blocks(&bytes, &format.rename("k.traceg")) {
                prop_assert!(blocks.len() <= 2);
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        let mut trace = text_of(&[]).into_bytes();
        trace.extend_from_slice(b"#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 5\n");
        trace.extend_from_slice(&bytes);
        prop_assert!(blocks(&trace, "k.traceg").is_err());
        prop_assert!(blocks(&bytes, "k.tracez").is_err());
    }
}
