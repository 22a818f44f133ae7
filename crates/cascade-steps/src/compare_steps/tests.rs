//! Tests of the comparison of timelines against the published example.

use super::*;
use crate::simulate;

#[test]
fn the_published_errors_come_out() {
    let (mut real, times) = crate::simulate::tests::example();
    let mut warmup = real.steps[0].clone();
    (warmup.repeat, warmup.warmup) = (-1, true);
    real.steps.insert(0, warmup);
    let comparison = compare_steps(&real, &simulate(&real, &times).unwrap()).unwrap();
    let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-6, "{a:?} {b}");
    assert_eq!(comparison.steps.len(), 4);
    near(comparison.steps[0].wall_ns.error, 7_260.692579505034);
    near(comparison.steps[0].wall_ns.error_pct, 0.1117029627616159);
    near(comparison.steps[1].gpu_busy_ns.error_pct, 6.3050481966246);
    let wall = comparison.summary.wall_ns;
    assert_eq!(wall.count, 4);
    near(wall.mean_error, 10_717.916961130686);
    near(wall.mean_abs_error, 10_717.916961130686);
    near(wall.p50_abs_error, 3_630.346289752517);
    near(wall.p95_abs_error, 31_358.4328621908);
    near(wall.mean_error_pct, 0.2137867806957156);
    near(wall.mean_abs_error_pct, 0.2137867806957156);
    near(wall.p50_abs_error_pct, 0.05585148138080795);
    near(wall.p95_abs_error_pct, 0.6486829804323018);
    near(
        comparison.summary.gpu_busy_ns.p95_abs_error_pct,
        5.562165944903556,
    );
    let request = &comparison.requests[0];
    near(request.ttft_ms.error_pct, 0.10836854596280611);
    near(request.itl_ms_mean.error, 0.011870325088339406);
    near(request.e2e_ms.error_pct, 0.1783347248108708);
}

#[test]
fn the_json_has_the_published_shape() {
    let (real, times) = crate::simulate::tests::example();
    let comparison = compare_steps(&real, &simulate(&real, &times).unwrap()).unwrap();
    let json = serde_json::to_value(&comparison).unwrap();
    let keys = |path: &str| {
        let mut keys: Vec<String> = json
            .pointer(path)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(keys(""), "requests steps summary");
    assert_eq!(keys("/steps/0"), "gpu_busy_ns kind repeat step wall_ns");
    assert_eq!(keys("/steps/0/wall_ns"), "error error_pct real simulated");
    assert_eq!(
        keys("/requests/0"),
        "e2e_ms itl_ms_mean itl_ms_p50 repeat ttft_ms"
    );
    assert_eq!(keys("/summary"), "gpu_busy_ns wall_ns");
    assert_eq!(
        keys("/summary/wall_ns"),
        "count mean_abs_error mean_abs_error_pct mean_error mean_error_pct p50_abs_error p50_abs_error_pct \
         p95_abs_error p95_abs_error_pct"
    );
}

#[test]
fn null_is_compared_with_nothing_and_0_has_no_per_cent() {
    assert_eq!(real_sim(None, Some(1.0)).error, None);
    assert_eq!(
        real_sim(Some(0.0), Some(1.0)),
        RealSim {
            real: Some(0.0),
            simulated: Some(1.0),
            error: Some(1.0),
            error_pct: None
        }
    );
    let nothing = compare_steps(&Timeline::default(), &Timeline::default()).unwrap();
    assert_eq!(nothing.summary.wall_ns, ErrorSummary::default());
}

#[test]
fn timelines_of_different_profiles_are_refused() {
    let (real, times) = crate::simulate::tests::example();
    let simulated = simulate(&real, &times).unwrap();
    let mut short = real.clone();
    short.steps.pop();
    let error = compare_steps(&short, &simulated).unwrap_err().to_string();
    assert!(error.starts_with("repeat 0, step 3 is only in the simulated timeline"));
    short.requests.clear();
    short.steps = real.steps.clone();
    let error = compare_steps(&real, &short).unwrap_err().to_string();
    assert!(error.starts_with("the request of repeat 0 is only in the measured timeline"));
}
