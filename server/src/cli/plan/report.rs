//! A plan as a table and as `plan.json`; `docs/planning.md` describes the file.

use std::path::Path;

use cascade_worker::simulate::{Group, Plan};
use serde_json::{Value, json};

use super::coverage::Coverage;
use crate::cli::Result;
use crate::cli::numbers::{counted, grouped, shortened};
use crate::cli::out::Out;
use crate::cli::table::Table;

/// Widest kernel name in the table.
const NAME_WIDTH: usize = 44;
/// First field of the file; the number changes when a reader must.
const FORMAT: &str = "cascade-plan-1";

/// The members of a group that are simulated.
fn simulated(group: &Group) -> &[u64] {
    group.members.get(..group.simulated).unwrap_or(&group.members)
}

/// Kernels and warp instructions that are simulated, and all.
struct Sums {
    kernels: usize,
    warp_insts: u64,
    simulated: usize,
    simulated_insts: u64,
}

impl Sums {
    fn of(plan: &Plan) -> Self {
        let insts = |of: &dyn Fn(&Group) -> u64| plan.groups.iter().map(of).sum();
        Self {
            kernels: plan.kernels.len(),
            warp_insts: insts(&|group| plan.warp_insts(&group.members)),
            simulated: plan.groups.iter().map(|group| group.simulated).sum(),
            simulated_insts: insts(&|group| plan.warp_insts(simulated(group))),
        }
    }

    /// Share of the instructions that are simulated, 0 to 1.
    fn share(&self) -> f64 {
        share(self.simulated_insts as f64, self.warp_insts as f64)
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

pub(super) fn print(plan: &Plan, coverage: Option<&Coverage>, out: &mut Out) -> Result {
    let mut table = Table::default()
        .number("#")
        .text("kernel")
        .text("grid")
        .text("block")
        .number("launches")
        .number("simulated")
        .number("instructions")
        .number("simulated");
    for group in &plan.groups {
        let Some((uid, kernel)) = group
            .members
            .first()
            .and_then(|uid| Some((uid, plan.kernel(*uid)?)))
        else {
            continue;
        };
        table.row([
            uid.to_string(),
            shortened(&kernel.header.name, NAME_WIDTH),
            kernel.header.grid.to_string(),
            kernel.header.block.to_string(),
            grouped(group.members.len() as u64),
            grouped(group.simulated as u64),
            grouped(plan.warp_insts(&group.members)),
            grouped(plan.warp_insts(simulated(group))),
        ]);
    }
    let sums = Sums::of(plan);
    table.row([
        String::new(),
        "all".to_owned(),
        String::new(),
        String::new(),
        grouped(sums.kernels as u64),
        grouped(sums.simulated as u64),
        grouped(sums.warp_insts),
        grouped(sums.simulated_insts),
    ]);
    out.table(&table)?;
    out.line(format_args!(
        "Dedup by {}: {} in {}; {} to simulate, with {:.1} % of the warp instructions.",
        plan.dedup.as_str(),
        counted(sums.kernels as u64, "kernel"),
        counted(plan.groups.len() as u64, "group"),
        grouped(sums.simulated as u64),
        sums.share() * 100.0,
    ))?;
    if plan.mixed_header_groups > 0 {
        out.line(format_args!(
            "Equal launch headers would make {}, of which {} hold different work.",
            counted(plan.header_groups as u64, "group"),
            grouped(plan.mixed_header_groups as u64),
        ))?;
    }
    match coverage {
        Some(coverage) => covered(coverage, out),
        None => Ok(()),
    }
}

fn covered(coverage: &Coverage, out: &mut Out) -> Result {
    let percent = |part: f64, whole: f64| share(part, whole) * 100.0;
    out.line(format_args!(
        "The timeline has {} launches; kernels of this trace stand for {} of them ({:.2} %) and for {:.2} % of their \
         measured time. {} more have the name, grid and block of one of these.",
        grouped(coverage.launches),
        grouped(coverage.covered),
        percent(coverage.covered as f64, coverage.launches as f64),
        percent(coverage.covered_gpu_ns, coverage.gpu_ns),
        grouped(coverage.same_shape),
    ))?;
    if coverage.without_kernel + coverage.without_launch > 0 {
        out.line(format_args!(
            "Of {} mapped rows, {} name a kernel that this trace lacks and {} a launch that does not count.",
            grouped(coverage.mapped),
            grouped(coverage.without_kernel),
            grouped(coverage.without_launch),
        ))?;
    }
    Ok(())
}

pub(super) fn json(plan: &Plan, trace: &Path, verify: usize, coverage: Option<&Coverage>) -> Value {
    let sums = Sums::of(plan);
    let groups = plan.groups.iter().filter_map(|group| {
        let uid = *group.members.first()?;
        let kernel = plan.kernel(uid)?;
        let dims = |dim: cascade_accelsim::trace::Dim3| json!([dim.x, dim.y, dim.z]);
        Some(json!({
            "representative": uid,
            "file": kernel.file,
            "name": kernel.header.name,
            "grid": dims(kernel.header.grid),
            "block": dims(kernel.header.block),
            "header_key": kernel.header_key,
            "content_key": kernel.identity.content,
            "members": group.members,
            "simulated": simulated(group),
            "warp_insts": plan.warp_insts(&group.members),
            "simulated_warp_insts": plan.warp_insts(simulated(group)),
        }))
    });
    json!({
        "format": FORMAT,
        "trace": trace,
        "dedup": plan.dedup.as_str(),
        "verify_dedup": verify,
        "totals": {
            "kernels": sums.kernels,
            "groups": plan.groups.len(),
            "simulated": sums.simulated,
            "warp_insts": sums.warp_insts,
            "simulated_warp_insts": sums.simulated_insts,
            "simulated_share": sums.share(),
            "header_groups": plan.header_groups,
            "mixed_header_groups": plan.mixed_header_groups,
        },
        "groups": groups.collect::<Vec<_>>(),
        "timeline": coverage,
    })
}
