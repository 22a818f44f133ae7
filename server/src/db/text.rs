//! Values as the database's text and integers.

use std::str::FromStr;

use cascade_api::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DbError, DbResult};

/// Characters of a bad value that an error shows.
const SHOWN: usize = 80;

fn bad(column: &'static str, value: &str) -> DbError {
    DbError::Column {
        column,
        value: value.chars().take(SHOWN).collect(),
    }
}

/// A value as JSON text.
pub(super) fn to_json<T: Serialize>(column: &'static str, value: &T) -> DbResult<String> {
    serde_json::to_string(value).map_err(|e| bad(column, &e.to_string()))
}

/// A value read from JSON text.
pub(super) fn from_json<T: DeserializeOwned>(column: &'static str, text: &str) -> DbResult<T> {
    serde_json::from_str(text).map_err(|e| bad(column, &format!("{e}: {text}")))
}

/// One of a closed list of words.
pub(super) fn word<T: FromStr>(column: &'static str, text: &str) -> DbResult<T> {
    text.parse().ok().ok_or_else(|| bad(column, text))
}

/// A count as SQLite's signed integer; counts beyond it stay at its end.
pub(super) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count read back.
pub(super) fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// A point in time read back.
pub(super) fn time(micros: Option<i64>) -> Option<Timestamp> {
    micros.map(Timestamp::from_micros)
}

/// A point in time as an integer.
pub(super) fn micros(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_micros)
}
