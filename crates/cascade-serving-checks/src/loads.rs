//! The loads of the public comparison of simulators: Llama-3.1-8B in bf16 on one H100.

use cascade_serving::datasheet::{Bound, Efficiency, datasheet};
use cascade_serving::facts::builtin;
use cascade_serving::profile::{HostTime, PerfProfile};
use cascade_serving::roofline::Roofline;
use cascade_serving::scheduler::SchedulerConfig;
use cascade_serving::workload::{Arrivals, Length, Lengths, Load, Workload};

/// How the requests of load W1 arrive; those of W2 arrive all at once.
pub const W1_ARRIVALS: Arrivals = Arrivals::Poisson { rate: 10.0 };

/// Step times from the datasheet.
pub fn roofline() -> Roofline {
    let model = builtin("meta-llama/Llama-3.1-8B").expect("a built-in model");
    let gpu = datasheet("SM90_H100").expect("a known GPU");
    let profile = PerfProfile::from_datasheet(model, gpu, Efficiency::default(), HostTime::default());
    Roofline::new(&profile.expect("valid figures"), Bound::Assumed)
}

/// The engine of the comparison.
pub fn config(caching: bool) -> SchedulerConfig {
    SchedulerConfig {
        num_gpu_blocks: 27_000,
        max_num_seqs: 256,
        max_num_batched_tokens: 8192,
        enable_prefix_caching: caching,
        ..SchedulerConfig::default()
    }
}

/// `requests` requests of 512 prompt and 128 output tokens.
pub fn open(requests: u64, arrivals: Arrivals) -> Workload {
    let fixed = |tokens| Length::Fixed { tokens };
    Workload {
        seed: 42,
        load: Load::Open {
            requests,
            arrivals,
            lengths: Lengths {
                prompt: fixed(512),
                output: fixed(128),
            },
            prefix: None,
        },
    }
}
