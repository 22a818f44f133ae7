//! Real configs, where the shared data folder is at hand.

use super::*;
use crate::log::{LogEvent, read_log};
use crate::testdata;

#[test]
fn real_configs_have_the_known_values() {
    let Some(root) = testdata::shared("gpu-configs") else {
        return;
    };
    // SMs, core clock, channels × slices, L2 bytes, L1/shared latency, launch latency; from the files by eye.
    for (name, sms, mhz, slices, l2_kib, l1, smem, launch) in [
        ("SM2_GTX480", 15, 700.0, 12, 768, 35, 26, 0),
        ("SM6_TITANX", 28, 1417.0, 24, 3072, 82, 24, 5000),
        ("SM7_TITANV", 80, 1200.0, 48, 4608, 20, 20, 0),
        ("SM7_QV100", 80, 1132.0, 64, 6144, 20, 20, 5000),
        ("SM75_RTX2060", 30, 1365.0, 24, 3072, 32, 30, 5000),
        ("SM86_RTX3070", 46, 1132.0, 32, 4096, 39, 29, 5000),
        ("SM90_H100.h100-test", 132, 1132.0, 160, 51_200, 20, 20, 5000),
        ("SM90_H100.v2025.values", 132, 1980.0, 80, 51_200, 41, 29, 3000),
        ("SM90_H200.values", 132, 1455.0, 96, 61_440, 41, 29, 5000),
    ] {
        let text = std::fs::read(root.join(name).join("gpgpusim.config")).expect(name);
        let trace = std::fs::read(root.join(name).join("trace.config")).unwrap_or_default();
        let sources = [
            Source {
                name: "gpgpusim.config",
                text: &text,
            },
            Source {
                name: "trace.config",
                text: &trace,
            },
        ];
        let config = Config::read(&sources, &mut |file| Err(file.to_owned()));
        assert!(
            config
                .problems
                .iter()
                .all(|problem| problem.severity == Severity::Note),
            "{name}: {:?}",
            config.problems
        );
        let gpu = GpuConfig::new(&config).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((gpu.sms(), gpu.clocks.core_mhz), (sms, mhz), "{name}");
        assert_eq!(
            (gpu.n_mem * gpu.sub_partitions, gpu.l2_bytes() / 1024),
            (slices, l2_kib),
            "{name}"
        );
        assert_eq!(
            (gpu.l1_latency, gpu.smem_latency, gpu.kernel_launch_latency),
            (l1, smem, launch),
            "{name}"
        );
        println!("{name} {}: {:?}", config.hash(), check(&gpu));
    }
    let orin = std::fs::read(root.join("SM87_ORIN.values/gpgpusim.config")).expect("ORIN");
    let orin = Config::read(
        &[Source {
            name: "orin",
            text: &orin,
        }],
        &mut |file| Err(file.to_owned()),
    );
    assert_eq!(
        (orin.value("-gpgpu_n_mem"), orin.value("-gpgpu_scheduler")),
        (Some("16"), Some("lrr"))
    );
    assert_eq!(
        orin.problems
            .iter()
            .filter(|problem| problem.text.contains("replaces"))
            .count(),
        5
    );
}

#[test]
fn a_logs_echo_agrees_with_its_config() {
    let (Some(configs), Some(logs)) = (testdata::shared("gpu-configs"), testdata::shared("accelsim-logs"))
    else {
        return;
    };
    let mut echoed = None;
    let log = std::fs::File::open(logs.join("good/gemmtile-v5-b86__SM86_RTX3070.log")).expect("log");
    read_log(log, |event| {
        if let LogEvent::Options { options } = event {
            echoed = Some(Config::from_log(&options));
        }
    })
    .expect("log");
    let echoed = GpuConfig::new(&echoed.expect("options")).expect("the log's options");
    let [text, trace] = ["gpgpusim.config", "trace.config"]
        .map(|file| std::fs::read(configs.join("SM86_RTX3070").join(file)).expect(file));
    let sources = [
        Source {
            name: "gpgpusim.config",
            text: &text,
        },
        Source {
            name: "trace.config",
            text: &trace,
        },
    ];
    let config = Config::read(&sources, &mut |file| Err(file.to_owned()));
    // Also shows that the defaults here are the simulator's.
    assert_eq!(GpuConfig::new(&config).expect("config"), echoed);
}
