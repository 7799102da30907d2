//! The one door to the clock: time comes in as an argument, with its offset.

use chrono::{DateTime, Duration, FixedOffset, NaiveDate, Utc};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the time comes from. The local day is the day of [`Clock::now`] in its own offset.
pub trait Clock: Send + Sync {
    /// The present moment, with the offset of the place whose days are counted.
    fn now(&self) -> DateTime<FixedOffset>;

    /// The local calendar day.
    fn today(&self) -> NaiveDate {
        self.now().date_naive()
    }

    /// The present moment in UTC: what `computed_at` is written in.
    fn now_utc(&self) -> DateTime<Utc> {
        self.now().to_utc()
    }
}

/// A clock that stands still until it is told otherwise: for tests, replays and simulations.
#[derive(Debug, Clone)]
pub struct FixedClock(Arc<Mutex<DateTime<FixedOffset>>>);

impl FixedClock {
    /// A clock that shows `at`.
    #[must_use]
    pub fn new(at: DateTime<FixedOffset>) -> Self {
        Self(Arc::new(Mutex::new(at)))
    }

    /// Moves all clones of this clock to `at`.
    pub fn set(&self, at: DateTime<FixedOffset>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    /// Moves all clones of this clock on by `by`.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now += by;
    }
}

impl Clock for FixedClock {
    fn now(&self) -> DateTime<FixedOffset> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
