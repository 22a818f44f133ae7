//! What lies behind the SMs: their ports, the L2's tags and slices, DRAM. Each is a server that is free again
//! at a known time; requests are served in the order of their times.

use super::caches::{L2, spread};
use super::consts::COALESCER_SM;
use super::lsu::{Kind, Request};
use super::params::Params;
use super::sample::Traffic;
use super::stats::Stall;
use crate::gpu::GpuModel;

/// Bytes of a sector.
const SECTOR: f64 = 32.0;

/// The L2's content, which survives from one kernel to the next.
#[derive(Clone, Debug)]
pub struct L2State {
    pub(super) tags: L2,
}

impl L2State {
    /// An empty L2 of `gpu`'s size.
    pub fn cold(gpu: &GpuModel) -> Self {
        Self {
            tags: L2::new(gpu.chip.l2_size.count()),
        }
    }
}

/// Servers of one kernel's run.
pub(super) struct Memory<'a> {
    l2: &'a mut L2,
    read_ports: Vec<f64>,
    write_ports: Vec<f64>,
    slices: Vec<f64>,
    /// Cycles of work that each SM gave its read port.
    port_work: Vec<f64>,
    dram_free: f64,
    port_cycles: f64,
    slice_cycles: f64,
    dram_cycles: f64,
    atomic_interval: f64,
    coalesces: bool,
    l2_latency: u32,
    dram_latency: u32,
    pub(super) traffic: Traffic,
    /// When the last write was acknowledged.
    pub(super) writes_done: u32,
}

impl<'a> Memory<'a> {
    pub(super) fn new(gpu: &GpuModel, params: &Params, l2: &'a mut L2) -> Self {
        l2.restart_clock();
        let bandwidth = gpu.chip.l2_bandwidth.value;
        let slices = params.l2_slices;
        Self {
            l2,
            read_ports: vec![0.0; params.sms],
            write_ports: vec![0.0; params.sms],
            slices: vec![0.0; slices],
            port_work: vec![0.0; params.sms],
            dram_free: 0.0,
            port_cycles: SECTOR / gpu.sm_core.l2_port.value,
            slice_cycles: SECTOR * slices as f64 / bandwidth,
            dram_cycles: SECTOR / gpu.dram_bytes_per_cycle(),
            atomic_interval: params.atomic_interval,
            coalesces: gpu.sm >= COALESCER_SM,
            l2_latency: params.l2_latency,
            dram_latency: params.dram_latency.max(params.l2_latency),
            traffic: Traffic::default(),
            writes_done: 0,
        }
    }

    /// Cycles for which the busiest SM's port was in use.
    pub(super) fn busiest_port_cycles(&self) -> f64 {
        let ports = self.port_work.iter().copied();
        ports.fold(0.0, f64::max)
    }

    /// Serves a request of SM `sm`: when its reply is there, and from which level it comes.
    pub(super) fn serve(&mut self, sm: usize, request: &Request) -> (u32, Stall) {
        let sectors = request.mask.count_ones();
        let (reads, writes, degree) = match request.kind {
            Kind::Read(_) | Kind::Merged => (true, false, 0),
            Kind::Write => (false, true, 0),
            Kind::Atomic(degree) => (true, true, degree),
        };
        let mut at = f64::from(request.time);
        let ports = if writes {
            &mut self.write_ports
        } else {
            &mut self.read_ports
        };
        if let Some(port) = ports.get_mut(sm) {
            at = queue(port, at, f64::from(sectors) * self.port_cycles);
        }
        if !writes && let Some(work) = self.port_work.get_mut(sm) {
            *work += f64::from(sectors) * self.port_cycles;
        }
        let found = self.l2.access(request.line, request.mask, reads, writes);
        let slice = spread(request.line, self.slices.len());
        if let Some(slice) = self.slices.get_mut(slice) {
            // Nothing waits at a slice that is free.
            let joins = self.coalesces && !writes && *slice > at;
            if let Some(start) = joins
                .then(|| self.l2.waiting(found.place, request.mask, at))
                .flatten()
            {
                at = start;
                self.traffic.l2_merged += u64::from(sectors);
            } else {
                let work =
                    (f64::from(sectors) * self.slice_cycles).max(f64::from(degree) * self.atomic_interval);
                at = queue(slice, at, work);
                if joins {
                    self.l2.ask(found.place, request.mask, at);
                }
            }
        }
        self.traffic.l2 += u64::from(sectors);
        self.traffic.l2_hits += u64::from(sectors - found.missing.count_ones());
        let written_back = found.written_back.count_ones();
        if written_back > 0 {
            self.traffic.dram_writes += u64::from(written_back);
            queue(
                &mut self.dram_free,
                at,
                f64::from(written_back) * self.dram_cycles,
            );
        }
        let (mut time, mut level) = (at + f64::from(self.l2_latency), Stall::L2);
        // An atomic on one word is done when its last lane is.
        time += f64::from(degree.saturating_sub(1)) * self.atomic_interval;
        if found.missing != 0 {
            let missing = found.missing.count_ones();
            self.traffic.dram_reads += u64::from(missing);
            let at = queue(&mut self.dram_free, at, f64::from(missing) * self.dram_cycles);
            (time, level) = (time.max(at + f64::from(self.dram_latency)), Stall::Dram);
            self.l2.under_way(request.line, time.ceil() as u32);
        }
        if f64::from(found.ready) > time {
            (time, level) = (f64::from(found.ready), Stall::Dram);
        }
        let time = time.ceil() as u32;
        if writes {
            self.writes_done = self.writes_done.max(time);
        }
        (time, level)
    }
}

/// Waits until a server is free and occupies it; when service begins.
fn queue(free: &mut f64, at: f64, work: f64) -> f64 {
    let start = free.max(at);
    *free = start + work;
    start
}
