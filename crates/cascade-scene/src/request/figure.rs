//! Predicted against real, one figure at a time.

use cascade_api::{KindDigest, RealSim, StepDigest};

use super::COUNTERFACTUAL;
use crate::format;

/// From here on µs read better as ms.
const MICROS_TO: f64 = 1e7;

/// How a quantity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A value in ms, shown in ms with so many decimals.
    Ms(usize),
    /// A value in ns, shown in ms with so many decimals.
    NsAsMs(usize),
    /// A value in ns, shown in µs with so many decimals, and in ms with three from 10 ms on.
    NsAsMicros(usize),
}

impl Unit {
    /// What a plain number in it counts.
    pub const fn measure(self) -> &'static str {
        match self {
            Self::Ms(_) => "ms",
            Self::NsAsMs(_) | Self::NsAsMicros(_) => "ns",
        }
    }

    /// The value as text.
    pub fn text(self, value: f64) -> String {
        self.write(value, format::fixed)
    }

    /// A difference as text: in µs where it would be nothing in ms, since the two values may look different there.
    pub fn signed(self, value: f64) -> String {
        let text = self.write(value, format::signed);
        match self {
            Self::Ms(_) if format::is_zero(&text) => format::signed(value * 1e3, 1, "µs"),
            Self::NsAsMs(_) if format::is_zero(&text) => format::signed(value / 1e3, 1, "µs"),
            _ => text,
        }
    }

    /// The value, or the sign for none.
    pub fn or_none(self, value: Option<f64>) -> String {
        value.map_or_else(|| format::NONE.to_owned(), |value| self.text(value))
    }

    fn write(self, value: f64, write: impl Fn(f64, usize, &str) -> String) -> String {
        match self {
            Self::Ms(decimals) => write(value, decimals, "ms"),
            Self::NsAsMs(decimals) => write(value / 1e6, decimals, "ms"),
            Self::NsAsMicros(decimals) if value.abs() < MICROS_TO => write(value / 1e3, decimals, "µs"),
            Self::NsAsMicros(_) => write(value / 1e6, 3, "ms"),
        }
    }
}

/// How far a prediction is from the real GPU: `+7.69 ms (+3.02 %)`, or the sign for none.
pub fn error(value: &RealSim, unit: Unit) -> String {
    let amount = value.error.map(|error| unit.signed(error));
    let percent = value.error_pct.map(|error| format::signed(error, 2, "%"));
    match (amount, percent) {
        (Some(amount), Some(percent)) => format!("{amount} ({percent})"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => format::NONE.to_owned(),
    }
}

/// One quantity, predicted and measured, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What it is: `Request time`, `Decode step`.
    pub name: String,
    /// What was predicted.
    pub simulated: String,
    /// What was measured on the simulated GPU; `None` where nothing was.
    pub real: Option<String>,
    /// The signed error, or why there is none.
    pub verdict: String,
}

impl Figure {
    /// Writes one quantity.
    pub fn new(name: impl Into<String>, value: &RealSim, unit: Unit, counterfactual: bool) -> Self {
        let real = value.real.filter(|_| !counterfactual).map(|real| unit.text(real));
        let verdict = match (counterfactual, real.is_some()) {
            (true, _) => COUNTERFACTUAL.to_owned(),
            (false, true) => error(value, unit),
            (false, false) => "nothing measured to compare with".to_owned(),
        };
        Self {
            name: name.into(),
            simulated: unit.or_none(value.simulated),
            real,
            verdict,
        }
    }
}

/// What a request costs on one GPU: request time first, then first token, inter-token time and each kind of step.
pub fn headline(digest: &StepDigest) -> Vec<Figure> {
    let mean = &digest.mean;
    let request = [
        ("Request time", &mean.e2e_ms),
        ("Time to first token", &mean.ttft_ms),
        ("Inter-token latency", &mean.itl_ms),
    ]
    .map(|(name, value)| Figure::new(name, value, Unit::Ms(2), digest.counterfactual));
    let steps = digest.kinds.iter().map(|kind| {
        let name = format!("{} step", capital(&kind.kind));
        Figure::new(name, &kind.wall_ns, Unit::NsAsMs(2), digest.counterfactual)
    });
    request.into_iter().chain(steps).collect()
}

/// The kind of step that most steps are: `decode` where there is one.
pub fn main_kind(digest: &StepDigest) -> Option<&KindDigest> {
    digest.kinds.iter().max_by_key(|kind| kind.steps)
}

/// `prefill` as it begins a line.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
