//! The user's own GPUs: a file each, `<data>/gpus/<name>.toml`, made over the API or laid there by hand.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::PoisonError;

use cascade_api::{FieldError, GpuConfig, GpuConfigCreate, GpuDetail, GpuName, Loc};
use cascade_engine::GpuModel;
use cascade_engine::gpu::GpuFileError;
use cascade_worker::simulate::{own_files, own_gpu};
use serde_json::Value;

use super::Entry;
use crate::error::Error;
use crate::runs::{Service, write_durably};

/// Most GPUs of the user's own.
pub(crate) const MAX_OWN_GPUS: usize = 1_000;

/// Those in a folder. One that cannot be read is left out, and the log says why.
pub(super) fn read(dir: &Path) -> Vec<GpuModel> {
    let read = |path: &std::path::PathBuf| {
        own_gpu(path)
            .inspect_err(|error| tracing::warn!(%error, "a GPU of your own is left out"))
            .ok()
    };
    own_files(dir).iter().filter_map(read).collect()
}

impl Service {
    /// One GPU with every value that our engine knows of it.
    pub async fn gpu_detail(&self, name: &GpuName) -> Result<GpuDetail, Error> {
        let detail = self.gpus.detail(name).ok_or_else(|| Error::NoGpu(name.clone()))?;
        let sims = self.db.sims_on(name).await?;
        Ok(GpuDetail { sims, ..detail })
    }

    /// Makes a hypothetical GPU, or one for each value of a sweep. All of them or none; one that is there already
    /// with the same values counts as made.
    pub async fn gpu_create(&self, ask: GpuConfigCreate) -> Result<Vec<GpuConfig>, Error> {
        let service = self.clone();
        let make = move || service.gpu_create_now(&ask);
        tokio::task::spawn_blocking(make).await?
    }

    fn gpu_create_now(&self, ask: &GpuConfigCreate) -> Result<Vec<GpuConfig>, Error> {
        // Held throughout, so that two callers cannot make one name twice.
        let _turn = self.gpus.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let (models, new) = {
            let gpus = self.gpus.entries();
            let models = models(&gpus, ask)?;
            let mut new = Vec::new();
            for model in &models {
                match gpus.get(&model.name.as_str().into()) {
                    None => new.push(model.clone()),
                    Some(there) if there.model.as_ref().is_some_and(|m| m.derived == model.derived) => {}
                    Some(_) => return Err(Error::GpuExists(model.name.as_str().into())),
                }
            }
            let own = gpus.values().filter(|entry| entry.gpu.derived.is_some()).count();
            if own + new.len() > MAX_OWN_GPUS {
                return Err(Error::TooManyGpus(MAX_OWN_GPUS));
            }
            (models, new)
        };
        self.write_gpus(&new)
            .map_err(Error::io("cannot write a GPU's file"))?;
        let mut gpus = self.gpus.entries_mut();
        for model in new {
            gpus.insert(model.name.as_str().into(), Entry::ours(model));
        }
        let made = models
            .iter()
            .filter_map(|model| gpus.get(&model.name.as_str().into()));
        Ok(made.map(|entry| entry.gpu.clone()).collect())
    }

    /// Writes a file for each GPU, or none: those that were written before one failed are removed again.
    fn write_gpus(&self, new: &[GpuModel]) -> std::io::Result<()> {
        let path = |model: &GpuModel| self.settings.gpus_dir().join(format!("{}.toml", model.name));
        let write = |model: &GpuModel| {
            let text = model.derived_toml();
            let text = text.ok_or_else(|| std::io::Error::other("it cannot be written as TOML"))?;
            write_durably(&self.settings.incoming_dir(), &path(model), text.as_bytes())
        };
        for (at, model) in new.iter().enumerate() {
            if let Err(error) = write(model) {
                for written in new.iter().take(at) {
                    if let Err(error) = std::fs::remove_file(path(written)) {
                        tracing::warn!(gpu = written.name, %error, "a GPU that was not made has a file");
                    }
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Deletes a GPU of the user's own that no run has used.
    pub async fn gpu_delete(&self, name: &GpuName) -> Result<(), Error> {
        let gpu = self.gpus.get(name).ok_or_else(|| Error::NoGpu(name.clone()))?;
        if gpu.derived.is_none() {
            return Err(Error::GpuShipped(name.clone()));
        }
        let sims = self.db.sims_on(name).await?;
        if sims > 0 {
            return Err(Error::GpuUsed {
                gpu: name.clone(),
                sims,
            });
        }
        let (service, name) = (self.clone(), name.clone());
        let delete = move || {
            let _turn = service
                .gpus
                .changes
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let dir = service.settings.gpus_dir();
            match std::fs::remove_file(dir.join(format!("{name}.toml"))) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // A deletion that was acknowledged outlives a power cut.
            std::fs::File::open(dir)?.sync_all()?;
            service.gpus.entries_mut().remove(&name);
            Ok(())
        };
        tokio::task::spawn_blocking(delete)
            .await?
            .map_err(Error::io("cannot delete a GPU's file"))
    }
}

/// What a body asks for, checked by the engine.
fn models(gpus: &BTreeMap<GpuName, Entry>, ask: &GpuConfigCreate) -> Result<Vec<GpuModel>, Error> {
    let base = gpus
        .get(&ask.base.as_str().into())
        .and_then(|entry| entry.model.as_ref());
    let Some(base) = base else {
        let known = gpus.iter().filter(|(_, entry)| {
            let model = entry.model.as_ref();
            model.is_some_and(|model| model.derived.is_none())
        });
        let known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
        let msg = format!(
            "Value error, names no GPU of Cascade's engine; there are: {}",
            known.join(", ")
        );
        return Err(invalid(&[name("base")], &msg, ask.base.as_str().into()));
    };
    let title = ask.title.as_deref().filter(|title| !title.trim().is_empty());
    // `at` is the place of a swept value in its list.
    let derive = |called: &str, changes: &BTreeMap<String, f64>, at: Option<usize>| {
        base.derive(called, title, changes).map_err(|error| match error {
            GpuFileError::Value { key, problem, .. } => {
                let given = changes.get(&key).copied();
                let path = match (key.as_str(), &ask.sweep, at) {
                    ("name" | "base", ..) => vec![name(&key)],
                    (_, Some(sweep), Some(at)) if sweep.key == key => {
                        vec![name("sweep"), name("values"), Loc::Index(at as u64)]
                    }
                    _ => vec![name("changes"), name(&key)],
                };
                let input = match key.as_str() {
                    "base" => Value::from(ask.base.as_str()),
                    _ => given.map_or_else(|| Value::from(called), Value::from),
                };
                invalid(&path, &format!("Value error, {key} {problem}"), input)
            }
            other => invalid(&[], &other.to_string(), Value::Null),
        })
    };
    let Some(sweep) = &ask.sweep else {
        let called = ask.name.as_deref().unwrap_or_default();
        return Ok(vec![derive(called, &ask.changes, None)?]);
    };
    let mut known = false;
    base.each_fact(&mut |key, _, _| known |= key == sweep.key);
    if !known {
        let msg = format!(
            "Value error, {} is not a value of {}; GET /api/gpu-configs/{} lists them",
            sweep.key, base.name, base.name
        );
        let input = sweep.key.as_str().into();
        return Err(invalid(&[name("sweep"), name("key")], &msg, input));
    }
    if let Some(value) = ask.changes.get(&sweep.key) {
        let msg = format!("Value error, {} is swept: leave it out of the changes", sweep.key);
        return Err(invalid(
            &[name("changes"), name(&sweep.key)],
            &msg,
            (*value).into(),
        ));
    }
    let short = sweep.key.rsplit('.').next().unwrap_or_default();
    let stem = ask
        .name
        .clone()
        .unwrap_or_else(|| format!("{}_{short}", base.name));
    let mut models = Vec::new();
    for (at, value) in sweep.values.iter().enumerate() {
        let mut changes = ask.changes.clone();
        changes.insert(sweep.key.clone(), *value);
        let called = format!("{stem}_{}", value.to_string().replace('.', "p"));
        let model = derive(&called, &changes, Some(at))?;
        // A value that is listed twice is one GPU.
        if !models.iter().any(|other: &GpuModel| other.name == model.name) {
            models.push(model);
        }
    }
    models.sort_by(|a, b| GpuName::compare(&a.name, &b.name));
    Ok(models)
}

fn name(part: &str) -> Loc {
    Loc::Name(part.to_owned())
}

fn invalid(path: &[Loc], msg: &str, input: Value) -> Error {
    Error::Invalid(vec![FieldError {
        kind: "value_error".to_owned(),
        loc: std::iter::once(name("body"))
            .chain(path.iter().cloned())
            .collect(),
        msg: msg.to_owned(),
        input,
        ctx: None,
    }])
}
