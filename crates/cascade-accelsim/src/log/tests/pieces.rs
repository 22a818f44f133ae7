//! Cutting the bytes anywhere gives the same events; no bytes make the parser panic.

use proptest::prelude::*;

use super::*;

/// A short log with most kinds of line.
pub(super) const LOG: &[u8] = b"Accel-Sim [build accelsim-commit-73f9fac_modified_0.0]\n\n\
        *** GPGPU-Sim Simulator Version 4.2.0  [build gpgpu-sim_git-commit-667834cf_modified_0.0] ***\n\
GPGPU-Sim: Configuration options:\n\n-gpgpu_n_mem                           16 # channels\n-name_empty                        # none\n\
DRAM Timing Options:\nHeader info loaded for kernel command : t/kernel-1.traceg\n\
launching kernel name: _Z1kv uid: 1 cuda_stream_id: 7\nthread block = 0,0,0\n\
Destroy streams for kernel 1: size 0\nkernel_name = _Z1kv \nkernel_launch_uid = 1 \nkernel_stream_id = 7\n\
gpu_sim_cycle = 42\ngpu_sim_insn = 84\ngpu_ipc =       2.0000\ngpu_tot_sim_cycle = 42\r\n\
L2_BW  =      97.3066 GB/Sec\n\tL1D_cache_core[0]: Access = 4, Miss = 3, Miss_rate = 0.750\n\
gpgpu_simulation_rate = 100 (inst/sec)\ngpgpu_simulation_rate = 50 (cycle/sec)\ngpgpu_silicon_slowdown = 9x\n\
accel-sim.out: shader.cc:1: void f(): Assertion `x' failed.\nGPGPU-Sim: *** exit detected ***";

#[test]
fn whole_log_is_understood() {
    let (events, summary) = read(LOG);
    let block = blocks(&events)[0].clone();
    assert_eq!(
        (block.gpu_sim_cycle, block.gpu_sim_insn, block.gpu_ipc),
        (Some(42), Some(84), Some(2.0))
    );
    assert_eq!(
        (block.stream, block.finished_uid, block.finished_name.as_deref()),
        (Some(7), Some(1), Some("_Z1kv"))
    );
    assert_eq!(block.totals.sim_rate_ips, Some(100.0));
    assert_eq!(
        block.stats["gpgpu_simulation_rate (cycle/sec)"],
        StatValue::Number(50.0)
    );
    assert_eq!(
        block.stats["L1D_cache_core[0]: Miss_rate"],
        StatValue::Number(0.75)
    );
    assert_eq!(block.stats["L2_BW"], StatValue::Number(97.3066));
    let LogEvent::Options { options } = &events[2] else {
        panic!("{:?}", events[2])
    };
    assert_eq!(
        (options["-gpgpu_n_mem"].as_str(), options["-name_empty"].as_str()),
        ("16", "")
    );
    let LogEvent::Banner(banner) = &events[0] else {
        panic!("{:?}", events[0])
    };
    assert_eq!(
        (banner.name.as_str(), banner.commit.as_deref()),
        ("Accel-Sim", Some("73f9fac"))
    );
    assert!(summary.exit_seen);
}

/// Pieces of real lines, so that random logs reach deep.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "\n",
        "\r\n",
        " = ",
        "=",
        ", ",
        ": ",
        "\t",
        "kernel_name =",
        "gpu_sim_cycle = 1",
        "DRAM[0]: 16 bks, busW=1 BL=2",
        "Memory Partition 3: ",
        "=====",
        "launching kernel name: ",
        " uid: 3",
        "GPGPU-Sim: Configuration options:",
        "-a b # c",
        "[build ",
        "]",
        "Assertion `",
        "deadlock detected",
        "Destroy streams for kernel 9",
        "Killed",
        "1/2 = ",
        "(total = 0): ",
        "gpgpu_silicon_slowdown",
        "{8:1,}",
        "average",
        "minimum = 3",
        "x",
        "nan",
        "GPGPU-Sim PTX: pushing kernel '",
    ]);
    prop_oneof![
        4 => words.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ]
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_events(cuts in prop::collection::vec(0..LOG.len(), 0..12)) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let (mut parser, mut events, mut from) = (Parser::new(), Vec::new(), 0);
        for cut in cuts.into_iter().chain([LOG.len()]) {
            parser.push(&LOG[from..cut], &mut |event| events.push(event));
            from = cut;
        }
        let summary = parser.finish(&mut |event| events.push(event));
        prop_assert_eq!((events, summary), read(LOG));
    }

    #[test]
    fn any_bytes_are_survived_and_cut_alike(pieces in prop::collection::vec(fragment(), 0..60)) {
        let text: Vec<u8> = pieces.concat();
        let (mut parser, mut events) = (Parser::new(), Vec::new());
        for byte in &text {
            parser.push(&[*byte], &mut |event| events.push(event));
        }
        let summary = parser.finish(&mut |event| events.push(event));
        prop_assert_eq!((events, summary), read(&text));
    }

    #[test]
    fn lines_and_bytes_agree(pieces in prop::collection::vec(fragment(), 0..60)) {
        let mut text: Vec<u8> = pieces.concat();
        text.push(b'\n');
        let (mut parser, mut events) = (Parser::new(), Vec::new());
        for line in text.strip_suffix(b"\n").unwrap().split(|&byte| byte == b'\n') {
            parser.push_line(line, &mut |event| events.push(event));
        }
        let summary = parser.finish(&mut |event| events.push(event));
        prop_assert_eq!((events, summary), read(&text));
    }
}
