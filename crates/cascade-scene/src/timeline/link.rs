//! What an address says of a timeline's view: `t=120.5-9000&align=kernel&level=steps&q=gemm&sel=2.17&at=300`.

use cascade_api::TimelineLevel;

use super::groups::Filter;
use super::scene::{Align, Pick};
use super::view::View;

/// The names of the parameters; everything else in an address is left as it is.
pub const KEYS: [&str; 7] = ["t", "align", "level", "q", "group", "sel", "at"];

/// A view that can be shared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// The time that is shown; everything where it is not said.
    pub view: Option<View>,
    /// How lanes are lined up.
    pub align: Align,
    /// What they are made of.
    pub level: TimelineLevel,
    /// What is looked for.
    pub filter: Filter,
    /// The lane and kernel number that are selected.
    pub selected: Option<(usize, u64)>,
    /// The scrubber's time.
    pub scrub: Option<f64>,
}

impl Link {
    /// Reads the parameters of an address; what cannot be read counts as not said.
    pub fn read<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        let view = get("t").and_then(|text| {
            let (from, to) = text.split_once('-')?;
            let (from, to) = (time(from)?, time(to)?);
            (from < to).then(|| View::between(from, to))
        });
        let selected = get("sel").and_then(|text| {
            let (lane, number) = text.split_once('.')?;
            Some((lane.parse().ok()?, number.parse().ok()?))
        });
        Self {
            view,
            align: if get("align") == Some("kernel") {
                Align::Kernel
            } else {
                Align::Time
            },
            level: get("level").and_then(TimelineLevel::parse).unwrap_or_default(),
            filter: Filter {
                text: get("q").unwrap_or_default().to_owned(),
                group: get("group").filter(|name| !name.is_empty()).map(str::to_owned),
            },
            selected,
            scrub: get("at").and_then(time),
        }
    }

    /// The parameters that say this view; those that say what is so anyway are left out.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        if let Some(view) = self.view {
            pairs.push(("t", format!("{}-{}", rounded(view.from), rounded(view.to))));
        }
        if self.align == Align::Kernel {
            pairs.push(("align", "kernel".to_owned()));
        }
        if self.level != TimelineLevel::default() {
            pairs.push(("level", self.level.as_str().to_owned()));
        }
        if !self.filter.text.trim().is_empty() {
            pairs.push(("q", self.filter.text.trim().to_owned()));
        }
        if let Some(group) = &self.filter.group {
            pairs.push(("group", group.clone()));
        }
        if let Some((lane, number)) = self.selected {
            pairs.push(("sel", format!("{lane}.{number}")));
        }
        if let Some(time) = self.scrub {
            pairs.push(("at", rounded(time)));
        }
        pairs
    }
}

/// A kernel's lane and number, for an address.
pub fn selected(scene: &super::Scene, pick: Pick) -> Option<(usize, u64)> {
    let number = scene.lanes().get(pick.lane)?.track.number(pick.at)?;
    Some((pick.lane, number))
}

/// The kernel of a lane and number.
pub fn pick(scene: &super::Scene, (lane, number): (usize, u64)) -> Option<Pick> {
    let at = scene.lanes().get(lane)?.track.position(number)?;
    Some(Pick { lane, at })
}

/// A time in ns: a number from 0 up.
fn time(text: &str) -> Option<f64> {
    let time: f64 = text.parse().ok()?;
    (time.is_finite() && time >= 0.0).then_some(time)
}

/// To the picosecond, without needless zeros.
fn rounded(time: f64) -> String {
    format!("{}", libm::round(time * 1000.0) / 1000.0)
}
