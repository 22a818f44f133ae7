//! Finds one kernel's result: its own, kept from an earlier run, or shared with an earlier kernel.

use cascade_accelsim::trace::KernelHeader;
use cascade_accelsim::trace::identity::{Key, header_key};
use cascade_engine::{GpuModel, KernelEstimate, L2State, Level, Options};

use super::groups::{Board, Found, Place};
use super::kernel::{Kept, Kernel};
use super::warm::{Seat, Turns};
use super::{Dedup, Kernels, Reuse, SimulateError};

/// What all kernels of a run have in common.
pub(super) struct Launch<'a> {
    pub(super) gpu: &'a GpuModel,
    pub(super) options: &'a Options,
    pub(super) reuse: Reuse<'a>,
    pub(super) kept: Option<&'a Kept<'a>>,
    pub(super) board: &'a Board,
    pub(super) turns: &'a Turns,
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Launch<'_> {
    /// Finds the result of kernel `index`, or that an earlier kernel of the run has it.
    pub(super) fn find(
        &self,
        kernels: &Kernels,
        index: usize,
        on_header: &mut dyn FnMut(&KernelHeader),
    ) -> Result<Found, SimulateError> {
        let mut place = self.board.place(index);
        let seat = self.turns.seat(index);
        let by_header = self.reuse.dedup == Dedup::Header;
        if by_header {
            // Members are neither read nor looked up.
            let mut kernel = Kernel::open(kernels, index, None, self.stop)?;
            let header = kernel.header()?;
            let group = Some(header_key(header));
            on_header(header);
            place.post(group);
            if place.rank() > self.reuse.verify {
                return Ok(Found { group, own: None });
            }
        }
        let mut kernel = Kernel::open(kernels, index, self.reuse.cache, self.stop)?;
        if !by_header {
            on_header(kernel.header()?);
        }
        match self.options.level {
            Level::L0 => self.bounded(&mut kernel, &mut place),
            Level::L1 if self.options.cold => self.alone(&mut kernel, &mut place),
            Level::L1 => self.in_turn(kernels, index, &mut kernel, &mut place, seat),
        }
    }

    /// Says that a kernel is of `content`, and what follows from that.
    fn grouped(&self, place: &mut Place<'_>, content: Key) -> Grouped {
        match self.reuse.dedup {
            // That was said before the kernel was read.
            Dedup::Header => {}
            Dedup::Content => place.post(Some(content)),
            Dedup::Off => place.post(None),
        }
        let group = place.key();
        let rank = group.map_or(0, |_| place.rank());
        Grouped {
            group,
            own: rank <= self.reuse.verify,
            check: rank > 0,
        }
    }

    /// Level 0: a result depends on the content and on nothing else.
    fn bounded(&self, kernel: &mut Kernel<'_>, place: &mut Place<'_>) -> Result<Found, SimulateError> {
        let known = kernel.known().map(|identity| identity.content);
        if self.reuse.dedup == Dedup::Content && known.is_none() {
            let estimate = kernel.bound(self.gpu, self.options, true, self.kept)?;
            let content = kernel.known().unwrap_or_default().content;
            let group = self.grouped(place, content).group;
            let own = Some((estimate, false));
            return Ok(Found { group, own });
        }
        let Grouped { group, own, check } = self.grouped(place, known.unwrap_or_default());
        if !own {
            return Ok(Found { group, own: None });
        }
        let kept = known.map_or(Ok(None), |content| self.kept_result(kernel, content, check))?;
        let own = match kept {
            Some(estimate) => (estimate, true),
            None => (kernel.bound(self.gpu, self.options, false, self.kept)?, false),
        };
        let own = Some(own);
        Ok(Found { group, own })
    }

    /// Level 1 with L2 empty: kernels know nothing of each other.
    fn alone(&self, kernel: &mut Kernel<'_>, place: &mut Place<'_>) -> Result<Found, SimulateError> {
        if self.reuse.dedup == Dedup::Off && self.kept.is_none() {
            place.post(None);
            let own = Some((kernel.simulate(self.gpu, self.options, None)?, false));
            return Ok(Found { group: None, own });
        }
        let (identity, touched) = kernel.identify()?;
        let grouped = self.grouped(place, identity.content);
        let key = Key::of(format!("{} {touched}", identity.content).as_bytes());
        self.timed(kernel, grouped, key, None)
    }

    /// Level 1 after the kernels before: what is shared must have found the same in L2 as well.
    fn in_turn(
        &self,
        kernels: &Kernels,
        index: usize,
        kernel: &mut Kernel<'_>,
        place: &mut Place<'_>,
        seat: Seat<'_>,
    ) -> Result<Found, SimulateError> {
        let (identity, touched) = kernel.identify()?;
        let touches = |index| Kernel::open(kernels, index, None, self.stop)?.touches();
        let (grouped, key, l2) = seat.take(|warm| {
            let before = warm.advance(touched);
            let key = Key::of(format!("{before} {} {touched}", identity.content).as_bytes());
            let known = self.kept.and_then(|kept| kept.cache.warmth(key));
            let warmth = match known {
                Some(warmth) => warmth,
                None => {
                    let lines = kernel.touches()?;
                    let warmth = Key::of(warm.l2(touches)?.warmth(&lines).as_bytes());
                    kernel.keep_touches(lines);
                    warmth
                }
            };
            if let (Some(kept), None) = (self.kept, known) {
                kept.cache.keep_warmth(key, warmth);
            }
            let content = Key::of(format!("{} {warmth}", identity.content).as_bytes());
            let grouped = self.grouped(place, content);
            let kept = self.kept.filter(|_| grouped.own && !grouped.check);
            let must = grouped.own && kept.is_none_or(|kept| kept.cache.result(key, &kept.setup).is_none());
            let l2 = match must {
                true => Some(warm.l2(touches)?.clone()),
                false => None,
            };
            if must || known.is_none() {
                let lines = kernel.touches()?;
                warm.l2(touches)?.touch(&lines);
            } else {
                warm.later(index);
            }
            Ok::<_, SimulateError>((grouped, key, l2))
        })?;
        self.timed(kernel, grouped, key, l2)
    }

    /// The result of a kernel that was grouped: kept under `key`, or simulated.
    fn timed(
        &self,
        kernel: &mut Kernel<'_>,
        grouped: Grouped,
        key: Key,
        l2: Option<L2State>,
    ) -> Result<Found, SimulateError> {
        let Grouped { group, own, check } = grouped;
        if !own {
            return Ok(Found { group, own: None });
        }
        if let Some(estimate) = self.kept_result(kernel, key, check)? {
            let own = Some((estimate, true));
            return Ok(Found { group, own });
        }
        let estimate = kernel.simulate(self.gpu, self.options, l2)?;
        if let Some(kept) = self.kept {
            kept.cache.keep(key, &kept.setup, &estimate);
        }
        let own = Some((estimate, false));
        Ok(Found { group, own })
    }

    /// What an earlier run has kept. A kernel that is to check another is simulated in any case: a kept result
    /// would be compared with itself.
    fn kept_result(
        &self,
        kernel: &mut Kernel<'_>,
        key: Key,
        check: bool,
    ) -> Result<Option<KernelEstimate>, SimulateError> {
        match self.kept.filter(|_| !check) {
            Some(kept) => kernel.kept(kept, key),
            None => Ok(None),
        }
    }
}

/// Where a kernel belongs.
struct Grouped {
    group: Option<Key>,
    /// It needs a result of its own.
    own: bool,
    /// That is to be compared with the group's.
    check: bool,
}
