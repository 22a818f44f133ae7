//! Words and tables behind the picture: what runs at a time, what a kernel took in each lane, the longest kernels in
//! view, and the next kernel that a filter finds.

use super::groups::DIM;
use super::scene::{Pick, Scene};
use super::view::View;

/// What a lane runs at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// The lane's name.
    pub lane: String,
    /// The kernel, as number and readable name; `None` where none runs.
    pub kernel: Option<(u64, String)>,
    /// The kernel's duration in ns.
    pub ns: Option<f64>,
    /// The step, where the lane has steps and one covers the time.
    pub step: Option<String>,
}

/// One lane's time of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The lane's name.
    pub lane: String,
    /// Where its times come from.
    pub source: String,
    /// The duration in ns; `None` where the lane lacks the kernel, or has another one under its number.
    pub ns: Option<f64>,
    /// The duration over that of the selected one.
    pub ratio: Option<f64>,
}

/// Kernels of one name in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Readable name.
    pub name: String,
    /// Group.
    pub group: String,
    /// Launches in view, whole or in part, over all lanes.
    pub launches: u64,
    /// Time of each lane in view, in ns.
    pub ns: Vec<f64>,
}

impl Scene {
    /// What every lane runs at `time`.
    pub fn running(&self, time: f64) -> Vec<Running> {
        let steps = self.has_steps();
        let lane = |lane: &super::Lane| {
            let at = lane.track.at(time);
            let name = |at| Some(self.kinds().get(lane.track.kind(at)?)?.short.clone());
            let step = lane.steps.partition_point(|step| step.to <= time);
            let step = lane.steps.get(step).filter(|step| steps && step.from <= time);
            Running {
                lane: lane.title.clone(),
                kernel: at.and_then(|at| Some((lane.track.number(at)?, name(at)?))),
                ns: at.and_then(|at| lane.track.ns(at)),
                step: step.map(|step| step.label.clone()),
            }
        };
        self.lanes().iter().map(lane).collect()
    }

    /// A kernel's time in every lane, matched by number; another run's only where it has the same name, as the run
    /// may be of another trace.
    pub fn beside(&self, pick: Pick) -> Vec<Beside> {
        let Some(own) = self.lanes().get(pick.lane) else {
            return Vec::new();
        };
        let (number, base) = (own.track.number(pick.at), own.track.ns(pick.at));
        let name = |lane: &super::Lane, at| Some(self.kinds().get(lane.track.kind(at)?)?.short.clone());
        let wanted = name(own, pick.at);
        let lane = |lane: &super::Lane| {
            let at = number.and_then(|number| lane.track.position(number));
            let at = at.filter(|at| lane.run == own.run || name(lane, *at) == wanted);
            let ns = at.and_then(|at| lane.track.ns(at));
            Beside {
                lane: lane.title.clone(),
                source: lane.source.clone(),
                ns,
                ratio: ns.zip(base.filter(|ns| *ns > 0.0)).map(|(ns, base)| ns / base),
            }
        };
        self.lanes().iter().map(lane).collect()
    }

    /// The `most` kernel names with most time in a view, over all lanes together.
    pub fn top(&self, view: View, most: usize) -> Vec<Row> {
        let mut rows: Vec<(u64, Vec<f64>)> = Vec::new();
        let lanes = self.lanes().len();
        for (at, lane) in self.lanes().iter().enumerate() {
            let mut next = lane.track.first_after(view.from);
            while let Some((from, to)) = lane.track.place(next).filter(|(from, _)| *from < view.to) {
                let kind = lane.track.kind(next).unwrap_or(u32::MAX);
                next += 1;
                if self.painted().of(kind) == DIM || self.kinds().get(kind).is_none() {
                    continue;
                }
                let kind = kind as usize;
                if kind >= rows.len() {
                    rows.resize_with(kind + 1, || (0, vec![0.0; lanes]));
                }
                if let Some((launches, ns)) = rows.get_mut(kind) {
                    *launches += 1;
                    if let Some(ns) = ns.get_mut(at) {
                        *ns += to.min(view.to) - from.max(view.from);
                    }
                }
            }
        }
        let mut order: Vec<(u32, (u64, Vec<f64>))> = (0..).zip(rows).filter(|(_, (n, _))| *n > 0).collect();
        let time = |(_, (_, ns)): &(u32, (u64, Vec<f64>))| ns.iter().sum::<f64>();
        order.sort_by(|a, b| time(b).total_cmp(&time(a)));
        let row = |(kind, (launches, ns)): (u32, (u64, Vec<f64>))| {
            Some(Row {
                name: self.kinds().get(kind)?.short.clone(),
                group: self.kinds().group_of(kind)?.name.clone(),
                launches,
                ns,
            })
        };
        order.into_iter().take(most).filter_map(row).collect()
    }

    /// Kernels that the filter finds.
    pub fn hits(&self) -> usize {
        let lanes = self.lanes().iter();
        lanes
            .map(|lane| {
                let kinds = lane.track.kinds();
                kinds.filter(|(kind, _)| self.painted().of(*kind) != DIM).count()
            })
            .sum()
    }

    /// Which of the kernels that the filter finds this one is, counted from 0 in the order of [`Self::next`]; `None`
    /// where the filter leaves it out.
    pub fn place_of(&self, pick: Pick) -> Option<usize> {
        let own = &self.lanes().get(pick.lane)?.track;
        if self.painted().of(own.kind(pick.at)?) == DIM {
            return None;
        }
        let (start, _) = own.place(pick.at)?;
        let before = self.lanes().iter().enumerate().map(|(lane, other)| {
            let end = match lane == pick.lane {
                true => pick.at,
                false => other.track.first_from(start, lane < pick.lane),
            };
            let kinds = other.track.kinds().take(end);
            kinds.filter(|(kind, _)| self.painted().of(*kind) != DIM).count()
        });
        Some(before.sum())
    }

    /// The next kernel that the filter finds, in order of time and then of lanes; after the last comes the first.
    pub fn next(&self, from: Option<Pick>) -> Option<Pick> {
        let after = from.and_then(|pick| Some((self.range(pick)?.from, pick)));
        let candidates = self.lanes().iter().enumerate().filter_map(|(lane, own)| {
            let start = match after {
                None => 0,
                Some((_, pick)) if pick.lane == lane => pick.at + 1,
                Some((time, pick)) => own.track.first_from(time, lane < pick.lane),
            };
            let at = own.track.next_hit(start, self.painted())?;
            Some((own.track.place(at)?.0, Pick { lane, at }))
        });
        let found = candidates.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match (found, from) {
            (Some((_, pick)), _) => Some(pick),
            (None, Some(_)) => self.next(None),
            (None, None) => None,
        }
    }

    /// The one before; before the first comes the last.
    pub fn previous(&self, from: Option<Pick>) -> Option<Pick> {
        let before = from.and_then(|pick| Some((self.range(pick)?.from, pick)));
        let candidates = self.lanes().iter().enumerate().filter_map(|(lane, own)| {
            let end = match before {
                None => own.track.len(),
                Some((_, pick)) if pick.lane == lane => pick.at,
                Some((time, pick)) => own.track.first_from(time, lane < pick.lane),
            };
            let at = own.track.previous_hit(end, self.painted())?;
            Some((own.track.place(at)?.0, Pick { lane, at }))
        });
        let found = candidates.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match (found, from) {
            (Some((_, pick)), _) => Some(pick),
            (None, Some(_)) => self.previous(None),
            (None, None) => None,
        }
    }
}
