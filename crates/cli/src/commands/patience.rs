//! A change of somebody else in the same moment is no reason to give up: read and plan again.

use std::thread;
use std::time::Duration;

use anyhow::Result;

use crate::failure::Failure;

/// How often a change is planned. With each conflict another writer has succeeded, so that as many
/// writers at once all do.
const ATTEMPTS: u32 = 8;

/// The pause before the second attempt; it grows by as much before each one after it.
const PAUSE: Duration = Duration::from_millis(5);

/// What `attempt` gives; after a conflict it is made again, from what is there then, unless it is to
/// be made `once`. It is told whether it is made again.
///
/// # Errors
/// The last attempt's.
pub(crate) fn patient<T>(once: bool, mut attempt: impl FnMut(bool) -> Result<T>) -> Result<T> {
    for n in 1..ATTEMPTS {
        match attempt(n > 1) {
            Err(error) if !once && Failure::from_error(&error).conflict.is_some() => thread::sleep(PAUSE * n),
            done => return done,
        }
    }
    attempt(true)
}
