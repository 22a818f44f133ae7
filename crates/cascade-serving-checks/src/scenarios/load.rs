//! Random loads: three kinds of workloads, each arrival process, and three forms of request traces.

use std::fmt::Write;

use cascade_serving::random::Random;
use cascade_serving::workload::{
    self, Arrivals, Length, Lengths, Load, RampShape, SharedPrefix, TraceOptions, Workload, read_trace,
};

use super::{chance, share};

/// Longest prompt of a drawn request.
const LONGEST_PROMPT: u32 = 2000;

/// What a load is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Open, arrivals fixed, at once or in bursts.
    Regular,
    /// Open, Poisson arrivals.
    Poisson,
    /// Open, gamma arrivals.
    Gamma,
    /// Open, a ramp.
    Ramp,
    /// A closed loop.
    ClosedLoop,
    /// Sessions.
    Sessions,
    /// Azure's CSV.
    Azure,
    /// Mooncake's JSONL.
    Mooncake,
    /// Our own CSV, with priorities.
    Own,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Regular,
        Self::Poisson,
        Self::Gamma,
        Self::Ramp,
        Self::ClosedLoop,
        Self::Sessions,
        Self::Azure,
        Self::Mooncake,
        Self::Own,
    ];
}

/// A load as data.
#[derive(Debug, Clone)]
pub enum Source {
    /// A workload.
    Drawn(Workload),
    /// The text of a request trace.
    Trace(String, TraceOptions),
}

impl Source {
    /// A random load of a kind.
    pub fn new(kind: Kind, seed: u64, random: &mut Random) -> Self {
        let rate = share(random, 1000, 80_000);
        let open = |arrivals, random: &mut Random| Load::Open {
            requests: random.between(1, 120).into(),
            arrivals,
            lengths: lengths(random),
            prefix: prefix(random),
        };
        let load = match kind {
            Kind::Regular => {
                let arrivals = match random.between(0, 2) {
                    0 => Arrivals::AtOnce,
                    1 => Arrivals::Fixed { rate },
                    _ => Arrivals::Burst {
                        size: random.between(1, 20).into(),
                        period_s: share(random, 50, 2000),
                    },
                };
                open(arrivals, random)
            }
            Kind::Poisson => open(Arrivals::Poisson { rate }, random),
            Kind::Gamma => {
                let burstiness = share(random, 100, 3000);
                open(Arrivals::Gamma { rate, burstiness }, random)
            }
            Kind::Ramp => {
                let shape = if chance(random, 2) {
                    RampShape::Linear
                } else {
                    RampShape::Exponential
                };
                let ramp = Arrivals::Ramp {
                    from_rate: share(random, 500, 5000),
                    to_rate: rate,
                    shape,
                };
                open(ramp, random)
            }
            Kind::ClosedLoop => Load::ClosedLoop {
                requests: random.between(1, 150).into(),
                clients: random.between(1, 40).into(),
                think_s: share(random, 0, 2000),
                random_think: chance(random, 2),
                lengths: lengths(random),
                prefix: prefix(random),
            },
            Kind::Sessions => Load::Sessions {
                sessions: random.between(1, 20).into(),
                arrivals: Arrivals::Poisson { rate },
                turns: Length::Uniform { low: 1, high: 6 },
                system_tokens: random.between(0, 400),
                lengths: Lengths {
                    prompt: Length::Uniform { low: 1, high: 200 },
                    output: Length::Uniform { low: 1, high: 100 },
                },
                think_s: share(random, 0, 1500),
            },
            Kind::Azure | Kind::Mooncake | Kind::Own => {
                let options = TraceOptions {
                    speedup: share(random, 500, 3000),
                    limit: 100,
                };
                return Self::Trace(trace(kind, random), options);
            }
        };
        Self::Drawn(Workload { seed, load })
    }

    /// Who sends the requests.
    pub fn source(&self) -> Box<dyn workload::Source> {
        match self {
            Self::Drawn(workload) => workload.source().expect("a valid workload"),
            Self::Trace(text, options) => {
                let read = read_trace("trace", text.as_bytes(), *options);
                Box::new(read.expect("a valid trace"))
            }
        }
    }
}

fn lengths(random: &mut Random) -> Lengths {
    let prompt = match random.between(0, 2) {
        0 => Length::Fixed {
            tokens: random.between(1, 800),
        },
        1 => Length::Uniform {
            low: 1,
            high: random.between(1, LONGEST_PROMPT),
        },
        _ => Length::Lognormal {
            mu: share(random, 3000, 6500),
            sigma: share(random, 100, 1500),
            min: 1,
            max: LONGEST_PROMPT,
        },
    };
    let output = match random.between(0, 2) {
        0 => Length::Fixed {
            tokens: random.between(0, 200),
        },
        1 => Length::Uniform { low: 0, high: 250 },
        _ => Length::Lognormal {
            mu: 4.0,
            sigma: 0.9,
            min: 1,
            max: 400,
        },
    };
    Lengths { prompt, output }
}

fn prefix(random: &mut Random) -> Option<SharedPrefix> {
    chance(random, 2).then(|| SharedPrefix {
        tokens: random.between(1, 500),
        groups: random.between(1, 5),
    })
}

/// The text of a trace.
fn trace(kind: Kind, random: &mut Random) -> String {
    let mut text = String::from(match kind {
        Kind::Azure => "TIMESTAMP,ContextTokens,GeneratedTokens\n",
        Kind::Own => "arrival_s,prompt_tokens,output_tokens,priority\n",
        _ => "",
    });
    let mut ms = 0;
    for _ in 0..random.between(1, 120) {
        ms += random.between(0, 120);
        let (prompt, output) = (random.between(1, LONGEST_PROMPT), random.between(1, 200));
        let line = match kind {
            Kind::Azure => format!(
                "2023-11-16 18:{:02}:{:02}.{:03}0000,{prompt},{output}",
                ms / 60_000,
                ms / 1000 % 60,
                ms % 1000
            ),
            Kind::Own => format!(
                "{},{prompt},{output},{}",
                f64::from(ms) / 1e3,
                random.between(0, 3)
            ),
            _ => {
                // A few conversations share their first blocks.
                let first = random.between(0, 3) * 100;
                let ids: Vec<u32> = (0..prompt.div_ceil(512)).map(|block| first + block).collect();
                format!(
                    "{{\"timestamp\": {ms}, \"input_length\": {prompt}, \"output_length\": {output}, \"hash_ids\": {ids:?}}}"
                )
            }
        };
        writeln!(text, "{line}").expect("a string takes any text");
    }
    text
}
