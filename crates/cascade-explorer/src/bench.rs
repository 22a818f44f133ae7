//! Workloads whose speed is published: Llama-3.1-8B on one H100, 256 sequences, 8,192 tokens, no prefix caching.

use cascade_serving::datasheet::{Bound, Efficiency, datasheet};
use cascade_serving::facts::builtin;
use cascade_serving::metrics::{Collector, MetricsOptions};
use cascade_serving::profile::{HostTime, PerfProfile};
use cascade_serving::roofline::Roofline;
use cascade_serving::scheduler::SchedulerConfig;
use cascade_serving::sim::{DEFAULT_MAX_STEPS, simulate};
use cascade_serving::workload::{Arrivals, Length, Lengths, Load, Workload as Source};

/// Requests of either workload.
const REQUESTS: u64 = 1_000;
/// KV blocks of 16 tokens: far more than either workload uses.
const BLOCKS: u32 = 30_000;

/// A workload of 1,000 requests with 512 prompt and 128 output tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Poisson, 10 requests per second.
    W1,
    /// All at once.
    W2,
}

impl Workload {
    /// The workload of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "W1" => Some(Self::W1),
            "W2" => Some(Self::W2),
            _ => None,
        }
    }
}

/// Runs a workload and says how many requests ended; none if it cannot run at all.
pub fn bench(workload: Workload) -> Option<u64> {
    let arrivals = match workload {
        Workload::W1 => Arrivals::Poisson { rate: 10.0 },
        Workload::W2 => Arrivals::AtOnce,
    };
    let load = Load::Open {
        requests: REQUESTS,
        arrivals,
        lengths: Lengths {
            prompt: Length::Fixed { tokens: 512 },
            output: Length::Fixed { tokens: 128 },
        },
        prefix: None,
    };
    let model = builtin("meta-llama/Llama-3.1-8B").ok()?;
    let gpu = datasheet("SM90_H100")?;
    let profile = PerfProfile::from_datasheet(model, gpu, Efficiency::default(), HostTime::default()).ok()?;
    let config = SchedulerConfig {
        num_gpu_blocks: BLOCKS,
        max_num_seqs: 256,
        max_num_batched_tokens: 8_192,
        block_size: 16,
        enable_prefix_caching: false,
        ..SchedulerConfig::default()
    };
    let mut source = Source { seed: 42, load }.source().ok()?;
    let mut collector = Collector::new(MetricsOptions::default());
    let roofline = Roofline::new(&profile, Bound::Assumed);
    simulate(
        &config,
        &roofline,
        source.as_mut(),
        &mut collector,
        DEFAULT_MAX_STEPS,
    )
    .ok()?;
    Some(collector.report().completed)
}
