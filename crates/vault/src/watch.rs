//! Watching: file-system events become coalesced deltas of the vault.
//!
//! An event only says where to look; what changed is decided by looking. So an event too many, a
//! rename split in two, or the echo of our own write costs a look and yields nothing. Where events
//! can't be trusted to be complete (a folder came or went, the queue overflowed, the backend
//! failed) and every [`WatchOptions::rescan`], the whole vault is looked at.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::error::VaultError;
use crate::path::NotePath;
use crate::snapshot::Delta;
use crate::vault::Vault;
use crate::walk;

/// How to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchOptions {
    /// How long it must be quiet before changes are taken in. Under a steady stream they are taken
    /// in after ten times this. Default 200 ms.
    pub quiet: Duration,
    /// How often the whole vault is looked at without being told to. Default 10 minutes.
    pub rescan: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self { quiet: Duration::from_millis(200), rescan: Duration::from_secs(600) }
    }
}

/// A running watch; it ends, with its thread, when this is dropped.
#[derive(Debug)]
pub struct Watcher {
    events: Option<RecommendedWatcher>,
    deltas: Receiver<Delta>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// The next change that was taken in, or `None` when there is none within `timeout`. The
    /// vault's snapshot is at least as new as the delta. Deltas are in order, and never empty.
    #[must_use]
    pub fn next(&self, timeout: Duration) -> Option<Delta> {
        self.deltas.recv_timeout(timeout).ok()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Without its sender the thread's queue ends, and so does the thread.
        drop(self.events.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Vault {
    /// Watches the vault's folder and takes in what other programs change, on a thread of its own.
    ///
    /// Changes between opening and watching are taken in at once. Symlinks are not followed.
    ///
    /// # Errors
    /// The operating system can't watch the folder (its limit of watches, for one); call
    /// [`Vault::refresh`] from time to time instead.
    pub fn watch(self: &Arc<Self>, options: WatchOptions) -> Result<Watcher, VaultError> {
        let failed = |error: notify::Error| VaultError::io(self.root(), to_io(error));
        let (event_sender, event_queue) = mpsc::channel();
        let config = notify::Config::default().with_follow_symlinks(false);
        let mut events =
            RecommendedWatcher::new(move |event| drop(event_sender.send(event)), config).map_err(failed)?;
        let root = self.root().canonicalize().map_err(|error| VaultError::io(self.root(), error))?;
        events.watch(&root, RecursiveMode::Recursive).map_err(failed)?;
        let (delta_sender, deltas) = mpsc::channel();
        let vault = Arc::clone(self);
        let watch =
            move || Watch { vault: &vault, root: &root, options, queue: event_queue, deltas: delta_sender }.run();
        let thread = std::thread::Builder::new().name("dormouse-watch".to_owned()).spawn(watch);
        let thread = thread.map_err(|error| VaultError::io(self.root(), error))?;
        Ok(Watcher { events: Some(events), deltas, thread: Some(thread) })
    }
}

fn to_io(error: notify::Error) -> std::io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        _ => std::io::Error::other(error),
    }
}

/// Where must be looked.
#[derive(Debug, Default)]
struct Touched {
    everything: bool,
    paths: BTreeSet<NotePath>,
}

impl Touched {
    fn is_empty(&self) -> bool {
        !self.everything && self.paths.is_empty()
    }
}

struct Watch<'v> {
    vault: &'v Vault,
    root: &'v Path,
    options: WatchOptions,
    queue: Receiver<notify::Result<Event>>,
    deltas: Sender<Delta>,
}

impl Watch<'_> {
    fn run(self) {
        let mut touched = Touched { everything: true, ..Touched::default() };
        let mut scanned = Instant::now();
        loop {
            touched.everything |= scanned.elapsed() >= self.options.rescan;
            if touched.everything {
                scanned = Instant::now();
            }
            if !touched.is_empty() {
                self.take_in(std::mem::take(&mut touched));
            }
            let left = self.options.rescan.saturating_sub(scanned.elapsed());
            match self.queue.recv_timeout(left) {
                Ok(event) => self.note(event, &mut touched),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if touched.is_empty() {
                continue;
            }
            let latest = Instant::now() + self.options.quiet * 10;
            while let Ok(event) = self.queue.recv_timeout(self.options.quiet) {
                self.note(event, &mut touched);
                if Instant::now() >= latest {
                    break;
                }
            }
        }
    }

    fn note(&self, event: notify::Result<Event>, touched: &mut Touched) {
        let Ok(event) = event else {
            touched.everything = true;
            return;
        };
        touched.everything |= event.need_rescan();
        let reads_only = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        if reads_only {
            return;
        }
        for path in &event.paths {
            let Ok(relative) = path.strip_prefix(self.root) else {
                continue;
            };
            if relative.as_os_str().is_empty() || relative.iter().any(walk::is_hidden) {
                continue;
            }
            match walk::to_note_path(relative) {
                Ok(path) => {
                    touched.paths.insert(path);
                }
                Err(_) => touched.everything = true,
            }
        }
    }

    fn take_in(&self, touched: Touched) {
        let snapshot = self.vault.snapshot();
        // Only a file can be looked at alone; a name that is none, before and now, may be a folder's.
        let is_folder = |path: &NotePath| !snapshot.exists(path) && walk::look(self.root, path).is_none();
        let delta = if touched.everything || touched.paths.iter().any(is_folder) {
            match self.vault.refresh() {
                Ok(delta) => delta,
                Err(error) => {
                    tracing::warn!(%error, "the vault can't be listed; its last snapshot stays");
                    return;
                }
            }
        } else {
            self.vault.refresh_paths(touched.paths)
        };
        if !delta.is_empty() {
            let _ = self.deltas.send(delta);
        }
    }
}
