//! Takes in uploaded traces: notices their files, decides when an upload is complete ([`complete`]), has
//! raw traces post-processed and says when a trace is ready.
//!
//! It is told of objects that came over S3 and scans the bucket's directory every two seconds for what
//! came another way. A look walks a trace's folder once; nothing is written to the database unless
//! something changed. A trace that takes long to walk is looked at less often.
//!
//! What happens to an upload later: new or changed files of a `failed` trace have it judged again, from
//! `uploading`; of a `ready` one, its facts and kernels are brought up to date, and raw files that changed
//! are post-processed again. A trace whose files are gone is `failed` and keeps its row, since runs may
//! refer to it; files that come back have it judged again.

mod act;
mod complete;
mod kernels;
mod link;
mod look;
mod metadata;
mod postprocess;
mod record;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cascade_api::{TraceId, TraceState};
use cascade_s3::ObjectEvent;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::Settings;
use crate::db::Db;
use crate::error::Error;
use look::Seen;
pub(crate) use look::{MAX_TIMING_BYTES, TIMING_FILE};
use postprocess::{Postprocess, PostprocessError};
use record::Record;
use tree::{Mark, Tree};

/// Time between two scans of the bucket.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);
/// Time from an object's arrival to a look at its trace, so that one look serves many objects.
const EVENT_DELAY: Duration = Duration::from_millis(200);
/// A trace is looked at again after this many times what the last look took.
const REST_FACTOR: u32 = 10;
/// The same for a trace that waits for nothing, unless an object of it is told of.
const SETTLED_REST_FACTOR: u32 = 50;
/// Traces that are post-processed at the same time; each uses several threads.
const PROCESSED_AT_ONCE: usize = 2;
/// Memory that each may take for lines, bytes.
const PROCESS_MEMORY: usize = 256 << 20;

/// Takes in traces until `stop`. `events` tells of objects that were put or deleted.
pub async fn run(
    db: Db,
    settings: Arc<Settings>,
    mut events: mpsc::Receiver<ObjectEvent>,
    stop: CancellationToken,
) {
    let mut ingest = match Ingest::new(db, &settings, stop.clone()).await {
        Ok(ingest) => ingest,
        Err(error) => {
            tracing::error!(error = error.chain(), "cannot take in traces");
            return;
        }
    };
    let mut scans = tokio::time::interval(SCAN_INTERVAL);
    scans.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut told: BTreeSet<TraceId> = BTreeSet::new();
    let mut look_at = Instant::now();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = scans.tick() => ingest.scan().await,
            Some(event) = events.recv() => {
                if told.is_empty() {
                    look_at = Instant::now() + EVENT_DELAY;
                }
                told.extend(ingest.trace_of(&event));
            }
            () = tokio::time::sleep_until(look_at), if !told.is_empty() => {
                for id in std::mem::take(&mut told) {
                    ingest.look_after(REST_FACTOR, &id).await;
                }
            }
            Some(done) = ingest.jobs.join_next() => match done {
                Ok((id, result)) => ingest.processed(&id, result).await,
                Err(error) => tracing::error!(%error, "a task of post-processing broke off"),
            },
        }
    }
    // External post-processors are stopped; the built-in one ends with the program.
    while ingest.jobs.join_next().await.is_some() {}
}

/// What is remembered about a trace between looks.
struct Watched {
    state: TraceState,
    error: Option<String>,
    /// What is said to be waited for.
    waiting_for: Option<String>,
    /// The files at the last look; `None` before the first.
    mark: Option<Mark>,
    /// When they were first seen like that.
    since: Instant,
    /// Whether the next look judges the trace even if nothing changed.
    judge: bool,
    /// Whether its post-processing is under way.
    processing: bool,
    /// When the last look ended, and how long it took.
    looked: (Instant, Duration),
}

struct Ingest {
    db: Db,
    bucket: String,
    prefix: String,
    traces: PathBuf,
    /// Whether a list may stand for kernels that are not there: only `CASCADE_SIM_CMD` can replay one.
    stand_ins: bool,
    postprocess: Arc<Postprocess>,
    watched: BTreeMap<TraceId, Watched>,
    /// Bundled traces: the server put their files there itself, and they are ready as they are.
    samples: BTreeSet<TraceId>,
    slots: Arc<Semaphore>,
    jobs: JoinSet<(TraceId, Result<(), PostprocessError>)>,
    stop: CancellationToken,
}

impl Ingest {
    async fn new(db: Db, settings: &Settings, stop: CancellationToken) -> Result<Self, Error> {
        let absolute = |path| std::path::absolute(path).map_err(Error::io("finding the data directory"));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut this = Self {
            bucket: settings.s3_bucket.clone(),
            prefix: settings.s3_prefix.clone(),
            traces: absolute(settings.traces_dir())?,
            stand_ins: settings.sim_cmd.is_some(),
            postprocess: Arc::new(Postprocess {
                command: settings.postprocess_cmd.clone(),
                threads: cores.div_ceil(PROCESSED_AT_ONCE),
                memory_bytes: PROCESS_MEMORY,
                dir: absolute(settings.work_dir())?.join("postprocess"),
            }),
            watched: BTreeMap::new(),
            samples: BTreeSet::new(),
            slots: Arc::new(Semaphore::new(PROCESSED_AT_ONCE)),
            jobs: JoinSet::new(),
            stop,
            db,
        };
        std::fs::create_dir_all(&this.postprocess.dir).map_err(Error::io("making work/postprocess"))?;
        for trace in this.db.traces_list().await? {
            if trace.sample {
                this.samples.insert(trace.id);
                continue;
            }
            // What failed to be post-processed would fail again; anything else is cheap to judge anew.
            let stays = trace
                .error
                .as_ref()
                .is_some_and(|e| e.starts_with("post-processing"));
            let mut watched = Watched::new(trace.state, trace.error, !stays);
            watched.waiting_for = trace.waiting_for;
            this.watched.insert(trace.id, watched);
        }
        Ok(this)
    }

    /// The trace that an object belongs to.
    fn trace_of(&self, event: &ObjectEvent) -> Option<TraceId> {
        let rest = event.key.strip_prefix(&self.prefix)?.strip_prefix('/')?;
        let (id, _) = rest.split_once('/')?;
        (event.bucket == self.bucket && !id.starts_with('.')).then(|| TraceId::from(id))
    }

    /// Looks at every trace that has files or had some.
    async fn scan(&mut self) {
        let traces = self.traces.clone();
        let found = match blocking(move || look::folders(&traces)).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(path = %self.traces.display(), %error, "cannot list the traces");
                return;
            }
        };
        let all: BTreeSet<TraceId> = self.watched.keys().cloned().chain(found).collect();
        for id in all {
            let settled = self
                .watched
                .get(&id)
                .is_some_and(|w| !w.judge && w.mark.is_some());
            let factor = if settled { SETTLED_REST_FACTOR } else { REST_FACTOR };
            self.look_after(factor, &id).await;
        }
    }

    /// Looks at a trace unless the last look was too long for looking again already.
    async fn look_after(&mut self, factor: u32, id: &TraceId) {
        let rests = |w: &Watched| w.looked.0.elapsed() < w.looked.1 * factor;
        let skip = self.stop.is_cancelled() || self.samples.contains(id);
        if skip || self.watched.get(id).is_some_and(rests) {
            return;
        }
        let started = Instant::now();
        let looked = self.look(id).await;
        if let Err(error) = &looked {
            tracing::warn!(trace = %id, error = error.chain(), "cannot take in a trace; trying again");
        }
        if let Some(watched) = self.watched.get_mut(id) {
            watched.judge |= looked.is_err();
            watched.looked = (Instant::now(), started.elapsed());
        }
    }

    async fn look(&mut self, id: &TraceId) -> Result<(), Error> {
        let Some((tree, record)) = self.walk(id).await? else {
            return self.gone(id).await;
        };
        let (now, mark) = (Instant::now(), tree.mark());
        let watched = self
            .watched
            .entry(id.clone())
            .or_insert_with(|| Watched::new(TraceState::Uploading, None, true));
        let changed = watched.mark != Some(mark);
        // The first look after a start learns what is there; only later ones see something arrive.
        let arrived = changed && watched.mark.is_some();
        if changed {
            watched.since = now;
            watched.judge |= arrived;
        }
        if !watched.judge {
            watched.mark = Some(mark);
            return Ok(());
        }
        let quiet = now.duration_since(watched.since);
        let seen = self.judge(id, tree, record, quiet).await?;
        if changed {
            self.store(id, &seen).await?;
            // Not before: what could not be stored is looked at again as news.
            self.rebase(id, mark);
        }
        self.act(id, seen, arrived).await
    }

    /// Reads which files a trace has.
    async fn walk(&self, id: &TraceId) -> Result<Option<(Tree, Option<Record>)>, Error> {
        let (root, records, id) = (self.root(id), self.postprocess.dir.clone(), id.clone());
        let walked = blocking(move || look::walk(&root, &records, &id)).await;
        walked.map_err(Error::io("reading a trace's folder"))
    }

    /// Judges the files that were walked.
    async fn judge(
        &self,
        id: &TraceId,
        tree: Tree,
        record: Option<Record>,
        quiet: Duration,
    ) -> Result<Seen, Error> {
        let (bucket, prefix) = (&self.bucket, &self.prefix);
        let key = format!("{prefix}/{id}/");
        let homes = vec![format!("s3://{bucket}/{key}"), format!("{bucket}/{key}"), key];
        let ready = self.watched.get(id).is_some_and(|w| w.state == TraceState::Ready);
        let (root, stand_ins) = (self.root(id), self.stand_ins);
        let judged = blocking(move || Ok(look::judge(&root, tree, record, &homes, quiet, ready, stand_ins)));
        judged.await.map_err(Error::io("reading a trace's folder"))
    }

    fn root(&self, id: &TraceId) -> PathBuf {
        self.traces.join(id.as_str())
    }
}

impl Watched {
    fn new(state: TraceState, error: Option<String>, judge: bool) -> Self {
        let now = Instant::now();
        Self {
            state,
            error,
            waiting_for: None,
            mark: None,
            since: now,
            judge,
            processing: false,
            looked: (now, Duration::ZERO),
        }
    }
}

/// Runs file work where it holds nobody up.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}
