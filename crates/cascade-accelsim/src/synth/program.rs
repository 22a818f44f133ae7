//! Writes the instruction lines of one warp, as tracer version 5 does.

use std::io::Write;

use super::Arch;

/// All lanes active.
pub(crate) const FULL: u32 = u32::MAX;
/// Bytes of one instruction.
const STEP: u32 = 16;

/// The instruction lines of one warp.
pub(crate) struct WarpCode {
    pub(crate) arch: Arch,
    pc: u32,
    mask: u32,
    text: Vec<u8>,
    count: u64,
}

impl WarpCode {
    pub(crate) fn new(arch: Arch) -> Self {
        Self {
            arch,
            pc: 0,
            mask: FULL,
            text: Vec::new(),
            count: 0,
        }
    }

    /// Starts the next warp.
    pub(crate) fn clear(&mut self) {
        (self.pc, self.mask, self.count) = (0, FULL, 0);
        self.text.clear();
    }

    /// Instructions so far.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// The lines, without line ends.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
    }

    /// Lanes of the following instructions.
    pub(crate) fn lanes(&mut self, mask: u32) {
        self.mask = mask;
    }

    /// Where the next instruction lies, to come back to with [`Self::jump`].
    pub(crate) fn label(&self) -> u32 {
        self.pc
    }

    /// Goes on at a label, as a taken branch does.
    pub(crate) fn jump(&mut self, label: u32) {
        self.pc = label;
    }

    fn head(&mut self, opcode: &str, dst: Option<u8>, srcs: &[u8]) {
        // Writing to memory cannot fail.
        let mut written = match dst {
            Some(dst) => write!(
                self.text,
                "{:04x} {:08x} 1 R{dst} {opcode} {}",
                self.pc,
                self.mask,
                srcs.len()
            ),
            None => write!(
                self.text,
                "{:04x} {:08x} 0 {opcode} {}",
                self.pc,
                self.mask,
                srcs.len()
            ),
        };
        for src in srcs {
            written = written.and_then(|()| write!(self.text, " R{src}"));
        }
        debug_assert!(written.is_ok());
        self.pc += STEP;
        self.count += 1;
    }

    /// An instruction that does not touch memory.
    pub(crate) fn op(&mut self, opcode: &str, dst: impl Into<Option<u8>>, srcs: &[u8]) {
        self.head(opcode, dst.into(), srcs);
        self.text.extend_from_slice(b" 0 0 \n");
    }

    /// A memory instruction of `width` bytes for each lane. Like the tracer, it writes base and stride
    /// where the active lanes are a run with one distance, else base and differences.
    pub(crate) fn mem(
        &mut self,
        opcode: &str,
        width: u32,
        dst: impl Into<Option<u8>>,
        srcs: &[u8],
        address: impl Fn(u32) -> u64,
    ) {
        self.head(opcode, dst.into(), srcs);
        let lanes = (0..32).filter(|lane| self.mask & (1 << lane) != 0).map(address);
        let addresses: Vec<u64> = lanes.collect();
        let deltas: Vec<i64> = addresses
            .windows(2)
            .map(|pair| match pair {
                [a, b] => b.wrapping_sub(*a).cast_signed(),
                _ => 0,
            })
            .collect();
        let base = addresses.first().copied().unwrap_or(0);
        let stride = deltas.first().copied().unwrap_or(0);
        let run = u64::from(self.mask) >> self.mask.trailing_zeros();
        let mut written = if run & (run + 1) == 0 && deltas.iter().all(|delta| *delta == stride) {
            write!(self.text, " {width} 1 {base:#x} {stride}")
        } else {
            write!(self.text, " {width} 2 {base:#x}")
                .and_then(|()| deltas.iter().try_for_each(|delta| write!(self.text, " {delta}")))
        };
        written = written.and_then(|()| self.text.write_all(b" 0 \n"));
        debug_assert!(written.is_ok());
    }

    /// Thread and block index into `R0`: [`PROLOGUE`] instructions.
    pub(crate) fn prologue(&mut self) {
        self.op("MOV", 1, &[]);
        self.op("S2R", 0, &[]);
        self.op("S2R", 3, &[]);
        self.op("IMAD", 0, &[3, 0]);
    }

    /// Butterfly exchange over `rounds` powers of two, combining with `opcode`: two instructions a round.
    pub(crate) fn butterfly(&mut self, rounds: u32, opcode: &str, reg: u8) {
        for _ in 0..rounds {
            self.op("SHFL.BFLY", 20, &[reg]);
            self.op(opcode, reg, &[reg, 20]);
        }
    }
}

/// Instructions of [`WarpCode::prologue`].
pub(crate) const PROLOGUE: u64 = 4;

/// The lowest `lanes` lanes.
pub(crate) fn first_lanes(lanes: u64) -> u32 {
    match u32::try_from(lanes) {
        Ok(lanes) if lanes < 32 => (1 << lanes) - 1,
        _ => FULL,
    }
}

/// The lanes for which `active` holds.
pub(crate) fn lanes_where(active: impl Fn(u32) -> bool) -> u32 {
    (0..32)
        .filter(|lane| active(*lane))
        .fold(0, |mask, lane| mask | 1 << lane)
}
