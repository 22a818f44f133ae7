//! One server: how sims start and end.

use std::collections::BTreeMap;
use std::time::Duration;

use cascade_api::SimState;

use super::{Place, alive, pid, run, signal, sims_in, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_sim_gets_what_the_contract_says_and_none_of_our_secrets() {
    let place = Place::with_sims("environment");
    place.put_ready_trace();
    let running = place.start().await;
    let detail = run(&running.service, 1).await;
    let sims = sims_in(&running.service, &detail, SimState::Succeeded).await;
    assert_eq!((sims[0].exit_code, sims[0].error.as_deref()), (Some(0), None));

    let text = std::fs::read_to_string(place.notes().join("environment")).unwrap();
    let given: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
    let id = sims[0].id.as_str();
    let trace = place.trace("t");
    let token = running.service.scoped_token(&sims[0].id);
    let (cache, gpus) = (
        place.dir.path().join("data/cache"),
        place.dir.path().join("data/gpus"),
    );
    let expected = [
        ("CASCADE_ACCELSIM_DIR", "/opt/accel-sim-framework"),
        ("CASCADE_CACHE_DIR", cache.to_str().unwrap()),
        ("CASCADE_ENGINE", "auto"),
        ("CASCADE_GPUS_DIR", gpus.to_str().unwrap()),
        ("CASCADE_GPU_CONFIG", "SM86_RTX3070"),
        ("CASCADE_MAIN_URL", &format!("http://{}", running.app)),
        ("CASCADE_SIM_ID", id),
        ("CASCADE_TOKEN", token.expose()),
        ("CASCADE_TRACE_DIR", trace.to_str().unwrap()),
    ];
    let given: Vec<(&str, &str)> = given.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(given, expected);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_sims_share_the_slots_and_each_starts_once() {
    let place = Place::with_sims("succeed");
    place.put_ready_trace();
    let running = place.start().await;
    let detail = run(&running.service, 20).await;
    for sim in sims_in(&running.service, &detail, SimState::Succeeded).await {
        let starts = std::fs::read_to_string(place.notes().join(format!("starts-{}", sim.id)));
        assert_eq!(starts.unwrap(), "x");
    }
    let records = place.dir.path().join("data").join("work/sims");
    until("every process is forgotten", || async {
        let files = std::fs::read_dir(&records).unwrap();
        let names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
        names.into_iter().all(|name| name.ends_with(".out")).then_some(())
    })
    .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulator_that_ends_without_a_word_fails_its_sim() {
    for (mode, error) in [
        (
            "silent",
            "the simulator exited with code 3 without reporting a result; its last lines:\nreading the trace\n\
             out of ideas",
        ),
        (
            "abort",
            "the simulator was killed by signal 11 (SIGSEGV, a segmentation fault) without reporting a result; \
             it printed nothing",
        ),
    ] {
        let place = Place::with_sims(mode);
        place.put_ready_trace();
        let running = place.start().await;
        let detail = run(&running.service, 1).await;
        let sims = sims_in(&running.service, &detail, SimState::Failed).await;
        assert_eq!(sims[0].error.as_deref(), Some(error));
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_cannot_start_fails_the_sim_at_launch() {
    let mut place = Place::new();
    place.sim_cmd = Some("/no/such/simulator --fast".into());
    place.put_ready_trace();
    let running = place.start().await;
    let detail = run(&running.service, 2).await;
    for sim in sims_in(&running.service, &detail, SimState::Failed).await {
        let error = sim.error.unwrap();
        assert!(
            error.starts_with("launch: could not start /no/such/simulator: "),
            "{error}"
        );
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_kills_a_stubborn_simulator_with_all_it_started() {
    let place = Place::with_sims("stubborn");
    place.put_ready_trace();
    let running = place.start().await;
    let detail = run(&running.service, 1).await;
    let notes = place.notes();
    let pids = until("it runs", || async {
        std::fs::read_to_string(notes.join("pids")).ok()
    })
    .await;
    let pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
    let sims = sims_in(&running.service, &detail, SimState::Running).await;
    assert_eq!(pid(&sims[0]), pids[0]);

    let asked = tokio::time::Instant::now();
    running.service.run_cancel(&detail.summary.id).await.unwrap();
    until("the whole group is gone", || async {
        (!pids.iter().any(|pid| alive(*pid))).then_some(())
    })
    .await;
    assert!(asked.elapsed() >= Duration::from_secs(5), "SIGTERM first");
    sims_in(&running.service, &detail, SimState::Cancelled).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_simulator_started_in_another_group_ends_with_its_sim() {
    let place = Place::with_sims("apart");
    place.put_ready_trace();
    let running = place.start().await;
    let detail = run(&running.service, 1).await;
    let notes = place.notes();
    let pids = until("it runs", || async {
        std::fs::read_to_string(notes.join("pids")).ok()
    })
    .await;
    let pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
    running.service.run_cancel(&detail.summary.id).await.unwrap();
    until("both are gone", || async {
        (!pids.iter().any(|pid| alive(*pid))).then_some(())
    })
    .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_simulator_is_lost_and_comes_back() {
    let mut place = Place::with_sims("wait");
    place.timeout_s = 1.0;
    place.put_ready_trace();
    let running = place.start().await;
    let service = &running.service;
    let detail = run(service, 1).await;
    let sims = sims_in(service, &detail, SimState::Running).await;
    signal(pid(&sims[0]), "STOP");
    let lost = sims_in(service, &detail, SimState::Lost).await;
    assert_eq!(lost[0].error.as_deref(), Some("no heartbeat for 1s"));
    signal(pid(&sims[0]), "CONT");
    let back = sims_in(service, &detail, SimState::Running).await;
    assert_eq!((back[0].error.as_deref(), pid(&back[0])), (None, pid(&sims[0])));
    std::fs::write(place.notes().join("go"), "").unwrap();
    sims_in(service, &detail, SimState::Succeeded).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulator_that_never_reports_is_lost_then_failed_and_stopped() {
    let mut place = Place::with_sims("mute");
    place.timeout_s = 0.5;
    place.put_ready_trace();
    let running = place.start().await;
    let service = &running.service;
    let detail = run(service, 1).await;
    sims_in(service, &detail, SimState::Lost).await;
    let failed = sims_in(service, &detail, SimState::Failed).await;
    assert_eq!(failed[0].error.as_deref(), Some("no heartbeat for 5s"));
    until("its process is stopped", || async {
        (!alive(pid(&failed[0]))).then_some(())
    })
    .await;
    running.stop().await;
}
