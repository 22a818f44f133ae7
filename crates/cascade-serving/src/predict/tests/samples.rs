//! The bundled samples against the predictions that the product publishes for them.

use std::io::Read;
use std::path::Path;

use cascade_steps::timeline::{CORRECTED, Timeline};
use cascade_steps::{SimDurations, simulate};
use serde_json::Value;

use super::*;
use crate::facts::ModelFacts;

/// As [`PUBLISHED`], on an A100.
const A100: [Row; 4] = [
    (6, 32, 8.190, 7.139, 229.340),
    (128, 128, 8.190, 7.139, 914.664),
    (1024, 256, 8.398, 7.139, 1828.637),
    (1800, 200, 9.371, 7.139, 1429.838),
];

fn unpack(path: &Path) -> Vec<u8> {
    let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// The profile of a sample, as the server makes it.
pub(crate) fn sample(name: &str, gpu: &str) -> PerfProfile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(name);
    let real = Timeline::parse(CORRECTED, &unpack(&folder.join("corrected_timeline.json.gz"))).unwrap();
    let durations = unpack(&folder.join(format!("sim_durations.{gpu}.json.gz")));
    let simulated = simulate(&real, &SimDurations::parse(&durations).unwrap()).unwrap();
    let metadata: Value =
        serde_json::from_slice(&std::fs::read(folder.join("metadata.json")).unwrap()).unwrap();
    let config = metadata["model_config"].as_object().unwrap();
    let model = ModelFacts::for_trace(metadata["model"].as_str().unwrap(), Some(config)).unwrap();
    PerfProfile::from_timeline(&simulated, model, datasheet(gpu).unwrap(), Efficiency::default()).unwrap()
}

#[test]
fn all_published_rows_come_out_of_the_bundled_samples() {
    for (name, gpu, rows) in [
        ("opt125m-h100-e2e", "SM90_H100", PUBLISHED),
        ("opt125m-a100-e2e", "SM80_A100", A100),
    ] {
        let profile = sample(name, gpu);
        for row in rows {
            row_comes_out(&profile, row);
        }
    }
}

#[test]
fn a_sample_says_where_its_times_come_from() {
    let profile = sample("opt125m-h100-e2e", "SM90_H200");
    let run = profile.run.as_ref().unwrap();
    assert_eq!((run.prompt_tokens, run.output_tokens, run.repeats), (6, 32, 3));
    assert!(profile.warnings.is_empty(), "{:?}", profile.warnings);
    let said = |part: &str| profile.assumptions.iter().any(|note| note.contains(part));
    assert!(
        said("simulated by") && said("NVIDIA H100 80GB HBM3"),
        "{:?}",
        profile.assumptions
    );
    assert!(said("reconstructed from published statistics"));
    assert!(said("4 x hidden = 3072") && said("OPT's 50272 tokens"));
}
