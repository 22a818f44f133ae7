//! What a sim's tile says beyond its numbers: how long it may still take, and what to do when it is in trouble.

use cascade_api::{SimState, SimSummary, Timestamp};

/// Seconds that a rate has to be measured for before anything follows from it.
const MEASURED_S: f64 = 2.0;
/// Kernels that have to be done before anything follows from their rate.
const MEASURED_KERNELS: u64 = 3;

/// Seconds until a running sim is done if the kernels to come take as long as those so far took on average. `None`
/// while too few are done to tell, or where their number is not known.
pub fn time_left(sim: &SimSummary, now: Timestamp) -> Option<f64> {
    if sim.state != SimState::Running || sim.kernels_done < MEASURED_KERNELS {
        return None;
    }
    let left = sim
        .kernels_total
        .checked_sub(sim.kernels_done)
        .filter(|left| *left > 0)?;
    let took = now.seconds_since(sim.started_at?);
    (took >= MEASURED_S).then(|| took / sim.kernels_done as f64 * left as f64)
}

/// What comes next for a sim that is in trouble.
pub const fn next_step(state: SimState) -> Option<&'static str> {
    match state {
        SimState::Lost => Some(
            "It is waited for: the next heartbeat makes it running again. If it stays silent, the app stops it and \
             keeps the kernels that finished.",
        ),
        SimState::Failed => Some(
            "Kernels that finished are kept. The end of its log says more; a new run of the same trace starts over.",
        ),
        SimState::Pending
        | SimState::Launching
        | SimState::Running
        | SimState::Succeeded
        | SimState::Cancelled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::time_left;
    use cascade_api::{SimSummary, Timestamp};
    use serde_json::json;

    fn sim(state: &str, done: u64) -> SimSummary {
        let at = "2026-11-08T00:00:00Z";
        serde_json::from_value(json!({
            "id": "sim-1", "run_id": "run-1", "gpu_config": "H100", "replica": 0, "engine": "cascade",
            "state": state, "created_at": at, "started_at": at, "kernels_done": done, "kernels_total": 40,
            "latest": {}, "log_tail": [],
        }))
        .unwrap()
    }

    #[test]
    fn the_time_left_follows_from_the_rate_so_far() {
        let after = |sim: &SimSummary, seconds: i64| {
            let start = sim.started_at.unwrap().as_micros();
            time_left(sim, Timestamp::from_micros(start + seconds * 1_000_000))
        };
        assert_eq!(after(&sim("running", 10), 20), Some(60.0));
        assert_eq!(after(&sim("running", 10), 1), None, "measured too short");
        assert_eq!(after(&sim("running", 2), 20), None, "too few kernels");
        assert_eq!(after(&sim("running", 40), 20), None, "all done");
        assert_eq!(after(&sim("running", 41), 20), None, "more than was known of");
        assert_eq!(after(&sim("lost", 10), 20), None);
    }
}
