//! The one place that reads the wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use cascade_api::Timestamp;

/// The time now, to the microsecond.
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}
