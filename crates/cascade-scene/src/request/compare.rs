//! Several runs side by side: a column for each GPU of each run.

use cascade_api::{KindDigest, RealSim, RunId, StepDigest};

use super::Column;
use super::figure::Unit;
use crate::chart::{BarChart, Group};

/// One GPU of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunColumn {
    /// The run.
    pub run: RunId,
    /// The GPU with what it is predicted to do.
    pub column: Column,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Arrival to end of a request.
    Request,
    /// Time to first token.
    Ttft,
    /// Inter-token latency.
    Itl,
    /// Wall time of a decode step.
    Step,
    /// GPU busy time in a decode step.
    Busy,
}

impl Metric {
    /// Every metric, in the order of the table.
    pub const ALL: [Self; 5] = [Self::Request, Self::Ttft, Self::Itl, Self::Step, Self::Busy];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "Request time",
            Self::Ttft => "Time to first token",
            Self::Itl => "Inter-token latency",
            Self::Step => "Decode step",
            Self::Busy => "GPU busy, decode step",
        }
    }

    /// Its name where there is little room.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Request => "Request",
            Self::Ttft => "First token",
            Self::Itl => "Between tokens",
            Self::Step => "Decode step",
            Self::Busy => "GPU busy",
        }
    }

    /// How it is written.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Request | Self::Ttft | Self::Itl => Unit::Ms(2),
            Self::Step => Unit::NsAsMs(2),
            Self::Busy => Unit::NsAsMicros(1),
        }
    }

    /// Its value in [`Self::unit`]; what was measured on another GPU is left out.
    pub fn of(self, digest: &StepDigest) -> RealSim {
        let value = match self {
            Self::Request => digest.mean.e2e_ms,
            Self::Ttft => digest.mean.ttft_ms,
            Self::Itl => digest.mean.itl_ms,
            Self::Step => decode(digest).map(|kind| kind.wall_ns).unwrap_or_default(),
            Self::Busy => decode(digest).map(|kind| kind.gpu_busy_ns).unwrap_or_default(),
        };
        if digest.counterfactual {
            RealSim {
                simulated: value.simulated,
                ..RealSim::default()
            }
        } else {
            value
        }
    }

    /// ns in one of its units.
    const fn ns(self) -> f64 {
        match self {
            Self::Request | Self::Ttft | Self::Itl => 1e6,
            Self::Step | Self::Busy => 1.0,
        }
    }
}

/// The mean decode step.
fn decode(digest: &StepDigest) -> Option<&KindDigest> {
    digest.kinds.iter().find(|kind| kind.kind == "decode")
}

/// Bars of one metric: real where it was measured, and simulated, for each column.
pub fn chart(columns: &[RunColumn], metric: Metric) -> BarChart {
    let groups = columns
        .iter()
        .map(|run| {
            let value = metric.of(&run.column.digest);
            Group {
                label: run.column.label.clone(),
                values: [value.real, value.simulated]
                    .map(|value| value.map(|value| value * metric.ns()))
                    .to_vec(),
            }
        })
        .collect();
    BarChart::of(vec!["Real".to_owned(), "Simulated".to_owned()], groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::columns;
    use crate::request::tests::{h100, h200, sim};

    #[test]
    fn what_another_gpu_measured_is_no_bar_and_no_error() {
        let columns: Vec<_> = columns(&[sim(1, "SM90_H100", 0, h100()), sim(2, "SM90_H200", 0, h200())])
            .into_iter()
            .map(|column| RunColumn {
                run: "run-a".into(),
                column,
            })
            .collect();
        let chart = chart(&columns, Metric::Request);
        assert_eq!(chart.groups[0].values, [Some(254.45 * 1e6), Some(262.14 * 1e6)]);
        assert_eq!(chart.groups[1].values, [None, Some(262.16 * 1e6)]);
        assert!(chart.top_ns >= 262.16e6);
        for metric in Metric::ALL {
            assert_eq!(metric.of(&h200()).error_pct, None, "{metric:?}");
            assert!(metric.of(&h200()).simulated.is_some(), "{metric:?}");
        }
        assert_eq!(Metric::Busy.unit().text(575_611.0), "575.6\u{a0}µs");
    }
}
