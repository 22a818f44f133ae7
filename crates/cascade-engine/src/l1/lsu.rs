//! Memory instructions of one SM: the shared load/store path, L1, requests to L2 and their replies.

use super::caches::NEVER;
use super::consts::{ASYNC_COPY_EXTRA, TMA_INTERVAL};
use super::isa::{Op, Static};
use super::sm::{Env, Sm};
use super::stats::Stall;
use super::subcore::occupy;
use super::sync::Remote;
use super::warp::Block;

/// What L2 is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Sectors for registers or shared memory, kept in L1 when `true`.
    Read(bool),
    /// Sectors that an earlier request of the same SM fetches.
    Merged,
    /// Sectors written.
    Write,
    /// Sectors read and written by lanes of which so many hit one word.
    Atomic(u16),
}

/// A request for sectors of one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) time: u32,
    pub(super) token: u32,
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) mask: u8,
}

/// What becomes of an instruction's data.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// The registers that this static instruction writes.
    Registers(u32),
    /// Nothing: writes.
    Write,
    /// Shared memory, in this group of copies.
    Group(u32),
    /// Shared memory, through the tensor memory accelerator.
    Bulk {
        /// The mbarrier's offset.
        offset: u32,
        /// Receiving CTAs of the cluster.
        cta_mask: Option<u16>,
        /// Bytes that the mbarrier counts.
        bytes: u64,
        /// The issuing CTA's slot.
        cta: u32,
    },
    /// L2 only.
    Prefetch,
}

/// An instruction's requests that are under way.
#[derive(Clone, Copy, Debug)]
struct Token {
    warp: usize,
    generation: u32,
    remaining: u32,
    ready: u32,
    level: Stall,
    target: Target,
}

/// Tokens under way, in reusable places.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    places: Vec<Token>,
    free: Vec<u32>,
}

impl Tokens {
    fn add(&mut self, token: Token) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = token;
            return place;
        }
        self.places.push(token);
        self.places.len() as u32 - 1
    }
}

impl Sm {
    /// Sends a memory instruction into the shared path for `occupancy` cycles; when it is there.
    #[inline]
    fn dispatch(&mut self, env: Env<'_>, w: usize, occupancy: f64, time: u32) -> u32 {
        let n = self.subcores.len();
        let shared_free = self.lsu_free.ceil() as u32;
        let at = self.subcores[w % n].dispatch(time, shared_free, env.params.agu_interval);
        occupy(&mut self.lsu_free, at, occupancy);
        at
    }

    /// Shared memory, and instructions that merely pass through the load/store path.
    pub(super) fn shared_access(&mut self, env: Env<'_>, w: usize, inst: &Static, time: u32) {
        let (occupancy, extra) = if inst.op == Op::Shared {
            let warp = &mut self.warps[w];
            let access = warp.image.accesses[warp.access_at];
            warp.access_at += 1;
            (f64::from(access.occupancy), u32::from(access.extra))
        } else {
            (env.params.lsu_interval, 0)
        };
        let at = self.dispatch(env, w, occupancy, time);
        let latency = if inst.op == Op::Shared {
            env.params.shared_latency
        } else {
            inst.latency
        };
        let ready = at + latency + extra;
        self.write(env, w, inst, ready, inst.producer);
        self.warps[w].loads_done = self.warps[w].loads_done.max(ready);
    }

    /// Global and local memory.
    pub(super) fn global_access(&mut self, env: Env<'_>, w: usize, id: u32, time: u32) {
        let inst = env.isa.get(id);
        let warp = &mut self.warps[w];
        let access = warp.image.accesses[warp.access_at];
        warp.access_at += 1;
        let first = warp.line_at;
        warp.line_at += usize::from(access.lines);
        let generation = warp.generation;
        let target = match inst.op {
            Op::AsyncCopy => Target::Group(warp.groups.current()),
            Op::Store => Target::Write,
            _ => Target::Registers(id),
        };
        let at = self.dispatch(env, w, f64::from(access.occupancy), time);
        // The token's place is known only when it is added; nothing else adds one meanwhile.
        let token = self.tokens.add(Token {
            warp: w,
            generation,
            remaining: 0,
            ready: 0,
            level: Stall::L1,
            target,
        });
        let sent = self.outbox.len();
        let mut ready = at + env.params.l1_latency;
        for i in 0..usize::from(access.lines) {
            let packed = self.warps[w].image.lines[first + i];
            let (line, mask) = (packed >> 4, (packed & 0x0f) as u8);
            let time = at + i as u32;
            let mut send = |kind, mask| {
                self.outbox.push(Request {
                    time,
                    token,
                    line,
                    kind,
                    mask,
                })
            };
            match inst.op {
                Op::Store if access.degree > 0 => send(Kind::Atomic(access.degree), mask),
                Op::Atomic => send(Kind::Atomic(access.degree), mask),
                Op::Store => send(Kind::Write, mask),
                _ if inst.bypass_l1 => send(Kind::Read(false), mask),
                _ => {
                    let found = self.l1.load(line, mask);
                    self.counts.l1_sectors += u64::from(mask.count_ones());
                    self.counts.l1_hits += u64::from((mask & !found.missing).count_ones());
                    ready = ready.max(found.ready).max(time + env.params.l1_latency);
                    if found.pending != 0 {
                        send(Kind::Merged, found.pending);
                    }
                    if found.missing != 0 {
                        send(Kind::Read(true), found.missing);
                    }
                }
            }
        }
        let requests = (self.outbox.len() - sent) as u32;
        match target {
            Target::Registers(_) => {
                let time = if requests == 0 { ready } else { NEVER };
                self.write(
                    env,
                    w,
                    inst,
                    time,
                    if requests == 0 { Stall::L1 } else { Stall::L2 },
                );
            }
            Target::Group(_) => self.warps[w].groups.start(),
            _ => self.warps[w].writes_pending += 1,
        }
        if !matches!(target, Target::Write) {
            self.warps[w].loads_pending += 1;
        }
        self.tokens.places[token as usize].remaining = requests;
        self.tokens.places[token as usize].ready = ready;
        if requests == 0 {
            self.complete(env, token);
        }
    }

    /// The tensor memory accelerator.
    pub(super) fn bulk_access(&mut self, env: Env<'_>, w: usize, id: u32, time: u32) {
        let inst = env.isa.get(id);
        let warp = &mut self.warps[w];
        let Some(bulk) = warp.image.bulks.get(warp.bulk_at).copied() else {
            return;
        };
        warp.bulk_at += 1;
        let first = warp.line_at;
        warp.line_at += bulk.lines as usize;
        let (kind, target) = if inst.op == Op::BulkStore {
            warp.groups.start();
            warp.loads_pending += 1;
            (Kind::Write, Target::Group(warp.groups.current()))
        } else if bulk.mbarrier == 0 {
            (Kind::Read(false), Target::Prefetch)
        } else {
            let (offset, _) = super::mbarrier::locate(bulk.mbarrier);
            let (cta_mask, bytes, cta) = (bulk.cta_mask, bulk.bytes, warp.cta as u32);
            (
                Kind::Read(false),
                Target::Bulk {
                    offset,
                    cta_mask,
                    bytes,
                    cta,
                },
            )
        };
        let generation = warp.generation;
        let mut at = time.max(self.tma_free);
        self.tma_free = at + bulk.lines.max(1) * TMA_INTERVAL;
        if env.isa.name(inst.opcode).starts_with("UTMA") && self.descriptors.insert(id) {
            // The first use of a descriptor fetches it; other copies do not wait for that.
            at += env.params.l2_latency;
        }
        let token = self.tokens.add(Token {
            warp: w,
            generation,
            remaining: bulk.lines,
            ready: at + 1,
            level: Stall::L2,
            target,
        });
        for (i, packed) in self.warps[w].image.lines[first..first + bulk.lines as usize]
            .iter()
            .enumerate()
        {
            let (line, mask) = (packed >> 4, (packed & 0x0f) as u8);
            let time = at + i as u32 * TMA_INTERVAL;
            self.outbox.push(Request {
                time,
                token,
                line,
                kind,
                mask,
            });
        }
        if bulk.lines == 0 {
            self.complete(env, token);
        }
    }

    /// A reply from L2: sectors of `request` are there at `time`, from `level`.
    pub(super) fn reply(&mut self, env: Env<'_>, request: &Request, time: u32, level: Stall) {
        if request.kind == Kind::Read(true) {
            self.l1.fill(request.line, request.mask, time);
        }
        let Some(token) = self.tokens.places.get_mut(request.token as usize) else {
            return;
        };
        if time > token.ready {
            (token.ready, token.level) = (time, level);
        }
        token.remaining -= 1;
        if token.remaining == 0 {
            self.complete(env, request.token);
        }
    }

    /// All data of an instruction is there.
    fn complete(&mut self, env: Env<'_>, place: u32) {
        let token = self.tokens.places[place as usize];
        self.tokens.free.push(place);
        let warp = &mut self.warps[token.warp];
        if let Target::Bulk {
            offset,
            cta_mask,
            bytes,
            cta,
        } = token.target
        {
            let time = token.ready;
            return self.remote.push(Remote::Landed {
                time,
                cta,
                generation: token.generation,
                offset,
                cta_mask,
                bytes,
            });
        }
        if warp.generation != token.generation || !warp.live {
            return;
        }
        if matches!(token.target, Target::Registers(_) | Target::Group(_)) {
            warp.loads_pending -= 1;
            warp.loads_done = warp.loads_done.max(token.ready);
            if warp.block == Some(Block::Drain) && warp.loads_pending == 0 {
                let base = warp.since;
                return self.prepare(env, token.warp, base, Stall::NotSelected);
            }
        }
        match token.target {
            Target::Registers(id) => {
                let inst = env.isa.get(id);
                self.write(env, token.warp, inst, token.ready, token.level);
                if self.warps[token.warp].block == Some(Block::Register) {
                    let (base, why) = self.warps[token.warp].base;
                    self.prepare(env, token.warp, base, why);
                }
            }
            Target::Write => {
                warp.writes_pending -= 1;
                warp.writes_done = warp.writes_done.max(token.ready);
                if warp.block == Some(Block::Fence) && warp.writes_pending == 0 {
                    let base = warp.writes_done.max(warp.since);
                    self.prepare(env, token.warp, base, Stall::Fence);
                }
            }
            Target::Group(group) => {
                warp.groups.done(group, token.ready + ASYNC_COPY_EXTRA);
                self.copies_done(env, token.warp);
            }
            Target::Bulk { .. } | Target::Prefetch => {}
        }
    }
}
