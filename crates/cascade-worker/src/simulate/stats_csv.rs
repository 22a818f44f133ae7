//! `kernel-stats.csv`: one row for each kernel, for spreadsheets and scripts.

use std::io::{self, Write};

use cascade_accelsim::trace::KernelHeader;
use cascade_engine::report::Origin;
use cascade_engine::{BoundKind, KernelEstimate};

/// The bounds that get a column each, cycles.
const BOUNDS: [BoundKind; 9] = [
    BoundKind::Issue,
    BoundKind::Unit,
    BoundKind::Tensor,
    BoundKind::Lsu,
    BoundKind::L2Port,
    BoundKind::L2,
    BoundKind::Dram,
    BoundKind::Chain,
    BoundKind::Launch,
];

/// Writes the table.
#[derive(Debug)]
pub struct StatsCsv<W> {
    out: W,
}

impl<W: Write> StatsCsv<W> {
    /// Starts with the column names.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(mut out: W) -> io::Result<Self> {
        write!(
            out,
            "uid,kernel_id,kernel_name,gpu,engine,grid,block,cycles,time_ns,warp_insts,thread_insts,l2_bytes,dram_bytes,\
             ctas_per_sm,waves,bound,overhead_cycles,fill_cycles,body_cycles"
        )?;
        for bound in BOUNDS {
            write!(out, ",{}_cycles", bound.as_str())?;
        }
        writeln!(out, ",coverage,provenance,cached")?;
        Ok(Self { out })
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// The writer's.
    pub fn row(
        &mut self,
        uid: u64,
        header: &KernelHeader,
        kernel: &KernelEstimate,
        origin: Origin,
    ) -> io::Result<()> {
        let out = &mut self.out;
        let (grid, block) = (header.grid, header.block);
        write!(
            out,
            "{uid},{},\"{}\",{},cascade,",
            kernel.kernel_id,
            kernel.name.replace('"', "\"\""),
            kernel.gpu
        )?;
        write!(
            out,
            "{}x{}x{},{}x{}x{},",
            grid.x, grid.y, grid.z, block.x, block.y, block.z
        )?;
        write!(
            out,
            "{},{:.1},{},{},",
            kernel.cycles, kernel.time_ns, kernel.warp_insts, kernel.thread_insts
        )?;
        write!(
            out,
            "{},{},{},",
            kernel.l2_bytes, kernel.dram_bytes, kernel.occupancy.ctas_per_sm
        )?;
        write!(out, "{},{},", kernel.occupancy.waves, kernel.winner.as_str())?;
        write!(
            out,
            "{:.1},{:.1},{:.1}",
            kernel.t0_cycles, kernel.fill_cycles, kernel.body_cycles
        )?;
        for bound in BOUNDS {
            write!(out, ",{:.1}", kernel.bound(bound))?;
        }
        writeln!(out, ",{:.4},{origin},{}", kernel.coverage, origin.cached)
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
