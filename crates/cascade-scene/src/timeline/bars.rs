//! What of a lane is drawn: kernels one by one where they are a pixel wide, otherwise merged by pixel column.

use super::groups::{DIM, PAINTS, Painted};
use super::lane::Track;
use super::view::View;

/// A kernel, or those of one pixel column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Where it starts in the view, in ns.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Time in it during which a kernel runs, in ns.
    pub busy: f64,
    /// Its colour: of the group with most of the time, those that a filter leaves out last.
    pub paint: u8,
    /// Position of the first kernel.
    pub first: usize,
    /// How many kernels it stands for.
    pub count: usize,
}

impl Track {
    /// Calls `draw` for each bar of the view, from left to right. `pixel` is the time of one pixel in ns.
    ///
    /// At most two bars begin in one pixel, however many kernels there are.
    pub fn bars(&self, view: View, pixel: f64, painted: &Painted, mut draw: impl FnMut(Bar)) {
        let mut at = self.first_after(view.from);
        while let Some((start, end)) = self.place(at).filter(|(start, _)| *start < view.to) {
            let (from, to) = (start.max(view.from), end.min(view.to));
            if to - from >= pixel {
                draw(Bar {
                    from,
                    to,
                    busy: to - from,
                    paint: self.kind(at).map_or(DIM, |kind| painted.of(kind)),
                    first: at,
                    count: 1,
                });
                at += 1;
                continue;
            }
            let column = ((from - view.from) / pixel).floor();
            let edge = (view.from + (column + 1.0) * pixel).min(view.to);
            let mut next = self.next_after(at, edge);
            // One that crosses the edge and is short goes with this column, a long one is drawn by itself.
            if let Some((start, end)) = self.place(next)
                && start < edge
                && end.min(view.to) - start.max(view.from) < pixel
            {
                next += 1;
            }
            let next = next.max(at + 1);
            draw(self.merged(view, at, next, painted));
            at = next;
        }
    }

    /// The kernels `at..next` as one bar.
    fn merged(&self, view: View, at: usize, next: usize, painted: &Painted) -> Bar {
        let shares = self.shares(at, next, painted);
        let (first, last) = (self.place(at), self.place(next - 1));
        let (start, end) = (first.map_or(0.0, |p| p.0), last.map_or(0.0, |p| p.1));
        let outside = (view.from - start).max(0.0) + (end - view.to).max(0.0);
        let busy = (shares.iter().sum::<f64>() - outside).max(0.0);
        Bar {
            from: start.max(view.from),
            to: end.min(view.to),
            busy,
            paint: most(&shares).unwrap_or_else(|| self.kind(at).map_or(DIM, |kind| painted.of(kind))),
            first: at,
            count: next - at,
        }
    }
}

/// The colour with most time; a colour that a filter leaves out only where there is no other.
fn most(shares: &[f64; PAINTS]) -> Option<u8> {
    let best = (0..DIM).zip(shares).max_by(|a, b| a.1.total_cmp(b.1))?;
    if *best.1 > 0.0 {
        return Some(best.0);
    }
    shares.last().filter(|ns| **ns > 0.0).map(|_| DIM)
}
