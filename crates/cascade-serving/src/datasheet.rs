//! What a GPU can do at most, and how much of it a kernel is assumed to reach.

mod table;

pub use table::{datasheet, datasheets};

use serde::{Deserialize, Serialize};

/// Bytes of a GiB, as CUDA and vLLM count memory.
pub const GIB: f64 = 1_073_741_824.0;

/// The figures of one GPU that the roofline uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Datasheet {
    /// The GPU config's name, such as `SM90_H100`.
    pub gpu: String,
    /// Dense 16-bit tensor arithmetic with 32-bit sums, in TFLOP/s (decimal).
    pub compute_tflops: f64,
    /// Memory bandwidth, in TB/s (decimal).
    pub bandwidth_tbs: f64,
    /// Memory, in GB (decimal).
    pub memory_gb: f64,
    /// Memory that CUDA reports, in GiB, where somebody has read it; less than the datasheet's.
    pub cuda_memory_gib: Option<f64>,
    /// Where the figures come from.
    pub source: String,
}

/// Why a GPU's figures or the assumed efficiencies cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DatasheetError {
    /// A figure that cannot be.
    #[error("{gpu}: {field} is {value}; it must be above 0 and at most {most}")]
    Figure {
        /// The GPU.
        gpu: String,
        /// Which figure.
        field: &'static str,
        /// What it is.
        value: f64,
        /// The largest that is taken.
        most: f64,
    },
    /// A range of efficiencies that is none.
    #[error("{which} efficiency {low}..{assumed}..{high}: give 0 < low <= assumed <= high <= 1")]
    Efficiency {
        /// `compute` or `bandwidth`.
        which: &'static str,
        /// The low end.
        low: f64,
        /// The value used.
        assumed: f64,
        /// The high end.
        high: f64,
    },
}

impl Datasheet {
    /// Checks that every figure is positive and no larger than any GPU's of this decade.
    ///
    /// # Errors
    /// The first figure that cannot be.
    pub fn check(&self) -> Result<(), DatasheetError> {
        let cuda = self.cuda_memory_gib.unwrap_or(1.0);
        let figures = [
            ("compute_tflops", self.compute_tflops, 1e6),
            ("bandwidth_tbs", self.bandwidth_tbs, 1e4),
            ("memory_gb", self.memory_gb, 1e5),
            ("cuda_memory_gib", cuda, 1e5),
        ];
        let bad = figures
            .into_iter()
            .find(|(_, value, most)| !(*value > 0.0 && value <= most));
        match bad {
            None => Ok(()),
            Some((field, value, most)) => Err(DatasheetError::Figure {
                gpu: self.gpu.clone(),
                field,
                value,
                most,
            }),
        }
    }

    /// Memory by the datasheet, in bytes.
    pub fn memory_bytes(&self) -> f64 {
        self.memory_gb * 1e9
    }
}

/// A fraction of a peak that is assumed to be reached, with the range in which it may lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fraction {
    /// The lowest that is plausible; gives the longest times.
    pub low: f64,
    /// What the estimate uses.
    pub assumed: f64,
    /// The highest that is plausible; gives the shortest times.
    pub high: f64,
}

/// Which end of the efficiency ranges a roofline is drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The low ends.
    Low,
    /// The assumed values.
    #[default]
    Assumed,
    /// The high ends.
    High,
}

impl Bound {
    /// All three, from the lowest efficiency to the highest.
    pub const ALL: [Self; 3] = [Self::Low, Self::Assumed, Self::High];
}

impl Fraction {
    /// The value at one end of the range or the assumed one.
    pub fn at(self, bound: Bound) -> f64 {
        match bound {
            Bound::Low => self.low,
            Bound::Assumed => self.assumed,
            Bound::High => self.high,
        }
    }
}

/// How much of the datasheet's peaks kernels are assumed to reach. Nothing here was calibrated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Efficiency {
    /// Fraction of the peak compute.
    pub compute: Fraction,
    /// Fraction of the peak bandwidth.
    pub bandwidth: Fraction,
}

impl Default for Efficiency {
    /// 0.7 of compute within 0.5 to 0.85 and 0.8 of bandwidth within 0.65 to 0.92.
    ///
    /// The assumed values are the product's. The ends are assumptions too: large matrix products reach half
    /// to 85 % of the tensor peak before power limits the clock, streaming kernels two thirds to 92 % of the
    /// memory peak (0.82 fitted best in inference-sim's issue 415).
    fn default() -> Self {
        Self {
            compute: Fraction {
                low: 0.5,
                assumed: 0.7,
                high: 0.85,
            },
            bandwidth: Fraction {
                low: 0.65,
                assumed: 0.8,
                high: 0.92,
            },
        }
    }
}

impl Efficiency {
    /// Checks that both are ranges between 0 and 1.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), DatasheetError> {
        for (which, Fraction { low, assumed, high }) in
            [("compute", self.compute), ("bandwidth", self.bandwidth)]
        {
            if !(low > 0.0 && low <= assumed && assumed <= high && high <= 1.0) {
                return Err(DatasheetError::Efficiency {
                    which,
                    low,
                    assumed,
                    high,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
