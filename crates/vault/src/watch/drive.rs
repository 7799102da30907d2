//! The driver: the thread that asks the machine what to do, and does it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::WatchOptions;
use super::ears::{Deaf, Ears, Heard, Listen};
use super::hint::{self, hints};
use super::look::{self, Plan};
use super::machine::{Look, Machine, Moment, Task};
use super::outbox::Outbox;
use crate::lock;
use crate::path::NotePath;
use crate::problem::{Problem, ProblemKind};
use crate::snapshot::Delta;
use crate::vault::Vault;

/// What the threads share: the ears' and the driver's.
pub(crate) struct Shared {
    machine: Mutex<Machine>,
    bell: Condvar,
    stop: AtomicBool,
    began: Instant,
    /// What is handed out.
    pub(crate) outbox: Outbox,
}

impl Shared {
    pub(crate) fn new(options: WatchOptions) -> Self {
        Self {
            machine: Mutex::new(Machine::new(options)),
            bell: Condvar::new(),
            stop: AtomicBool::new(false),
            began: Instant::now(),
            outbox: Outbox::default(),
        }
    }

    /// The machine, alone: while it is held nothing is heard, and events queue up in the system.
    pub(crate) fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the driver to end.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(self.machine());
        self.bell.notify_all();
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn steady(&self) -> Duration {
        self.began.elapsed()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "compared with the steady clock to notice that the computer slept; never stored or shown"
    )]
    fn now(&self) -> Moment {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { steady: self.steady(), wall }
    }

    /// Takes an event in. Called by the ears.
    fn heard(&self, root: &Path, event: &notify::Result<notify::Event>) {
        let hints = hints(root, event);
        if hints.is_empty() || self.stopped() {
            return;
        }
        self.outbox.count(|counts| counts.events += 1);
        let at = self.steady();
        let mut machine = self.machine();
        let mut wake = false;
        for hint in hints {
            wake |= machine.heard(hint, at);
        }
        drop(machine);
        if wake {
            self.bell.notify_all();
        }
    }

    /// Waits for the next task; `None` when the watch ends.
    fn wait(&self) -> Option<Task> {
        let mut machine = self.machine();
        loop {
            if self.stopped() {
                return None;
            }
            if let Some(task) = machine.next(self.now()) {
                return Some(task);
            }
            let left = machine.wake_at().saturating_sub(self.steady());
            // Never a spin, should the machine want to be asked at a moment that has passed.
            let left = left.max(Duration::from_millis(1));
            machine = self.bell.wait_timeout(machine, left).map_or_else(|e| e.into_inner().0, |(held, _)| held);
        }
    }
}

/// Which folder stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    real: PathBuf,
    id: Option<(u64, u64)>,
}

impl Identity {
    /// The folder at `root`, or `None` when there is none.
    fn of(root: &Path) -> Option<Self> {
        let real = root.canonicalize().ok()?;
        let metadata = fs::metadata(&real).ok().filter(fs::Metadata::is_dir)?;
        Some(Self { real, id: id(&metadata) })
    }
}

#[cfg(unix)]
fn id(metadata: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn id(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// The thread's own.
pub(crate) struct Driver {
    vault: Arc<Vault>,
    shared: Arc<Shared>,
    listen: Box<dyn Listen>,
    options: WatchOptions,
    ears: Option<Box<dyn Ears>>,
    deaf: Option<Deaf>,
    /// When ears were last opened.
    tried: Duration,
    root: Option<Identity>,
    problems: Vec<Problem>,
}

impl Driver {
    pub(crate) fn new(vault: Arc<Vault>, shared: Arc<Shared>, listen: Box<dyn Listen>, options: WatchOptions) -> Self {
        Self {
            vault,
            shared,
            listen,
            options,
            ears: None,
            deaf: None,
            tried: Duration::ZERO,
            root: None,
            problems: Vec::new(),
        }
    }

    /// Does what the machine says until the watch ends.
    pub(crate) fn run(mut self) {
        while let Some(task) = self.shared.wait() {
            match task {
                Task::Cover(paths) => self.cover(paths),
                Task::Look(look) => self.look(look),
            }
            self.say_problems();
            let now = self.shared.now();
            self.shared.machine().ended(now);
        }
    }

    fn cover(&mut self, paths: BTreeSet<NotePath>) {
        let Some(root) = self.root.as_ref().map(|root| root.real.clone()) else {
            return;
        };
        let folders = paths.iter().map(|path| root.join(path.as_disk()));
        self.hear(folders.filter(|folder| fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir())));
    }

    /// Hears these folders too, as far as the system lets it.
    fn hear(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        let Some(ears) = &mut self.ears else {
            return;
        };
        let shared = Arc::clone(&self.shared);
        for folder in folders {
            if let Err(deaf) = ears.cover(&folder, &|| shared.stopped()) {
                self.set_deaf(Some(deaf));
                return;
            }
        }
    }

    fn set_deaf(&mut self, deaf: Option<Deaf>) {
        self.deaf = deaf;
        self.shared.machine().set_polling(deaf.is_some());
    }

    /// Opens new ears before the old ones are closed, so that nothing goes unheard in between; where
    /// the system has not enough watches for both, the old ones go first.
    fn listen_anew(&mut self) {
        let Some(root) = self.root.as_ref().map(|root| root.real.clone()) else {
            return;
        };
        self.tried = self.shared.steady();
        let old = self.ears.take();
        self.open_ears(&root);
        if self.deaf == Some(Deaf::Limit) && old.is_some() {
            self.ears = None;
            drop(old);
            self.open_ears(&root);
        }
    }

    fn open_ears(&mut self, root: &Path) {
        let (shared, heard_root) = (Arc::clone(&self.shared), root.to_path_buf());
        let heard: Heard = Box::new(move |event| shared.heard(&heard_root, &event));
        match self.listen.open(heard) {
            Ok(ears) => {
                self.ears = Some(ears);
                self.set_deaf(None);
                self.hear([root.to_path_buf()]);
            }
            Err(deaf) => self.set_deaf(Some(deaf)),
        }
    }

    fn look(&mut self, look: Look) {
        if !self.find_root() {
            return;
        }
        let try_again = self.deaf.is_some() && self.shared.steady() >= self.tried + self.options.rescan;
        if look.anew || (look.everything && try_again) {
            self.listen_anew();
        }
        let Some(root) = self.root.as_ref().map(|root| root.real.clone()) else {
            return;
        };
        let snapshot = self.vault.snapshot();
        // The real root: what is heard is told by it, and a symlink would hide it from that.
        let mut plan = look::plan(&root, &snapshot, &look.paths);
        plan.everything |= look.everything;
        self.hear(std::mem::take(&mut plan.folders));
        drop(snapshot);
        if self.shared.stopped() || (!plan.everything && plan.files.is_empty()) {
            return;
        }
        // A commit of this process has its own changes taken in before they are seen here.
        let patience = self.options.quiet * 10;
        let delta = lock::between_commits(&root, patience, || self.take_in(plan, look.sweep));
        self.shared.outbox.put(delta);
    }

    fn take_in(&mut self, plan: Plan, sweep: bool) -> Delta {
        let began = Instant::now();
        if !plan.everything {
            self.shared.outbox.count(|counts| counts.looks += 1);
            let delta = self.vault.refresh_files(plan.files);
            self.shared.machine().glanced(began.elapsed(), self.shared.steady());
            return without_temporary(delta);
        }
        self.shared.outbox.count(|counts| counts.rescans += 1);
        match self.vault.refresh() {
            Ok(delta) => {
                let found = [&delta.added, &delta.changed, &delta.removed].into_iter().flatten().cloned().collect();
                let at = self.shared.steady();
                self.shared.machine().looked(sweep, &found, began.elapsed(), at);
                without_temporary(delta)
            }
            Err(error) => {
                tracing::warn!(%error, "the vault can't be listed; its last snapshot stays");
                self.root = None;
                self.shared.machine().set_root(true, false, self.shared.steady());
                Delta::default()
            }
        }
    }

    /// Whether the vault's folder is there. When another one stands in its place, everything is
    /// heard anew.
    fn find_root(&mut self) -> bool {
        let now = Identity::of(self.vault.root());
        let replaced = now != self.root && self.root.is_some();
        if now.is_none() && self.root.is_some() {
            tracing::warn!(root = %self.vault.root().display(), "the vault's folder is gone; its last snapshot stays");
        }
        self.root = now;
        let there = self.root.is_some();
        self.shared.machine().set_root(!there, replaced, self.shared.steady());
        there
    }

    fn say_problems(&mut self) {
        let mut problems = Vec::new();
        let mut say = |message: &str| {
            problems.push(Problem { kind: ProblemKind::Watch, line: None, message: message.to_owned() });
        };
        if self.root.is_none() {
            say("the vault's folder is not there; what was known of it stays until it is back");
        }
        match self.deaf {
            Some(Deaf::Limit) => {
                say("the system's limit of file watches is reached; the vault is looked at from time to time instead \
                 (on Linux, raise fs.inotify.max_user_watches or max_user_instances)")
            }
            Some(Deaf::Refused) => {
                say("the system gives no events for this folder; the vault is looked at from time to time instead");
            }
            None => {}
        }
        if problems != self.problems {
            self.problems.clone_from(&problems);
            self.shared.outbox.set_problems(problems);
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.ears = None;
        if std::thread::panicking() {
            let message = "watching has ended by a fault; open the vault anew".to_owned();
            self.shared.outbox.set_problems(vec![Problem { kind: ProblemKind::Watch, line: None, message }]);
        }
        self.shared.outbox.end();
    }
}

/// Files in the making are in the snapshot as long as they are there, but nobody is told of them.
fn without_temporary(mut delta: Delta) -> Delta {
    for paths in [&mut delta.added, &mut delta.changed, &mut delta.removed] {
        paths.retain(|path| !hint::is_temporary(path));
    }
    delta
}
