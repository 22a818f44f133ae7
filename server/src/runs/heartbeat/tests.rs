//! What a heartbeat changes.

use cascade_api::{Engine, Heartbeat, ReportedState, SimState, Timestamp};

use super::apply;
use crate::db::SimRecord;

const NOW: Timestamp = Timestamp::from_micros(2_000_000);

fn sim(state: SimState) -> SimRecord {
    let created = Timestamp::from_micros(1_000_000);
    let mut sim = SimRecord::pending(
        "sim-1".into(),
        "run-1".into(),
        "G".into(),
        0,
        4,
        Engine::Cascade,
        created,
    );
    sim.summary.state = state;
    sim.summary.error = Some("no heartbeat for 60s".into());
    sim
}

fn beat(state: ReportedState) -> Heartbeat {
    Heartbeat {
        state,
        ..Heartbeat::running()
    }
}

#[test]
fn only_moves_of_the_table_happen() {
    use ReportedState::{Failed, Running, Succeeded};
    for from in SimState::ALL {
        for reported in [Running, Succeeded, Failed] {
            let mut sim = sim(*from);
            let before = sim.clone();
            let changed = apply(&mut sim, beat(reported), NOW);
            let to = SimState::from(reported);
            let expected = if from.can_become(to) { to } else { *from };
            assert_eq!(sim.summary.state, expected, "{from} + {to}");
            if from.is_terminal() {
                assert!(!changed && sim == before, "{from} is final");
            } else {
                assert_eq!((changed, sim.summary.last_heartbeat_at), (true, Some(NOW)));
                assert_eq!(sim.summary.finished_at.is_some(), expected.is_terminal());
            }
        }
    }
}

#[test]
fn running_clears_the_error_and_starts_the_clock_once() {
    let mut sim = sim(SimState::Lost);
    apply(&mut sim, beat(ReportedState::Running), NOW);
    assert_eq!((&sim.summary.error, sim.summary.started_at), (&None, Some(NOW)));
    let since = sim.state_since;
    let later = Timestamp::from_micros(9_000_000);
    apply(&mut sim, beat(ReportedState::Running), later);
    assert_eq!((sim.summary.started_at, sim.state_since), (Some(NOW), since));
    assert_eq!(sim.summary.last_heartbeat_at, Some(later));
}

#[test]
fn the_last_heartbeat_says_how_it_ended_and_which_engine_it_was() {
    let mut sim = sim(SimState::Running);
    let mut last = beat(ReportedState::Failed);
    (last.exit_code, last.error) = (Some(3), Some("é".repeat(10_000)));
    last.engine = Some(Engine::Replay);
    apply(&mut sim, last, NOW);
    let s = &sim.summary;
    assert_eq!(
        (s.exit_code, s.engine, s.finished_at),
        (Some(3), Engine::Replay, Some(NOW))
    );
    assert_eq!(
        s.error.as_ref().unwrap().len(),
        16 * 1024,
        "a long error is cut between characters"
    );
}
