//! Seeded random numbers that are the same on every platform.
//!
//! The generator is PCG64 (O'Neill 2014, `rand_pcg`). Logarithms and the like go through `libm`, since those
//! of the platform differ in the last bit.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Pcg64);

impl Random {
    /// The stream `stream` of `seed`: two streams of one seed have nothing to do with each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut bytes = [0; 32];
        let words = [seed, stream, 0, stream ^ 0x5851_f42d_4c95_7f2d];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        let mut rng = Pcg64::from_seed(bytes);
        // Neighbouring seeds start alike; a few draws part them.
        for _ in 0..4 {
            rng.next_u64();
        }
        Self(rng)
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform among the integers `low..=high`. The bias is below 2^-32 for 32-bit spans.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u128::from(high.saturating_sub(low)) + 1;
        low + ((u128::from(self.0.next_u64()) * span) >> 64) as u32
    }

    /// Exponential with mean 1 (inversion).
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.uniform())
    }

    /// Standard normal (Box and Muller 1958; the second value is not kept, so that draws stay independent of
    /// what was drawn before).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Gamma with this shape and scale 1 (Marsaglia and Tsang 2000; shapes below 1 by their boost).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = libm::pow(1.0 - self.uniform(), 1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = 1.0 - self.uniform();
            if libm::log(u) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }
}

#[cfg(test)]
mod tests;
