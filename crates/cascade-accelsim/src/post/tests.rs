//! The post-processor against a naive reference, with memory for everything and for almost nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Cursor, Read, Seek, Write};
use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::list::KernelList;
use crate::trace::{ThreadBlock, TraceReader, open};

/// Runs in memory.
#[derive(Default)]
struct MemoryStore {
    runs: BTreeMap<u64, Rc<RefCell<Vec<u8>>>>,
}

struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TempStore for MemoryStore {
    fn create(&mut self, run: u64) -> io::Result<Box<dyn Write + '_>> {
        Ok(Box::new(Shared(Rc::clone(self.runs.entry(run).or_default()))))
    }

    fn open(&mut self, run: u64) -> io::Result<Box<dyn Read>> {
        let run = self.runs.get(&run).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(run.borrow().clone())))
    }

    fn remove(&mut self, run: u64) -> io::Result<()> {
        self.runs
            .remove(&run)
            .map(|_| ())
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn header(version: u32, grid: (u32, u32, u32), threads: u32) -> String {
    let (x, y, z) = grid;
    format!(
        "-kernel name = k\n-kernel id = 1\n-grid dim = ({x},{y},{z})\n-block dim = ({threads},1,1)\n\
         -accelsim tracer version = {version}\n-enable lineinfo = 0\n\n#traces format = PC\n"
    )
}

/// A raw version-5 trace of `lines` instructions over 3 blocks of 2 warps, interleaved.
pub(crate) fn raw_kernel(lines: u32) -> String {
    let mut text = header(5, (3, 1, 1), 64) + "\n";
    for i in 0..lines {
        let (block, warp) = (2 - i % 3, i / 3 % 2);
        writeln!(
            text,
            "{block} 0 0 {warp} {:04x} ffffffff 1 R1 IADD3 1 R1 0 {i} ",
            i * 16
        )
        .unwrap();
    }
    text
}

/// All blocks of a processed trace.
pub(crate) fn read_all(read: impl Read + Seek, name: &str) -> Vec<ThreadBlock> {
    let mut source = open(read, name).unwrap();
    let (mut blocks, mut block) = (Vec::new(), ThreadBlock::default());
    while source.next_block(&mut block).unwrap() {
        blocks.push(block.clone());
    }
    blocks
}

/// Output, report and number of runs left behind.
fn process(
    raw: &str,
    format: TraceFormat,
    memory_bytes: usize,
) -> Result<(Vec<u8>, KernelReport), PostError> {
    let mut temp = MemoryStore::default();
    let mut output = Vec::new();
    let report = process_kernel(
        raw.as_bytes(),
        "k.trace",
        &mut output,
        &mut temp,
        &Options { format, memory_bytes },
    )?;
    assert!(temp.runs.is_empty(), "runs left behind");
    Ok((output, report))
}

fn text(raw: &str) -> (String, KernelReport) {
    let (output, report) = process(raw, TraceFormat::Text, usize::MAX).unwrap();
    (String::from_utf8(output).unwrap(), report)
}

#[test]
fn blocks_and_warps_are_put_in_order() {
    let raw = header(5, (2, 2, 1), 96)
        + "\n1 1 0 2 0000 ffffffff 0 NOP 0 0 0 \n0 0 0 1 0000 00000003 0 NOP 0 0 0 \n\
        1 1 0 0 0000 ffffffff 0 NOP 0 0 0 \n1 1 0 2 0010 ffffffff 0 EXIT 0 0 0 \n";
    let (output, report) = text(&raw);
    let body = output.strip_prefix(&header(5, (2, 2, 1), 96)).unwrap();
    assert_eq!(
        body,
        "\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 0\n\nwarp = 1\ninsts = 1\n\
         0000 00000003 0 NOP 0 0 0 \n\nwarp = 2\ninsts = 0\n\n#END_TB\n\
         \n#BEGIN_TB\n\nthread block = 1,1,0\n\nwarp = 0\ninsts = 1\n0000 ffffffff 0 NOP 0 0 0 \n\
         \nwarp = 1\ninsts = 0\n\nwarp = 2\ninsts = 2\n0000 ffffffff 0 NOP 0 0 0 \n0010 ffffffff 0 EXIT 0 0 0 \n\n#END_TB\n"
    );
    let expected = KernelReport {
        warp_instrs: 4,
        thread_instrs: 98,
        blocks: 2,
        empty_blocks: 2,
        empty_warps: 3,
        ..KernelReport::default()
    };
    assert_eq!(report, expected);
    assert_eq!(report.warnings("k", Some(4)).len(), 2);
    assert!(report.warnings("k", Some(5))[2].contains("4 instructions, but the tracer's statistics say 5"));
}

#[test]
fn prefixes_of_all_tracers_are_stripped() {
    let cluster = header(5, (4, 1, 1), 32) + "3 0 0 0 1 0 0 1 0 0 1 0000 ffffffff 0 NOP 0 0 0 0 \n";
    let (output, _) = text(&cluster);
    assert!(
        output.contains(
            "thread block = 3,0,0\ncluster id = 1,0,0\ncluster cta = 1,0,0\ncluster rank = 1\n\nwarp"
        )
    );
    assert!(output.contains("\n0000 ffffffff 0 NOP 0 0 0 0 \n"));
    let core = header(4, (4, 1, 1), 32) + "3 0 0 0 17 5 0000 ffffffff 0 NOP 0 0 \n";
    assert!(text(&core).0.contains("\ninsts = 1\n0000 ffffffff 0 NOP 0 0 \n"));
    let line = core
        .replace("lineinfo = 0", "lineinfo = 1")
        .replace("17 5 0000", "41 0000");
    assert!(
        text(&line)
            .0
            .contains("\ninsts = 1\n41 0000 ffffffff 0 NOP 0 0 \n")
    );
    let old = header(2, (4, 1, 1), 32) + "3 0 0 0 0000 ffffffff 0 NOP 0 0 \n";
    assert!(
        text(&old)
            .0
            .contains("\ninsts = 1\n3 0 0 0 0000 ffffffff 0 NOP 0 0 \n")
    );
    assert_eq!(
        read_all(Cursor::new(text(&old).0), "k.traceg")[0].warps[0]
            .instrs
            .len(),
        1
    );
}

#[test]
fn the_first_of_each_ldgsts_pair_is_left_out() {
    let line = |warp, opcode, pc| format!("0 0 0 {warp} {pc} ffffffff 0 {opcode} 1 R2 0 0 \n");
    let raw = header(5, (1, 1, 1), 64)
        + &line(0, "LDGSTS.E.128", "000a")
        + &line(1, "LDGSTS.E.128", "000b")
        + &line(0, "ARRIVES.LDGSTSBAR.64", "000c")
        + &line(0, "LDGSTS.E.128", "000d")
        + &line(1, "LDGSTS.E.128", "000e");
    let (output, report) = text(&raw);
    let pcs: Vec<&str> = output
        .lines()
        .filter(|line| line.contains(" ffffffff "))
        .map(|line| &line[..4])
        .collect();
    assert_eq!(pcs, ["000c", "000d", "000e"]);
    assert_eq!((report.warp_instrs, report.dropped_ldgsts), (3, 2));
    assert!(report.warnings("k", Some(5)).is_empty() && report.warnings("k", Some(3)).is_empty());
}

#[test]
fn damaged_raw_traces_are_refused() {
    let of = |body: &str| {
        process(&(header(5, (2, 1, 1), 64) + body), TraceFormat::Text, 1 << 20)
            .unwrap_err()
            .to_string()
    };
    assert!(
        of("2 0 0 0 0000 ffffffff 0 NOP 0 0 0\n")
            .contains("k.trace:9: thread block (2,0,0) lies outside the grid")
    );
    assert!(of("0 0 0 2 0000 ffffffff 0 NOP 0 0 0\n").contains("warp 2"));
    assert!(of("0000 ffffffff 0 NOP 0 0 0\n").contains("columns before the program counter"));
    assert!(of("\n#BEGIN_TB\n").contains("already post-processed"));
    assert!(
        of("0 0 0 0 0000 ffffffff 0 NOP 0 0 0\n0 0 0 0 0 0 0 0 0 0 0 0000 ffffffff 0 NOP\n")
            .contains("k.trace:10")
    );
    let huge = header(5, (u32::MAX, u32::MAX, u32::MAX), 64);
    assert!(
        process(&huge, TraceFormat::Text, 1)
            .unwrap_err()
            .to_string()
            .contains("the limit is")
    );
}

#[test]
fn the_list_follows_the_files() {
    let list = |text: &str| KernelList::read(text.as_bytes(), "l").unwrap();
    let lists = [
        (
            "kernelslist_ctx_0x9".to_owned(),
            list("kernel-1-ctx_0x9.trace.xz\nMemcpyHtoD,0x1,2\n"),
        ),
        (
            "kernelslist_ctx_0x1".to_owned(),
            list("MemcpyHtoD,0x502000000,8\nkernel-1-ctx_0x1.trace\nkernel-2.traceg\n"),
        ),
    ];
    assert_eq!(
        processed_list(&lists, TraceFormat::Packed),
        "MemcpyHtoD,0x0000000502000000,8\nkernel-1-ctx_0x1.tracez\nkernel-2.traceg\nkernel-1-ctx_0x9.tracez\n"
    );
    assert_eq!(processed_list(&[], TraceFormat::Text), "");
}

#[test]
fn a_packed_trace_does_not_depend_on_the_memory() {
    // Long enough, and of enough warps, for a dictionary.
    let mut raw = header(5, (200, 1, 1), 64);
    for i in 0..120_000u32 {
        let (block, warp) = (i % 200, i / 200 % 2);
        writeln!(
            raw,
            "{block} 0 0 {warp} {:04x} ffffffff 1 R{} IADD3.X 1 R1 0 {i} ",
            i / 400 * 16,
            i % 97
        )
        .unwrap();
    }
    let (small, report) = process(&raw, TraceFormat::Packed, 500_000).unwrap();
    let (large, _) = process(&raw, TraceFormat::Packed, usize::MAX).unwrap();
    assert!(report.runs > 3 && small == large);
    let header_end = small.iter().position(|byte| *byte == 0).unwrap() + 1;
    assert!(
        u32::from_le_bytes(*small[header_end..].first_chunk().unwrap()) > 0,
        "no dictionary"
    );
    assert_eq!(
        read_all(Cursor::new(small), "k.tracez")
            .iter()
            .map(|b| b.warps.len())
            .sum::<usize>(),
        400
    );
}

#[test]
fn the_real_raw_trace_gives_its_published_count() {
    let Some(path) = crate::trace::tests::data("traces/raw-vecadd-v3/kernel-1.trace") else {
        return;
    };
    let raw = std::fs::read_to_string(path).unwrap();
    for format in [TraceFormat::Text, TraceFormat::TextXz, TraceFormat::Packed] {
        let (output, report) = process(&raw, format, 300_000).unwrap();
        assert_eq!(
            (report.warp_instrs, report.blocks, report.empty_blocks),
            (71_974, 98, 0)
        );
        assert!(report.runs > 5);
        let blocks = read_all(Cursor::new(output), &format.rename("kernel-1.trace"));
        let warps: Vec<_> = blocks.iter().flat_map(|block| &block.warps).collect();
        assert_eq!(
            (warps.len(), warps.iter().map(|w| w.instrs.len()).sum::<usize>()),
            (98 * 32, 71_974)
        );
        assert!(blocks.iter().zip(0..).all(|(block, id)| block.id.x == id));
    }
}

/// What the post-processor should write, made the simple way.
fn naive(lines: &[(u32, u32, u32)], grid: (u32, u32, u32), warps: u32, header: &str) -> String {
    let mut groups = BTreeMap::<u32, BTreeMap<u32, Vec<String>>>::new();
    for (block, warp, n) in lines {
        groups
            .entry(*block)
            .or_default()
            .entry(*warp)
            .or_default()
            .push(format!("{n:04x} ffffffff 0 NOP 0 0 {n} "));
    }
    let mut out = format!("{header}\n");
    for (block, by_warp) in groups {
        let (x, y, z) = (block % grid.0, block / grid.0 % grid.1, block / grid.0 / grid.1);
        write!(out, "\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n").unwrap();
        for warp in 0..warps {
            let lines = by_warp.get(&warp).cloned().unwrap_or_default();
            write!(
                out,
                "\nwarp = {warp}\ninsts = {}\n{}",
                lines.len(),
                lines.iter().map(|l| format!("{l}\n")).collect::<String>()
            )
            .unwrap();
        }
        out += "\n#END_TB\n";
    }
    out
}

proptest! {
    #[test]
    fn memory_does_not_change_the_result(
        grid in (1u32..4, 1u32..3, 1u32..3),
        warps in 1u32..4,
        seeds in proptest::collection::vec((any::<u32>(), any::<u32>()), 0..400),
        budget in 1usize..3000,
    ) {
        let blocks = grid.0 * grid.1 * grid.2;
        let lines: Vec<_> = (0..).zip(&seeds).map(|(n, (b, w))| (b % blocks, w % warps, n)).collect();
        let header = header(5, grid, warps * 32);
        let mut raw = header.clone();
        for (block, warp, n) in &lines {
            let (x, y, z) = (block % grid.0, block / grid.0 % grid.1, block / grid.0 / grid.1);
            writeln!(raw, "{x} {y} {z} {warp} {n:04x} ffffffff 0 NOP 0 0 {n} ").unwrap();
        }
        let (small, report) = process(&raw, TraceFormat::Text, budget).unwrap();
        let (large, _) = process(&raw, TraceFormat::Text, usize::MAX).unwrap();
        prop_assert_eq!(&small, &large);
        prop_assert_eq!(String::from_utf8(small).unwrap(), naive(&lines, grid, warps, &header));
        prop_assert_eq!(report.warp_instrs, lines.len() as u64);
        let (packed, _) = process(&raw, TraceFormat::Packed, budget).unwrap();
        prop_assert_eq!(read_all(Cursor::new(packed), "k.tracez"), read_all(Cursor::new(large), "k.traceg"));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut raw = header(5, (2, 1, 1), 64).into_bytes();
        raw.extend_from_slice(&bytes);
        let options = Options { format: TraceFormat::Text, memory_bytes: 64 };
        let mut output = Vec::new();
        if process_kernel(raw.as_slice(), "k", &mut output, &mut MemoryStore::default(), &options).is_ok() {
            prop_assert!(TraceReader::open(output.as_slice(), "k").is_ok());
        }
    }
}
