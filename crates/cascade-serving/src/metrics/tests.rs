//! Numbers worked out by hand.

use super::*;
use crate::request::{Refusal, Request};
use crate::scheduler::SchedulerConfig;
use crate::sim::simulate;
use crate::step_time::Affine;
use crate::workload::List;

/// Two requests at once and one that is refused, 10 ms a step, chunks of 16 tokens.
fn collect(options: MetricsOptions) -> Collector {
    let config = SchedulerConfig {
        num_gpu_blocks: 9,
        block_size: 4,
        max_num_batched_tokens: 16,
        enable_prefix_caching: false,
        ..SchedulerConfig::default()
    };
    let requests = [(0, 16, 3), (0, 8, 2), (5_000_000, 40, 1)];
    let request = |(id, (at, prompt, output)): (usize, &(u64, u32, u32))| {
        Request::new(id as u64, *at, *prompt, *output)
    };
    let mut list = List::new(requests.iter().enumerate().map(request).collect());
    let mut collector = Collector::new(options);
    simulate(
        &config,
        &Affine::constant(10_000_000),
        &mut list,
        &mut collector,
        100,
    )
    .unwrap();
    collector
}

#[test]
fn names_and_formulas_are_those_of_vllm_bench_serve() {
    let slo = Slo {
        ttft_ms: Some(15.0),
        tpot_ms: Some(10.0),
        e2el_ms: None,
    };
    let options = MetricsOptions {
        slo,
        price_per_gpu_hour: Some(3.6),
        keep_requests: 9,
        ..MetricsOptions::default()
    };
    let mut collector = collect(options);
    let report = collector.report();
    // Steps: 16 of a | 1 of a, 8 of b | 1 of a, 1 of b.
    assert_eq!((report.steps, report.duration), (3, 0.03));
    assert_eq!((report.completed, report.refused), (2, 1));
    assert_eq!((report.total_input_tokens, report.total_output_tokens), (24, 5));
    assert!((report.request_throughput - 2.0 / 0.03).abs() < 1e-9);
    assert!((report.output_throughput - 5.0 / 0.03).abs() < 1e-9);
    assert!((report.total_token_throughput - 29.0 / 0.03).abs() < 1e-9);
    assert_eq!(
        (report.ttft.mean, report.ttft.median, report.ttft.std),
        (15.0, 15.0, 5.0)
    );
    assert_eq!((report.tpot.mean, report.tpot.count), (10.0, 2));
    assert_eq!((report.itl.mean, report.itl.count), (10.0, 3));
    assert_eq!((report.e2el.mean, report.e2el.max), (30.0, 30.0));
    assert_eq!((report.queue.min, report.queue.max), (0.0, 10.0));
    assert!((report.request_goodput.unwrap() - 1.0 / 0.03).abs() < 1e-9);
    assert!((report.slo_attainment.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    // A third of a second would cost a third of a thousandth of 1; 5 tokens of it.
    assert!((report.cost_per_million_output_tokens.unwrap() - 3.6 / 3600.0 * 0.03 / 5.0 * 1e6).abs() < 1e-9);
    assert_eq!(
        (
            report.peak_running,
            report.peak_waiting,
            report.max_concurrent_requests
        ),
        (2, 1, 2)
    );
    assert!(
        (report.mean_running - 5.0 / 3.0).abs() < 1e-12 && (report.mean_waiting - 1.0 / 3.0).abs() < 1e-12
    );
    assert_eq!((report.peak_used_blocks, report.preemptions), (8, 0));
    assert!((report.gpu_busy - 1.0).abs() < 1e-12);
    let [given] = report.provenance[..] else {
        panic!("{:?}", report.provenance)
    };
    assert_eq!((given.provenance, given.steps), (Provenance::Given, 3));
    let refused = collector.requests().iter().find_map(|record| record.refusal);
    assert_eq!(
        refused,
        Some(Refusal::KvCapacity {
            needed: 10,
            usable: 8
        })
    );
}

#[test]
fn a_series_is_even_bounded_and_has_both_ends() {
    let mut collector = collect(MetricsOptions {
        series_points: 2,
        ..MetricsOptions::default()
    });
    assert!(collector.series().points().count() <= 2);
    let step = *collector.steps.latest.as_ref().unwrap();
    let mut series = Series::new(100);
    for index in 0..12_345 {
        series.push(&StepRecord { index, ..step });
        let kept: Vec<u64> = series.points().map(|point| point.index).collect();
        assert!(
            kept.len() <= 100 && kept[0] == 0 && kept[kept.len() - 1] == index,
            "{kept:?}"
        );
        let even = kept
            .iter()
            .rev()
            .skip(1)
            .rev()
            .all(|at| at.is_multiple_of(series.stride()));
        assert!(even && (index < 100 || kept.len() >= 49), "{kept:?}");
    }
    assert_eq!(series.total(), 12_345);
    assert_eq!(collector.report(), collector.report());
}

#[test]
fn nothing_comes_to_zeros() {
    let report = Collector::new(MetricsOptions::default()).report();
    assert_eq!(
        (report.duration, report.output_throughput, report.ttft.mean),
        (0.0, 0.0, 0.0)
    );
    assert!(report.request_goodput.is_none() && report.provenance.is_empty());
}
