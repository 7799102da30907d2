//! The real clock: the one place in the libraries where the time of day is read.

use chrono::{DateTime, FixedOffset, Local};
use dormouse_vault::Clock;

/// The machine's clock in the machine's zone.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the door to the clock that the lint guards")]
    fn now(&self) -> DateTime<FixedOffset> {
        Local::now().fixed_offset()
    }
}
