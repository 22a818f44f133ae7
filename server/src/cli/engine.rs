//! Flags that say how closely Cascade's engine looks.

use cascade_engine::{Level, Options};
use cascade_server::config::{Maybe, Switch};

/// How Cascade's engine simulates.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EngineArgs {
    /// 1: simulate, event by event; 0: bounds from one pass over the trace, which take no time
    #[arg(long, env = "CASCADE_ENGINE_LEVEL", value_name = "0|1", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(0..=1))]
    level: u8,
    /// Empty L2 before each kernel, instead of leaving there what the kernels before it touched
    #[arg(long, env = "CASCADE_COLD_L2", num_args = 0..=1, default_missing_value = "true", value_name = "YES")]
    cold_l2: Option<Maybe<Switch>>,
    /// Leave out the middle of long kernels whose pace is steady; those that are not are simulated whole
    #[arg(long, env = "CASCADE_ENGINE_SAMPLE", num_args = 0..=1, default_missing_value = "true", value_name = "YES")]
    sample: Option<Maybe<Switch>>,
    /// Simulate only the blocks of every N-th SM, twice, with an empty L2; kernels whose two results differ by more than
    /// 3 % are simulated whole
    #[arg(long, env = "CASCADE_ENGINE_SAMPLE_SMS", value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    sample_sms: Option<u32>,
}

impl EngineArgs {
    /// What the engine is told.
    pub(crate) fn options(&self) -> Options {
        let on = |switch: &Option<Maybe<Switch>>| matches!(switch, Some(Maybe(Some(Switch::On))));
        Options {
            level: if self.level == 0 { Level::L0 } else { Level::L1 },
            cold: on(&self.cold_l2),
            sample: on(&self.sample),
            sample_sms: self.sample_sms,
            ..Options::default()
        }
    }
}
