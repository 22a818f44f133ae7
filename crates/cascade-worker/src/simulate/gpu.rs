//! Finds a GPU by name: among those we ship, then among the user's own, then in a checkout of Accel-Sim.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use cascade_accelsim::config::{Config, ConfigError, GpuConfig, MAX_CONFIG_BYTES, Source};
use cascade_api::GpuName;
use cascade_engine::GpuModel;
use cascade_engine::gpu::{self, Disagreement, GpuFileError, MAX_GPU_FILE_BYTES, builtin, disagreements};

/// Where GPUs are, besides those we ship.
#[derive(Clone, Debug, Default)]
pub struct GpuDirs {
    /// Root of an Accel-Sim checkout.
    pub accelsim: Option<PathBuf>,
    /// Folder of the user's own GPU files, `<name>.toml` each.
    pub own: Option<PathBuf>,
}

/// A GPU to simulate.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// What the engine takes.
    pub model: GpuModel,
    /// The file it was read from; `None` for one that we ship.
    pub config: Option<PathBuf>,
    /// Where a config of the same name in the checkout says something else than the facts we ship.
    pub disagreements: Vec<Disagreement>,
}

/// Why there is no such GPU.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// No GPU has this name.
    #[error("no GPU is named {name:?}; there are: {}", known.join(", "))]
    Unknown {
        /// The name that was given.
        name: String,
        /// Every name there is.
        known: Vec<String>,
    },
    /// A config cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A config lacks what the engine needs.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A description cannot be used.
    #[error(transparent)]
    Model(#[from] GpuFileError),
}

/// The GPU named `name`: ours where we ship one of that name, then the user's own, then the checkout's.
///
/// # Errors
/// When there is none, with the names there are, or when its file or config cannot be used.
pub fn find_gpu(name: &str, dirs: &GpuDirs) -> Result<Gpu, GpuError> {
    let accelsim_dir = dirs.accelsim.as_deref();
    let ours = builtin()?.into_iter().find(|model| model.name == name);
    let own = dirs.own.as_ref().map(|dir| dir.join(format!("{name}.toml")));
    if let Some(path) = own.filter(|path| ours.is_none() && is_plain(name) && path.is_file()) {
        return Ok(Gpu {
            model: own_gpu(&path)?,
            config: Some(path),
            disagreements: Vec::new(),
        });
    }
    let config = accelsim_dir.map(|dir| configs(dir).join(name).join("gpgpusim.config"));
    let config = config.filter(|path| is_plain(name) && path.is_file());
    match (ours, config) {
        (Some(model), config) => {
            // The checkout is not what is simulated, so a config there that cannot be read stops nothing.
            let other = config.and_then(|path| read(name, &path, accelsim_dir).ok());
            let disagreements = other
                .map(|other| disagreements(&model, &other))
                .unwrap_or_default();
            Ok(Gpu {
                model,
                config: None,
                disagreements,
            })
        }
        (None, Some(path)) => Ok(Gpu {
            model: read(name, &path, accelsim_dir)?,
            config: Some(path),
            disagreements: Vec::new(),
        }),
        (None, None) => Err(GpuError::Unknown {
            name: name.to_owned(),
            known: known_gpus(dirs)?
                .into_keys()
                .map(|name| name.to_string())
                .collect(),
        }),
    }
}

/// Reads a file of the user's own. It may inherit from a GPU that we ship.
///
/// # Errors
/// The file cannot be read, is no GPU file, or names another GPU than itself.
pub fn own_gpu(path: &Path) -> Result<GpuModel, GpuError> {
    let file = path.to_string_lossy();
    let text = text(path, MAX_GPU_FILE_BYTES)?;
    let value = |key: &str, problem: String| GpuFileError::Value {
        file: file.clone().into_owned(),
        key: key.to_owned(),
        problem,
    };
    let text = String::from_utf8(text).map_err(|error| value("text", format!("is not UTF-8: {error}")))?;
    let shipped = builtin()?;
    let model = gpu::read(&text, &file, &|name| {
        shipped.iter().find(|model| model.name == name).cloned()
    })?;
    if path.file_stem().and_then(|stem| stem.to_str()) != Some(&model.name) {
        let problem = format!("is {}: the file must be named {}.toml", model.name, model.name);
        return Err(value("name", problem).into());
    }
    if shipped.iter().any(|other| other.name == model.name) {
        let problem = format!("{} is a GPU that Cascade ships: choose another name", model.name);
        return Err(value("name", problem).into());
    }
    Ok(model)
}

/// Files of the user's own GPUs, by name.
pub fn own_files(dir: &Path) -> Vec<PathBuf> {
    // A folder that is not there holds none.
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml") && path.is_file())
        .collect();
    files.sort();
    files
}

/// Files that nothing reads, because Cascade ships a GPU of their name.
pub fn shadowed(dir: &Path) -> Vec<PathBuf> {
    let shipped = builtin().unwrap_or_default();
    let mut files = own_files(dir);
    files.retain(|path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        shipped.iter().any(|model| Some(model.name.as_str()) == stem)
    });
    files
}

/// The names of all GPUs, each with the file it would be read from, if it is not ours.
///
/// # Errors
/// Only when a description that we ship is broken.
pub fn known_gpus(dirs: &GpuDirs) -> Result<BTreeMap<GpuName, Option<PathBuf>>, GpuError> {
    let accelsim_dir = dirs.accelsim.as_deref();
    let mut known = BTreeMap::new();
    // A folder that is not there holds no configs.
    for entry in accelsim_dir
        .and_then(|dir| std::fs::read_dir(configs(dir)).ok())
        .into_iter()
        .flatten()
        .flatten()
    {
        let config = entry.path().join("gpgpusim.config");
        if let (Ok(name), true) = (entry.file_name().into_string(), config.is_file()) {
            known.insert(name.into(), Some(config));
        }
    }
    for path in dirs.own.as_deref().map(own_files).unwrap_or_default() {
        if let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) {
            known.insert(name.into(), Some(path.clone()));
        }
    }
    known.extend(builtin()?.into_iter().map(|model| (model.name.into(), None)));
    Ok(known)
}

fn configs(accelsim_dir: &Path) -> PathBuf {
    accelsim_dir.join("gpu-simulator/gpgpu-sim/configs/tested-cfgs")
}

fn read(name: &str, path: &Path, accelsim_dir: Option<&Path>) -> Result<GpuModel, GpuError> {
    let mut texts = vec![(path.to_string_lossy().into_owned(), text(path, MAX_CONFIG_BYTES)?)];
    let trace = accelsim_dir.map(|dir| {
        dir.join("gpu-simulator/configs/tested-cfgs")
            .join(name)
            .join("trace.config")
    });
    if let Some(trace) = trace.filter(|trace| trace.is_file()) {
        texts.push((
            trace.to_string_lossy().into_owned(),
            text(&trace, MAX_CONFIG_BYTES)?,
        ));
    }
    let sources: Vec<Source<'_>> = texts.iter().map(|(name, text)| Source { name, text }).collect();
    let dir = path.parent().unwrap_or(Path::new(""));
    let mut nested = |file: &str| {
        let inside = is_plain(file)
            .then(|| dir.join(file))
            .ok_or("names a file in another folder")?;
        text(&inside, MAX_CONFIG_BYTES).map_err(|error| error.to_string())
    };
    let config = GpuConfig::new(&Config::read(&sources, &mut nested))?;
    Ok(GpuModel::from_gpgpusim(name, &config)?)
}

/// A file's text, up to one byte more than its reader takes.
fn text(path: &Path, limit: usize) -> Result<Vec<u8>, GpuError> {
    let failed = |source| GpuError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = Vec::new();
    let limit = limit as u64 + 1;
    std::fs::File::open(path)
        .map_err(failed)?
        .take(limit)
        .read_to_end(&mut text)
        .map_err(failed)?;
    Ok(text)
}

fn is_plain(name: &str) -> bool {
    cascade_accelsim::list::is_plain_name(name)
}
