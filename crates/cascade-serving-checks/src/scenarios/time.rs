//! Random step times: a datasheet, a profile of a made-up trace, and coefficients.

use cascade_serving::datasheet::{Bound, Efficiency, datasheet};
use cascade_serving::facts::builtin;
use cascade_serving::predict::simulate_request;
use cascade_serving::profile::{Basis, Floor, GroupTimes, HostTime, PerfProfile};
use cascade_serving::random::Random;
use cascade_serving::roofline::Roofline;
use cascade_serving::step_time::{Affine, Provenance, StepTime};

use super::{chance, share};
use crate::digest::Digest;

/// Models of the digest: dense, grouped heads, a mixture of experts.
const MODELS: [&str; 4] = [
    "facebook/opt-125m",
    "meta-llama/Llama-3.1-8B",
    "Qwen/Qwen2.5-0.5B",
    "mistralai/Mixtral-8x7B-v0.1",
];
const GPUS: [&str; 3] = ["SM90_H100", "SM90_H200", "SM80_A100"];

/// A step time as data.
#[derive(Debug, Clone)]
pub enum Time {
    /// A profile's roofline, at one end of its efficiencies.
    Profile(Box<PerfProfile>, Bound),
    /// Coefficients.
    Affine(Affine),
}

impl Time {
    /// The datasheet (0), a profile of a trace (1 and 2) or coefficients.
    pub fn new(kind: u64, random: &mut Random) -> Self {
        if kind > 2 {
            return Self::Affine(Affine {
                step_ns: share(random, 1, 20) * 1e9,
                query_token_ns: share(random, 0, 100_000) * 1e3,
                context_token_ns: share(random, 0, 1000) * 10.0,
                seq_ns: share(random, 0, 70_000) * 1e3,
                host_ns: random.between(0, 3_000_000).into(),
                provenance: Provenance::Fitted,
            });
        }
        let pick = |names: &[&'static str], random: &mut Random| {
            let at = random.between(0, names.len() as u32 - 1) as usize;
            *names.get(at).expect("within")
        };
        let model = builtin(pick(&MODELS, random)).expect("a built-in model");
        let gpu = datasheet(pick(&GPUS, random)).expect("a known GPU");
        let host = host(random);
        let profile = PerfProfile::from_datasheet(model, gpu, Efficiency::default(), host);
        let mut profile = profile.expect("valid figures");
        if kind > 0 {
            profile.basis = Basis::Trace;
            profile.prefill = Some(floor(random.between(1, 600), random));
            let mut tokens = profile.prefill.map_or(0, |floor| floor.tokens);
            for _ in 0..random.between(1, 30) {
                tokens += random.between(1, 9);
                profile.decode.push(floor(tokens, random));
            }
        }
        let bound = Bound::ALL[random.between(0, 2) as usize];
        Self::Profile(Box::new(profile), bound)
    }

    /// Uses it.
    pub fn with<R>(&self, run: impl FnOnce(&dyn StepTime) -> R) -> R {
        match self {
            Self::Profile(profile, bound) => run(&Roofline::new(profile, *bound)),
            Self::Affine(affine) => run(affine),
        }
    }

    /// Digests what one request alone would see.
    pub(super) fn digest(&self, digest: &mut Digest) {
        if let Self::Profile(profile, _) = self {
            digest.add(&simulate_request(profile, 700, 90));
        }
    }
}

fn host(random: &mut Random) -> HostTime {
    let mut us = |low: i32, high: u32| i64::from(random.between(0, high)) * 1000 + i64::from(low) * 1000;
    let (prefill_ns, decode_ns, gap) = (us(0, 4000), us(0, 4000), us(-200, 900));
    let (before, after) = (us(0, 1500), us(-900, 1500));
    HostTime {
        prefill_ns,
        decode_ns,
        prefill_gap_ns: chance(random, 2).then_some(gap / 2),
        decode_gap_ns: gap,
        pre_first_step_ns: chance(random, 2).then_some(before),
        post_last_step_ns: chance(random, 2).then_some(after),
    }
}

fn floor(tokens: u32, random: &mut Random) -> Floor {
    Floor {
        tokens,
        groups: GroupTimes::from_array(std::array::from_fn(|_| random.between(1000, 900_000).into())),
        unattributed_ns: i64::from(random.between(0, 200_000)) - 50_000,
        steps: random.between(1, 5),
    }
}
