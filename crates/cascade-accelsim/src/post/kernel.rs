//! One kernel, raw to processed.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use super::samples::Samples;
use super::sort::{Sorted, Sorter};
use super::{KernelReport, MAX_BLOCKS, Options, PostError, TempStore};
use crate::trace::{
    BlockSink, Cluster, Dim3, MAX_INSTRS_PER_WARP, MAX_WARPS_PER_BLOCK, RawLine, RawReader, TraceErrorKind,
    create,
};

/// What is known of a block before the merge: all that is kept in memory for it.
#[derive(Debug, Default)]
struct BlockState {
    cluster: Option<Cluster>,
    warps: Vec<WarpState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct WarpState {
    insts: u32,
    /// Whether the next `LDGSTS` line is the second of its pair.
    second_ldgsts: bool,
}

/// Reads the raw trace `input`, which errors call `name`, and writes the processed one to `output`.
///
/// Blocks come in linear order, warps ascending, instructions in file order; prefixes are dropped, except
/// in tracer versions before 3, whose processed files keep them. Of the two lines that the tracer writes
/// for an `LDGSTS` (shared, then global address), the first is left out.
///
/// # Errors
/// When the raw trace is damaged, or the output or a temporary run cannot be written.
pub fn process_kernel(
    input: impl BufRead,
    name: &str,
    output: impl Write,
    temp: &mut dyn TempStore,
    options: &Options,
) -> Result<KernelReport, PostError> {
    let temp_error = |error| PostError::Temp {
        file: name.into(),
        error,
    };
    let output_error = |kind| PostError::Output {
        file: name.into(),
        kind,
    };
    let mut raw = RawReader::open(input, name)?;
    let grid = raw.header().grid;
    if grid.count() > MAX_BLOCKS {
        return Err(PostError::GridTooLarge {
            file: name.into(),
            blocks: grid.count(),
        });
    }
    let warps = raw.header().warps_per_block().min(MAX_WARPS_PER_BLOCK) as usize;
    let mut report = KernelReport::default();
    let mut blocks = BTreeMap::<u64, BlockState>::new();
    let mut sorter = Sorter::new(temp, options.memory_bytes);
    let mut samples = Samples::default();
    while let Some(line) = raw.next_line()? {
        let id = linear(line.block, grid);
        let block = blocks.entry(id).or_insert_with(|| BlockState {
            cluster: line.cluster,
            warps: vec![WarpState::default(); warps],
        });
        if take(block, &line, &mut report).map_err(output_error)? {
            samples.add((id, line.warp), line.text);
            sorter.push((id, line.warp), line.text).map_err(temp_error)?;
        }
    }
    let dictionary = samples.dictionary(options.format);
    report.runs = sorter.runs();
    let mut sorted = sorter.finish().map_err(temp_error)?;
    let mut sink = create(output, options.format, raw.header_text(), dictionary).map_err(output_error)?;
    merge(&blocks, grid, &mut sorted, sink.as_mut(), &mut report).map_err(|error| match error {
        MergeError::Temp(error) => temp_error(error),
        MergeError::Output(kind) => output_error(kind),
    })?;
    sink.finish().map_err(output_error)?;
    sorted.clean().map_err(temp_error)?;
    report.empty_blocks = grid.count().saturating_sub(report.blocks);
    Ok(report)
}

/// Counts a line; whether it stays.
fn take(
    block: &mut BlockState,
    line: &RawLine<'_>,
    report: &mut KernelReport,
) -> Result<bool, TraceErrorKind> {
    // The reader checked that the warp lies in the block.
    let Some(warp) = block.warps.get_mut(line.warp as usize) else {
        return Ok(false);
    };
    if line.ldgsts {
        let second = warp.second_ldgsts;
        warp.second_ldgsts = !second;
        if !second {
            report.dropped_ldgsts += 1;
            return Ok(false);
        }
    }
    warp.insts += 1;
    if u64::from(warp.insts) > MAX_INSTRS_PER_WARP {
        return Err(TraceErrorKind::WarpTooLong(warp.insts.into()));
    }
    report.warp_instrs += 1;
    report.thread_instrs += u64::from(line.mask.count_ones());
    Ok(true)
}

enum MergeError {
    Temp(io::Error),
    Output(TraceErrorKind),
}

impl From<io::Error> for MergeError {
    fn from(error: io::Error) -> Self {
        Self::Temp(error)
    }
}

fn merge(
    blocks: &BTreeMap<u64, BlockState>,
    grid: Dim3,
    sorted: &mut Sorted<'_>,
    sink: &mut dyn BlockSink,
    report: &mut KernelReport,
) -> Result<(), MergeError> {
    let output = MergeError::Output;
    for (id, block) in blocks {
        if block.warps.iter().all(|warp| warp.insts == 0) {
            continue;
        }
        report.blocks += 1;
        sink.begin_block(coordinates(*id, grid), block.cluster)
            .map_err(output)?;
        for (warp, state) in (0..).zip(&block.warps) {
            report.empty_warps += u64::from(state.insts == 0);
            sink.begin_warp(warp, state.insts.into()).map_err(output)?;
            sorted.warp((*id, warp), |line| sink.instr(line).map_err(output))?;
        }
        sink.end_block().map_err(output)?;
    }
    Ok(())
}

fn linear(block: Dim3, grid: Dim3) -> u64 {
    let (x, y, z) = (u64::from(block.x), u64::from(block.y), u64::from(block.z));
    (z * u64::from(grid.y) + y) * u64::from(grid.x) + x
}

fn coordinates(linear: u64, grid: Dim3) -> Dim3 {
    let (width, height) = (u64::from(grid.x.max(1)), u64::from(grid.y.max(1)));
    let part = |value| u32::try_from(value).unwrap_or(u32::MAX);
    Dim3::new(
        part(linear % width),
        part(linear / width % height),
        part(linear / width / height),
    )
}
