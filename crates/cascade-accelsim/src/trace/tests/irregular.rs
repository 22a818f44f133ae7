//! Every irregularity of real and hand-made traces, one fixture each.

use crate::trace::{
    AddressMode, BlockSource, Instr, MAX_LINE_BYTES, OpcodeTable, Reg, ThreadBlock, TraceError, TraceReader,
};

const HEADER: &str = "-kernel name = k(int, float)\n-kernel id = 7\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n\
    -shmem = 16\n-nregs = 20\n-binary version = 80\n-cuda stream id = 94469360496112\n";

fn header(version: u32) -> String {
    format!("{HEADER}-accelsim tracer version = {version}\n-enable lineinfo = 0\n\n#traces format = PC\n")
}

/// Reads all blocks of `text`.
fn read(text: &str) -> Result<(Vec<ThreadBlock>, OpcodeTable), TraceError> {
    let mut reader = TraceReader::open(text.as_bytes(), "t")?;
    let mut blocks = Vec::new();
    let mut block = ThreadBlock::default();
    while reader.next_block(&mut block)? {
        blocks.push(block.clone());
    }
    Ok((blocks, reader.opcodes().clone()))
}

/// The only instruction of a one-line body under a header of `version`.
fn one(version: u32, line: &str) -> Result<(Instr, Vec<u64>), TraceError> {
    let text = format!(
        "{}#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n{line}\n#END_TB\n",
        header(version)
    );
    let (blocks, _) = read(&text)?;
    Ok((blocks[0].warps[0].instrs[0], blocks[0].addresses.clone()))
}

fn error(version: u32, line: &str) -> String {
    one(version, line).unwrap_err().to_string()
}

/// Addresses of the lanes of a one-line trace.
fn lanes(version: u32, line: &str) -> Vec<(u32, u64)> {
    let (instr, addresses) = one(version, line).unwrap();
    let block = ThreadBlock {
        addresses,
        ..ThreadBlock::default()
    };
    let mut out = Vec::new();
    block.for_each_address(&instr, |lane, address| out.push((lane, address)));
    out
}

#[test]
fn header_fields_are_read() {
    let text =
        format!("\r\n{HEADER}-shmem base_addr = 0x7f00\r\n-nvbit version = 1.7.7.1\n-new key = a = b\n");
    let reader = TraceReader::open(text.as_bytes(), "t").unwrap();
    let h = reader.header();
    assert_eq!(
        (h.name.as_str(), h.id, h.grid.x, h.block.x),
        ("k(int, float)", 7, 2, 64)
    );
    assert_eq!((h.shmem_bytes, h.nregs, h.binary_version), (16, 20, 80));
    assert_eq!(
        (h.stream_id, h.shmem_base, h.local_base),
        (94_469_360_496_112, Some(0x7f00), None)
    );
    assert_eq!(
        (h.nvbit_version.as_deref(), h.tracer_version, h.lineinfo),
        (Some("1.7.7.1"), None, false)
    );
    assert_eq!(h.unknown, [("new key".into(), "a = b".into())]);
}

#[test]
fn bad_headers_are_explained() {
    let open = |text: &str| {
        TraceReader::open(text.as_bytes(), "f")
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        open(""),
        "f: no `-kernel name = …` header at the start; this is not an Accel-Sim kernel trace"
    );
    assert!(open("GIF89a").starts_with("f:1: no `-kernel name"));
    assert!(open("-kernel name = k\n").contains("`-grid dim = …`"));
    assert!(open("-grid dim = (1,2)\n").starts_with("f:1: `-grid dim = (1,2)` is not three numbers"));
    assert!(open("-block dim = (0,1,1)\n").contains("`-block dim = (0,1,1)` is not three numbers from 1 up"));
    let newer = open("-accelsim tracer version = 7\n");
    assert!(newer.starts_with("f:1: `-accelsim tracer version = 7`: versions up to 6 are known"));
}

#[test]
fn blocks_and_warps_that_the_header_rules_out_are_refused() {
    let block = |id: &str, warps: &[u32]| {
        let warp = |warp: &u32| format!("warp = {warp}\ninsts = 1\n0 1 0 NOP 0 0 0 0\n");
        let warps: String = warps.iter().map(warp).collect();
        format!("#BEGIN_TB\nthread block = {id}\n{warps}#END_TB\n")
    };
    let told = |body: String| read(&(header(5) + &body)).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        read(&(header(5) + &block("0,0,0", &[0, 1]) + &block("1,0,0", &[1])))
            .unwrap()
            .0
            .len(),
        2
    );
    assert!(told(block("2,0,0", &[0])).contains("t:16: thread block (2,0,0) lies outside the grid (2,1,1)"));
    assert!(told(block("0,0,0", &[0, 2])).contains("warp 2 has instructions, but a block of 64 threads"));
    assert!(told(block("0,0,0", &[1, 1])).contains("warp 1 comes twice in thread block (0,0,0)"));
    let three = block("0,0,0", &[0]) + &block("1,0,0", &[0]) + &block("0,0,0", &[0]);
    assert!(told(three).contains("more thread blocks than the 2 of the grid"));
}

#[test]
fn small_letters_are_part_of_suffixes() {
    for opcode in ["HGMMA.64x256x16.F32.BF16", "LDTM.16dp256bit.x32", "UTMALDG.2D"] {
        let line = format!("0 ffffffff 0 {opcode} 0 0 0 0");
        let (_, opcodes) = read(&format!(
            "{}#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n{line}\n#END_TB\n",
            header(5)
        ))
        .unwrap();
        assert!(opcodes.iter().any(|(_, name)| name == opcode), "{opcode}");
    }
}

#[test]
fn old_versions_keep_four_columns_even_processed() {
    for line in [
        "3 0 0 1 0010 ffffffff 1 R1 MOV 0 0 ",
        "0010 ffffffff 1 R1 MOV 0 0",
    ] {
        let (instr, _) = one(2, line).unwrap();
        assert_eq!(
            (instr.pc, instr.mask, instr.dsts.as_slice()),
            (0x10, u32::MAX, [Reg::R(1)].as_slice())
        );
    }
    assert_eq!(
        lanes(
            1,
            "0 0 0 0 0c70 00030000 1 R136 LDS.U 1 R0 4 1 0x0000000000000800 64 "
        ),
        [(16, 0x800), (17, 0x840)]
    );
}

#[test]
fn immediates_are_told_by_what_is_left() {
    assert_eq!(
        one(4, "0008 ffffffff 1 R1 MOV 0 0 ").unwrap().0.imms,
        [None, None]
    );
    assert_eq!(
        one(5, "0008 ffffffff 0 ISETP 1 R6 0 -3 ").unwrap().0.imms,
        [Some(-3), None]
    );
    assert_eq!(
        one(5, "00e0 ffffffff 1 R0 LOP3.LUT 2 R5 R255 0 3 192")
            .unwrap()
            .0
            .imms,
        [Some(3), Some(192)]
    );
    let max = one(5, "0000 ffffffff 0 X 0 0 18446744073709551615").unwrap().0;
    assert_eq!(max.imms, [Some(-1), None]);
    let six = one(
        6,
        "0130 ffffffff 1 R11 LDG.E 1 R2 4 1 0x7f7b7dc40800 4 0 5 NoVal ",
    )
    .unwrap()
    .0;
    assert_eq!(six.imms, [Some(0), Some(5)]);
    let old_six = one(6, "0130 ffffffff 1 R11 IADD3 1 R2 0 9 NoVal").unwrap().0;
    assert_eq!(old_six.imms, [Some(9), None]);
    let values = one(6, "0130 ffffffff 0 BAR.SYNC 1 R2 0 0 0 Val 1 0000000a ")
        .unwrap()
        .0;
    assert_eq!(values.imms, [Some(0), Some(0)]);
    assert!(error(5, "0000 ffffffff 0 X 0 0 1 2 3").contains("`3` follows the last field"));
}

#[test]
fn address_modes_give_each_active_lane_its_address() {
    assert_eq!(lanes(5, "0 5 0 LDG 1 R2 4 0 0x10 20 0"), [(0, 0x10), (2, 0x20)]);
    assert_eq!(lanes(5, "0 6 0 LDG 1 R2 4 1 0x100 -4 0"), [(1, 0x100), (2, 0xfc)]);
    assert_eq!(
        lanes(5, "0 d 0 LDG 1 R2 4 2 0x100 8 -4 77"),
        [(0, 0x100), (2, 0x108), (3, 0x104)]
    );
    assert_eq!(
        one(5, "0 d 0 LDG 1 R2 4 2 0x100 8 -4 77").unwrap().0.imms,
        [Some(77), None]
    );
    assert_eq!(
        lanes(3, "00d0 00000010 0 STG.E.U8 2 R4 R255 1 2 0x7fc841520000 "),
        [(4, 0x7fc8_4152_0000)]
    );
    assert_eq!(lanes(3, "0000 00000000 0 STG 0 4 1 0x0 0 "), []);
    assert!(error(3, "0000 0000000d 0 STG 0 4 1 0x0 0").contains("mask 0000000d has holes"));
    assert!(error(3, "0000 00000007 0 STG 0 4 2 0x0 4").contains("ends where the address difference"));
    assert!(error(3, "0000 00000001 0 STG 0 4 9 0x0").contains("mode 9"));
}

#[test]
fn bulk_copies_carry_their_barrier_and_bytes() {
    let (instr, addresses) = one(
        5,
        "0 1 0 UTMALDG.2D 0 4 0x3028470 1 0x000f 4096 128 4 0x7f00 3 128 128 0 0 ",
    )
    .unwrap();
    let mem = instr.mem.unwrap();
    let bulk = mem.bulk.unwrap();
    assert_eq!((bulk.mbarrier, bulk.cta_mask), (0x302_8470, Some(15)));
    assert_eq!(
        (bulk.bytes, bulk.out_of_bounds_bytes, mem.mode),
        (4096, 128, AddressMode::Bulk)
    );
    assert_eq!(addresses, [0x7f00, 0x7f80, 0x8000]);
    let (listed, addresses) = one(5, "0 1 0 UBLKCP 0 4 0x0 0 64 0 3 2 0x10 0x20 1 2").unwrap();
    assert_eq!(
        (addresses.as_slice(), listed.imms),
        ([16, 32].as_slice(), [Some(1), Some(2)])
    );
    let (off, addresses) = one(5, "0 0 0 UTMALDG.2D 0 0 0x0 0 0 0 4 0x0 0 0 0").unwrap();
    assert!(addresses.is_empty() && off.mem.unwrap().bulk.unwrap().bytes == 0);
    let (early, addresses) = one(5, "0 1 0 UTMALDG.2D 0 4 4 0x40 2 16 0").unwrap();
    assert_eq!(
        (early.mem.unwrap().bulk, addresses.as_slice()),
        (None, [0x40, 0x50].as_slice())
    );
    assert_eq!(one(5, "0 1 0 UTMACMDFLUSH 0 0 0 0").unwrap().0.mem, None);
}

#[test]
fn gmma_commit_flag_is_optional() {
    let new = one(5, "0 ffffffff 1 R24 HGMMA.64x8x16.F32 2 UR4 R24 1 0 7 8 ")
        .unwrap()
        .0;
    assert_eq!((new.gmma_commit, new.imms), (Some(true), [Some(7), Some(8)]));
    let old = one(5, "0 ffffffff 1 R24 HGMMA 1 R24 0 7").unwrap().0;
    assert_eq!((old.gmma_commit, old.imms), (None, [Some(7), None]));
    let six = one(
        6,
        "0 ffffffff 1 R24 HGMMA 1 R24 0 0 0 0 Val 1 00000000 1 00000001",
    )
    .unwrap()
    .0;
    assert_eq!((six.gmma_commit, six.imms), (Some(false), [Some(0), Some(0)]));
}

#[test]
fn registers_of_all_files_are_read_and_checked() {
    let regs = one(5, "0 ffffffff 1 UR63 X 4 R255 UR4 P6 UP7 0").unwrap().0;
    assert_eq!(regs.dsts.as_slice(), [Reg::UR(63)]);
    assert_eq!(
        regs.srcs.as_slice(),
        [Reg::R(255), Reg::UR(4), Reg::P(6), Reg::UP(7)]
    );
    assert!(error(5, "0 1 1 R256 X 0 0").contains("newer tracer"));
    assert!(error(5, "0 1 1 R-1 X 0 0").contains("newer tracer"));
    assert!(error(5, "0 1 1 Q1 X 0 0").contains("`Q1` is not a valid register"));
    assert!(error(5, "0 1 9 R1").contains("9 registers"));
    assert!(error(5, "0 1 0 mov 0 0").contains("`mov` is not an opcode"));
    assert!(error(5, "0 1 0 Mov.U32 0 0").contains("`Mov.U32` is not an opcode"));
    assert!(error(5, "0 1 0").contains("ends where the opcode"));
}

#[test]
fn replay_markers_stay_and_are_told_apart() {
    let body = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\ninsts = 3\n0000 ffffffff 0 REPLAY_START 0 0 0 0\n\
        0010 ffffffff 0 NOP 0 0 0 0\n0000 ffffffff 0 REPLAY_END 0 0 0 0\n#END_TB\n";
    let (blocks, opcodes) = read(&(header(5) + body)).unwrap();
    let pseudo: Vec<bool> = blocks[0].warps[0]
        .instrs
        .iter()
        .map(|i| opcodes.is_pseudo(i.opcode))
        .collect();
    assert_eq!(pseudo, [true, false, true]);
}

#[test]
fn loose_layout_is_accepted() {
    let body = "\r\n\r\n#BEGIN_TB\r\nthread block = 1,0,0\r\ncluster id = 3,2,1\r\ncluster cta = 1,0,0\r\n\
        cluster rank = 1\r\n\r\n\r\nwarp = 1\r\ninsts = 0\r\n\r\nwarp = 0\r\ninsts = 2\r\n\r\n\
        0000 ffffffff 0 NOP 0 0 0\r\n \r\n  0010 ffffffff 0 EXIT 0 0 0 \r\n\r\n#END_TB";
    let (blocks, _) = read(&(header(5) + body)).unwrap();
    let block = &blocks[0];
    let ids: Vec<_> = block.warps.iter().map(|warp| warp.id).collect();
    assert_eq!((block.id.x, ids), (1, vec![1, 0]));
    assert_eq!((block.warps[0].instrs.len(), block.warps[1].instrs.len()), (0, 2));
    let cluster = block.cluster.unwrap();
    assert_eq!((cluster.id.z, cluster.cta.x, cluster.rank), (1, 1, 1));
}

#[test]
fn lineinfo_puts_a_source_line_first() {
    let text = header(4).replace("lineinfo = 0", "lineinfo = 1")
        + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n41 0008 ffffffff 1 R1 MOV 0 0 \n#END_TB\n";
    assert_eq!(read(&text).unwrap().0[0].warps[0].instrs[0].line, Some(41));
}

#[test]
fn damage_is_placed_and_explained() {
    let of = |body: &str| read(&(header(5) + body)).unwrap_err().to_string();
    let start = "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n";
    assert!(
        of(&format!("{start}insts = 2\n0 1 0 NOP 0 0\n#END_TB\n")).starts_with("t:18: warp 0 announces 2")
    );
    assert!(
        of(&format!("{start}insts = 1\n0 1 0 NOP 0 0\n0 1 0 NOP 0 0\n"))
            .contains("`insts =` count before it is too small")
    );
    assert!(of(&format!("{start}insts = 1\n0 1 0 NOP 0 0\n")).contains("`#END_TB` is missing"));
    assert!(of(&format!("{start}insts = 99999999999\n")).contains("the limit is 16777216"));
    assert!(of(&format!("{start}insts = x\n")).contains("`insts = x` has no valid number"));
    assert!(of("#BEGIN_TB\nwarp = 64\n").contains("limit of 64 warps"));
    assert!(of("0 0 0 0 0008 ffffffff 0 NOP 0 0\n").contains("post-process it first"));
    assert!(of(&"x".repeat(MAX_LINE_BYTES + 1)).contains("longer than 1048576 bytes"));
}
