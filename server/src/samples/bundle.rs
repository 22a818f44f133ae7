//! The bundled files and what they are about.

use std::io::{self, Read as _};

use cascade_api::{GpuName, TraceId};
use flate2::read::GzDecoder;

/// A sample as it lies in this program.
#[derive(Debug)]
pub struct Bundle {
    /// The trace's id.
    pub trace: &'static str,
    /// The finished run's id.
    pub run: &'static str,
    /// Kernels that were simulated.
    pub kernels: u64,
    /// `metadata.json`.
    pub(super) metadata: &'static [u8],
    /// `corrected_timeline.json`, packed.
    pub(super) timeline: Packed,
    /// `kernel_mapping.json`, packed.
    pub(super) mapping: Packed,
    /// The finished sims.
    pub(super) sims: &'static [Sim],
}

/// A sim of a sample's run.
#[derive(Debug)]
pub(super) struct Sim {
    pub(super) id: &'static str,
    pub(super) gpu: &'static str,
    /// The recorded log, packed.
    pub(super) log: Packed,
    /// `sim_durations.json`, packed.
    pub(super) durations: Packed,
}

/// A gzip file.
#[derive(Clone, Copy)]
pub(super) struct Packed(pub(super) &'static [u8]);

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Packed {
    /// The file's content.
    pub(super) fn unpack(self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        GzDecoder::new(self.0).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Bundle {
    /// Whether there are recorded results for a GPU.
    pub fn has(&self, gpu: &GpuName) -> bool {
        self.sims.iter().any(|sim| sim.gpu == gpu.as_str())
    }

    /// The GPUs there are recorded results for.
    pub fn gpus(&self) -> Vec<String> {
        self.sims.iter().map(|sim| sim.gpu.to_owned()).collect()
    }
}

macro_rules! file {
    ($folder:literal, $($name:literal),+) => {
        include_bytes!(concat!("../../../samples/", $folder, "/", $($name),+))
    };
}

macro_rules! sim {
    ($folder:literal, $id:literal, $gpu:literal) => {
        Sim {
            id: $id,
            gpu: $gpu,
            log: Packed(file!($folder, "accelsim.", $gpu, ".log.gz")),
            durations: Packed(file!($folder, "sim_durations.", $gpu, ".json.gz")),
        }
    };
}

macro_rules! bundle {
    ($folder:literal, $trace:literal, $run:literal, $kernels:literal, $sims:expr) => {
        Bundle {
            trace: $trace,
            run: $run,
            kernels: $kernels,
            metadata: file!($folder, "metadata.json"),
            timeline: Packed(file!($folder, "corrected_timeline.json.gz")),
            mapping: Packed(file!($folder, "kernel_mapping.json.gz")),
            sims: $sims,
        }
    };
}

/// Every sample.
pub(super) static BUNDLES: [Bundle; 2] = [
    bundle!(
        "opt125m-a100-e2e",
        "sample__facebook_opt-125m__a100-e2e",
        "run-sample-opt125m-a100-e2e",
        33,
        &[sim!(
            "opt125m-a100-e2e",
            "sim-sample-opt125m-a100-e2e",
            "SM80_A100"
        )]
    ),
    bundle!(
        "opt125m-h100-e2e",
        "sample__facebook_opt-125m__h100-e2e",
        "run-sample-opt125m-h100-e2e",
        31,
        &[
            sim!("opt125m-h100-e2e", "sim-sample-opt125m-h100-e2e", "SM90_H100"),
            sim!("opt125m-h100-e2e", "sim-sample-opt125m-h200-e2e", "SM90_H200"),
        ]
    ),
];

/// The sample of a trace, if it is one.
pub fn recorded(trace: &TraceId) -> Option<&'static Bundle> {
    BUNDLES.iter().find(|bundle| bundle.trace == trace.as_str())
}
