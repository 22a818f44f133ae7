//! What follows from a look: rows in the database, post-processing, a new state.

use std::sync::Arc;
use std::time::Duration;

use cascade_api::{TraceId, TraceState};

use super::complete::{LIST, TRACES, Verdict};
use super::look::Seen;
use super::postprocess::PostprocessError;
use super::record::Record;
use super::{Ingest, blocking, kernels, link};
use crate::db::TraceUpdate;
use crate::error::Error;

/// The error of a trace without files.
const GONE: &str = "the trace's files are gone; upload it again under the same name to use it";

impl Ingest {
    /// Stores what a look found.
    pub(super) async fn store(&self, id: &TraceId, seen: &Seen) -> Result<(), Error> {
        let metadata = seen.metadata.as_ref();
        let told = metadata.and_then(|m| m.text("trace_gpu_arch"));
        if let (Some(told), Some(found)) = (told, &seen.binary_arch)
            && told != found
        {
            tracing::warn!(trace = %id, told, found, "metadata.json and the kernels name different architectures");
        }
        let update = TraceUpdate {
            id: id.clone(),
            metadata: metadata.map(|m| m.object.clone()),
            binary_arch: seen.binary_arch.clone(),
            kernel_count: seen.kernel_count,
            bytes: seen.tree.bytes,
            has_real_timing: seen.has_real_timing,
            has_step_timeline: seen.has_step_timeline,
        };
        self.db.trace_upsert(&update).await?;
        Ok(())
    }

    /// Follows a verdict; `arrived` says that files arrived since the last look.
    pub(super) async fn act(&mut self, id: &TraceId, seen: Seen, arrived: bool) -> Result<(), Error> {
        let Some(watched) = self.watched.get_mut(id) else {
            return Ok(());
        };
        if watched.processing {
            return Ok(());
        }
        let failed = watched.state == TraceState::Failed;
        let gone = watched.error.as_deref() == Some(GONE);
        match seen.verdict.clone() {
            Verdict::Wait(what) => {
                if failed && (arrived || gone) {
                    self.set(id, TraceState::Uploading, None).await?;
                }
                self.waits(id, what).await
            }
            Verdict::Failed(error) => self.settle(id, TraceState::Failed, Some(error)).await,
            Verdict::Processed { flat: true } => match self.linked(id, &seen).await? {
                Some(seen) => self.finish(id, &seen).await,
                None => Ok(()),
            },
            Verdict::Processed { flat: false } => self.finish(id, &seen).await,
            Verdict::Raw { flat: true } => match self.linked(id, &seen).await? {
                Some(seen) => self.start(id, &seen, true).await,
                None => Ok(()),
            },
            Verdict::Raw { flat: false } => self.start(id, &seen, false).await,
        }
    }

    /// Gives a flat trace's files their names in `traces/` and looks again.
    async fn linked(&mut self, id: &TraceId, seen: &Seen) -> Result<Option<Seen>, Error> {
        let record = Record {
            flat: true,
            ..seen.record.clone().unwrap_or_default()
        };
        let (root, dir, trace) = (self.root(id), self.postprocess.dir.clone(), id.clone());
        let tree = seen.tree.clone();
        let linked = blocking(move || {
            record.write(&dir, &trace)?;
            link::into_traces(&root, &tree)
        });
        if let Err(error) = linked.await {
            let text = format!("the files beside traces/ cannot be given names in it: {error}");
            self.settle(id, TraceState::Failed, Some(text)).await?;
            return Ok(None);
        }
        let Some((tree, record)) = self.walk(id).await? else {
            return Ok(None);
        };
        self.rebase(id, tree.mark());
        self.judge(id, tree, record, Duration::MAX).await.map(Some)
    }

    /// Takes the files as they are now for known, so that they are no news to the next look.
    pub(super) fn rebase(&mut self, id: &TraceId, mark: super::tree::Mark) {
        if let Some(watched) = self.watched.get_mut(id) {
            watched.mark = Some(mark);
        }
    }

    /// The trace can be simulated: its kernels are stored, then it is ready.
    async fn finish(&mut self, id: &TraceId, seen: &Seen) -> Result<(), Error> {
        let (root, tree, stats) = (self.root(id), seen.tree.clone(), seen.statistics());
        let read = blocking(move || Ok(kernels::launches(&root, &tree, &stats)));
        let found = read.await.map_err(Error::io("reading a trace's kernels"))?;
        let stored = self.db.trace_detail(id).await?;
        if stored.is_none_or(|trace| (trace.kernels, trace.warnings) != found) {
            let (launches, warnings) = found;
            self.db.trace_kernels_replace(id, &launches, &warnings).await?;
        }
        // Now that it is complete its list and headers count, which may be news even if no file changed.
        self.store(id, seen).await?;
        self.settle(id, TraceState::Ready, None).await
    }

    /// The trace needs the post-processor.
    async fn start(&mut self, id: &TraceId, seen: &Seen, flat: bool) -> Result<(), Error> {
        let home = if flat { "" } else { TRACES };
        let record = Record {
            flat,
            processed: true,
            source: hex::encode(seen.tree.source_mark(home)),
            list: None,
            process: seen.record.as_ref().and_then(|r| r.process.clone()),
        };
        let (dir, trace, written) = (self.postprocess.dir.clone(), id.clone(), record.clone());
        let write = blocking(move || written.write(&dir, &trace));
        write.await.map_err(Error::io("writing a trace's record"))?;
        self.settle(id, TraceState::Processing, None).await?;
        if let Some(watched) = self.watched.get_mut(id) {
            watched.processing = true;
        }
        let (postprocess, slots) = (Arc::clone(&self.postprocess), Arc::clone(&self.slots));
        let (root, id, stop) = (self.root(id), id.clone(), self.stop.clone());
        self.jobs.spawn(async move {
            let result = match stop.run_until_cancelled(slots.acquire()).await {
                Some(Ok(_slot)) => postprocess.run(&id, &root, record, &stop).await,
                _ => Err(PostprocessError::Interrupted),
            };
            (id, result)
        });
        Ok(())
    }

    /// Post-processing ended.
    pub(super) async fn processed(&mut self, id: &TraceId, result: Result<(), PostprocessError>) {
        if let Some(watched) = self.watched.get_mut(id) {
            watched.processing = false;
        }
        let stored = match result {
            Err(PostprocessError::Interrupted) => Ok(()),
            Err(PostprocessError::Failed(error)) => self.process_failed(id, error).await,
            Ok(()) => self.process_succeeded(id).await,
        };
        if let Err(error) = stored {
            tracing::error!(trace = %id, error = error.chain(), "cannot store how post-processing went");
            // The next look judges it by its files.
            if let Some(watched) = self.watched.get_mut(id) {
                watched.judge = true;
            }
        }
    }

    async fn process_failed(&mut self, id: &TraceId, error: String) -> Result<(), Error> {
        tracing::warn!(trace = %id, error, "post-processing failed");
        if let Some((tree, _)) = self.walk(id).await? {
            self.rebase(id, tree.mark());
        }
        self.settle(id, TraceState::Failed, Some(error)).await
    }

    async fn process_succeeded(&mut self, id: &TraceId) -> Result<(), Error> {
        let Some((tree, Some(mut record))) = self.walk(id).await? else {
            return self.gone(id).await;
        };
        record.list = tree.file_mark(&format!("{TRACES}{LIST}")).map(hex::encode);
        record.process = None;
        let (dir, trace, written) = (self.postprocess.dir.clone(), id.clone(), record.clone());
        let write = blocking(move || written.write(&dir, &trace));
        write.await.map_err(Error::io("writing a trace's record"))?;
        self.rebase(id, tree.mark());
        let seen = self.judge(id, tree, Some(record), Duration::MAX).await?;
        match &seen.verdict {
            Verdict::Processed { .. } => self.finish(id, &seen).await,
            // New raw files came in the meantime, or its metadata changed: the next look decides.
            _ => {
                if let Some(watched) = self.watched.get_mut(id) {
                    watched.judge = true;
                }
                Ok(())
            }
        }
    }

    /// A trace has no files any more. Its row stays, since runs may refer to it.
    pub(super) async fn gone(&mut self, id: &TraceId) -> Result<(), Error> {
        let Some(watched) = self.watched.get_mut(id) else {
            return Ok(());
        };
        watched.mark = None;
        watched.judge = true;
        self.set(id, TraceState::Failed, Some(GONE.into())).await
    }

    /// Sets a state that stays until files change.
    async fn settle(&mut self, id: &TraceId, state: TraceState, error: Option<String>) -> Result<(), Error> {
        self.set(id, state, error).await?;
        if let Some(watched) = self.watched.get_mut(id) {
            watched.judge = false;
        }
        Ok(())
    }

    async fn set(&mut self, id: &TraceId, state: TraceState, error: Option<String>) -> Result<(), Error> {
        let Some(watched) = self.watched.get_mut(id) else {
            return Ok(());
        };
        if watched.state != state || watched.error != error {
            self.db.trace_state_set(id, state, error.as_deref()).await?;
            tracing::info!(trace = %id, %state, error, "trace");
            watched.state = state;
            watched.error = error;
            watched.waiting_for = None;
        }
        Ok(())
    }

    /// Says what an uploading trace waits for.
    async fn waits(&mut self, id: &TraceId, what: String) -> Result<(), Error> {
        let Some(watched) = self.watched.get_mut(id) else {
            return Ok(());
        };
        if watched.state == TraceState::Uploading && watched.waiting_for.as_ref() != Some(&what) {
            self.db.trace_waiting_set(id, &what).await?;
            watched.waiting_for = Some(what);
        }
        Ok(())
    }
}
