//! Any bytes are read as a trace of any format, and post-processed as a raw one: an error or blocks that
//! fit their limits, never a panic; and a processed result can be read back.

#![no_main]

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex};

use cascade_accelsim::post::{Options, TempStore, process_kernel};
use cascade_accelsim::trace::{ThreadBlock, TraceFormat, open};
use libfuzzer_sys::fuzz_target;

#[derive(Default)]
struct Store(BTreeMap<u64, Arc<Mutex<Vec<u8>>>>);

struct Run(Arc<Mutex<Vec<u8>>>);

impl Write for Run {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TempStore for Store {
    fn create(&mut self, run: u64) -> io::Result<Box<dyn Write + '_>> {
        Ok(Box::new(Run(Arc::clone(self.0.entry(run).or_default()))))
    }

    fn open(&mut self, run: u64) -> io::Result<Box<dyn Read>> {
        let run = self.0.get(&run).unwrap().lock().unwrap().clone();
        Ok(Box::new(Cursor::new(run)))
    }

    fn remove(&mut self, run: u64) -> io::Result<()> {
        self.0.remove(&run);
        Ok(())
    }
}

/// Instructions of a trace; `None` when it is damaged.
fn read(bytes: &[u8], name: &str) -> Option<u64> {
    let mut source = open(Cursor::new(bytes), name).ok()?;
    let (mut instrs, mut block) = (0, ThreadBlock::default());
    while source.next_block(&mut block).ok()? {
        for instr in block.warps.iter().flat_map(|warp| &warp.instrs) {
            let mut lanes = 0;
            block.for_each_address(instr, |_, _| lanes += 1);
            assert!(lanes <= instr.active());
            assert!(!source.opcodes().name(instr.opcode).is_empty());
            instrs += 1;
        }
    }
    Some(instrs)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let name = ["k.traceg", "k.traceg.xz", "k.tracez", "k"][usize::from(choice) % 4];
    let _instrs = read(bytes, name);
    let options = Options {
        format: TraceFormat::Text,
        memory_bytes: usize::from(choice),
    };
    let mut output = Vec::new();
    // A raw trace may hold what only the reader checks, such as odd registers, so reading may fail.
    if let Ok(report) = process_kernel(bytes, "k.trace", &mut output, &mut Store::default(), &options)
        && let Some(instrs) = read(&output, "k.traceg")
    {
        assert_eq!(instrs, report.warp_instrs);
    }
});
