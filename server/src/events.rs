//! Live events: one channel for each run that someone works on or watches.
//!
//! Whoever changes a sim holds its run's order lock from before the commit until the events are out, and a
//! subscriber takes its snapshot under the same lock. So events leave in the order of commits, and no event
//! tells what a snapshot already told.

mod follow;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bytes::{BufMut, Bytes, BytesMut};
use cascade_api::limits::MAX_EVENT_BACKLOG;
use cascade_api::{RunEvent, RunId};
use serde::Serialize;
use tokio::sync::broadcast;

pub use follow::Follower;

/// All channels.
#[derive(Debug, Default)]
pub struct EventHub {
    runs: Mutex<BTreeMap<RunId, Weak<RunChannel>>>,
    sent: AtomicU64,
}

/// The order and the subscribers of one run.
#[derive(Debug, Default)]
pub struct RunChannel {
    order: Arc<tokio::sync::Mutex<()>>,
    /// Made when the first subscriber comes: most runs are never watched.
    sender: OnceLock<broadcast::Sender<Bytes>>,
    /// Pages that follow the run.
    followers: Mutex<Vec<Weak<Follower>>>,
}

/// The right to change a run and to tell about it.
#[derive(Debug)]
pub struct Turn {
    channel: Arc<RunChannel>,
    _guard: tokio::sync::OwnedMutexGuard<()>,
}

impl EventHub {
    /// Waits for the right to change `run`.
    pub async fn turn(&self, run: &RunId) -> Turn {
        let channel = self.channel(run);
        let guard = Arc::clone(&channel.order).lock_owned().await;
        Turn {
            channel,
            _guard: guard,
        }
    }

    /// Sends an event to whoever watches the run.
    pub fn publish(&self, turn: &Turn, event: &RunEvent) {
        turn.channel.tell(event);
        let Some(sender) = turn.channel.sender.get() else {
            return;
        };
        if sender.receiver_count() > 0 {
            self.sent.fetch_add(1, Ordering::Relaxed);
            // It fails only when the last subscriber has just left.
            drop(sender.send(frame(event)));
        }
    }

    /// How many events were sent to at least one subscriber.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// How many streams are open.
    pub fn subscribers(&self) -> usize {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let streams = |run: Arc<RunChannel>| {
            let sender = run.sender.get().map_or(0, broadcast::Sender::receiver_count);
            sender + run.with_followers(|followers| followers.len())
        };
        runs.values().filter_map(Weak::upgrade).map(streams).sum()
    }

    fn channel(&self, run: &RunId) -> Arc<RunChannel> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(channel) = runs.get(run).and_then(Weak::upgrade) {
            return channel;
        }
        runs.retain(|_, channel| channel.strong_count() > 0);
        let channel = Arc::new(RunChannel::default());
        runs.insert(run.clone(), Arc::downgrade(&channel));
        channel
    }
}

impl RunChannel {
    /// Reads or changes the list of pages, those that left taken out.
    fn with_followers<T>(&self, with: impl FnOnce(&mut Vec<Weak<Follower>>) -> T) -> T {
        let mut followers = self.followers.lock().unwrap_or_else(PoisonError::into_inner);
        followers.retain(|follower| follower.strong_count() > 0);
        with(&mut followers)
    }

    fn tell(&self, event: &RunEvent) {
        self.with_followers(|followers| {
            for follower in followers.iter().filter_map(Weak::upgrade) {
                follower.tell(event);
            }
        });
    }
}

/// A page's place in a run's changes.
#[derive(Debug)]
pub struct Following {
    follower: Arc<Follower>,
    /// Keeps the channel for as long as someone listens.
    _channel: Arc<RunChannel>,
}

impl std::ops::Deref for Following {
    type Target = Follower;

    fn deref(&self) -> &Follower {
        &self.follower
    }
}

impl Turn {
    /// Lets a page follow the run from here on.
    pub fn follow(&self, follower: Follower) -> Following {
        let follower = Arc::new(follower);
        self.channel
            .with_followers(|followers| followers.push(Arc::downgrade(&follower)));
        Following {
            follower,
            _channel: Arc::clone(&self.channel),
        }
    }

    /// Subscribes to every event from here on.
    pub fn subscribe(&self) -> Subscription {
        let sender = self
            .channel
            .sender
            .get_or_init(|| broadcast::channel(MAX_EVENT_BACKLOG).0);
        Subscription {
            events: sender.subscribe(),
            _channel: Arc::clone(&self.channel),
        }
    }
}

/// One stream's place in a run's events.
#[derive(Debug)]
pub struct Subscription {
    events: broadcast::Receiver<Bytes>,
    /// Keeps the channel for as long as someone listens.
    _channel: Arc<RunChannel>,
}

impl Subscription {
    /// The next event as it goes on the wire; or how many were missed, after which nothing follows.
    pub async fn next(&mut self) -> Result<Bytes, u64> {
        let waiting = self.events.len();
        if waiting > MAX_EVENT_BACKLOG {
            return Err(waiting as u64);
        }
        match self.events.recv().await {
            Ok(event) => Ok(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                Err(missed.saturating_add(self.events.len() as u64))
            }
            // The sender lives in the channel that this subscription holds.
            Err(broadcast::error::RecvError::Closed) => Err(0),
        }
    }
}

/// An event as it goes on the wire: one `data:` line and an empty line.
pub fn frame(event: &impl Serialize) -> Bytes {
    let mut out = BytesMut::with_capacity(256).writer();
    let written = std::io::Write::write_all(&mut out, b"data: ")
        .map_err(serde_json::Error::io)
        .and_then(|()| serde_json::to_writer(&mut out, event));
    if let Err(error) = written {
        tracing::error!(%error, "an event could not be written");
    }
    let mut out = out.into_inner();
    out.put_slice(b"\n\n");
    out.freeze()
}

#[cfg(test)]
mod tests;
