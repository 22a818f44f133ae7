//! The catalogue of GPUs from facts and checkouts.

use std::fs;

use cascade_api::Engine;
use clap::Parser;

use super::{GpuCatalogue, TESTED_CONFIGS};
use crate::config::ServeArgs;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    serve: ServeArgs,
}

fn read(configs: &[(&str, &str)], built: bool) -> GpuCatalogue {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in configs {
        let config = dir.path().join(TESTED_CONFIGS).join(name);
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("gpgpusim.config"), text).unwrap();
    }
    if built {
        let bin = dir.path().join("gpu-simulator/bin/release");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("accel-sim.out"), "").unwrap();
    }
    let argv = [
        "serve",
        "--token",
        "t",
        "--accelsim-dir",
        dir.path().to_str().unwrap(),
    ];
    let settings = Cli::parse_from(argv).serve.resolve().unwrap();
    GpuCatalogue::read(&settings)
}

#[test]
fn our_gpus_are_there_without_a_checkout() {
    let gpus = read(&[], false);
    let h100 = gpus.get(&"SM90_H100".into()).unwrap();
    assert_eq!((h100.arch.as_str(), h100.core_clock_mhz), ("sm_90", 1980.0));
    assert_eq!(h100.engines, [Engine::Cascade]);
    assert!(gpus.list().is_sorted_by(|a, b| a.name < b.name));
}

#[test]
fn a_checkout_adds_and_overrides_by_name() {
    let configs = [
        ("SM6_TITANX", "-gpgpu_clock_domains 1417.0:1417.0:1417.0:2500.0"),
        ("SM90_H100", "-gpgpu_clock_domains 1132:1132:1132:3500"),
        ("SM90_B", "# no clock"),
        ("H100", "-gpgpu_clock_domains 1:1:1:1"),
    ];
    let gpus = read(&configs, true);
    let titan = gpus.get(&"SM6_TITANX".into()).unwrap();
    assert_eq!((titan.arch.as_str(), titan.core_clock_mhz), ("sm_60", 1417.0));
    assert_eq!(titan.engines, [Engine::AccelSim]);
    let h100 = gpus.get(&"SM90_H100".into()).unwrap();
    assert_eq!(h100.core_clock_mhz, 1132.0);
    assert_eq!(h100.engines, [Engine::AccelSim, Engine::Cascade]);
    assert!(
        h100.notes
            .iter()
            .any(|n| n == "Accel-Sim's config has 1132 MHz core clock, our facts 1980")
    );
    for left_out in ["SM90_B", "H100"] {
        assert!(gpus.get(&left_out.into()).is_none(), "{left_out}");
    }
}

#[test]
fn a_checkout_that_is_not_built_runs_nothing() {
    let gpus = read(&[("SM6_TITANX", "-gpgpu_clock_domains 1417:1:1:1")], false);
    assert_eq!(gpus.get(&"SM6_TITANX".into()).unwrap().engines, []);
}
