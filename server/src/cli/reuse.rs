//! Flags that say which results may be used again: within a run, and between runs.

use std::path::PathBuf;

use cascade_server::config::{Maybe, Switch};
use cascade_worker::simulate::{Cache, Dedup};

/// Which kernels share a simulation, and where results are kept.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReuseArgs {
    /// Kernels that share one simulation: those with equal content (instructions and address pattern), with
    /// equal launch headers (quick, and wrong where launches differ in content), or none
    #[arg(long, env = "CASCADE_DEDUP", value_enum, default_value_t = DedupBy::Content, value_name = "BY")]
    pub(crate) dedup: DedupBy,
    /// Simulate this many more kernels of each group and report how far they are from the first
    #[arg(long, env = "CASCADE_VERIFY_DEDUP", value_name = "N", default_value_t = 0)]
    pub(crate) verify_dedup: usize,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
}

/// Where results are kept.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CacheArgs {
    /// Where results are kept between runs [default: $XDG_CACHE_HOME/cascade or ~/.cache/cascade; a sim of the
    /// app: as the app says]
    #[arg(long, env = "CASCADE_CACHE_DIR", value_name = "DIR")]
    cache_dir: Option<Maybe<PathBuf>>,
    /// Neither keep results between runs nor use kept ones
    #[arg(long, env = "CASCADE_NO_CACHE", num_args = 0..=1, default_missing_value = "true", value_name = "YES")]
    no_cache: Option<Maybe<Switch>>,
    #[arg(long, env = "XDG_CACHE_HOME", hide = true)]
    xdg_cache_home: Option<PathBuf>,
    #[arg(long, env = "HOME", hide = true)]
    home: Option<PathBuf>,
}

/// [`Dedup`] by its words.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum DedupBy {
    Header,
    Content,
    Off,
}

impl From<DedupBy> for Dedup {
    fn from(by: DedupBy) -> Self {
        match by {
            DedupBy::Header => Self::Header,
            DedupBy::Content => Self::Content,
            DedupBy::Off => Self::Off,
        }
    }
}

impl CacheArgs {
    /// The folder that was asked for; `None` when it was not or the cache is off.
    pub(crate) fn given(&self) -> Option<PathBuf> {
        let off = matches!(self.no_cache, Some(Maybe(Some(Switch::On))));
        self.cache_dir
            .as_ref()
            .filter(|_| !off)
            .and_then(|dir| dir.0.clone())
    }

    /// The cache of a command that a person runs: in the given folder or in the user's own.
    pub(crate) fn open(&self) -> Option<Cache> {
        if matches!(self.no_cache, Some(Maybe(Some(Switch::On)))) {
            return None;
        }
        // The specification of base directories wants relative ones ignored.
        let absolute = |dir: &Option<PathBuf>| dir.clone().filter(|dir| dir.is_absolute());
        let users = || {
            let home = || Some(absolute(&self.home)?.join(".cache"));
            Some(absolute(&self.xdg_cache_home).or_else(home)?.join("cascade"))
        };
        Some(Cache::new(&self.given().or_else(users)?))
    }
}
