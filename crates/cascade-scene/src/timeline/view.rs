//! The part of simulated time that is on the screen. Times are `f64` ns: a run of hours is exact to the picosecond.

/// Shortest time that fills the screen, in ns: below it, neighbouring pixels would be the same number.
const SHORTEST_NS: f64 = 0.5;

/// A range of time, `from` before `to`, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Left edge.
    pub from: f64,
    /// Right edge.
    pub to: f64,
}

impl View {
    /// All of a timeline that lasts `total` ns.
    pub fn all(total: f64) -> Self {
        Self {
            from: 0.0,
            to: total.max(SHORTEST_NS),
        }
    }

    /// A range between two times in any order, no shorter than can be shown.
    pub fn between(a: f64, b: f64) -> Self {
        let (from, to) = (a.min(b), a.max(b));
        let missing = (SHORTEST_NS - (to - from)).max(0.0) / 2.0;
        Self {
            from: from - missing,
            to: to + missing,
        }
    }

    /// Its length in ns.
    pub fn span(self) -> f64 {
        self.to - self.from
    }

    /// Zoomed by `factor` (below 1 shows less) about a time that stays where it is on the screen.
    #[must_use]
    pub fn zoomed(self, about: f64, factor: f64, total: f64) -> Self {
        let most = total.max(SHORTEST_NS);
        let span = (self.span() * factor).clamp(SHORTEST_NS, most);
        let place = ((about - self.from) / self.span()).clamp(0.0, 1.0);
        let from = about - place * span;
        Self {
            from,
            to: from + span,
        }
        .within(total)
    }

    /// Moved by `by` ns, however far that is: to an end of the timeline at most.
    #[must_use]
    pub fn panned(self, by: f64, total: f64) -> Self {
        let by = by.clamp(-total.max(0.0), total.max(0.0));
        Self {
            from: self.from + by,
            to: self.to + by,
        }
        .within(total)
    }

    /// Moved, and shortened if need be, to lie inside a timeline of `total` ns.
    #[must_use]
    pub fn within(self, total: f64) -> Self {
        let most = total.max(SHORTEST_NS);
        let span = self.span().clamp(SHORTEST_NS, most);
        let from = self.from.clamp(0.0, most - span);
        Self {
            from,
            to: from + span,
        }
    }

    /// Moved so that `range` shows, centred if it did not; left alone where it shows already.
    #[must_use]
    pub fn showing(self, range: Self, total: f64) -> Self {
        if range.from >= self.from && range.to <= self.to {
            return self;
        }
        let span = self.span().max(range.span() * 1.25);
        let middle = f64::midpoint(range.from, range.to);
        Self {
            from: middle - span / 2.0,
            to: middle + span / 2.0,
        }
        .within(total)
    }

    /// The place of a time on a screen `width` px wide.
    pub fn x(self, time: f64, width: f64) -> f64 {
        (time - self.from) / self.span() * width
    }

    /// The time at a place on a screen `width` px wide.
    pub fn time(self, x: f64, width: f64) -> f64 {
        self.from + x / width.max(1.0) * self.span()
    }
}
