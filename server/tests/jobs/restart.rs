//! Servers that go away while simulators run. Dropping a whole runtime leaves as little time to tidy up
//! as a kill does: nothing of the server runs on, the simulators do.

use cascade_api::{RunDetail, SimState};
use tokio::runtime::Runtime;

use super::{Place, alive, pid, run, signal, sims_in, until};

/// Runs sims on a server that is then gone.
fn run_and_vanish(place: &Place, count: u32, first: SimState) -> (RunDetail, Vec<cascade_api::SimSummary>) {
    let runtime = Runtime::new().unwrap();
    let found = runtime.block_on(async {
        let running = place.start().await;
        let detail = run(&running.service, count).await;
        let sims = sims_in(&running.service, &detail, first).await;
        (detail, sims)
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    found
}

#[test]
fn running_simulators_are_found_again_and_started_only_once() {
    let mut place = Place::with_sims("wait");
    place.port = free_port();
    place.put_ready_trace();
    let (detail, before) = run_and_vanish(&place, 2, SimState::Running);
    Runtime::new().unwrap().block_on(async {
        let running = place.start().await;
        let service = &running.service;
        let sims = sims_in(service, &detail, SimState::Running).await;
        let handles = |sims: &[cascade_api::SimSummary]| -> Vec<u32> { sims.iter().map(pid).collect() };
        assert_eq!(handles(&sims), handles(&before));
        assert!(sims.iter().all(|sim| alive(pid(sim))));
        std::fs::write(place.notes().join("go"), "").unwrap();
        for sim in sims_in(service, &detail, SimState::Succeeded).await {
            let starts = std::fs::read_to_string(place.notes().join(format!("starts-{}", sim.id)));
            assert_eq!(starts.unwrap(), "x", "no second process");
        }
        running.stop().await;
    });
}

#[test]
fn a_simulator_that_died_meanwhile_fails_its_sim() {
    let mut place = Place::with_sims("wait");
    place.port = free_port();
    place.put_ready_trace();
    let (detail, before) = run_and_vanish(&place, 1, SimState::Running);
    signal(pid(&before[0]), "KILL");
    Runtime::new().unwrap().block_on(async {
        until("it is dead", || async { (!alive(pid(&before[0]))).then_some(()) }).await;
        let running = place.start().await;
        let failed = sims_in(&running.service, &detail, SimState::Failed).await;
        let error = failed[0].error.as_deref().unwrap();
        assert!(
            error.starts_with("the simulator's process ended while the server was away"),
            "{error}"
        );
        running.stop().await;
    });
}

#[test]
fn a_simulator_of_a_sim_that_was_cancelled_is_stopped_by_the_next_server() {
    let place = Place::with_sims("stubborn");
    place.put_ready_trace();
    let runtime = Runtime::new().unwrap();
    let pid = runtime.block_on(async {
        let running = place.start().await;
        let detail = run(&running.service, 1).await;
        let sims = sims_in(&running.service, &detail, SimState::Running).await;
        // It ignores SIGTERM, so it outlives a server that is gone before SIGKILL.
        running.service.run_cancel(&detail.summary.id).await.unwrap();
        pid(&sims[0])
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    assert!(alive(pid));
    Runtime::new().unwrap().block_on(async {
        let running = place.start().await;
        until("the left-over is gone", || async { (!alive(pid)).then_some(()) }).await;
        running.stop().await;
    });
}

/// A port for servers that must be found again where they were.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}
