//! Tells silent sims from live ones: `lost` after the heartbeat timeout, `failed` after ten times that.
//!
//! Silence is counted in time during which this server could have heard a heartbeat. The wall clock plays
//! no part, so setting it, suspending the machine or stopping the server makes no sim look dead; after a
//! restart the count starts anew.

use std::collections::BTreeMap;
use std::time::Duration;

use cascade_api::{SimId, SimState, Timestamp};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::db::LaunchedSim;
use crate::error::Error;
use crate::runs::Service;

/// Longest time between two looks.
const LONGEST_INTERVAL: Duration = Duration::from_secs(5);
/// Looks per timeout, for timeouts so short that [`LONGEST_INTERVAL`] would miss them.
const LOOKS_PER_TIMEOUT: u32 = 4;
/// A lost sim fails after this many timeouts.
const FAIL_FACTOR: u32 = 10;

/// Watches every launched sim until `stop`.
pub async fn run(service: Service, stop: CancellationToken) {
    let mut watch = Watch::new(service.settings.heartbeat_timeout);
    let mut ticks = tokio::time::interval(watch.interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = Instant::now();
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        let now = Instant::now();
        let elapsed = now.duration_since(last);
        last = now;
        if let Err(error) = look(&service, &mut watch, elapsed).await {
            tracing::warn!(error = error.chain(), "cannot look for silent sims");
        }
    }
}

async fn look(service: &Service, watch: &mut Watch, elapsed: Duration) -> Result<(), Error> {
    let sims = service.sims_launched().await?;
    for (sim, verdict) in watch.tick(elapsed, &sims) {
        let text = format!("no heartbeat for {}s", verdict.silence().as_secs_f64());
        match verdict {
            Verdict::Lost(_) => {
                if service.sim_lost(&sim, text).await? {
                    tracing::warn!(%sim, "lost: no heartbeat");
                }
            }
            Verdict::Failed(_) => {
                if service.sim_failed(&sim, text).await? {
                    tracing::warn!(%sim, "failed: no heartbeat");
                }
            }
        }
    }
    Ok(())
}

/// What silence says about a sim, with the limit that it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Lost(Duration),
    Failed(Duration),
}

impl Verdict {
    fn silence(self) -> Duration {
        match self {
            Self::Lost(limit) | Self::Failed(limit) => limit,
        }
    }
}

/// How long each sim has been silent.
struct Watch {
    timeout: Duration,
    interval: Duration,
    /// Time this server has been listening.
    listened: Duration,
    /// Each sim's last sign of life, and how long the server had listened when it first saw that sign.
    signs: BTreeMap<SimId, (Timestamp, Duration)>,
}

impl Watch {
    fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            interval: (timeout / LOOKS_PER_TIMEOUT).clamp(Duration::from_millis(10), LONGEST_INTERVAL),
            listened: Duration::ZERO,
            signs: BTreeMap::new(),
        }
    }

    /// Takes in the launched sims as they are `elapsed` after the last look.
    fn tick(&mut self, elapsed: Duration, sims: &[LaunchedSim]) -> Vec<(SimId, Verdict)> {
        // A look that comes late means that the server itself stood still and heard nothing.
        self.listened += elapsed.min(self.interval * 2);
        let mut verdicts = Vec::new();
        let mut signs = BTreeMap::new();
        for sim in sims {
            let since = match self.signs.get(&sim.sim_id) {
                Some((sign, since)) if *sign == sim.silent_since => *since,
                _ => self.listened,
            };
            signs.insert(sim.sim_id.clone(), (sim.silent_since, since));
            let silence = self.listened.saturating_sub(since);
            let fail_after = self.timeout * FAIL_FACTOR;
            if sim.state == SimState::Lost && silence >= fail_after {
                verdicts.push((sim.sim_id.clone(), Verdict::Failed(fail_after)));
            } else if sim.state != SimState::Lost && silence >= self.timeout {
                verdicts.push((sim.sim_id.clone(), Verdict::Lost(self.timeout)));
            }
        }
        self.signs = signs;
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LOST: Verdict = Verdict::Lost(Duration::from_secs(60));
    const FAILED: Verdict = Verdict::Failed(Duration::from_secs(600));

    fn sim(state: SimState, sign: i64) -> LaunchedSim {
        LaunchedSim {
            sim_id: "sim-1".into(),
            state,
            silent_since: Timestamp::from_micros(sign),
        }
    }

    /// Looks every 5 s for `seconds`; what was said first, and after how long.
    fn listen(watch: &mut Watch, state: SimState, sign: i64, seconds: u64) -> Option<(u64, Verdict)> {
        (1..=seconds / 5).find_map(|n| {
            let verdicts = watch.tick(5 * SECOND, &[sim(state, sign)]);
            verdicts.first().map(|(_, verdict)| (n * 5, *verdict))
        })
    }

    #[test]
    fn silence_makes_a_sim_lost_and_long_silence_fails_it() {
        let mut watch = Watch::new(60 * SECOND);
        watch.tick(SECOND, &[sim(SimState::Running, 7)]);
        assert_eq!(listen(&mut watch, SimState::Running, 7, 100), Some((60, LOST)));
        assert_eq!(
            listen(&mut watch, SimState::Lost, 7, 1000),
            Some((540, FAILED)),
            "600 s in all"
        );
    }

    #[test]
    fn a_heartbeat_starts_the_count_anew() {
        let mut watch = Watch::new(60 * SECOND);
        for sign in 0..100 {
            assert_eq!(listen(&mut watch, SimState::Running, sign, 55), None);
        }
    }

    #[test]
    fn a_server_that_stood_still_blames_nobody() {
        let mut watch = Watch::new(60 * SECOND);
        watch.tick(SECOND, &[sim(SimState::Running, 7)]);
        assert_eq!(watch.tick(3600 * SECOND, &[sim(SimState::Running, 7)]), []);
        assert_eq!(listen(&mut watch, SimState::Running, 7, 100), Some((50, LOST)));
    }

    #[test]
    fn a_clock_set_back_hides_no_dead_sim() {
        let mut watch = Watch::new(60 * SECOND);
        watch.tick(SECOND, &[sim(SimState::Launching, i64::MAX - 1)]);
        assert_eq!(
            listen(&mut watch, SimState::Launching, i64::MAX - 1, 100),
            Some((60, LOST))
        );
    }

    #[test]
    fn short_timeouts_are_looked_at_often() {
        assert_eq!(Watch::new(60 * SECOND).interval, 5 * SECOND);
        assert_eq!(Watch::new(SECOND).interval, SECOND / 4);
        assert_eq!(Watch::new(SECOND / 1000).interval, Duration::from_millis(10));
    }
}
