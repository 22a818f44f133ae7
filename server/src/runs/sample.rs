//! Storing a bundled sample: a ready trace and its finished run.

use std::fs::File;
use std::path::{Path, PathBuf};

use cascade_accelsim::log::{LogEvent, read_log};
use cascade_api::{Engine, GpuName, KernelLaunch, RunEntry, RunId, SimFile, SimId, SimState, Timestamp};

use super::Service;
use super::files::{content_type, make_dir};
use super::log_file::{metrics, new_tail};
use super::logs::pack;
use crate::clock;
use crate::db::{NewKernel, NewRun, SimRecord, TraceUpdate};
use crate::error::Error;

/// A finished run that no launcher ever saw.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    /// Its id.
    pub(crate) id: RunId,
    /// What it simulated.
    pub(crate) trace: TraceUpdate,
    /// The trace's kernel launches.
    pub(crate) launches: Vec<KernelLaunch>,
    /// Its sims.
    pub(crate) sims: Vec<FinishedSim>,
}

/// A sim that succeeded.
#[derive(Debug)]
pub(crate) struct FinishedSim {
    /// Its id.
    pub(crate) id: SimId,
    /// The GPU it simulated.
    pub(crate) gpu: GpuName,
    /// The program whose numbers these are.
    pub(crate) engine: Engine,
    /// The clock that turns its cycles into time, in MHz.
    pub(crate) core_clock_mhz: f64,
    /// Its log.
    pub(crate) log: Vec<u8>,
    /// Its step timeline: the JSON of a `StepTimelineUpload`.
    pub(crate) timeline: Vec<u8>,
    /// Its output files.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// A sim whose files are in place.
struct Stored {
    record: SimRecord,
    kernels: Vec<NewKernel>,
    timeline_bytes: u64,
    files: Vec<SimFile>,
}

impl Service {
    /// Stores a sample's trace and run, unless the trace is there. Its files come first, then all rows at once.
    pub(crate) async fn sample_store(&self, run: FinishedRun) -> Result<(), Error> {
        let (service, now) = (self.clone(), clock::now());
        let entries = run.sims.iter().map(|sim| RunEntry {
            gpu_config: sim.gpu.clone(),
            count: 1,
        });
        let mut row = NewRun {
            id: run.id.clone(),
            trace_id: run.trace.id.clone(),
            created_at: now,
            entries: entries.collect(),
            sample: true,
            replay: false,
            sims: Vec::new(),
        };
        let write = move || {
            let places = run.sims.iter().flat_map(|sim| service.places(sim));
            write_together(&places.collect::<Vec<_>>())?;
            let sims = run.sims.iter().map(|sim| service.finished(&run.id, sim, now));
            sims.collect::<std::io::Result<Vec<Stored>>>()
        };
        let stored = tokio::task::spawn_blocking(write).await?;
        let stored = stored.map_err(Error::io("cannot store a sample's files"))?;
        row.sims = stored.iter().map(|sim| sim.record.clone()).collect();
        let mut tx = self.db.write().await?;
        tx.trace_seed(&run.trace, &run.launches).await?;
        tx.run_insert(&row).await?;
        for sim in &stored {
            tx.sim_put(&sim.record).await?;
            for kernel in &sim.kernels {
                tx.kernel_insert(kernel).await?;
            }
            let id = &sim.record.summary.id;
            tx.timeline_put(id, sim.timeline_bytes, now).await?;
            for file in &sim.files {
                tx.file_put(id, file).await?;
            }
        }
        Ok(tx.commit().await?)
    }

    /// Where a sim's files lie, and what is in them.
    fn places<'a>(&self, sim: &'a FinishedSim) -> Vec<(PathBuf, &'a [u8])> {
        let mut places = vec![
            (self.logs.path(&sim.id), &sim.log[..]),
            (self.timeline_path(&sim.id), &sim.timeline),
        ];
        places.extend(
            sim.files
                .iter()
                .map(|(name, bytes)| (self.file_path(&sim.id, name), &bytes[..])),
        );
        places
    }

    /// Reads a sim's log.
    fn finished(&self, run: &RunId, sim: &FinishedSim, now: Timestamp) -> std::io::Result<Stored> {
        let file = |(name, bytes): &(String, Vec<u8>)| SimFile {
            name: name.clone(),
            size: bytes.len() as u64,
            content_type: content_type(name),
            created_at: now,
        };
        let files = sim.files.iter().map(file).collect();
        let mut blocks = Vec::new();
        let summary = read_log(&sim.log[..], &mut |event| {
            if let LogEvent::Kernel(block) = event {
                blocks.push(*block);
            }
        })?;
        let time = |cycles: u64| Some(cycles as f64 * 1_000.0 / sim.core_clock_mhz);
        let kernels = pack(&sim.id, 0, &blocks, time)?;
        let text = String::from_utf8_lossy(&sim.log);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let total = kernels.len() as u64;
        let (id, gpu) = (sim.id.clone(), sim.gpu.clone());
        let mut record = SimRecord::pending(id, run.clone(), gpu, 0, total, sim.engine, now);
        record.next_seq = 1;
        record.log_bytes = sim.log.len() as u64;
        record.summary.state = SimState::Succeeded;
        record.summary.exit_code = Some(0);
        record.summary.finished_at = Some(now);
        record.summary.kernels_done = total;
        record.summary.latest = metrics(&summary);
        record.summary.log_tail = new_tail(&[], &lines);
        Ok(Stored {
            record,
            kernels,
            timeline_bytes: sim.timeline.len() as u64,
            files,
        })
    }
}

/// Writes new files that nothing refers to yet, and makes them last. One after the other would take longer: the
/// first to be made to last takes the others along.
fn write_together(files: &[(PathBuf, &[u8])]) -> std::io::Result<()> {
    let dir = |path: &Path| path.parent().unwrap_or(Path::new(".")).to_owned();
    for (path, bytes) in files {
        make_dir(&dir(path))?;
        std::fs::write(path, bytes)?;
    }
    for (path, _) in files {
        File::open(path)?.sync_all()?;
    }
    for (path, _) in files {
        File::open(dir(path))?.sync_all()?;
    }
    Ok(())
}
