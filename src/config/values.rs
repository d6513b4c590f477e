//! How single settings are written, on the command line and in files alike.

use std::time::Duration;

use crate::model::{Percent, is_margin};

/// A margin: `2%`, `2` or `0.5 %`.
pub fn margin(text: &str) -> Result<Percent, String> {
    let percent: Percent = text.parse()?;
    if is_margin(percent) {
        return Ok(percent);
    }
    Err("must be more than 0 % and less than 100 %".to_owned())
}

/// A time: `90s`, `1m 30s`, or seconds without a unit.
pub fn timeout(text: &str) -> Result<Duration, String> {
    let duration = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string())?,
    };
    if duration.is_zero() { Err("must be longer than nothing".to_owned()) } else { Ok(duration) }
}
