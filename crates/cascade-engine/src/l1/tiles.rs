//! Sampling of persistent kernels: one wave of blocks whose warps loop over tiles.
//!
//! The tile loop of each warp is found from its program counters. Three kernels are simulated: with the first
//! [`WINDOW`] turns, with twice as many, and with the first and as many from the middle. The two differences give
//! the time of a turn at two places. When they agree, what was left out takes as long a turn.

use std::collections::VecDeque;

use cascade_accelsim::trace::{
    BlockSink, BlockSource, Instr, KernelHeader, OpcodeTable, ThreadBlock, TraceError, Warp,
};

use super::chip::{Blocks, Chip};
use super::image::{Image, Lowering};
use super::memory::{L2State, Memory};
use super::outcome::Outcome;
use super::params::Params;
use super::sample::{MAX_DISAGREEMENT, Traffic};
use crate::engine::{EngineError, Options};

/// Turns of the longest loop in one window: divisible by 2 and 3, in case warps take turns at tiles.
const WINDOW: u64 = 6;
/// Fewest turns of a kernel that is sampled; 30 of them and the ends are simulated.
const MIN_TURNS: u64 = 48;
/// Share of a warp's instructions that its tile loop holds at least.
const MOST: f64 = 0.7;
/// Most that the instructions of a turn may differ from their mean.
const EVEN: f64 = 0.1;

/// A warp's tile loop: where each turn begins, and where the last ends.
#[derive(Clone, Debug, Default)]
struct Turns(Vec<usize>);

impl Turns {
    /// The outermost loop that holds most of the warp's instructions in turns of about equal length.
    fn find(instrs: &[Instr]) -> Option<Self> {
        // Targets of jumps back, each with its visits; a loop within the loop has more.
        let mut heads: Vec<(u32, Vec<usize>)> = Vec::new();
        for (i, pair) in instrs.windows(2).enumerate() {
            let [a, b] = pair else { continue };
            if b.pc < a.pc {
                match heads.iter_mut().find(|(head, _)| *head == b.pc) {
                    Some((_, visits)) => visits.push(i + 1),
                    None => heads.push((b.pc, vec![i + 1])),
                }
            }
        }
        heads.sort_by_key(|(_, visits)| visits.len());
        heads.into_iter().find_map(|(_, visits)| {
            let (first, last) = (*visits.first()?, *visits.last()?);
            let turns = (visits.len() - 1) as f64;
            let mean = (last - first) as f64 / turns;
            let even = |pair: &[usize]| match pair {
                [a, b] => ((b - a) as f64 - mean).abs() <= EVEN * mean + 1.0,
                _ => false,
            };
            let most = turns >= 3.0 && (last - first) as f64 >= MOST * instrs.len() as f64;
            (most && visits.windows(2).all(even)).then_some(Self(visits))
        })
    }

    fn count(&self) -> u64 {
        self.0.len().saturating_sub(1) as u64
    }

    /// The instructions around the loop and those of the turns in `windows`, whose numbers are of a loop with
    /// `longest` turns. `None` when the loops' turns do not go together.
    fn keep(&self, instrs: &[Instr], windows: &[(u64, u64)], longest: u64) -> Option<Vec<Instr>> {
        // Producers and consumers may take turns at tiles.
        let ratio = (longest + self.count() / 2).checked_div(self.count())?.max(1);
        let at = |turn: u64| self.0.get((turn / ratio) as usize).copied();
        let mut kept = instrs.get(..at(0)?)?.to_vec();
        for (from, to) in windows {
            if from % ratio != 0 || to % ratio != 0 {
                return None;
            }
            kept.extend_from_slice(instrs.get(at(*from)?..at(*to)?)?);
        }
        kept.extend_from_slice(instrs.get(*self.0.last()?..)?);
        Some(kept)
    }
}

/// One of the three kernels.
struct Cut {
    lowering: Lowering,
    images: VecDeque<Image>,
}

/// A source without blocks, for kernels whose blocks are packed already.
struct Packed(KernelHeader, OpcodeTable);

impl BlockSource for Packed {
    fn header(&self) -> &KernelHeader {
        &self.0
    }
    fn header_text(&self) -> &[u8] {
        b""
    }
    fn opcodes(&self) -> &OpcodeTable {
        &self.1
    }
    fn next_block(&mut self, _: &mut ThreadBlock) -> Result<bool, TraceError> {
        Ok(false)
    }
    fn copy_block(&mut self, _: &mut dyn BlockSink) -> Result<bool, TraceError> {
        Ok(false)
    }
}

/// What one of the three kernels took.
struct Took {
    cycles: f64,
    port_cycles: f64,
    outcome: Outcome,
}

/// Simulates a persistent kernel's ends and two windows. `None` when it is not one, or not a steady one; its blocks
/// are then queued, to be simulated whole.
pub(super) fn persistent<S: BlockSource + ?Sized>(
    blocks: &mut Blocks<'_, S>,
    params: &Params,
    options: &Options,
    state: &mut L2State,
) -> Result<Option<Outcome>, EngineError> {
    let header = blocks.source.header().clone();
    if header.grid.count() > (params.sms * params.ctas_per_sm) as u64 {
        return Ok(None);
    }
    let mut cuts = [(); 3].map(|()| Cut {
        lowering: Lowering::new(&header),
        images: VecDeque::new(),
    });
    let mut longest = None;
    let mut queue = VecDeque::new();
    while let Some(image) = blocks.next()? {
        queue.push_back(image);
        let turns: Vec<_> = blocks
            .block
            .warps
            .iter()
            .map(|warp| Turns::find(&warp.instrs))
            .collect();
        let most = turns.iter().flatten().map(Turns::count).max().unwrap_or(0);
        let same = most >= MIN_TURNS && *longest.get_or_insert(most) == most;
        if !same || !cut(blocks, &turns, most, &mut cuts) {
            // Go on with the other blocks only to pack them.
            longest = Some(0);
        }
    }
    blocks.closed = true;
    blocks.queue = queue;
    let Some(longest) = longest.filter(|longest| *longest >= MIN_TURNS) else {
        return Ok(None);
    };
    let mut took = Vec::with_capacity(cuts.len());
    for cut in cuts {
        // Shortening may have taken apart what belongs together; then the kernel is simulated whole.
        let Ok(one) = simulate(blocks, cut, header.clone(), params, options, state) else {
            return Ok(None);
        };
        took.push(one);
    }
    let [once, twice, middle] = took.as_slice() else {
        return Ok(None);
    };
    let window = WINDOW as f64;
    let [start, mid] = [twice, middle].map(|longer| (longer.cycles - once.cycles) / window);
    let turn = (start + mid) / 2.0;
    let disagreement = (start - mid).abs() / turn;
    if disagreement.is_nan() || disagreement > MAX_DISAGREEMENT || turn <= 0.0 {
        return Ok(None);
    }
    let left_out = (longest - 2 * WINDOW) as f64;
    let windows = left_out / window;
    let whole = blocks.lowering.counts.warp_insts;
    let simulated: u64 = took.iter().map(|one| one.outcome.counts.issued).sum();
    let more = Traffic::between(&once.outcome.traffic, &twice.outcome.traffic, windows);
    Ok(Some(Outcome {
        cycles: twice.cycles + left_out * turn,
        traffic: twice.outcome.traffic.and(&more),
        port_cycles: twice.port_cycles + windows * (twice.port_cycles - once.port_cycles),
        disagreement,
        fraction: Some((
            simulated as f64 / whole.max(1) as f64,
            twice.outcome.counts.issued as f64 / whole.max(1) as f64,
        )),
        ..twice.outcome.clone()
    }))
}

/// Packs the three shortened forms of the block that was just read; false when it cannot be shortened.
fn cut<S: BlockSource + ?Sized>(
    blocks: &Blocks<'_, S>,
    turns: &[Option<Turns>],
    longest: u64,
    cuts: &mut [Cut; 3],
) -> bool {
    let middle = longest / 2 / WINDOW * WINDOW;
    let windows: [&[(u64, u64)]; 3] = [
        &[(0, WINDOW)],
        &[(0, 2 * WINDOW)],
        &[(0, WINDOW), (middle, middle + WINDOW)],
    ];
    for (cut, windows) in cuts.iter_mut().zip(windows) {
        let mut warps = Vec::with_capacity(turns.len());
        for (warp, turns) in blocks.block.warps.iter().zip(turns) {
            let instrs = match turns {
                None => Some(warp.instrs.clone()),
                Some(turns) => turns.keep(&warp.instrs, windows, longest),
            };
            let Some(instrs) = instrs else { return false };
            warps.push(Warp { id: warp.id, instrs });
        }
        let block = ThreadBlock {
            warps,
            ..blocks.block.clone()
        };
        match cut.lowering.block(&block, blocks.source.opcodes(), blocks.gpu) {
            Ok(image) => cut.images.push_back(image),
            Err(_) => return false,
        }
    }
    true
}

fn simulate<S: BlockSource + ?Sized>(
    blocks: &Blocks<'_, S>,
    cut: Cut,
    header: KernelHeader,
    params: &Params,
    options: &Options,
    state: &L2State,
) -> Result<Took, EngineError> {
    let mut state = state.clone();
    let mut source = Packed(header, OpcodeTable::default());
    let mut own = Blocks {
        source: &mut source,
        lowering: cut.lowering,
        gpu: blocks.gpu,
        block: ThreadBlock::default(),
        queue: cut.images,
        closed: true,
    };
    let memory = Memory::new(blocks.gpu, params, &mut state.tags);
    let mut chip = Chip::new(params.clone(), memory);
    chip.parallel = options.parallel;
    let cycles = f64::from(chip.run(&mut own)?);
    Ok(Took {
        cycles,
        port_cycles: chip.memory.busiest_port_cycles(),
        outcome: Outcome {
            counts: chip.counts(),
            traffic: chip.memory.traffic,
            mbarriers: chip.open.len() as u64,
            ..Outcome::default()
        },
    })
}
