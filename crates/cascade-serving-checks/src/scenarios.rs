//! Random scenarios: every kind of load, engine and step time, many of them short of KV blocks.

mod load;
mod time;

use cascade_serving::metrics::{Collector, MetricsOptions, Report, Slo};
use cascade_serving::random::Random;
use cascade_serving::scheduler::{Policy, Rules, SchedulerConfig};
use cascade_serving::sim::simulate;

use crate::digest::{Digest, Listener};
pub use load::{Kind, Source};
pub use time::Time;

/// Scenarios of the digest.
pub const COUNT: u64 = 200;
/// Steps after which one that thrashes is cut off.
const MAX_STEPS: u64 = 20_000;

/// One scenario.
#[derive(Debug, Clone)]
pub struct Case {
    /// The engine.
    pub scheduler: SchedulerConfig,
    /// The load.
    pub load: Source,
    /// The step time.
    pub time: Time,
    /// What is reported.
    pub metrics: MetricsOptions,
}

impl Case {
    /// The scenario with this number.
    pub fn new(index: u64) -> Self {
        let mut random = Random::new(2026, index);
        // By turns, so that each kind of load meets each kind of step time.
        let load = Source::new(Kind::ALL[(index % 9) as usize], index, &mut random);
        let time = Time::new(index / 9 % 4, &mut random);
        let scheduler = scheduler(&mut random);
        let metrics = MetricsOptions {
            percentiles: vec![1.0, 50.0, f64::from(random.between(51, 98)), 99.9],
            slo: Slo {
                ttft_ms: chance(&mut random, 2).then_some(500.0),
                tpot_ms: chance(&mut random, 2).then_some(20.0),
                e2el_ms: chance(&mut random, 4).then_some(5000.0),
            },
            series_points: 200,
            keep_requests: 1000,
            price_per_gpu_hour: chance(&mut random, 2).then(|| f64::from(random.between(50, 900)) / 100.0),
            gpus: random.between(1, 8),
        };
        Self {
            scheduler,
            load,
            time,
            metrics,
        }
    }

    /// Simulates it, digests all that it tells, and returns its report.
    pub fn run(&self, digest: &mut Digest) -> Report {
        let mut source = self.load.source();
        let mut listener = Listener::new(digest, Collector::new(self.metrics.clone()));
        let ended = self
            .time
            .with(|time| simulate(&self.scheduler, &time, source.as_mut(), &mut listener, MAX_STEPS));
        let report = listener.finish();
        digest.add(&ended);
        self.time.digest(digest);
        report
    }
}

/// One time in `of`.
fn chance(random: &mut Random, of: u32) -> bool {
    random.between(1, of) == 1
}

/// A share of a whole, in steps of a thousandth.
fn share(random: &mut Random, low: u32, high: u32) -> f64 {
    f64::from(random.between(low, high)) / 1000.0
}

fn scheduler(random: &mut Random) -> SchedulerConfig {
    let rules = if chance(random, 4) {
        Rules::Reference
    } else {
        Rules::VllmV1
    };
    let vllm = rules == Rules::VllmV1;
    let block_size = 1 << random.between(2, 5);
    // Room for the longest request and little more, or for many.
    let blocks = if chance(random, 2) {
        random.between(1100, 2200)
    } else {
        random.between(4000, 30_000)
    };
    SchedulerConfig {
        rules,
        policy: if vllm && chance(random, 2) {
            Policy::Priority
        } else {
            Policy::Fcfs
        },
        num_gpu_blocks: blocks.div_ceil(block_size / 4),
        block_size,
        max_num_seqs: random.between(1, 96),
        max_num_batched_tokens: random.between(64, 4096),
        max_model_len: if chance(random, 4) { 1500 } else { 1 << 17 },
        long_prefill_token_threshold: if vllm && chance(random, 3) {
            random.between(16, 256)
        } else {
            0
        },
        enable_chunked_prefill: !chance(random, 5),
        scheduler_reserve_full_isl: !(vllm && chance(random, 3)),
        watermark: if vllm { share(random, 0, 50) } else { 0.0 },
        enable_prefix_caching: vllm && !chance(random, 3),
        async_scheduling: vllm && chance(random, 2),
    }
}

#[cfg(test)]
mod tests;
