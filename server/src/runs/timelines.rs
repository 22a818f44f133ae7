//! Step timelines that sims send: checked, stored as they came, and put in brief for pages.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use cascade_api::validate::from_slice;
use cascade_api::{FieldError, SimId, StepTimelineUpload};
use cascade_steps::Timeline;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempPath;

use super::Service;
use super::digests::simulated;
use super::files::put_in_place;
use crate::clock;
use crate::error::Error;

impl Service {
    /// Stores a sim's step timeline (a `StepTimelineUpload` as JSON) in place of an earlier one.
    pub async fn timeline_put(&self, id: &SimId, body: Bytes) -> Result<(), Error> {
        let (service, id) = (self.clone(), id.clone());
        // To its end also when the caller goes away in between.
        tokio::spawn(async move { service.timeline_store(id, body).await }).await?
    }

    async fn timeline_store(&self, id: SimId, body: Bytes) -> Result<(), Error> {
        let sim = self.sim(&id).await?;
        if self.run_record(&sim.run_id).await?.0.sample {
            return Err(Error::SampleRun(sim.run_id));
        }
        // One at a time: a long one is hundreds of MiB.
        let alone = self.timelines_turn.lock().await;
        let incoming = self.settings.incoming_dir();
        let (temporary, bytes) = tokio::task::spawn_blocking(move || stage(&incoming, &body)).await??;
        let (turn, _) = self.sim_turn(&id).await?;
        let (path, old) = (self.timeline_path(&id), self.digest_path(&id));
        let place = move || {
            // What was in brief before says nothing of the new one.
            match std::fs::remove_file(old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => put_in_place(temporary, &path),
            }
        };
        tokio::task::spawn_blocking(place)
            .await?
            .map_err(Error::io("cannot store a step timeline"))?;
        let mut tx = self.db.write().await?;
        tx.timeline_put(&id, bytes, clock::now()).await?;
        tx.commit().await?;
        self.scenarios.forget(&id);
        self.live.forget(&id);
        drop((turn, alone));
        self.digest_ahead(id);
        Ok(())
    }

    /// Lets `work` read a sim's simulated timeline, or says why it cannot be read.
    pub(crate) async fn timeline_read<T: Send + 'static>(
        &self,
        id: &SimId,
        work: impl FnOnce(Timeline) -> T + Send + 'static,
    ) -> Result<Result<T, String>, Error> {
        let path = self.timeline_path(id);
        let alone = self.timelines_turn.lock().await;
        let done = tokio::task::spawn_blocking(move || simulated(&path).map(work)).await?;
        drop(alone);
        Ok(done)
    }

    /// Where a sim's step timeline lies.
    pub(super) fn timeline_path(&self, sim: &SimId) -> PathBuf {
        self.settings.steps_dir().join(format!("{sim}.json"))
    }
}

/// Checks an upload and writes it to a temporary file, and out to the disk; gives its length in bytes.
fn stage(incoming: &Path, body: &[u8]) -> Result<(TempPath, u64), Error> {
    let rebuilt;
    let (simulated, compare) = match whole(body) {
        Some((simulated, compare)) => (simulated.get(), compare.map_or("null", RawValue::get)),
        None => {
            // Something is wrong or unusual: the slow way says what.
            rebuilt = slowly(body).map_err(Error::Invalid)?;
            (rebuilt.0.as_str(), rebuilt.1.as_str())
        }
    };
    let write = || {
        std::fs::create_dir_all(incoming)?;
        let mut file = tempfile::NamedTempFile::new_in(incoming)?;
        for piece in ["{\"simulated\":", simulated, ",\"compare\":", compare, "}"] {
            file.write_all(piece.as_bytes())?;
        }
        file.as_file().sync_all()?;
        let bytes = file.as_file().metadata()?.len();
        Ok((file.into_temp_path(), bytes))
    };
    write().map_err(Error::io("cannot store a step timeline"))
}

fn slowly(body: &[u8]) -> Result<(String, String), Vec<FieldError>> {
    let upload: StepTimelineUpload = from_slice(body)?;
    let text = |map| Value::Object(map).to_string();
    Ok((
        text(upload.simulated),
        upload.compare.map_or_else(|| "null".to_owned(), text),
    ))
}

type Object = BTreeMap<String, IgnoredAny>;

/// The two values where they stand, if they are what they should be.
fn whole(body: &[u8]) -> Option<(&RawValue, Option<&RawValue>)> {
    #[derive(Deserialize)]
    struct Upload<'a> {
        #[serde(borrow)]
        simulated: &'a RawValue,
        #[serde(borrow, default)]
        compare: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only their types are checked")]
    struct Simulated {
        steps: Vec<IgnoredAny>,
        summary: Object,
    }
    let upload: Upload<'_> = serde_json::from_slice(body).ok()?;
    serde_json::from_str::<Simulated>(upload.simulated.get()).ok()?;
    if let Some(compare) = upload.compare {
        serde_json::from_str::<Object>(compare.get()).ok()?;
    }
    Some((upload.simulated, upload.compare))
}

#[cfg(test)]
mod tests {
    use super::{Error, stage};

    fn staged(body: &str) -> Result<String, Error> {
        let place = tempfile::tempdir().unwrap();
        let (file, bytes) = stage(place.path(), body.as_bytes())?;
        let stored = std::fs::read_to_string(file).unwrap();
        assert_eq!(stored.len() as u64, bytes);
        Ok(stored)
    }

    #[test]
    fn what_is_whole_is_kept_to_the_byte() {
        let body =
            r#" {"x": 1, "compare": {"a": 1.50}, "simulated": {"summary": {}, "steps": [{"k": 1e3}]}}"#;
        let stored = r#"{"simulated":{"summary": {}, "steps": [{"k": 1e3}]},"compare":{"a": 1.50}}"#;
        assert_eq!(staged(body).unwrap(), stored);
        for compare in ["", r#", "compare": null"#] {
            let body = format!(r#"{{"simulated": {{"steps": [], "summary": {{}}}}{compare}}}"#);
            assert!(staged(&body).unwrap().ends_with(r#","compare":null}"#));
        }
    }

    #[test]
    fn what_lacks_a_part_is_refused_with_its_place() {
        for body in [
            r#"{"simulated": {"steps": []}}"#,
            r#"{"simulated": {"steps": {}, "summary": {}}}"#,
            r#"{"simulated": [], "compare": null}"#,
            r#"{"simulated": {"steps": [], "summary": {}}, "compare": 3}"#,
            "{}",
            "",
            "nonsense",
        ] {
            let refused = staged(body).unwrap_err();
            assert!(
                matches!(refused, Error::Invalid(errors) if !errors.is_empty()),
                "{body}"
            );
        }
    }
}
