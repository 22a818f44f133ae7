//! The GPUs a run can simulate: those we describe ourselves, those of an Accel-Sim checkout and the user's own.

mod own;
mod sheet;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cascade_accelsim::config::{self, Config, MAX_CONFIG_BYTES, Source, arch_from_name};
use cascade_api::{Engine, GpuChange, GpuConfig, GpuDerived, GpuDetail, GpuFact, GpuName};
use cascade_engine::GpuModel;

use crate::config::Settings;
pub(crate) use sheet::TARGETS;

/// Where a checkout keeps its configs, one directory each.
const TESTED_CONFIGS: &str = "gpu-simulator/gpgpu-sim/configs/tested-cfgs";
/// The file in each of them.
const CONFIG_FILE: &str = "gpgpusim.config";
/// By how much a config may differ from our facts before its notes say so.
const TOLERANCE: f64 = 0.1;

/// GPUs by name: those found at start, and the user's own as they come and go.
#[derive(Debug, Default)]
pub struct GpuCatalogue {
    known: RwLock<BTreeMap<GpuName, Entry>>,
    /// Held by whoever makes or deletes GPUs, files included; readers never wait for a disk.
    changes: Mutex<()>,
}

#[derive(Clone, Debug)]
struct Entry {
    gpu: GpuConfig,
    /// What our engine knows of it.
    model: Option<GpuModel>,
}

impl GpuCatalogue {
    /// Our GPUs, joined or overridden by name by the configs of the Accel-Sim checkout, if there is one, and the
    /// user's own. A config or file that cannot be read is left out, and the log says why.
    pub fn read(settings: &Settings) -> Self {
        let models = cascade_engine::gpu::builtin().unwrap_or_else(|error| {
            tracing::error!(%error, "the built-in GPUs cannot be read");
            Vec::new()
        });
        let mut gpus = BTreeMap::new();
        for model in own::read(&settings.gpus_dir())
            .into_iter()
            .chain(models.iter().cloned())
        {
            gpus.insert(model.name.as_str().into(), Entry::ours(model));
        }
        for dir in config_dirs(&settings.accelsim_dir.join(TESTED_CONFIGS)) {
            match Checkout::read(&dir) {
                Ok(found) => {
                    let model = models.iter().find(|model| model.name == found.name).cloned();
                    let gpu = found.gpu(model.as_ref(), settings.has_accelsim());
                    gpus.insert(gpu.name.clone(), Entry { gpu, model });
                }
                Err(why) => tracing::warn!(config = %dir.display(), why, "a GPU config is left out"),
            }
        }
        Self {
            known: RwLock::new(gpus),
            changes: Mutex::default(),
        }
    }

    /// Every GPU, by name.
    pub fn list(&self) -> Vec<GpuConfig> {
        self.entries().values().map(|entry| entry.gpu.clone()).collect()
    }

    /// One GPU.
    pub fn get(&self, name: &GpuName) -> Option<GpuConfig> {
        self.entries().get(name).map(|entry| entry.gpu.clone())
    }

    /// One GPU with everything that our engine knows of it; how many sims are on it is the database's to say.
    pub fn detail(&self, name: &GpuName) -> Option<GpuDetail> {
        self.entries().get(name).map(Entry::detail)
    }

    fn entries(&self) -> RwLockReadGuard<'_, BTreeMap<GpuName, Entry>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<GpuName, Entry>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn ours(model: GpuModel) -> Self {
        Self {
            gpu: ours(&model),
            model: Some(model),
        }
    }

    fn detail(&self) -> GpuDetail {
        let mut detail = GpuDetail {
            gpu: self.gpu.clone(),
            title: self.gpu.name.to_string(),
            status: cascade_engine::gpu::Status::Unvalidated.as_str().to_owned(),
            status_note: "Known to Accel-Sim alone.".to_owned(),
            facts: Vec::new(),
            sims: 0,
        };
        if let Some(model) = &self.model {
            detail.title.clone_from(&model.title);
            detail.status = model.status.as_str().to_owned();
            detail.status_note.clone_from(&model.status_note);
            model.each_fact(&mut |key, fact, rule| {
                detail.facts.push(GpuFact {
                    key,
                    value: fact.value,
                    unit: fact.unit.clone(),
                    source: fact.source.clone(),
                    min: rule.min,
                    max: rule.max,
                });
            });
        }
        detail
    }
}

/// A GPU that our engine describes.
fn ours(model: &GpuModel) -> GpuConfig {
    let derived = model.derived.as_ref().map(|derived| GpuDerived {
        base: derived.base.as_str().into(),
        changes: derived
            .changes
            .iter()
            .map(|(key, &change)| {
                (
                    key.clone(),
                    GpuChange {
                        from: change.from,
                        to: change.to,
                    },
                )
            })
            .collect(),
    });
    GpuConfig {
        derived,
        name: model.name.as_str().into(),
        arch: format!("sm_{}", model.sm),
        core_clock_mhz: model.chip.core_clock.value,
        engines: vec![Engine::Cascade],
        notes: vec![format!(
            "Cascade engine, {}: {}",
            model.status.as_str(),
            model.status_note
        )],
    }
}

/// Directories with a config, by name.
fn config_dirs(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|dir| dir.join(CONFIG_FILE).is_file())
        .collect();
    dirs.sort();
    dirs
}

/// A config of a checkout.
struct Checkout {
    name: String,
    arch: String,
    clock_mhz: f64,
    hash: String,
    /// Everything typed, where the config has all that is needed for it.
    typed: Option<config::GpuConfig>,
}

impl Checkout {
    fn read(dir: &Path) -> Result<Self, String> {
        let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let arch =
            arch_from_name(name).ok_or("its name does not start with an architecture, as SM90_H100 does")?;
        let text = read_limited(&dir.join(CONFIG_FILE))?;
        let source = Source {
            name: CONFIG_FILE,
            text: &text,
        };
        let config = Config::read(&[source], &mut |file| read_limited(&dir.join(file)));
        let clocks = config.value("-gpgpu_clock_domains").unwrap_or_default();
        let first = clocks
            .split(':')
            .next()
            .and_then(|mhz| mhz.trim().parse::<f64>().ok());
        Ok(Self {
            name: name.to_owned(),
            arch,
            clock_mhz: first
                .filter(|mhz| mhz.is_finite() && *mhz > 0.0)
                .ok_or("it has no readable -gpgpu_clock_domains")?,
            hash: config.hash(),
            typed: config::GpuConfig::new(&config).ok(),
        })
    }

    /// The GPU as runs see it: Accel-Sim's clock, and a note where it is far from what we know.
    fn gpu(self, model: Option<&GpuModel>, runs: bool) -> GpuConfig {
        let mut gpu = model
            .map(ours)
            .unwrap_or_else(|| GpuConfig::missing(self.name.as_str().into()));
        if runs {
            gpu.engines.insert(0, Engine::AccelSim);
        }
        gpu.notes.push(format!("Accel-Sim config {}", self.hash));
        if let Some(model) = model {
            let mut differ = |what: &str, theirs: f64, ours: f64| {
                if (theirs - ours).abs() > TOLERANCE * ours {
                    let note = format!("Accel-Sim's config has {theirs} {what}, our facts {ours}");
                    gpu.notes.push(note);
                }
            };
            differ("MHz core clock", self.clock_mhz, model.chip.core_clock.value);
            if let Some(typed) = &self.typed {
                differ("SMs", f64::from(typed.sms()), model.chip.sms.value);
                differ("bytes of L2", typed.l2_bytes() as f64, model.chip.l2_size.value);
            }
        }
        gpu.arch = self.arch;
        gpu.core_clock_mhz = self.clock_mhz;
        gpu
    }
}

fn read_limited(path: &Path) -> Result<Vec<u8>, String> {
    let length = fs::metadata(path).map_err(|e| e.to_string())?.len();
    if length > MAX_CONFIG_BYTES as u64 {
        return Err(format!("it is over {} MiB", MAX_CONFIG_BYTES >> 20));
    }
    fs::read(path).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests;
