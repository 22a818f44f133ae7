//! Which changes of a trace change its keys.

use std::fmt::Write as _;
use std::io::Cursor;

use proptest::prelude::*;

use super::{Identified, Identity, header_key, identify};
use crate::trace::{BlockSource, ThreadBlock, TraceFormat, create, open};

/// Buffers of a test kernel.
const BUFFERS: usize = 3;
/// Where they lie unless a test moves them: far apart.
const BASES: [u64; BUFFERS] = [0x7f00_0000_0000, 0x7f00_4000_0000, 0x7f01_0000_0300];

/// The memory part of a static instruction: always the same buffer.
#[derive(Clone, Debug)]
struct Mem {
    buffer: usize,
    offset: u64,
    stride: i64,
    /// Bytes between the accesses of neighbouring warps.
    step: u64,
    width: u16,
    /// Written as base and differences instead of base and stride.
    list: bool,
}

#[derive(Clone, Debug)]
struct Line {
    mask: u32,
    opcode: usize,
    dst: u8,
    src: u8,
    mem: Option<Mem>,
    imm: Option<i64>,
}

const OPCODES: [&str; 5] = ["IADD3", "FFMA", "LDG.E", "STG.E.64", "MUFU.EX2"];

#[derive(Clone, Debug)]
struct Kernel {
    lines: Vec<Line>,
    warps: u32,
    blocks: u32,
    bases: [u64; BUFFERS],
}

impl Kernel {
    fn text(&self) -> String {
        let mut text = format!(
            "-kernel name = k\n-kernel id = 7\n-grid dim = ({},1,1)\n-block dim = ({},1,1)\n-shmem = 0\n-nregs = 8\n\
             -binary version = 80\n-cuda stream id = 0\n-shmem base_addr = 0x00007e0000000000\n-local mem base_addr = \
             0x00007e1000000000\n-nvbit version = 1.5\n-accelsim tracer version = 5\n#traces format = x\n",
            self.blocks,
            self.warps * 32
        );
        for block in 0..self.blocks {
            write!(text, "\n#BEGIN_TB\n\nthread block = {block},0,0\n").unwrap();
            for warp in 0..self.warps {
                write!(text, "\nwarp = {warp}\ninsts = {}\n", self.lines.len()).unwrap();
                for (i, line) in self.lines.iter().enumerate() {
                    self.line(&mut text, i, line, u64::from(block * self.warps + warp));
                }
            }
            text.push_str("\n#END_TB\n");
        }
        text
    }

    fn line(&self, text: &mut String, i: usize, line: &Line, warp: u64) {
        let opcode = OPCODES[line.opcode];
        write!(
            text,
            "{:04x} {:08x} 1 R{} {opcode} 1 R{} ",
            i * 16,
            line.mask,
            line.dst,
            line.src
        )
        .unwrap();
        match &line.mem {
            None => text.push('0'),
            Some(mem) => {
                let base = self.bases[mem.buffer] + mem.offset + mem.step * warp;
                write!(text, "{} ", mem.width).unwrap();
                if mem.list {
                    write!(text, "2 {base:#x}").unwrap();
                    for _ in 1..line.mask.count_ones() {
                        write!(text, " {}", mem.stride).unwrap();
                    }
                } else {
                    write!(text, "1 {base:#x} {}", mem.stride).unwrap();
                }
            }
        }
        match line.imm {
            Some(imm) => writeln!(text, " {imm}").unwrap(),
            None => text.push('\n'),
        }
    }

    fn identity(&self) -> Identity {
        of(&self.text())
    }
}

fn of(text: &str) -> Identity {
    identify(&mut *open(Cursor::new(text.as_bytes()), "k.traceg").unwrap()).unwrap()
}

fn line() -> impl Strategy<Value = Line> {
    let mem = (
        0..BUFFERS,
        0..1000_u64,
        prop::sample::select(vec![0, 4, 8, 128, 4096, -4]),
        0..10_000_u64,
        prop::sample::select(vec![4_u16, 8, 16]),
        any::<bool>(),
    )
        .prop_map(|(buffer, offset, stride, step, width, list)| Mem {
            buffer,
            offset: 0x20000 + offset * 4,
            stride,
            step: step * 4,
            width,
            list,
        });
    // Runs of lanes, as base and stride can say.
    let mask = (0..32_u32, 1..=32_u32)
        .prop_map(|(first, lanes)| (((1_u64 << lanes) - 1) << first) as u32)
        .prop_filter("a lane", |mask| *mask != 0);
    (
        mask,
        0..OPCODES.len(),
        0..50_u8,
        0..50_u8,
        prop::option::of(mem),
        prop::option::of(-9..9_i64),
    )
        .prop_map(|(mask, opcode, dst, src, mem, imm)| Line {
            mask,
            opcode,
            dst,
            src,
            mem,
            imm,
        })
}

fn kernel() -> impl Strategy<Value = Kernel> {
    (prop::collection::vec(line(), 1..8), 1..3_u32, 1..4_u32).prop_map(|(lines, warps, blocks)| Kernel {
        lines,
        warps,
        blocks,
        bases: BASES,
    })
}

/// One change that is no move of a buffer.
fn change(line: &mut Line, what: usize) -> bool {
    match (what, &mut line.mem) {
        (0, _) => line.opcode = (line.opcode + 1) % OPCODES.len(),
        (1, _) => line.dst += 1,
        (2, _) => line.src += 1,
        (3, _) if line.mask.count_ones() > 1 => line.mask &= line.mask - 1,
        (4, _) => line.imm = Some(line.imm.map_or(0, |imm| imm + 1)),
        (5, Some(mem)) if line.mask.count_ones() > 1 => mem.stride += 4,
        (6, Some(mem)) => mem.width *= 2,
        (7, Some(mem)) => mem.list = !mem.list,
        (8, mem @ Some(_)) => *mem = None,
        (9, Some(mem)) => mem.offset += 4,
        _ => return false,
    }
    true
}

proptest! {
    #[test]
    fn moving_buffers_keeps_the_key(kernel in kernel(), moves in prop::array::uniform3(0..1_000_000_u64)) {
        let mut moved = kernel.clone();
        for (base, by) in moved.bases.iter_mut().zip(moves) {
            *base += by * super::ALIGNMENT;
        }
        prop_assert_eq!(moved.identity(), kernel.identity());
        // The order of buffers in memory says nothing either.
        moved.bases = [BASES[1] + 0x400, BASES[0], BASES[2] + (9 << 30)];
        prop_assert_eq!(moved.identity(), kernel.identity());
    }

    #[test]
    fn any_change_of_an_instruction_changes_the_key(kernel in kernel(), at in any::<prop::sample::Index>(), what in 0..10_usize) {
        let mut changed = kernel.clone();
        let at = at.index(changed.lines.len());
        prop_assume!(change(&mut changed.lines[at], what));
        prop_assert_ne!(changed.identity().content, kernel.identity().content);
    }

    #[test]
    fn steps_between_warps_and_the_launch_shape_count(kernel in kernel(), at in any::<prop::sample::Index>()) {
        let key = kernel.identity().content;
        let mut longer = kernel.clone();
        longer.lines.push(kernel.lines[0].clone());
        prop_assert_ne!(longer.identity().content, key);
        let mut grid = kernel.clone();
        grid.blocks += 1;
        prop_assert_ne!(grid.identity().content, key);
        let mut step = kernel.clone();
        let at = at.index(step.lines.len());
        if let (Some(mem), true) = (&mut step.lines[at].mem, kernel.warps * kernel.blocks > 1) {
            mem.step += 4 << 20;
            prop_assert_ne!(step.identity().content, key);
        }
    }

    #[test]
    fn the_file_format_does_not_count(kernel in kernel()) {
        let text = kernel.text();
        for format in [TraceFormat::TextXz, TraceFormat::Packed] {
            let mut packed = Vec::new();
            let mut source = open(Cursor::new(text.as_bytes()), "k.traceg").unwrap();
            let mut sink = create(&mut packed, format, source.header_text(), Vec::new()).unwrap();
            while source.copy_block(&mut *sink).unwrap() {}
            sink.finish().unwrap();
            drop(sink);
            let name = format!("k{}", format.suffix());
            let identity = identify(&mut *open(Cursor::new(packed), &name).unwrap()).unwrap();
            prop_assert_eq!(identity, kernel.identity());
        }
    }
}

/// A kernel of one block whose instructions each make one access of a full warp.
fn accesses(bases: &[(u64, i64)]) -> Identity {
    let lines = bases.iter().map(|(base, stride)| Line {
        mask: u32::MAX,
        opcode: 2,
        dst: 1,
        src: 2,
        mem: Some(Mem {
            buffer: 0,
            offset: *base,
            stride: *stride,
            step: 0,
            width: 4,
            list: false,
        }),
        imm: None,
    });
    Kernel {
        lines: lines.collect(),
        warps: 1,
        blocks: 1,
        bases: [0; BUFFERS],
    }
    .identity()
}

#[test]
fn instructions_that_share_memory_keep_their_distance() {
    let near = |distance: u64| accesses(&[(0x10_0000, 4), (0x10_0000 + distance, 4)]).content;
    assert_ne!(near(0), near(256), "the same line is not another one");
    assert_ne!(near(0), near(4), "an offset within a line");
    assert_ne!(
        near(1 << 20),
        near((1 << 20) + 4),
        "alignment counts wherever the buffer is"
    );
    assert_eq!(near(1 << 20), near(5 << 20), "two buffers");
    // A third instruction that reaches from one to the other makes them one region.
    let bridged = |distance: u64| {
        let stride = (distance / 31).cast_signed();
        accesses(&[(0x10_0000, 4), (0x10_0000 + distance, 4), (0x10_0000, stride)]).content
    };
    assert_ne!(bridged(31 << 15), bridged(31 << 16));
}

#[test]
fn where_a_huge_trace_lies_counts() {
    // 32 lanes with 8 MiB between them touch few lines; moving them is free.
    let sparse = |base: u64| accesses(&[(base, 8 << 20)]).content;
    assert_eq!(sparse(1 << 40), sparse(1 << 41));
    // Near the end of the address space sums may overflow.
    assert_ne!(sparse(1 << 60), sparse(1 << 61));
    let wraps = |base: u64| accesses(&[(base, i64::MAX)]).content;
    assert_ne!(wraps(1 << 40), wraps(1 << 41));
    // A bulk copy of 256 MiB is beyond what engines track line by line.
    let bulk = |base: u64, bytes: u64| {
        let kernel = Kernel {
            lines: Vec::new(),
            warps: 1,
            blocks: 1,
            bases: BASES,
        };
        of(&kernel.text().replace(
            "insts = 0\n",
            &format!("insts = 1\n0000 00000001 0 UBLKCP 1 R2 0 0x400 0 {bytes} 0 3 1 {base:#x}\n"),
        ))
        .content
    };
    assert_eq!(bulk(1 << 40, 1 << 20), bulk(1 << 41, 1 << 20));
    assert_ne!(bulk(1 << 40, 1 << 28), bulk(1 << 41, 1 << 28));
}

#[test]
fn the_shared_window_counts() {
    let generic = |base: u64| accesses(&[(base, 4)]).content;
    assert_ne!(generic(0x7e00_0000_0400), generic(0x7f00_0000_0400));
    assert_ne!(
        generic(0x7e10_0000_0400),
        generic(0x7e00_0000_0400),
        "local is not shared"
    );
}

#[test]
fn names_and_numbers_of_launches_are_left_out() {
    let kernel = Kernel {
        lines: vec![Line {
            mask: 1,
            opcode: 0,
            dst: 1,
            src: 2,
            mem: None,
            imm: None,
        }],
        warps: 1,
        blocks: 1,
        bases: BASES,
    };
    let text = kernel.text();
    let other = text
        .replace("name = k", "name = other")
        .replace("kernel id = 7", "kernel id = 8")
        .replace("stream id = 0", "stream id = 1");
    assert_eq!(of(&other), of(&text));
    let header = |text: &str| header_key(open(Cursor::new(text.as_bytes()), "k.traceg").unwrap().header());
    assert_ne!(header(&other), header(&text), "the name is a launch property");
    assert_eq!(
        header(&text.replace("stream id = 0", "stream id = 1")),
        header(&text)
    );
    for (from, to) in [
        ("nregs = 8", "nregs = 9"),
        ("shmem = 0", "shmem = 8"),
        ("version = 80", "version = 86"),
    ] {
        let other = text.replace(from, to);
        assert_ne!(of(&other).content, of(&text).content, "{to}");
        assert_ne!(header(&other), header(&text), "{to}");
    }
}

#[test]
fn reading_and_identifying_at_once_give_the_same() {
    let kernel = Kernel {
        lines: vec![Line {
            mask: 0xff,
            opcode: 1,
            dst: 1,
            src: 2,
            mem: None,
            imm: Some(3),
        }],
        warps: 2,
        blocks: 3,
        bases: BASES,
    };
    let text = kernel.text();
    let mut inner = open(Cursor::new(text.as_bytes()), "k.traceg").unwrap();
    let mut source = Identified::new(&mut *inner);
    let mut block = ThreadBlock::default();
    let mut blocks = 0;
    while source.next_block(&mut block).unwrap() {
        assert_eq!(source.identity(), None, "not before the end");
        blocks += 1;
    }
    let identity = source.identity().unwrap();
    assert_eq!((identity, blocks), (kernel.identity(), 3));
    assert_eq!(
        (identity.blocks, identity.warp_insts, identity.thread_insts),
        (3, 6, 48)
    );
}

#[test]
fn keys_are_text_and_back() {
    let key = super::Key::of(b"abc");
    assert_eq!(super::Key::of_reader(&mut b"abc".as_slice()).unwrap(), key);
    assert_eq!(key.to_string().parse(), Ok(key));
    assert_eq!(
        serde_json::from_str::<super::Key>(&serde_json::to_string(&key).unwrap()).unwrap(),
        key
    );
    assert!("xyz".parse::<super::Key>().is_err());
}
