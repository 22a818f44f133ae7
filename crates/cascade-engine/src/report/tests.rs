//! What the log says must come out of the log parser unchanged.

use cascade_accelsim::log::{Ending, LogEvent, Parser, StatValue};
use cascade_accelsim::trace::KernelHeader;

use super::*;
use crate::engine::Engine;
use crate::testing::{Synthetic, gpu};

fn run(kernels: u64, fail: Option<&str>) -> (Vec<u8>, Vec<KernelEstimate>) {
    let model = gpu("SM80_A100");
    let mut log =
        LogWriter::new(Vec::new(), &model, &Options::default(), "t/kernelslist.g").expect("in memory");
    log.memcpy("MemcpyHtoD,0x00007fb0fc400000,200000")
        .expect("in memory");
    let mut estimates = Vec::new();
    for uid in 1..=kernels {
        let mut source = Synthetic::chain("FFMA", 1000, 80);
        source.header = KernelHeader {
            name: format!("_Z6kernel{uid}"),
            stream_id: 7,
            ..source.header
        };
        log.kernel_started("t/kernel-1.traceg", &source.header, uid)
            .expect("in memory");
        let estimate = Engine::simulate_kernel(&mut source, &model, &Options::default()).expect("simulates");
        let origin = Origin {
            same_as: (uid > 1).then_some(1),
            cached: uid > 1,
        };
        log.kernel_finished(&estimate, uid, origin, 0.25 * uid as f64)
            .expect("in memory");
        estimates.push(estimate);
    }
    let bytes = match fail {
        Some(reason) => log.fail(reason),
        None => log.finish(),
    };
    (bytes.expect("in memory"), estimates)
}

#[test]
fn the_parser_gives_back_what_was_written() {
    let (bytes, estimates) = run(2, None);
    let mut parser = Parser::new();
    let mut events = Vec::new();
    let mut sink = |event| events.push(event);
    parser.push(&bytes, &mut sink);
    let summary = parser.finish(&mut sink);
    assert_eq!(
        (&summary.ending, summary.kernels_finished, summary.warnings.len()),
        (&Ending::Complete, 2, 0)
    );
    let total: u64 = estimates.iter().map(|estimate| estimate.cycles).sum();
    assert_eq!(summary.totals.gpu_tot_sim_cycle, Some(total as f64));
    let banner = events.iter().find_map(|event| {
        if let LogEvent::Banner(banner) = event {
            Some(banner)
        } else {
            None
        }
    });
    let banner = banner.expect("a banner");
    assert_eq!(
        (banner.name.as_str(), banner.version.as_deref()),
        (SIMULATOR, Some(env!("CARGO_PKG_VERSION")))
    );
    let options = events.iter().find_map(|event| {
        if let LogEvent::Options { options } = event {
            Some(options)
        } else {
            None
        }
    });
    let options = options.expect("options");
    assert_eq!(
        options.get("-gpgpu_clock_domains").map(String::as_str),
        Some("1410:1410:1410:1215")
    );
    assert_eq!(
        options.get("-cascade_engine_chip.sms").map(String::as_str),
        Some("108")
    );
    let blocks: Vec<_> = events
        .iter()
        .filter_map(|event| {
            if let LogEvent::Kernel(block) = event {
                Some(block)
            } else {
                None
            }
        })
        .collect();
    for (block, estimate) in blocks.iter().zip(&estimates) {
        assert_eq!(block.names, std::slice::from_ref(&estimate.name));
        assert_eq!(
            (block.gpu_sim_cycle, block.gpu_sim_insn),
            (Some(estimate.cycles), Some(estimate.thread_insts))
        );
        assert_eq!((block.stream, block.complete), (Some(7), true));
        assert_eq!(block.finished_name.as_ref(), Some(&estimate.name));
        // Every statistic of the engine comes back as it was.
        for (name, value) in kernel_stats(estimate) {
            let parsed = block.stats.get(&format!("cascade_engine_{name}"));
            let same = match parsed {
                Some(StatValue::Number(number)) => value.parse() == Ok(*number),
                Some(StatValue::Text(text)) => *text == value,
                None => false,
            };
            assert!(same, "{name} = {value} came back as {parsed:?}");
        }
    }
    let text = String::from_utf8(bytes).expect("text");
    assert!(
        text.contains("cascade_provenance = exact\ncascade_cached = 0\n"),
        "{text}"
    );
    assert!(
        text.contains("cascade_provenance = dedup:1\ncascade_cached = 1\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "cascade_engine_status = unvalidated\ncascade_engine_status_note = No figure of this GPU was"
        ),
        "{text}"
    );
    assert!(
        text.contains("cascade_engine_winning_bound = latency\n"),
        "{text}"
    );
    assert!(text.contains("gpgpu_simulation_time = 0 days, 0 hrs, 0 min, 1 sec (1 sec)\n"));
    assert!(text.ends_with("GPGPU-Sim: *** exit detected ***\n"));
}

#[test]
fn a_run_that_stopped_keeps_its_kernels_and_has_no_exit_line() {
    let (bytes, _) = run(1, Some("kernel `k` cannot\nrun"));
    let mut parser = Parser::new();
    parser.push(&bytes, &mut |_| {});
    let summary = parser.finish(&mut |_| {});
    assert!(!summary.exit_seen && summary.kernels_finished == 1);
    assert!(
        matches!(&summary.ending, Ending::Failed(failure) if failure.excerpt.contains("kernel `k` cannot run")),
        "{summary:?}"
    );
    assert!(
        String::from_utf8(bytes)
            .expect("text")
            .ends_with("Cascade engine: ERROR: kernel `k` cannot run\n")
    );
}
