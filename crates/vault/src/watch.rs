//! Watching: file-system events become coalesced deltas of the vault.
//!
//! An event only says where to look; what changed is decided by looking. So an event too many, a
//! rename split in two, or the echo of our own write costs a look and yields nothing. Where events
//! can't be trusted to be complete (a folder came or went, the queue overflowed, half of a rename
//! is missing, the computer slept), and every [`WatchOptions::rescan`], the whole vault is looked
//! at; where they can't be had at all, every [`WatchOptions::poll`].
//!
//! ```text
//! ears ──event──▶ hint ──▶ machine ──task──▶ driver ──look──▶ Vault::refresh ──delta──▶ outbox
//! ```
//! The ears have the system's thread, the driver one of its own. The machine decides when to look
//! at what, without a clock, a file or a thread of its own; its memory is bounded.

mod drive;
mod ears;
mod hint;
mod look;
mod machine;
mod outbox;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use self::drive::{Driver, Shared};
use self::ears::{Listen, System};
pub use self::outbox::WatchCounts;
use crate::error::VaultError;
use crate::problem::Problem;
use crate::snapshot::Delta;
use crate::vault::Vault;

/// Where events can't be had, looking takes one part in so many of the time at the most.
const POLL_SHARE: u32 = 20;
/// How long a look that hangs in the operating system is waited for when a watch ends.
const GOODBYE: Duration = Duration::from_secs(2);

/// How to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchOptions {
    /// How long it must be quiet before changes are taken in, so that a save in several steps is
    /// one change. Under a steady stream they are taken in after ten times this. Default 200 ms; 1 ms
    /// to one hour.
    pub quiet: Duration,
    /// How often the whole vault is looked at without being told to. Default 10 minutes; a year at
    /// the most. When such a look finds what no event spoke of, looks come every
    /// [`WatchOptions::poll`], and farther apart again as long as they find nothing.
    pub rescan: Duration,
    /// How often the whole vault is looked at where the operating system gives no events: its limit
    /// of watches is reached, or they don't arrive (network drives). Default 5 seconds, and longer
    /// where a look costs more than a twentieth of that; 10 ms at the least.
    pub poll: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self { quiet: Duration::from_millis(200), rescan: Duration::from_secs(600), poll: Duration::from_secs(5) }
    }
}

impl WatchOptions {
    /// The same within the bounds that are documented.
    fn checked(self) -> Self {
        let year = Duration::from_secs(366 * 24 * 3600);
        let poll = self.poll.clamp(Duration::from_millis(10), year);
        Self {
            quiet: self.quiet.clamp(Duration::from_millis(1), Duration::from_secs(3600)),
            rescan: self.rescan.clamp(Duration::from_millis(10), year),
            poll,
        }
    }
}

/// A running watch; it ends, with its thread, when this is dropped.
///
/// A look that is under way then is waited for, two seconds at the most: one that hangs on a dead
/// network drive ends later, by itself.
pub struct Watcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Watcher {
    /// The next change that was taken in, or `None` when there is none within `timeout`. The
    /// vault's snapshot is at least as new as the delta. Deltas are in order, and never empty; when
    /// more than 64 wait to be fetched, the newest are put together. Files in the making (`n.md~`,
    /// `x.tmp`, `~$Plan.docx`, `4913`; never a note) are not told of.
    #[must_use]
    pub fn next(&self, timeout: Duration) -> Option<Delta> {
        self.shared.outbox.take(timeout)
    }

    /// Why the vault is not watched as it should be, at this moment: no events, too few watches, the
    /// folder is gone. Empty when all is well.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.shared.outbox.problems()
    }

    /// What was heard and looked at so far.
    #[must_use]
    pub fn counts(&self) -> WatchCounts {
        self.shared.outbox.counts()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.stop();
        let ended = self.shared.outbox.wait_for_end(GOODBYE);
        if let Some(thread) = self.thread.take().filter(|_| ended) {
            let _ = thread.join();
        }
    }
}

impl Vault {
    /// Watches the vault's folder and takes in what other programs change, on a thread of its own.
    ///
    /// Changes between opening and watching are taken in at once. Symlinks are not followed. Where
    /// the system can't tell of changes (its limit of watches is reached, for one), the vault is
    /// looked at every [`WatchOptions::poll`], and [`Watcher::problems`] says why. What
    /// [`Vault::commit`] writes in this process yields no delta. An idle watch costs a look at the
    /// folder every 30 seconds and one at everything every [`WatchOptions::rescan`].
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn watch(self: &Arc<Self>, options: WatchOptions) -> Result<Watcher, VaultError> {
        self.watch_with(options, Box::new(System))
    }

    /// [`Vault::watch`] with ears of one's own.
    fn watch_with(self: &Arc<Self>, options: WatchOptions, listen: Box<dyn Listen>) -> Result<Watcher, VaultError> {
        let options = options.checked();
        let shared = Arc::new(Shared::new(options));
        let driver = Driver::new(Arc::clone(self), Arc::clone(&shared), listen, options);
        let thread = std::thread::Builder::new().name("dormouse-watch".to_owned()).spawn(move || driver.run());
        let thread = thread.map_err(|error| VaultError::io(self.root(), error))?;
        Ok(Watcher { shared, thread: Some(thread) })
    }
}
