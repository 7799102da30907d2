//! The outbox: what was taken in, until somebody asks for it. When nobody does, deltas are put
//! together, so that it never holds more than the vault has files.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::path::NotePath;
use crate::problem::Problem;
use crate::snapshot::Delta;

/// Deltas that are kept apart.
const MOST_APART: usize = 64;

/// What a watch has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WatchCounts {
    /// Events that were heard, but for reading and hidden files.
    pub events: u64,
    /// Looks at single files.
    pub looks: u64,
    /// Looks at the whole vault, the first included.
    pub rescans: u64,
}

#[derive(Debug, Default)]
struct Kept {
    deltas: VecDeque<Delta>,
    problems: Vec<Problem>,
    counts: WatchCounts,
    ended: bool,
}

/// Deltas, problems and counts, between the watch and whoever holds it.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    kept: Mutex<Kept>,
    news: Condvar,
}

impl Outbox {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a delta at the end.
    pub(crate) fn put(&self, delta: Delta) {
        if delta.is_empty() {
            return;
        }
        let mut kept = self.kept();
        let full = kept.deltas.len() >= MOST_APART;
        match kept.deltas.back_mut().filter(|_| full) {
            Some(last) => *last = together(last, &delta),
            None => kept.deltas.push_back(delta),
        }
        self.news.notify_all();
    }

    /// The first delta, waiting for one.
    pub(crate) fn take(&self, timeout: Duration) -> Option<Delta> {
        let until = Instant::now().checked_add(timeout);
        let mut kept = self.kept();
        loop {
            if let Some(delta) = kept.deltas.pop_front() {
                return Some(delta);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            // A watch that has ended by a fault keeps nobody waiting for ever.
            if left.map_or(kept.ended, |left| left.is_zero()) {
                return None;
            }
            kept = self.wait(kept, left);
        }
    }

    /// Waits until the watch has ended, or `timeout` is over; whether it has.
    pub(crate) fn wait_for_end(&self, timeout: Duration) -> bool {
        let until = Instant::now() + timeout;
        let mut kept = self.kept();
        while !kept.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            kept = self.wait(kept, Some(left));
        }
        true
    }

    fn wait<'k>(&'k self, kept: MutexGuard<'k, Kept>, left: Option<Duration>) -> MutexGuard<'k, Kept> {
        match left {
            Some(left) => self.news.wait_timeout(kept, left).map_or_else(|e| e.into_inner().0, |(kept, _)| kept),
            None => self.news.wait(kept).unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// The watch has ended.
    pub(crate) fn end(&self) {
        self.kept().ended = true;
        self.news.notify_all();
    }

    pub(crate) fn set_problems(&self, problems: Vec<Problem>) {
        self.kept().problems = problems;
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.kept().problems.clone()
    }

    pub(crate) fn count(&self, count: impl FnOnce(&mut WatchCounts)) {
        count(&mut self.kept().counts);
    }

    pub(crate) fn counts(&self) -> WatchCounts {
        self.kept().counts
    }
}

/// One delta for two in a row: what came and went again is not in it. Linear.
fn together(first: &Delta, then: &Delta) -> Delta {
    let set = |paths: &[NotePath]| paths.iter().cloned().collect::<BTreeSet<_>>();
    let (mut added, mut changed, mut removed) = (set(&first.added), set(&first.changed), set(&first.removed));
    for path in &then.removed {
        changed.remove(path);
        if !added.remove(path) {
            removed.insert(path.clone());
        }
    }
    for path in &then.added {
        if removed.remove(path) {
            changed.insert(path.clone());
        } else {
            added.insert(path.clone());
        }
    }
    for path in &then.changed {
        if !added.contains(path) {
            changed.insert(path.clone());
        }
    }
    let list = |paths: BTreeSet<NotePath>| paths.into_iter().collect();
    Delta { added: list(added), changed: list(changed), removed: list(removed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(added: &[&str], changed: &[&str], removed: &[&str]) -> Delta {
        let list = |paths: &[&str]| paths.iter().map(|path| NotePath::new(path).unwrap()).collect();
        Delta { added: list(added), changed: list(changed), removed: list(removed) }
    }

    #[test]
    fn deltas_that_nobody_fetches_are_put_together() {
        let outbox = Outbox::default();
        for n in 0..MOST_APART - 1 {
            outbox.put(delta(&[&format!("{n}.md")], &[], &[]));
        }
        outbox.put(delta(&["new.md", "brief.md"], &["edited.md", "doomed.md"], &["back.md"]));
        outbox.put(Delta::default());
        outbox.put(delta(&["back.md"], &["new.md"], &["brief.md", "doomed.md"]));
        let mut taken = Vec::new();
        while let Some(delta) = outbox.take(Duration::ZERO) {
            taken.push(delta);
        }
        assert_eq!(taken.len(), MOST_APART);
        assert_eq!(taken.last(), Some(&delta(&["new.md"], &["back.md", "edited.md"], &["doomed.md"])));
    }
}
