//! How often and how long a call is repeated.

use std::time::{Duration, Instant};

use crate::{Error, Result};

/// When to repeat a call that failed for a reason that may pass.
///
/// The pause doubles from `first` up to `cap`. It carries no jitter: a server has a few dozen workers, and
/// their calls are spread by their own work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Pause before the second try.
    pub first: Duration,
    /// Longest pause.
    pub cap: Duration,
    /// No further try starts this long after the first one began.
    pub give_up_after: Duration,
}

impl Retry {
    /// For a person who waits: gives up within three seconds.
    pub const PERSON: Self = Self {
        first: Duration::from_millis(200),
        cap: Duration::from_secs(1),
        give_up_after: Duration::from_secs(2),
    };

    /// For a simulator: outlasts a restart of the server. The server itself gives a silent sim up after ten
    /// minutes.
    pub const SIMULATOR: Self = Self {
        first: Duration::from_millis(200),
        cap: Duration::from_secs(5),
        give_up_after: Duration::from_secs(11 * 60),
    };

    /// For one try only.
    pub const NEVER: Self = Self {
        first: Duration::ZERO,
        cap: Duration::ZERO,
        give_up_after: Duration::ZERO,
    };

    /// Calls `attempt` with the number of the try, from 1, until it succeeds, says stop or time is up.
    pub(crate) async fn run<T, Fut>(self, mut attempt: impl FnMut(u32) -> Fut) -> Result<T>
    where
        Fut: Future<Output = Result<T, Again>>,
    {
        let started = Instant::now();
        let mut pause = self.first;
        let mut tries = 1;
        loop {
            match attempt(tries).await {
                Ok(value) => return Ok(value),
                Err(Again::No(error)) => return Err(error),
                Err(Again::Yes(error)) if started.elapsed() + pause > self.give_up_after => {
                    return Err(error);
                }
                Err(Again::Yes(error)) => {
                    tracing::debug!(%error, tries, "trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(self.cap);
                    tries += 1;
                }
            }
        }
    }
}

/// Whether a failure may pass.
pub(crate) enum Again {
    /// It may: a network error or the server's own failure.
    Yes(Error),
    /// It will not.
    No(Error),
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Again, Retry};
    use crate::Error;

    fn failed(tries: u32) -> Error {
        Error::Unreachable {
            url: "u".into(),
            tries,
            reason: "r".into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_the_cap_and_the_last_error_comes_back() {
        let retry = Retry {
            first: Duration::from_secs(1),
            cap: Duration::from_secs(4),
            give_up_after: Duration::from_secs(3600),
        };
        let start = tokio::time::Instant::now();
        let mut at = Vec::new();
        let value = retry
            .run(|tries| {
                at.push(start.elapsed().as_secs());
                async move {
                    if tries < 6 {
                        Err(Again::Yes(failed(tries)))
                    } else {
                        Ok(tries)
                    }
                }
            })
            .await
            .unwrap();
        assert_eq!(value, 6);
        assert_eq!(at, [0, 1, 3, 7, 11, 15]);
    }

    #[tokio::test]
    async fn a_final_failure_is_not_repeated() {
        let mut calls = 0;
        let result: Result<(), _> = Retry::SIMULATOR
            .run(|tries| {
                calls += 1;
                async move { Err(Again::No(failed(tries))) }
            })
            .await;
        assert!(matches!(result, Err(Error::Unreachable { tries: 1, .. })));
        assert_eq!(calls, 1);
    }
}
