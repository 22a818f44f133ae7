//! The lanes of a run's timeline, written lane by lane: never more than one lane's columns in memory at level
//! `kernels`, one parsed step timeline more at level `steps`.

use std::collections::BTreeMap;

use cascade_api::{
    KernelKind, RealKernel, RunDetail, RunId, SimSummary, TimelineLane, TimelineLevel, TraceDetail,
};
use cascade_scene::kernel_name::readable;
use cascade_steps::timeline::CORRECTED;
use cascade_steps::{Role, Shape, Timeline, Traced};

use super::Service;
use super::download::{Download, Writer, Written, download};
use super::steps_lane::{StepsLane, steps_lane};
use crate::error::Error;

/// Kernels read at once.
const PAGE: u32 = 16_384;

impl Service {
    /// A run's lanes, as one `RunTimeline` object.
    pub async fn run_timeline(&self, id: &RunId, level: TimelineLevel) -> Result<Download, Error> {
        let run = self.run(id).await?;
        // Steps carry the shapes of their launches themselves.
        let trace = match level {
            TimelineLevel::Kernels => Some(self.trace(&run.trace.id).await?),
            TimelineLevel::Steps => None,
        };
        let service = self.clone();
        Ok(download(|mut w| async move {
            let written = service.write_timeline(&mut w, &run, trace.as_ref(), level).await;
            (w, written)
        }))
    }

    async fn write_timeline(
        &self,
        w: &mut Writer,
        run: &RunDetail,
        trace: Option<&TraceDetail>,
        level: TimelineLevel,
    ) -> Written {
        w.text("{\"run_id\":").await?;
        w.json(&run.summary.id).await?;
        w.text(",\"trace_id\":").await?;
        w.json(&run.summary.trace_id).await?;
        w.text(",\"level\":").await?;
        w.json(&level).await?;
        w.text(",\"lanes\":[").await?;
        let mut kinds = trace.map_or_else(Kinds::default, Kinds::of);
        match level {
            TimelineLevel::Kernels => self.write_kernels(w, run, &mut kinds).await?,
            TimelineLevel::Steps => self.write_steps(w, run, &mut kinds).await?,
        }
        // Known only now that every lane is written.
        w.text("],\"kinds\":").await?;
        w.json(&kinds.list).await?;
        w.text("}").await
    }

    /// The kernels that each sim finished.
    async fn write_kernels(&self, w: &mut Writer, run: &RunDetail, kinds: &mut Kinds<'_>) -> Written {
        let mut first = true;
        if let Some(real) = self.real_timing(&run.trace).await? {
            w.json(&measured(run, &real, kinds)).await?;
            first = false;
        }
        for sim in &run.sims {
            let mut lane = simulated(sim);
            let mut index = Vec::new();
            let mut next = 0;
            loop {
                let page = self.db.kernel_times(&sim.id, next, PAGE).await?;
                let Some(last) = page.last() else { break };
                next = last.index + 1;
                for kernel in page {
                    let Some(ns) = kernel.ns else { continue };
                    index.push(kernel.index);
                    lane.kind
                        .push(kinds.launched(kernel.uid, kernel.index, &kernel.name));
                    lane.ns.push(rounded(ns));
                }
            }
            if index.iter().zip(0_u64..).any(|(number, at)| *number != at) {
                lane.index = Some(index);
            }
            w.text(if first { "" } else { "," }).await?;
            w.json(&lane).await?;
            first = false;
        }
        Ok(())
    }

    /// The steps that were measured and those that sims sent.
    async fn write_steps(&self, w: &mut Writer, run: &RunDetail, kinds: &mut Kinds<'_>) -> Written {
        let mut first = true;
        if let Some(read) = self.corrected_lane(run).await? {
            let gpu = run.trace.source_gpu.as_deref().unwrap_or("unknown GPU");
            w.json(&kinds.lane(real_lane(gpu), read)).await?;
            first = false;
        }
        for (id, ..) in self.db.timelines_of_run(&run.summary.id).await? {
            let Some(sim) = run.sims.iter().find(|sim| sim.id == id) else {
                continue;
            };
            let read = self.timeline_read(&id, |timeline| steps_lane(&timeline)).await?;
            w.text(if first { "" } else { "," }).await?;
            w.json(&kinds.lane(simulated(sim), read)).await?;
            first = false;
        }
        Ok(())
    }

    /// The steps that were measured with the trace; `None` where there are none.
    async fn corrected_lane(&self, run: &RunDetail) -> Result<Option<Result<StepsLane, String>>, Error> {
        let path = self
            .settings
            .traces_dir()
            .join(run.trace.id.as_str())
            .join(CORRECTED);
        if !path.is_file() {
            return Ok(None);
        }
        let alone = self.timelines_turn.lock().await;
        let read = move || {
            let json = std::fs::read(path).map_err(|error| error.to_string())?;
            let timeline = Timeline::parse(CORRECTED, &json).map_err(|error| error.to_string())?;
            Ok(steps_lane(&timeline))
        };
        let done = tokio::task::spawn_blocking(read).await?;
        drop(alone);
        Ok(Some(done))
    }
}

/// Grid and block of a launch.
type Size = ((u32, u32, u32), (u32, u32, u32));

/// Kinds of kernels by position.
#[derive(Debug, Default)]
struct Kinds<'a> {
    list: Vec<KernelKind>,
    known: BTreeMap<KernelKind, u32>,
    /// The trace's launches, whose sizes and model tell roles apart that a name alone does not.
    traced: Traced<'a>,
    model: Option<&'a str>,
    /// Positions of kernels by name and size, where the size is known.
    sized: BTreeMap<(&'a str, Size), u32>,
    /// Those of kernels of which nothing but the name is known.
    names: BTreeMap<String, u32>,
}

impl<'a> Kinds<'a> {
    fn of(trace: &'a TraceDetail) -> Self {
        Self {
            traced: Traced::new(&trace.kernels),
            model: trace.summary.model.as_deref(),
            ..Self::default()
        }
    }

    fn intern(&mut self, kind: KernelKind) -> u32 {
        let Self { list, known, .. } = self;
        *known.entry(kind).or_insert_with_key(|kind| {
            list.push(kind.clone());
            (list.len() - 1) as u32
        })
    }

    /// The kind of a kernel with number `uid` at position `at`.
    fn launched(&mut self, uid: Option<u64>, at: u64, name: &str) -> u32 {
        let Some(launch) = self.traced.find(uid, at, name) else {
            return self.named(name);
        };
        let key = (launch.name.as_str(), (launch.grid, launch.block));
        if let Some(at) = self.sized.get(&key) {
            return *at;
        }
        let shape = Shape::new(name.trim(), Some(launch.grid), Some(launch.block));
        let at = self.intern(kind(&shape, self.model));
        self.sized.insert(key, at);
        at
    }

    /// The kind of a kernel of which only the name is known.
    fn named(&mut self, name: &str) -> u32 {
        if let Some(at) = self.names.get(name) {
            return *at;
        }
        let at = self.intern(kind(&Shape::new(name.trim(), None, None), self.model));
        self.names.insert(name.to_owned(), at);
        at
    }

    /// A lane with the steps that were read, or why they were not.
    fn lane(&mut self, mut lane: TimelineLane, read: Result<StepsLane, String>) -> TimelineLane {
        match read {
            Ok(read) => {
                let at: Vec<u32> = read.kinds.into_iter().map(|kind| self.intern(kind)).collect();
                let position = |kind: u32| at.get(kind as usize).copied().unwrap_or_default();
                lane.kind = read.kind.into_iter().map(position).collect();
                lane.ns = read.ns;
                lane.start_ns = Some(read.start_ns);
                lane.steps = Some(read.steps);
            }
            Err(problem) => lane.problem = Some(problem),
        }
        lane
    }
}

/// What kernels of a shape are called and grouped by.
pub(super) fn kind(shape: &Shape, model: Option<&str>) -> KernelKind {
    let group = match Role::of(shape, model) {
        Role::Other => readable(&shape.name),
        role => role.label().to_owned(),
    };
    KernelKind {
        name: shape.name.clone(),
        group,
    }
}

/// A time to three decimals of a nanosecond: shorter to send, and finer than any clock.
pub(super) fn rounded(ns: f64) -> f64 {
    (ns * 1000.0).round() / 1000.0
}

/// A sim's lane without kernels.
fn simulated(sim: &SimSummary) -> TimelineLane {
    TimelineLane {
        sim_id: Some(sim.id.clone()),
        replica: sim.replica,
        engine: Some(sim.engine),
        ..real_lane(sim.gpu_config.as_str())
    }
}

/// A lane of measured kernels, still without any.
fn real_lane(gpu: &str) -> TimelineLane {
    TimelineLane {
        sim_id: None,
        gpu_config: gpu.into(),
        replica: 0,
        engine: None,
        problem: None,
        steps: None,
        kind: Vec::new(),
        ns: Vec::new(),
        start_ns: None,
        index: None,
    }
}

/// The kernels that were measured with the trace.
fn measured(run: &RunDetail, real: &[RealKernel], kinds: &mut Kinds<'_>) -> TimelineLane {
    let mut lane = real_lane(run.trace.source_gpu.as_deref().unwrap_or("unknown GPU"));
    lane.kind = (0..)
        .zip(real)
        .map(|(at, kernel)| kinds.launched(None, at, &kernel.kernel_name))
        .collect();
    lane.ns = real.iter().map(|kernel| rounded(kernel.duration_ns)).collect();
    lane
}
