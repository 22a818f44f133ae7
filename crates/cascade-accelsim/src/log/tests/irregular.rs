//! One test for each irregularity of real logs.

use super::*;

/// The statistics of a block with these lines.
fn stats(lines: &str) -> Stats {
    let (events, _) = read(format!("kernel_name = k \n{lines}\n").as_bytes());
    blocks(&events)[0].stats.clone()
}

fn pairs(stats: &Stats) -> Vec<(&str, String)> {
    let shown = |value: &StatValue| match value {
        StatValue::Number(number) => number.to_string(),
        StatValue::Text(text) => format!("'{text}'"),
    };
    stats
        .iter()
        .skip(1)
        .map(|(key, value)| (key.as_str(), shown(value)))
        .collect()
}

#[track_caller]
fn check(lines: &str, expected: &[(&str, &str)]) {
    let stats = stats(lines);
    let pairs = pairs(&stats);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (*key, value.as_str())).collect();
    assert_eq!(pairs, expected);
}

#[test]
fn repeated_keys_are_told_apart_by_unit_section_and_index() {
    check(
        "gpgpu_simulation_rate = 9 (inst/sec)\ngpgpu_simulation_rate = 9 (cycle/sec)",
        &[
            ("gpgpu_simulation_rate", "9"),
            ("gpgpu_simulation_rate (cycle/sec)", "9"),
        ],
    );
    check(
        "Memory Partition 0: \nbwutil = 0.5 \nn_nop = 1\nMemory Partition 11: \nbwutil = 0.25 \n========= L2 cache stats =========\nbwutil = 3",
        &[
            ("DRAM[0]: bwutil", "0.5"),
            ("DRAM[0]: n_nop", "1"),
            ("DRAM[11]: bwutil", "0.25"),
            ("bwutil", "3"),
        ],
    );
    check(
        "min_bank_accesses = 0!\nmin_bank_accesses = 4!\nmin_bank_accesses = 4!\nmin_bank_accesses = 7!",
        &[
            ("min_bank_accesses", "0"),
            ("min_bank_accesses #2", "4"),
            ("min_bank_accesses #3", "4"),
            ("min_bank_accesses #4", "7"),
        ],
    );
    check(
        "Packet latency average = 11.5\n\tminimum = 6\n\tmaximum = 36\nFlit latency average = 2\n\tminimum = 1",
        &[
            ("Packet latency average", "11.5"),
            ("Packet latency average: minimum", "6"),
            ("Packet latency average: maximum", "36"),
            ("Flit latency average", "2"),
            ("Flit latency average: minimum", "1"),
        ],
    );
}

#[test]
fn several_pairs_in_a_line_blanks_and_units() {
    check(
        "\tL1D_cache_core[0]: Access = 4, Miss = 3, Miss_rate = 0.750",
        &[
            ("L1D_cache_core[0]: Access", "4"),
            ("L1D_cache_core[0]: Miss", "3"),
            ("L1D_cache_core[0]: Miss_rate", "0.75"),
        ],
    );
    check(
        "DRAM[2]: 16 bks, busW=2 BL=16 CL=24, tRRD=12 tCCD=4, tRCD=24\nn_cmd=7 n_nop=6 bw_util=0.1453\nmrqq: max=3 avg=1",
        &[
            ("DRAM[2]: busW", "2"),
            ("DRAM[2]: BL", "16"),
            ("DRAM[2]: CL", "24"),
            ("DRAM[2]: tRRD", "12"),
            ("DRAM[2]: tCCD", "4"),
            ("DRAM[2]: tRCD", "24"),
            ("n_cmd", "7"),
            ("n_nop", "6"),
            ("bw_util", "0.1453"),
            ("mrqq: max", "3"),
            ("mrqq: avg", "1"),
        ],
    );
    check(
        "gpgpu_n_load_insn  = 200\nL2_BW  =      97.3 GB/Sec\ngpu_total_sim_rate=88\ngpu_occupancy = 1.5625% \n\
         Hops average = 1 (1 samples)\nicnt_total_pkts=22\nIn Dram Latency Queue (total = 0): ",
        &[
            ("gpgpu_n_load_insn", "200"),
            ("L2_BW", "97.3"),
            ("gpu_total_sim_rate", "88"),
            ("gpu_occupancy", "1.5625"),
            ("Hops average", "1"),
            ("icnt_total_pkts", "22"),
            ("In Dram Latency Queue total", "0"),
        ],
    );
    check(
        "average row locality = 768/40 = 19.2\nchip skew: 64/8 = 8.00\ntraffic_breakdown_coretomem[GLOBAL_ACC_R] = 8192 {8:1024,}",
        &[
            ("average row locality", "19.2"),
            ("average row locality (fraction)", "'768/40'"),
            ("chip skew", "8"),
            ("chip skew (fraction)", "'64/8'"),
            ("traffic_breakdown_coretomem[GLOBAL_ACC_R]", "8192"),
            ("traffic_breakdown_coretomem[GLOBAL_ACC_R] (sizes)", "'{8:1024,}'"),
        ],
    );
}

#[test]
fn what_json_lacks_stays_text() {
    check(
        "a = nan\nb = -nan\nc = inf\nd = none\ne = Nan\nf = 1e999\ngpu_occupancy = -nan% \ng = 0x10",
        &[
            ("a", "'nan'"),
            ("b", "'-nan'"),
            ("c", "'inf'"),
            ("d", "'none'"),
            ("e", "'Nan'"),
            ("f", "'1e999'"),
            ("gpu_occupancy", "'-nan%'"),
            ("g", "'0x10'"),
        ],
    );
    let json = serde_json::to_string(&stats("a = nan\nb = 1.5")).unwrap();
    assert_eq!(json, r#"{"kernel_name":"k","a":"nan","b":1.5}"#);
}

#[test]
fn unknown_keys_and_requests_in_flight() {
    // Keys are a map, so a version's new ones come through; lists of requests are no statistics.
    check(
        "LRC_hits[chiplet 1] = 3\n  mf: uid=    72, sid06:w00, part=7, store, size=32\nMSHR: tag=0x5f, atomic=0 1 entries",
        &[("LRC_hits[chiplet 1]", "3")],
    );
}

#[test]
fn concurrent_kernels_say_which_finished() {
    let text = "Header info loaded for kernel command : a\nHeader info loaded for kernel command : b\n\
        launching kernel name: first uid: 1\nlaunching kernel name: second uid: 2\n\
        Destroy streams for kernel 2: size 0\nkernel_name = first second \nkernel_launch_uid = 1 2 \n\
        kernel_stream_id = 18446744073709551615\ngpu_sim_cycle = 9\ngpgpu_silicon_slowdown = 1x\n\
        Destroy streams for kernel 1: size 0\nkernel_name = \nkernel_launch_uid = \ngpu_sim_cycle = 1\n\
        gpgpu_sim::update_stats() last_streamID=0, last_uid=1, start_cycle=3, end_cycle=9, sim cycle for this kernel is 7\n\
        gpgpu_silicon_slowdown = 1x\nGPGPU-Sim: *** exit detected ***\n";
    let (events, summary) = read(text.as_bytes());
    let blocks = blocks(&events);
    assert_eq!(
        (blocks[0].names.as_slice(), blocks[0].uids.as_slice()),
        (&["first".to_owned(), "second".to_owned()][..], &[1, 2][..])
    );
    assert_eq!(
        (
            blocks[0].finished_uid,
            blocks[0].finished_name.as_deref(),
            blocks[0].stream
        ),
        (Some(2), Some("second"), None)
    );
    assert!(blocks[1].names.is_empty() && blocks[1].uids.is_empty() && blocks[1].overlaps());
    assert_eq!(
        (blocks[1].finished_name.as_deref(), blocks[1].own_cycles),
        (Some("first"), Some((3, 9)))
    );
    assert!(summary.cycles_since_last_block);
    assert_eq!(
        (summary.ending, summary.kernels_launched, summary.headers_loaded),
        (Ending::Complete, 2, 2)
    );
}

#[test]
fn the_error_stream_glued_into_a_block_is_no_statistic() {
    let text = "kernel_name = k \ngpu_sim_cycle = 7\ngpu_sim_insn = 1a.out: x.cc:1: void f(): Assertion `a == b' failed.\n";
    let (events, summary) = read(text.as_bytes());
    let keys: Vec<_> = blocks(&events)[0].stats.keys().cloned().collect();
    assert_eq!(keys, ["kernel_name", "gpu_sim_cycle"]);
    assert!(matches!(summary.ending, Ending::Failed(failure) if failure.kind == FailureKind::Assertion));
}

#[test]
fn a_demangled_name_is_one_name() {
    let (events, summary) =
        read(b"kernel_name = void f<int, 2>(float*) \nkernel_launch_uid = 4 \ngpgpu_silicon_slowdown = 1x\n");
    assert_eq!(blocks(&events)[0].names, ["void f<int, 2>(float*)"]);
    assert!(!summary.cycles_since_last_block);
}

#[test]
fn a_cut_block_is_kept_and_its_cut_number_is_not() {
    let (events, summary) = read(b"kernel_name = k \ngpu_sim_cycle = 1282\ngpu_tot_sim_cycle = 12");
    let block = blocks(&events)[0];
    assert_eq!(
        (
            block.gpu_sim_cycle,
            block.totals.gpu_tot_sim_cycle,
            block.complete
        ),
        (Some(1282), None, false)
    );
    assert_eq!((summary.ending, summary.lines), (Ending::CutOff, 3));
    assert_eq!(
        (
            summary.warnings[0].line,
            summary.warnings[0].text.contains("stops inside")
        ),
        (3, true)
    );
    // A block ends at the next marker, also where its own end is missing.
    let (events, _) = read(b"kernel_name = a \nx = 1\nkernel_name = b \nx = 2\nProcessing kernel f\nx = 3\n");
    assert_eq!(
        blocks(&events)
            .iter()
            .map(|block| (block.stats["x"].number(), block.complete))
            .collect::<Vec<_>>(),
        [(Some(1.0), true), (Some(2.0), true)]
    );
}

#[test]
fn banners_glued_or_missing() {
    let (events, _) = read(b"Accel-Sim [build accelsim-commit-6402eab_modified_0.0_26-09-16]GPGPU-Sim: Configuration options:\n-a 1 # x\n\n");
    assert!(
        matches!(&events[0], LogEvent::Banner(banner) if banner.commit.as_deref() == Some("6402eab")),
        "{events:?}"
    );
    assert!(
        matches!(&events[1], LogEvent::Options { options } if options["-a"] == "1"),
        "{events:?}"
    );
    let (events, summary) = read(b"launching kernel name: k uid: 1\nkernel_name = k\ngpu_sim_cycle = 1\ngpgpu_silicon_slowdown = Nan\n");
    assert_eq!((blocks(&events).len(), summary.mode), (1, Mode::Trace));
}

#[test]
fn no_simulator_launcher_noise_and_ptx_mode() {
    let noise = "doing: export LD_LIBRARY_PATH=/opt/gpgpu-sim\nGPGPU-Sim version 4.2.0 (build x) configured with AccelWattch.\nPASSED\n";
    assert_eq!(read(noise.as_bytes()).1.ending, Ending::NoSimulator);
    assert_eq!(read(b"").1.ending, Ending::NoSimulator);
    let ptx = "GPGPU-Sim PTX: pushing kernel '_Z1kv' to stream 3, gridDim= (1,1,1) blockDim = (16,1,1) \n\
        frame progress: 1\nkernel_name = _Z1kv \nkernel_launch_uid = 1 \ngpu_sim_cycle = 4\ngpgpu_silicon_slowdown = 1x\n\
        checksum = 0x42 \u{ff}\nPASSED GPGPU-Sim: *** exit detected ***\n";
    let bytes: Vec<u8> = ptx.chars().map(|letter| letter as u8).collect();
    let (events, summary) = read(&bytes);
    assert_eq!(
        events[0],
        LogEvent::KernelLaunched(KernelLaunched {
            name: "_Z1kv".to_owned(),
            uid: 1,
            stream: Some(3)
        })
    );
    assert_eq!(
        (summary.mode, summary.ending, summary.kernels_finished),
        (Mode::Ptx, Ending::Complete, 1)
    );
    let (events, _) = read(b"kernel_name = \xff\xfe \nkernel_launch_uid = 1 \n");
    assert_eq!(blocks(&events)[0].names, ["\u{fffd}\u{fffd}"]);
}

#[test]
fn endless_lines_keys_and_dumps_are_bounded() {
    let mut parser = Parser::new();
    let mut events = Vec::new();
    let mut sink = |event| events.push(event);
    parser.push(b"kernel_name = k\nx = 1\nper_warp = ", &mut sink);
    for _ in 0..12 {
        parser.push(&vec![b'7'; 1 << 20], &mut sink);
    }
    parser.push(b"\ny = 2\n", &mut sink);
    for key in 0..(MAX_KEYS_PER_BLOCK + 10) {
        parser.push_line(format!("key{key} = 1").as_bytes(), &mut sink);
    }
    let summary = parser.finish(&mut sink);
    let block = blocks(&events)[0];
    assert_eq!(
        (block.stats["x"].number(), block.stats["y"].number()),
        (Some(1.0), Some(2.0))
    );
    assert_eq!(
        (block.stats.len(), block.dropped_keys, summary.truncated_lines),
        (MAX_KEYS_PER_BLOCK, 14, 1)
    );
    assert_eq!(
        summary.warnings.iter().map(|note| note.line).collect::<Vec<_>>(),
        [3, summary.lines]
    );
}

#[test]
fn time_rate_and_speed_after_a_block_belong_to_it() {
    let (events, summary) = read(
        b"kernel_name = k \ngpgpu_simulation_time = 0 days, 0 hrs, 0 min, 1 sec (1 sec)\ngpgpu_simulation_rate = 88 (inst/sec)\n\
          gpgpu_silicon_slowdown = 1711840x\n",
    );
    let block = blocks(&events)[0];
    assert_eq!(
        block.stats["gpgpu_simulation_time"],
        StatValue::Text("0 days, 0 hrs, 0 min, 1 sec (1 sec)".to_owned())
    );
    assert_eq!(
        (
            block.stats["gpgpu_silicon_slowdown"].number(),
            summary.totals.sim_rate_ips
        ),
        (Some(1_711_840.0), Some(88.0))
    );
}

#[test]
fn differences_of_cumulative_counters() {
    let (first, second) = (
        stats("gpgpu_n_tot_w_icount = 960\ngpu_ipc = 2"),
        stats("gpgpu_n_tot_w_icount = 1792\ngpu_ipc = 3\nL2_total_cache_misses = 4"),
    );
    let added = per_block(Some(&first), &second);
    assert_eq!(
        added.into_iter().collect::<Vec<_>>(),
        [
            ("gpgpu_n_tot_w_icount".to_owned(), 832.0),
            ("L2_total_cache_misses".to_owned(), 4.0)
        ]
    );
    assert_eq!(per_block(None, &first)["gpgpu_n_tot_w_icount"], 960.0);
}

fn is_send<T: Send>(_: &T) {}

#[test]
fn the_parser_is_send_and_small() {
    let parser = Parser::new();
    is_send(&parser);
    assert!(size_of::<Parser>() < 1024);
}
