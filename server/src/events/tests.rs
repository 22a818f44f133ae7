//! Subscribers: order, lag and the end.

use cascade_api::limits::MAX_EVENT_BACKLOG;
use cascade_api::{RunEvent, RunId};

use super::{EventHub, frame};

fn log(line: usize) -> RunEvent {
    RunEvent::Log {
        sim_id: "sim-1".into(),
        lines: vec![line.to_string()],
    }
}

#[tokio::test]
async fn events_reach_those_who_came_before_them() {
    let (hub, run) = (EventHub::default(), RunId::from("run-1"));
    let turn = hub.turn(&run).await;
    hub.publish(&turn, &log(0));
    let mut subscription = turn.subscribe();
    hub.publish(&turn, &log(1));
    drop(turn);
    assert_eq!(subscription.next().await, Ok(frame(&log(1))));
    assert_eq!((hub.subscribers(), hub.sent()), (1, 1));
    assert_eq!(
        frame(&log(1)),
        "data: {\"type\":\"log\",\"sim_id\":\"sim-1\",\"lines\":[\"1\"]}\n\n"
    );
}

#[tokio::test]
async fn a_subscriber_may_be_behind_by_the_limit_but_not_more() {
    let (hub, run) = (EventHub::default(), RunId::from("run-1"));
    for (extra, lagged) in [(0, false), (1, true), (500, true)] {
        let turn = hub.turn(&run).await;
        let mut subscription = turn.subscribe();
        for line in 0..MAX_EVENT_BACKLOG + extra {
            hub.publish(&turn, &log(line));
        }
        let expected = if lagged {
            Err((MAX_EVENT_BACKLOG + extra) as u64)
        } else {
            Ok(frame(&log(0)))
        };
        assert_eq!(subscription.next().await, expected);
    }
}

#[tokio::test]
async fn a_run_has_one_turn_at_a_time_and_runs_do_not_wait_for_each_other() {
    let hub = EventHub::default();
    let first = hub.turn(&"run-1".into()).await;
    let second = hub.turn(&"run-2".into()).await;
    let again = tokio::time::timeout(std::time::Duration::from_millis(20), hub.turn(&"run-1".into())).await;
    assert!(again.is_err());
    drop((first, second));
    hub.turn(&"run-1".into()).await;
}
