//! A digest of all that a simulation tells: every record of every request, step and token interval.

use std::fmt::{self, Write};

use cascade_serving::metrics::{Collector, Report};
use cascade_serving::sim::{Record, Sink, StepRecord};

/// FNV-1a (Fowler, Noll and Vo), 64 bits, over the debug form of values: it names every field, and writes a
/// floating-point number with the digits that tell it from its neighbours.
#[derive(Debug, Clone, Copy)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }
}

impl Digest {
    /// The number.
    pub fn value(self) -> u64 {
        self.0
    }

    /// Adds a value.
    pub fn add(&mut self, value: &impl fmt::Debug) {
        write!(self, "{value:?};").expect("a digest takes any text");
    }
}

/// Digests records as they come and hands them on to a collector.
pub struct Listener<'a> {
    digest: &'a mut Digest,
    collector: Collector,
}

impl<'a> Listener<'a> {
    /// Listens for `collector`.
    pub fn new(digest: &'a mut Digest, collector: Collector) -> Self {
        Self { digest, collector }
    }

    /// Digests what the collector came to and returns its report.
    pub fn finish(mut self) -> Report {
        let report = self.collector.report();
        self.digest.add(&report);
        self.digest.add(&self.collector.requests());
        self.collector
            .series()
            .points()
            .for_each(|step| self.digest.add(step));
        report
    }
}

impl Sink for Listener<'_> {
    fn request(&mut self, record: &Record) {
        self.digest.add(record);
        self.collector.request(record);
    }

    fn step(&mut self, step: &StepRecord) {
        self.digest.add(step);
        self.collector.step(step);
    }

    fn inter_token(&mut self, gap_ns: u64, count: u32) {
        self.digest.add(&(gap_ns, count));
        self.collector.inter_token(gap_ns, count);
    }
}

#[cfg(test)]
mod tests;
