//! Every published figure of the samples, made again from the committed files.

mod digests;
mod files;
mod groups;
mod predictions;
mod requests;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use cascade_steps::timeline::CORRECTED;
use cascade_steps::{SimDurations, StepComparison, Timeline, compare_steps, simulate};

const H100: &str = "opt125m-h100-e2e";
const A100: &str = "opt125m-a100-e2e";

fn folder(sample: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(sample)
}

/// A committed file, unpacked.
fn committed(sample: &str, name: &str) -> Vec<u8> {
    let path = folder(sample).join(format!("{name}.gz"));
    let packed = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn real(sample: &str) -> Timeline {
    Timeline::parse(CORRECTED, &committed(sample, CORRECTED)).unwrap()
}

fn durations(sample: &str, config: &str) -> SimDurations {
    SimDurations::parse(&committed(sample, &format!("sim_durations.{config}.json"))).unwrap()
}

/// The measured timeline, the simulated one and their comparison.
fn replay(sample: &str, config: &str) -> (Timeline, Timeline, StepComparison) {
    let real = real(sample);
    let simulated = simulate(&real, &durations(sample, config)).unwrap();
    let compared = compare_steps(&real, &simulated).unwrap();
    (real, simulated, compared)
}

/// A value at the precision it was published with.
#[track_caller]
fn rounds(value: impl Into<Option<f64>>, published: &str) {
    let value = value.into().unwrap();
    let decimals = published.split_once('.').map_or(0, |(_, d)| d.len());
    assert_eq!(format!("{value:.decimals$}"), published, "{value}");
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.into_iter().collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values.len() % 2, 1, "a middle one");
    values[values.len() / 2]
}
