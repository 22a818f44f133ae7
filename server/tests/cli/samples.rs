//! A replay of a sample, by our own worker.

use super::app::App;

#[test]
fn a_sample_is_replayed_whatever_simulates() {
    let app = App::with_samples();
    let trace = "sample__facebook_opt-125m__h100-e2e";
    let refused = app.run(&["runs", "create", trace, "--gpu", "SM90_H100"]);
    assert_ne!(refused.code, 0);
    assert!(
        refused.stderr.contains("no instruction traces"),
        "{}",
        refused.stderr
    );

    let ask = [
        "runs",
        "create",
        trace,
        "--gpu",
        "SM90_H100",
        "SM90_H200",
        "--replay",
    ];
    let run = app.json(&ask);
    let id = run["id"].as_str().unwrap();
    let watched = app.run(&["runs", "watch", id]);
    assert_eq!(watched.code, 0, "{}{}", watched.stdout, watched.stderr);
    let run = app.json(&["runs", "show", id]);
    assert_eq!(
        (&run["state"], &run["replay"]),
        (&"succeeded".into(), &true.into())
    );
    for sim in run["sims"].as_array().unwrap() {
        assert_eq!(
            (&sim["engine"], &sim["kernels_done"]),
            (&"replay".into(), &31.into())
        );
    }
    // Ingest has looked at the traces by now and left the sample alone.
    let trace = app.json(&["trace", "info", trace]);
    assert_eq!(
        (&trace["state"], &trace["sample"]),
        (&"ready".into(), &true.into())
    );
}
