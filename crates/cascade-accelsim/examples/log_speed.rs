//! Prints how fast the log parser is: `cargo run --release -p cascade-accelsim --example log_speed [MB [file]]`.
//!
//! The log is made in memory: block launches and statistics in about the proportion of a real log of large
//! kernels, then statistics only (many tiny kernels). A file given as second argument is repeated as well.

#![expect(clippy::print_stdout, reason = "a measuring program prints its result")]

use std::fmt::Write as _;
use std::time::Instant;

use cascade_accelsim::log::{LogEvent, Parser};

/// One kernel's part of a log with `ctas` block launches.
fn kernel(uid: usize, ctas: usize) -> Result<String, std::fmt::Error> {
    let mut text = format!("launching kernel name: _Z4gemmPfS_S_i uid: {uid} cuda_stream_id: 0\n");
    for cta in 0..ctas {
        writeln!(text, "thread block = {},{},0", cta % 128, cta / 128)?;
    }
    write!(
        text,
        "Destroy streams for kernel {uid}: size 0\nkernel_name = _Z4gemmPfS_S_i \nkernel_launch_uid = {uid} \n\
         gpu_sim_cycle = 6980\ngpu_sim_insn = 801056\ngpu_ipc =     114.7645\ngpu_tot_sim_cycle = 6980\n"
    )?;
    for core in 0..80 {
        writeln!(
            text,
            "\tL1D_cache_core[{core}]: Access = 480, Miss = 480, Miss_rate = 1.000, Pending_hits = 0, \
             Reservation_fails = 459"
        )?;
    }
    for kind in [
        "GLOBAL_ACC_R",
        "LOCAL_ACC_R",
        "CONST_ACC_R",
        "GLOBAL_ACC_W",
        "INST_ACC_R",
        "L1_WRBK_ACC",
    ] {
        for status in [
            "HIT",
            "HIT_RESERVED",
            "MISS",
            "RESERVATION_FAIL",
            "SECTOR_MISS",
            "MSHR_HIT",
        ] {
            writeln!(
                text,
                "\tTotal_core_cache_stats_breakdown[{kind}][{status}] = 9374"
            )?;
        }
    }
    for channel in 0..32 {
        write!(
            text,
            "Memory Partition {channel}: \nCache L2_bank_000:\nMSHR contents\n\nIn Dram Latency Queue (total = 0): \n\
             DRAM[{channel}]: 16 bks, busW=2 BL=16 CL=24, tRRD=12 tCCD=4, tRCD=24 tRAS=55 tRP=24 tRC=78\n\
             n_cmd=21582 n_nop=20784 n_act=14 n_pre=0 n_ref_event=0 n_req=784 n_rd=784 n_rd_L2_A=0 n_write=0\n\
             bk0: 64a 20764i bk1: 64a 20587i bk2: 64a 20270i bk3: 64a 20276i bk4: 64a 20555i bk5: 64a 20725i\n"
        )?;
        for key in [
            "bwutil",
            "total_CMD",
            "util_bw",
            "Wasted_Col",
            "Wasted_Row",
            "Idle",
            "RCDc_limit",
            "WTRc_limit",
        ] {
            writeln!(text, "{key} = 21582.25 ")?;
        }
        // With these tables a block has about 44 bytes a key, as a real one.
        for _ in 0..5 {
            writeln!(text, "dram[{channel}]: {}", "     64917".repeat(16))?;
        }
    }
    text.push_str("gpgpu_simulation_rate = 49092 (inst/sec)\ngpgpu_silicon_slowdown = 143563x\n");
    Ok(text)
}

/// CPU time of this process: fields 14 and 15 of `/proc/self/stat`, in hundredths; NaN where there is none.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat
        .split(' ')
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok());
    ticks.fold(
        f64::NAN,
        |sum, ticks| if sum.is_nan() { ticks } else { sum + ticks },
    ) / 100.0
}

fn main() -> Result<(), std::fmt::Error> {
    let megabytes: usize = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(2_000);
    let mut logs = vec![
        (
            "large kernels (16,384 blocks each)",
            kernel(1, 16_384)?.into_bytes(),
        ),
        ("statistics only", kernel(1, 0)?.into_bytes()),
    ];
    if let Some(file) = std::env::args().nth(2) {
        logs.push(("the file", std::fs::read(file).unwrap_or_default()));
    }
    for (name, text) in logs.iter().filter(|(_, text)| !text.is_empty()) {
        let (mut parser, mut blocks, mut bytes) = (Parser::new(), 0_usize, 0);
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        while bytes < megabytes * 1_000_000 {
            for chunk in text.chunks(64 * 1024) {
                parser.push(chunk, &mut |event| {
                    blocks += usize::from(matches!(event, LogEvent::Kernel(_)))
                });
            }
            bytes += text.len();
        }
        let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu_start);
        let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
        println!(
            "{name}: {:.0} MB/s, {:.0} MB per CPU second, {blocks} blocks",
            rate(wall),
            rate(cpu)
        );
    }
    if let Some(peak) = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            status
                .lines()
                .find(|line| line.starts_with("VmHWM"))
                .map(str::to_owned)
        })
    {
        println!("{peak}");
    }
    Ok(())
}
