//! `stats.csv` and `stats_ctx_*`: one row a launch.

use std::io::BufRead;

use super::{ListError, Note, for_each_line};
use crate::trace::Dim3;
use crate::trace::error::quote;
use crate::trace::token::{dec, trim};

/// Numeric columns that a launch writes at its start, and those it adds at its end.
const START_COLUMNS: usize = 8;
const END_COLUMNS: usize = 2;

/// What the tracer noted about one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchStats {
    /// Name of the trace file, which need not exist: launches outside the traced range have a row too.
    pub file: String,
    /// Launch number, from the file name.
    pub kernel_id: Option<u64>,
    /// Mangled or plain kernel name.
    pub name: String,
    /// Thread blocks in the grid.
    pub grid: Dim3,
    /// Threads in a block.
    pub block: Dim3,
    /// Warp instructions executed; missing when the run was killed in this kernel.
    pub warp_instrs: Option<u64>,
    /// Warp instructions written to the trace file.
    pub reported_warp_instrs: Option<u64>,
}

/// A parsed statistics file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Launches in file order.
    pub launches: Vec<LaunchStats>,
    /// Rows that could not be understood.
    pub notes: Vec<Note>,
}

impl Stats {
    /// Reads a statistics file of either era.
    ///
    /// # Errors
    /// When reading fails or a limit is passed; rows that make no sense become notes instead.
    pub fn read(reader: impl BufRead, source_name: &str) -> Result<Self, ListError> {
        let mut stats = Self::default();
        for_each_line(reader, source_name, |number, line| {
            match row(line) {
                Some(launch) => stats.launches.push(launch),
                None if line.starts_with(b"kernel id") => {}
                None => stats.notes.push(Note {
                    line: number,
                    text: format!(
                        "ignored: `{}` is not `file, name, grid, blocks, block, threads, counts`",
                        quote(line)
                    ),
                }),
            }
            Ok(())
        })?;
        Ok(stats)
    }
}

/// One row, read from the right since a plain kernel name may hold commas.
fn row(line: &[u8]) -> Option<LaunchStats> {
    let mut fields: Vec<&[u8]> = line.split(|byte| *byte == b',').map(trim).collect();
    while fields.last().is_some_and(|field| field.is_empty()) {
        fields.pop();
    }
    let named = fields.len().checked_sub(2)?;
    let most = named.min(START_COLUMNS + END_COLUMNS);
    let numbers: Vec<u64> = fields
        .iter()
        .rev()
        .take(most)
        .map_while(|field| dec(field))
        .collect();
    let mut numbers = numbers.into_iter().rev();
    let count = numbers.len();
    if count < START_COLUMNS {
        return None;
    }
    let mut dim = || numbers.next().and_then(|n| u32::try_from(n).ok());
    let grid = Dim3::new(dim()?, dim()?, dim()?);
    let _blocks = dim()?;
    let block = Dim3::new(dim()?, dim()?, dim()?);
    let _threads = dim()?;
    let name: Vec<_> = fields
        .get(1..fields.len() - count)?
        .iter()
        .map(|f| String::from_utf8_lossy(f))
        .collect();
    let file = String::from_utf8_lossy(fields.first()?).into_owned();
    Some(LaunchStats {
        kernel_id: super::kernel_id(&file),
        file,
        name: name.join(", "),
        grid,
        block,
        warp_instrs: numbers.next(),
        reported_warp_instrs: numbers.next(),
    })
}
