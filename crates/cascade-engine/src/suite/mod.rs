//! The validation suite: kernels whose time can be worked out by hand, simulated at level 1 on one GPU and
//! compared with the answer; and laws that must hold between two simulations. `cascade bench-engine` prints it,
//! `docs/engine.md` lists it. Tolerances are the checks' own and part of the suite.

mod arithmetic;
pub(crate) mod asynchronous;
mod laws;
mod memory;
mod more;
mod whole;

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, EngineError, Level, Options};
use crate::estimate::KernelEstimate;
use crate::gpu::GpuModel;
use crate::synthetic::Synthetic;

/// How a simulated value must lie to what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Within a relative tolerance.
    Near(f64),
    /// At most so much, with a relative tolerance.
    AtMost(f64),
    /// At least so much, with a relative tolerance.
    AtLeast(f64),
}

impl Rule {
    /// The rule and its tolerance in words.
    pub fn words(self) -> String {
        let percent = |share: f64| format!("{} %", (share * 1e4).round() / 100.0);
        match self {
            Self::Near(0.0) => "equal".to_owned(),
            Self::Near(share) => format!("± {}", percent(share)),
            Self::AtMost(0.0) => "at most".to_owned(),
            Self::AtMost(share) => format!("at most, + {}", percent(share)),
            Self::AtLeast(0.0) => "at least".to_owned(),
            Self::AtLeast(share) => format!("at least, - {}", percent(share)),
        }
    }
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Check {
    /// Number of the kind, 1 to 15, or 16 for laws.
    pub kind: u8,
    /// What is compared.
    pub name: String,
    /// Unit of both values.
    pub unit: String,
    /// What it must be.
    pub expected: f64,
    /// What the engine says; not a number when it failed.
    pub got: f64,
    /// How near.
    pub rule: Rule,
    /// Where the expected value comes from.
    pub why: String,
}

impl Check {
    /// Relative difference.
    pub fn error(&self) -> f64 {
        match self.expected {
            0.0 => self.got,
            expected => self.got / expected - 1.0,
        }
    }

    /// Whether it is within tolerance. What is not a number never is.
    pub fn holds(&self) -> bool {
        match self.rule {
            Rule::Near(share) => (self.got - self.expected).abs() <= share * self.expected.abs(),
            Rule::AtMost(share) => self.got <= self.expected * (1.0 + share),
            Rule::AtLeast(share) => self.got >= self.expected * (1.0 - share),
        }
    }
}

/// Something that this GPU cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Skipped {
    /// Number of the kind.
    pub kind: u8,
    /// What would be compared.
    pub name: String,
    /// Why it is not.
    pub why: String,
}

/// What the suite found on one GPU.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Findings {
    /// Comparisons, in order of their kinds.
    pub checks: Vec<Check>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

impl Findings {
    /// Comparisons out of tolerance.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds())
    }
}

/// One kind of the suite.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its number.
    pub number: u8,
    /// Its name.
    pub name: &'static str,
    run: fn(&mut Bench<'_>),
}

/// Every kind, in order.
pub const KINDS: [Kind; 16] = [
    kind(1, "dependent and independent arithmetic", arithmetic::chains),
    kind(2, "special functions", arithmetic::special_functions),
    kind(3, "matrix multiplies of a warp", arithmetic::warp_multiplies),
    kind(
        4,
        "matrix multiplies of a warp group",
        arithmetic::group_multiplies,
    ),
    kind(5, "pointer chases", memory::chases),
    kind(6, "streams from DRAM", memory::streams),
    kind(7, "data that L2 holds", memory::resident),
    kind(8, "bank conflicts", memory::conflicts),
    kind(9, "uncoalesced lanes", memory::uncoalesced),
    kind(10, "waves of blocks", arithmetic::waves),
    kind(11, "the empty kernel", arithmetic::empty),
    kind(12, "barriers", asynchronous::barriers),
    kind(13, "rings of bulk copies", asynchronous::rings),
    kind(14, "multicast in clusters", asynchronous::multicast),
    kind(15, "a tiled matrix multiply", whole::gemm),
    kind(16, "laws between simulations", laws::laws),
];

const fn kind(number: u8, name: &'static str, run: fn(&mut Bench<'_>)) -> Kind {
    Kind { number, name, run }
}

impl Kind {
    /// Simulates the kind's kernels on `gpu`.
    pub fn run(&self, gpu: &GpuModel) -> Findings {
        let mut bench = Bench {
            gpu,
            kind: self.number,
            found: Findings::default(),
        };
        (self.run)(&mut bench);
        bench.found
    }
}

/// Start of the memory that kernels use.
const GLOBAL: u64 = 0x7e00_0000_0000;

const OPTIONS: Options = Options {
    level: Level::L1,
    allow_other_arch: false,
    cold: true,
    sample: false,
    sample_sms: None,
    parallel: false,
};

/// One kind on one GPU.
struct Bench<'a> {
    gpu: &'a GpuModel,
    kind: u8,
    found: Findings,
}

impl Bench<'_> {
    /// Architecture of the kernels.
    fn sm(&self) -> u32 {
        self.gpu.sm
    }

    fn check(&mut self, name: &str, unit: &str, expected: f64, got: f64, rule: Rule, why: &str) {
        self.found.checks.push(Check {
            kind: self.kind,
            name: name.to_owned(),
            unit: unit.to_owned(),
            expected,
            got,
            rule,
            why: why.to_owned(),
        });
    }

    fn cycles(&mut self, name: &str, expected: f64, got: f64, tolerance: f64, why: &str) {
        self.check(name, "cycles", expected, got, Rule::Near(tolerance), why);
    }

    fn skip(&mut self, name: &str, why: &str) {
        self.found.skipped.push(Skipped {
            kind: self.kind,
            name: name.to_owned(),
            why: why.to_owned(),
        });
    }

    fn body(&self, source: &Synthetic) -> f64 {
        body(source, self.gpu)
    }
}

fn simulate(source: &Synthetic, gpu: &GpuModel) -> Result<KernelEstimate, EngineError> {
    Engine::simulate_kernel(&mut source.clone(), gpu, &OPTIONS)
}

/// Cycles of a kernel without `T0`; not a number when it cannot be simulated.
fn body(source: &Synthetic, gpu: &GpuModel) -> f64 {
    simulate(source, gpu).map_or(f64::NAN, |estimate| estimate.body_cycles)
}

#[cfg(test)]
mod tests;
