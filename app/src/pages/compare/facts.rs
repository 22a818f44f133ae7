//! What the page shows: which columns, what their runs produced and what is known of their GPUs.

use std::sync::Arc;

use cascade_api::{
    GpuName, KernelColumns, RunDetail, RunId, RunSummary, SimStepDigest, StepDigest, TraceSummary,
};
use cascade_scene::compare::lines::Lines;
use cascade_scene::compare::scatter::Source;
use cascade_scene::compare::{Side, letter};
use cascade_scene::request::columns;

use super::choice::{Choice, Pick, choose};
use crate::data::{self, DataError};

/// Most kernels of all sims of a run that come with the page; what is longer the browser asks for once it is alive.
const MAX_EMBEDDED: u64 = 8_000;

/// One run with what it produced.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct RunFacts {
    /// The run; its sims' log tails are left out.
    pub(super) run: RunDetail,
    /// What its sims say of whole steps and requests.
    pub(super) digests: Vec<SimStepDigest>,
    /// Its kernel times; `None` where they are too long for the page.
    pub(super) kernels: Option<KernelColumns>,
}

/// What is known of one GPU.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct GpuStatus {
    /// The GPU.
    pub(super) gpu: GpuName,
    /// `validated`, `measured` or `unvalidated`.
    pub(super) status: String,
    /// The same in words.
    pub(super) note: String,
}

/// What the page shows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Facts {
    /// The columns from left to right.
    pub(super) picks: Vec<Pick>,
    /// Columns that the address asks for and that there is no room for.
    pub(super) left_out: Vec<Pick>,
    /// What the address names and the workspace does not have.
    pub(super) missing: Vec<String>,
    /// Each run of a column once.
    pub(super) of: Vec<RunFacts>,
    /// Each GPU of a column once.
    pub(super) gpus: Vec<GpuStatus>,
    /// Every run, to choose from.
    pub(super) runs: Vec<RunSummary>,
    /// Every trace, which says which runs belong together.
    pub(super) traces: Vec<TraceSummary>,
}

/// What the address asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// `of=run:GPU`, once for each column.
    pub(super) of: Vec<String>,
    /// `runs=a,b`: every GPU of these runs.
    pub(super) runs: Option<String>,
    /// `set=name`: the runs of a sample set.
    pub(super) set: Option<String>,
}

impl Facts {
    /// Everything that `asked` names.
    pub(super) async fn read(asked: Asked) -> Result<Self, DataError> {
        let runs = data::runs().await?;
        let traces = data::traces().await?;
        let Choice {
            picks,
            left_out,
            missing,
        } = choose(&asked, &runs, &traces);
        let mut of: Vec<RunFacts> = Vec::new();
        let mut gpus: Vec<GpuStatus> = Vec::new();
        for pick in &picks {
            if !of.iter().any(|known| known.run.summary.id == pick.run) {
                of.push(read_run(pick.run.clone()).await?);
            }
            if !gpus.iter().any(|known| known.gpu == pick.gpu) {
                gpus.push(gpu_status(&pick.gpu).await);
            }
        }
        Ok(Self {
            picks,
            left_out,
            missing,
            of,
            gpus,
            runs,
            traces,
        })
    }

    /// The run of a column.
    pub(super) fn run(&self, pick: &Pick) -> Option<&RunFacts> {
        self.of.iter().find(|known| known.run.summary.id == pick.run)
    }

    /// The predicted steps of each column; replicas that disagree show the first.
    pub(super) fn digests(&self) -> Vec<Option<StepDigest>> {
        let digest = |pick: &Pick| {
            let own = columns(&self.run(pick)?.digests);
            own.into_iter()
                .find(|column| column.gpu == pick.gpu)
                .map(|column| column.digest)
        };
        self.picks.iter().map(digest).collect()
    }

    /// Each column's name: `A · SM90_H100`.
    pub(super) fn names(&self) -> Vec<String> {
        let picks = self.picks.iter().enumerate();
        picks
            .map(|(place, pick)| format!("{} · {}", letter(place), pick.gpu))
            .collect()
    }
}

/// A run with what it produced.
async fn read_run(id: RunId) -> Result<RunFacts, DataError> {
    let mut run = data::run(id.clone()).await?;
    for sim in &mut run.sims {
        sim.log_tail.clear();
    }
    let kernels: u64 = run.sims.iter().map(|sim| sim.kernels_done).sum();
    // In the browser nothing is embedded, so the answer is taken whole.
    let whole = kernels <= MAX_EMBEDDED || cfg!(not(feature = "ssr"));
    Ok(RunFacts {
        run,
        digests: data::run_digests(id.clone()).await?,
        kernels: match whole {
            true => Some(data::kernel_columns(id).await?),
            false => None,
        },
    })
}

/// What is known of a GPU; one that has disappeared since is not known.
async fn gpu_status(gpu: &GpuName) -> GpuStatus {
    match data::gpu_detail(gpu.clone()).await {
        Ok(detail) => GpuStatus {
            gpu: gpu.clone(),
            status: detail.status,
            note: detail.status_note,
        },
        Err(error) => GpuStatus {
            gpu: gpu.clone(),
            status: "unknown".to_owned(),
            note: error.to_string(),
        },
    }
}

/// Kernel times of every column.
#[derive(Debug)]
pub(super) struct Ready {
    facts: Arc<Facts>,
    /// One entry for each of the facts' runs.
    kernels: Vec<KernelColumns>,
}

impl Ready {
    /// The kernel times of each run, in the order of [`Facts::of`].
    pub(super) const fn new(facts: Arc<Facts>, kernels: Vec<KernelColumns>) -> Self {
        Self { facts, kernels }
    }

    /// Two columns on common lines, the first at place 0; `None` unless both are there.
    pub(super) fn lines(&self, from: usize, to: usize) -> Option<Lines> {
        let sides = self.sides();
        Some(Lines::new(&[*sides.get(from)?, *sides.get(to)?]))
    }

    /// A column's kernels and their times added up, in ns.
    pub(super) fn total(&self, place: usize) -> Option<(u64, f64)> {
        let sides = self.sides();
        let times = sides.get(place)?.column.median_ns.iter().flatten();
        Some(times.fold((0, 0.0), |(count, sum), ns| (count + 1, sum + ns)))
    }

    /// The columns.
    pub(super) fn sides(&self) -> Vec<Side<'_>> {
        sides(&self.facts, &self.kernels)
    }

    /// The columns as the scatter needs them.
    pub(super) fn sources<'a>(&'a self, digests: &'a [Option<StepDigest>]) -> Vec<Source<'a>> {
        let picks = self.facts.picks.iter().zip(self.sides()).zip(digests);
        let source = |((pick, side), digest): ((&Pick, Side<'a>), &'a Option<StepDigest>)| {
            Some(Source {
                side,
                trace: &self.facts.run(pick)?.run.trace,
                digest: digest.as_ref(),
            })
        };
        picks.filter_map(source).collect()
    }
}

/// A side for each column.
fn sides<'a>(facts: &'a Facts, kernels: &'a [KernelColumns]) -> Vec<Side<'a>> {
    let side = |pick: &Pick| {
        let of = facts.of.iter().zip(kernels);
        let (run, kernels) = of
            .into_iter()
            .find(|(known, _)| known.run.summary.id == pick.run)?;
        let column = kernels
            .columns
            .iter()
            .find(|column| column.gpu_config == pick.gpu)?;
        Some(Side {
            trace: &run.run.trace.id,
            kernels,
            column,
        })
    };
    facts.picks.iter().filter_map(side).collect()
}
