//! Points in time as the wire writes them: ISO 8601 in UTC with up to six decimals.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Microseconds since the Unix epoch. The crate reads no clock: callers hand the time in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String, format = DateTime))]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Seconds from `earlier` to `self`, negative when `self` came first.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (self.0.saturating_sub(earlier.0)) as f64 / 1e6
    }
}

/// Microseconds of a second, a day.
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Days of 400 years, after which the calendar repeats.
const ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// A text that is no point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a time: write 2026-11-08T03:05:34.001386Z, or an offset such as +02:00 for the Z")]
pub struct NoTime;

// Browsers load what is here with every page; a calendar's library, with its errors and time zones, is 18 KB of it.
// The tests hold both against that library. The arithmetic counts years from March, so that a leap day is the last:
// <https://howardhinnant.github.io/date_algorithms.html>.

/// Year, month and day of a day since the epoch.
const fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + EPOCH;
    let of_era = day.rem_euclid(ERA);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let year = year + day.div_euclid(ERA) * 400;
    let date = of_year - (153 * month + 2) / 5 + 1;
    match month {
        0..=9 => (year, month + 3, date),
        _ => (year + 1, month - 9, date),
    }
}

/// The day since the epoch of a date.
const fn day_of(year: i64, month: i64, date: i64) -> i64 {
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + date - 1;
    year.div_euclid(400) * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, date) = date_of(self.0.div_euclid(DAY));
        if !(0..=9999).contains(&year) {
            return write!(f, "out of range ({} us)", self.0);
        }
        let of_day = self.0.rem_euclid(DAY);
        let (seconds, micros) = (of_day / SECOND, of_day % SECOND);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        if micros > 0 {
            let digits = format!(".{micros:06}");
            f.write_str(digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// Reads a text from its front.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    /// A number of so many digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        let all = number.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| number.parse().ok())?
    }

    /// One of some letters.
    fn one_of(&mut self, letters: &[char]) -> Option<char> {
        let first = self.0.chars().next().filter(|letter| letters.contains(letter))?;
        self.0 = self.0.strip_prefix(first)?;
        Some(first)
    }

    /// A fraction of a second in microseconds, what is below them cut off; 0 without one.
    fn fraction(&mut self) -> Option<i64> {
        if self.one_of(&['.', ',']).is_none() {
            return Some(0);
        }
        let end = self
            .0
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self
            .0
            .split_at_checked(end)
            .filter(|(digits, _)| (1..=9).contains(&digits.len()))?;
        self.0 = rest;
        let nanos: i64 = format!("{digits:0<9}").parse().ok()?;
        Some(nanos / 1000)
    }

    /// The whole text.
    fn time(mut self) -> Option<i64> {
        let within =
            |number: Option<i64>, least, most| number.filter(|number| (least..=most).contains(number));
        let year = self.number(4)?;
        self.one_of(&['-'])?;
        let month = within(self.number(2), 1, 12)?;
        self.one_of(&['-'])?;
        let date = within(self.number(2), 1, 31)?;
        let day = day_of(year, month, date);
        if date_of(day) != (year, month, date) {
            return None;
        }
        self.one_of(&['T', 't', ' '])?;
        let hour = within(self.number(2), 0, 23)?;
        self.one_of(&[':'])?;
        let minute = within(self.number(2), 0, 59)?;
        self.one_of(&[':'])?;
        // A leap second is the one before it, as clocks that know none count.
        let second = within(self.number(2), 0, 60)?.min(59);
        let micros = self.fraction()?;
        let offset = match self.one_of(&['Z', 'z', '+', '-'])? {
            'Z' | 'z' => 0,
            sign => {
                let hours = within(self.number(2), 0, 23)?;
                self.one_of(&[':'])?;
                let minutes = hours * 60 + within(self.number(2), 0, 59)?;
                if sign == '-' { -minutes } else { minutes }
            }
        };
        let seconds = (hour * 60 + minute - offset) * 60 + second;
        self.0.is_empty().then_some(day * DAY + seconds * SECOND + micros)
    }
}

impl FromStr for Timestamp {
    type Err = NoTime;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Reader(text).time().map(Self).ok_or(NoTime)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Timestamp;

    /// The years 0 to 9999 in microseconds since the epoch.
    const YEARS: std::ops::Range<i64> = -62_167_219_200_000_000..253_402_300_800_000_000;

    proptest! {
        #[test]
        fn times_are_those_of_a_calendar(micros in YEARS) {
            let ours = Timestamp::from_micros(micros);
            let theirs = jiff::Timestamp::from_microsecond(micros).unwrap();
            prop_assert_eq!(ours.to_string(), theirs.to_string());
            prop_assert_eq!(ours.to_string().parse(), Ok(ours));
            let east = theirs.display_with_offset(jiff::tz::offset(5)).to_string();
            prop_assert_eq!(east.parse(), Ok(ours), "{}", east);
        }

        #[test]
        fn what_a_calendar_refuses_is_refused(text in "[0-9]{4}-[0-3][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][0-1][0-9]:[0-6][0-9])") {
            let ours = text.parse::<Timestamp>().ok().map(Timestamp::as_micros);
            // Before the epoch the library cuts towards it; nothing here is that old.
            let theirs = text.parse::<jiff::Timestamp>().ok();
            prop_assume!(theirs.is_none_or(|time| time.as_second() > 0));
            prop_assert_eq!(ours, theirs.map(jiff::Timestamp::as_microsecond), "{}", text);
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "2026",
            "2026-02-29T00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00Zz",
            "２026-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
        assert_eq!(
            Timestamp::from_micros(i64::MAX).to_string(),
            format!("out of range ({} us)", i64::MAX)
        );
    }

    #[test]
    fn a_time_survives_the_wire() {
        let time: Timestamp = "2026-11-08T03:05:34.001386Z".parse().unwrap();
        assert_eq!(time.to_string(), "2026-11-08T03:05:34.001386Z");
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
        assert_eq!(
            Timestamp::from_micros(1_500_000).seconds_since(Timestamp::from_micros(0)),
            1.5
        );
    }
}
