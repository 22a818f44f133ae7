//! The longest dependency chain of a warp: in-order issue, a ready time for every register, unloaded
//! latencies, no contention.
//!
//! Barriers and waits for asynchronous copies are ignored, so the result is a lower bound; outstanding
//! results, copies and writes are waited for when the warp ends. Predicates that the trace does not list (tracers before 2.0)
//! are covered by letting a branch wait for the warp's last compare.

use cascade_accelsim::trace::{Instr, Reg};

use crate::opcode::{Class, OpInfo};

/// Zero registers are never written and always ready.
const RZ: u8 = 255;
const URZ: u8 = 63;
const PT: u8 = 7;

/// Ready times of one warp's registers, in cycles from the warp's start.
#[derive(Debug)]
pub(super) struct Chain {
    general: [f64; 256],
    uniform: [f64; 256],
    predicates: [f64; 16],
    last_compare: f64,
    next_issue: f64,
    last_result: f64,
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            general: [0.0; 256],
            uniform: [0.0; 256],
            predicates: [0.0; 16],
            last_compare: 0.0,
            next_issue: 0.0,
            last_result: 0.0,
        }
    }
}

impl Chain {
    /// Issues one instruction whose result takes `latency` cycles.
    pub(super) fn issue(&mut self, instr: &Instr, op: &OpInfo, latency: f64) {
        let mut start = self.next_issue;
        for (i, reg) in instr.srcs.as_slice().iter().enumerate() {
            let span = op.src_regs.get(i).copied().unwrap_or(1);
            self.for_each_slot(*reg, span, |ready| start = start.max(*ready));
        }
        for reg in instr.dsts.as_slice() {
            self.for_each_slot(*reg, op.dst_regs, |ready| start = start.max(*ready));
        }
        if op.class == Class::Branch {
            start = start.max(self.last_compare);
        }
        let done = start + latency;
        for reg in instr.dsts.as_slice() {
            self.for_each_slot(*reg, op.dst_regs, |ready| *ready = done);
        }
        if op.sets_predicate {
            self.last_compare = done;
        }
        // A result counts for the end only when it goes somewhere; stores and branches end with their issue.
        let end = if instr.dsts.as_slice().is_empty() && !op.sets_predicate {
            start + 1.0
        } else {
            done
        };
        self.last_result = self.last_result.max(end);
        self.next_issue = start + 1.0;
    }

    /// A copy or a write issues and its data arrives `latency` cycles later, without a register.
    pub(super) fn issue_async(&mut self, instr: &Instr, op: &OpInfo, latency: f64) {
        self.issue(instr, op, 1.0);
        self.last_result = self.last_result.max(self.next_issue - 1.0 + latency);
    }

    /// Cycles from the warp's start until its last instruction issued and its last result arrived.
    pub(super) fn length(&self) -> f64 {
        self.last_result.max(self.next_issue)
    }

    fn for_each_slot(&mut self, reg: Reg, span: u8, mut f: impl FnMut(&mut f64)) {
        let (file, first, zero, span): (&mut [f64], u8, u8, u8) = match reg {
            Reg::R(n) => (&mut self.general, n, RZ, span),
            Reg::UR(n) => (&mut self.uniform, n, URZ, span),
            Reg::P(n) | Reg::UP(n) => (
                &mut self.predicates,
                n & 7 | if matches!(reg, Reg::UP(_)) { 8 } else { 0 },
                PT,
                1,
            ),
        };
        let zero = if matches!(reg, Reg::UP(_)) { zero | 8 } else { zero };
        if first == zero || first == RZ {
            return;
        }
        for slot in file.iter_mut().skip(usize::from(first)).take(usize::from(span)) {
            f(slot);
        }
    }
}
