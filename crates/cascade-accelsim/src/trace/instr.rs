//! One instruction line to an [`Instr`].

use super::error::quote;
use super::token::{Tokens, dec, hex, signed};
use super::{
    AddressMode, BulkAccess, Instr, MAX_ADDRESSES_PER_BLOCK, MAX_OPCODE_BYTES, MAX_REGS, MemAccess, OpcodeId,
    OpcodeTable, Reg, Regs, TraceErrorKind,
};

type Result<T> = std::result::Result<T, TraceErrorKind>;

/// Columns before the program counter of an instruction line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    /// `tbx tby tbz warp`, which tracer versions 1 and 2 keep in processed files.
    pub(crate) block: bool,
    /// Source line number.
    pub(crate) line: bool,
}

/// What the opcode text says about the layout of its lines.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    /// Carries a commit-group flag after the sources.
    gmma: bool,
    /// Carries mbarrier and byte counts before the addresses.
    tma: bool,
}

/// Opcodes that move tensor tiles or bulk memory; their lines have extra fields.
const TMA_OPCODES: [&str; 7] = [
    "UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED",
];

impl Traits {
    fn of(opcode: &str) -> Self {
        let stem = opcode.split('.').next().unwrap_or(opcode);
        Self {
            gmma: opcode.contains("GMMA"),
            tma: TMA_OPCODES.contains(&stem),
        }
    }
}

/// Slots of the opcode cache; kernels use about a hundred different opcodes.
const CACHE_SLOTS: usize = 512;

/// Parses instruction lines and interns their opcodes.
#[derive(Debug)]
pub(crate) struct InstrParser {
    columns: Columns,
    pub(crate) opcodes: OpcodeTable,
    traits: Vec<Traits>,
    /// Last opcode seen in each hash slot, so that most lines skip the table's search.
    cache: Box<[Option<OpcodeId>; CACHE_SLOTS]>,
}

impl InstrParser {
    pub(crate) fn new(columns: Columns) -> Self {
        Self {
            columns,
            opcodes: OpcodeTable::default(),
            traits: Vec::new(),
            cache: Box::new([None; CACHE_SLOTS]),
        }
    }

    /// Parses `line` and appends its addresses to `addresses`.
    pub(crate) fn parse(&mut self, line: &[u8], addresses: &mut Vec<u64>) -> Result<Instr> {
        let mut tokens = Tokens::new(line);
        // Hand-made files of old versions may lack the prefix: the mask is then the second token.
        if self.columns.block && tokens.clone().nth(1).is_none_or(|token| token.len() != 8) {
            for _ in 0..4 {
                number(&mut tokens, "thread block column")?;
            }
        }
        let line = match self.columns.line {
            true => Some(narrow(number(&mut tokens, "line number")?, "line number")?),
            false => None,
        };
        let pc = narrow(field(&mut tokens, "program counter", hex)?, "program counter")?;
        let mask = narrow(field(&mut tokens, "mask", hex)?, "mask")?;
        let dsts = registers(&mut tokens, "number of destinations")?;
        let opcode = self.opcode(take(&mut tokens, "opcode")?)?;
        let srcs = registers(&mut tokens, "number of sources")?;
        let kind = self
            .traits
            .get(usize::from(opcode.0))
            .copied()
            .unwrap_or_default();
        // Tracers before 2.0 write no commit flag; then at most width and one immediate are left.
        let gmma_commit = match kind.gmma && before_values(tokens) > 2 {
            true => Some(number(&mut tokens, "commit flag")? != 0),
            false => None,
        };
        let width = narrow(number(&mut tokens, "memory width")?, "memory width")?;
        let bulk = match kind.tma {
            true => bulk(&mut tokens)?,
            false => None,
        };
        let mem = match width > 0 || bulk.is_some() {
            true => Some(memory(&mut tokens, mask, width, bulk, addresses)?),
            false => None,
        };
        let imms = immediates(&mut tokens)?;
        Ok(Instr {
            pc,
            mask,
            line,
            opcode,
            dsts,
            srcs,
            gmma_commit,
            mem,
            imms,
        })
    }

    fn opcode(&mut self, text: &[u8]) -> Result<OpcodeId> {
        let slot = slot(text);
        let cached = self.cache.get(slot).copied().flatten();
        if let Some(id) = cached
            && self.opcodes.name(id).as_bytes() == text
        {
            return Ok(id);
        }
        if text.len() > MAX_OPCODE_BYTES || !is_opcode(text) {
            return Err(TraceErrorKind::BadOpcode(quote(text)));
        }
        let name = String::from_utf8_lossy(text);
        let id = self.opcodes.intern(&name).ok_or(TraceErrorKind::TooManyOpcodes)?;
        if self.traits.len() < self.opcodes.len() {
            self.traits.push(Traits::of(&name));
        }
        if let Some(entry) = self.cache.get_mut(slot) {
            *entry = Some(id);
        }
        Ok(id)
    }
}

/// Letters of a name are capitals; suffixes have small ones too, as in `HGMMA.64x256x16.F32` and `LDTM.x32`.
fn is_opcode(text: &[u8]) -> bool {
    let name = memchr::memchr(b'.', text).unwrap_or(text.len());
    text.iter().enumerate().all(|(at, byte)| match byte {
        b'a'..=b'z' => at > name,
        b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' => true,
        _ => false,
    })
}

/// A cheap hash of an opcode: its length and both ends tell most apart, and the rest is only slower.
fn slot(text: &[u8]) -> usize {
    let word = |bytes: Option<&[u8; 4]>| u32::from_le_bytes(bytes.copied().unwrap_or_default());
    let ends = word(text.first_chunk()) ^ word(text.last_chunk()).rotate_left(5) ^ text.len() as u32;
    (ends.wrapping_mul(0x9e37_79b1) >> 20) as usize % CACHE_SLOTS
}

fn take<'a>(tokens: &mut Tokens<'a>, name: &'static str) -> Result<&'a [u8]> {
    // `ok_or` would build and drop an error for every token: 13 % of the reader's time.
    match tokens.next() {
        Some(token) => Ok(token),
        None => Err(TraceErrorKind::Missing(name)),
    }
}

fn field<T>(tokens: &mut Tokens<'_>, name: &'static str, parse: fn(&[u8]) -> Option<T>) -> Result<T> {
    let text = take(tokens, name)?;
    parse(text).ok_or_else(|| TraceErrorKind::BadField {
        field: name,
        text: quote(text),
    })
}

fn number(tokens: &mut Tokens<'_>, name: &'static str) -> Result<u64> {
    field(tokens, name, dec)
}

fn narrow<T: TryFrom<u64>>(value: u64, name: &'static str) -> Result<T> {
    T::try_from(value).ok().ok_or_else(|| TraceErrorKind::BadField {
        field: name,
        text: value.to_string(),
    })
}

fn registers(tokens: &mut Tokens<'_>, name: &'static str) -> Result<Regs> {
    let count = number(tokens, name)?;
    if count > MAX_REGS as u64 {
        return Err(TraceErrorKind::TooManyRegs(count));
    }
    let mut regs = Regs::default();
    for _ in 0..count {
        if !regs.push(register(take(tokens, "register")?)?) {
            return Err(TraceErrorKind::TooManyRegs(count));
        }
    }
    Ok(regs)
}

fn register(text: &[u8]) -> Result<Reg> {
    let (make, digits): (fn(u8) -> Reg, _) = match text {
        [b'R', digits @ ..] => (Reg::R, digits),
        [b'U', b'R', digits @ ..] => (Reg::UR, digits),
        [b'U', b'P', digits @ ..] => (Reg::UP, digits),
        [b'P', digits @ ..] => (Reg::P, digits),
        _ => {
            return Err(TraceErrorKind::BadField {
                field: "register",
                text: quote(text),
            });
        }
    };
    match dec(digits) {
        Some(n) => u8::try_from(n)
            .ok()
            .map(make)
            .ok_or_else(|| TraceErrorKind::RegisterRange(quote(text))),
        // `R-1` and the like also come from the mismatch that the range error explains.
        None => Err(TraceErrorKind::RegisterRange(quote(text))),
    }
}

/// Tokens left before the register values of version 6.
fn before_values(tokens: Tokens<'_>) -> usize {
    tokens.take_while(|token| !is_values(token)).count()
}

fn is_values(token: &[u8]) -> bool {
    matches!(token, b"NoVal" | b"Val")
}

/// The fields of a TMA instruction before its addresses: present when an mbarrier address follows (the
/// layout of early 2025 has none of them).
fn bulk(tokens: &mut Tokens<'_>) -> Result<Option<BulkAccess>> {
    if !tokens.peek().is_some_and(|token| token.starts_with(b"0x")) {
        return Ok(None);
    }
    let mbarrier = field(tokens, "mbarrier address", hex)?;
    let cta_mask = match number(tokens, "multicast flag")? {
        0 => None,
        _ => Some(narrow(field(tokens, "CTA mask", hex)?, "CTA mask")?),
    };
    let bytes = number(tokens, "byte count")?;
    let out_of_bounds_bytes = number(tokens, "out-of-bounds byte count")?;
    Ok(Some(BulkAccess {
        mbarrier,
        cta_mask,
        bytes,
        out_of_bounds_bytes,
    }))
}

fn memory(
    tokens: &mut Tokens<'_>,
    mask: u32,
    width: u16,
    bulk: Option<BulkAccess>,
    addresses: &mut Vec<u64>,
) -> Result<MemAccess> {
    let start = addresses.len();
    let mode = match number(tokens, "address mode")? {
        0 => {
            for _ in 0..mask.count_ones() {
                addresses.push(field(tokens, "address", hex)?);
            }
            AddressMode::List
        }
        1 => {
            let base = field(tokens, "base address", hex)?;
            let stride = field(tokens, "stride", signed)?;
            let run = u64::from(mask) >> mask.trailing_zeros();
            if run & (run + 1) != 0 {
                return Err(TraceErrorKind::MaskHoles(mask));
            }
            AddressMode::BaseStride { base, stride }
        }
        2 => {
            let base = field(tokens, "base address", hex)?;
            deltas(tokens, base, u64::from(mask.count_ones()), addresses)?;
            AddressMode::List
        }
        3 => {
            for _ in 0..number(tokens, "address count")? {
                addresses.push(field(tokens, "address", hex)?);
            }
            AddressMode::Bulk
        }
        4 => {
            let base = field(tokens, "base address", hex)?;
            let count = number(tokens, "address count")?;
            deltas(tokens, base, count, addresses)?;
            AddressMode::Bulk
        }
        other => return Err(TraceErrorKind::BadMode(other)),
    };
    if addresses.len() > MAX_ADDRESSES_PER_BLOCK {
        return Err(TraceErrorKind::TooManyAddresses);
    }
    let range = (
        narrow(start as u64, "address")?,
        narrow(addresses.len() as u64, "address")?,
    );
    Ok(MemAccess {
        width,
        mode,
        range,
        bulk,
    })
}

/// `count` addresses of which the first is `base` and each other is written as a distance to the one
/// before it: `count - 1` distances.
fn deltas(tokens: &mut Tokens<'_>, base: u64, count: u64, addresses: &mut Vec<u64>) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let mut address = base;
    addresses.push(address);
    for _ in 1..count {
        address = address.wrapping_add_signed(field(tokens, "address difference", signed)?);
        addresses.push(address);
    }
    Ok(())
}

/// Zero to two immediates; versions differ and so do tracers of one version, hence the count decides.
/// Register values of version 6 are experimental upstream and skipped.
fn immediates(tokens: &mut Tokens<'_>) -> Result<[Option<i64>; 2]> {
    let mut imms = [None; 2];
    for slot in &mut imms {
        match tokens.peek() {
            Some(token) if !is_values(token) => *slot = Some(field(tokens, "immediate", signed)?),
            _ => break,
        }
    }
    match tokens.next() {
        Some(token) if !is_values(token) => Err(TraceErrorKind::Trailing(quote(token))),
        _ => Ok(imms),
    }
}
