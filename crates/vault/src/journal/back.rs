//! Taking a commit back, step by step, whatever has come on top of it.

use std::path::{Path, PathBuf};

use super::Step;
use super::run::{Io, Run, There, emulated_copy};
use crate::version::Version;

impl Run<'_> {
    /// Takes back every step that is in place. An edit that somebody made on top stays; what it
    /// hides is kept under `.dormouse/displaced/` and named in the answer. After a crash (`cut`) a
    /// name may have been in the making.
    pub(super) fn back(&self, steps: &[Step], cut: bool) -> Io<Vec<PathBuf>> {
        let mut kept = Vec::new();
        for step in steps.iter().rev() {
            let target = self.root.join(step.target());
            match step {
                Step::Create { temp, new, .. } => self.uncreate(&self.root.join(temp), &target, *new, cut)?,
                Step::Replace { temp, expected, new, .. } => {
                    let temp = self.root.join(temp);
                    self.mend_emulated(&temp)?;
                    kept.extend(self.exchange_back(&temp, &target, *expected, *new)?);
                }
                Step::Rename { from, via: None, .. } => self.unrename(&self.root.join(from), &target, cut)?,
                Step::Rename { from, via: Some(via), .. } => {
                    kept.extend(self.respell_back(&self.root.join(from), &target, &self.root.join(via), cut)?);
                }
            }
        }
        self.sync_targets(steps)?;
        Ok(kept)
    }

    fn uncreate(&self, temp: &Path, target: &Path, new: Version, cut: bool) -> Io<()> {
        let empty = Version::of(b"");
        match (self.there(temp)?, self.there(target)?) {
            (There::Nothing, There::Text(now)) if now == new => {
                if self.take_name(target, temp)? && self.there(temp)? != There::Text(new) {
                    // Edited in this very moment: it stays.
                    self.take_name(temp, target)?;
                }
                Ok(())
            }
            // Where a name is taken in two steps, a crash may have come between them: the file has
            // both names, or an empty one holds the place, on the way there or on the way back.
            (There::Text(ours), There::Text(now))
                if ours == new && (self.disk.is_same_file(temp, target) || (cut && now == empty)) =>
            {
                self.on(target, |disk, path| disk.remove(path))
            }
            (There::Text(ours), There::Text(now)) if cut && ours == empty && now == new => {
                self.on(target, |disk, path| disk.rename_over(path, temp))
            }
            _ => Ok(()),
        }
    }

    fn unrename(&self, from: &Path, target: &Path, cut: bool) -> Io<()> {
        let empty = Version::of(b"");
        match (self.there(from)?, self.there(target)?) {
            (_, There::Nothing) => Ok(()),
            (There::Nothing, _) => self.take_name(target, from).map(drop),
            (old, now) if self.disk.is_same_file(from, target) || (cut && now == There::Text(empty) && old != now) => {
                self.on(target, |disk, path| disk.remove(path))
            }
            (There::Text(old), _) if cut && old == empty => self.on(from, |disk, path| disk.rename_over(target, path)),
            _ => Ok(()),
        }
    }

    /// The two names differ by case or Unicode form alone, so only the spelling in the folder tells
    /// which of them the file has.
    fn respell_back(&self, from: &Path, target: &Path, via: &Path, cut: bool) -> Io<Option<PathBuf>> {
        let holds_a_place = |path: &Path| Ok(cut && self.there(path)? == There::Text(Version::of(b"")));
        let (is_old, is_new) = (self.disk.is_spelled(from), self.disk.is_spelled(target));
        if !is_old && is_new {
            self.respell(target, from, via)?;
        } else if is_old && is_new && (self.disk.is_same_file(from, target) || holds_a_place(target)?) {
            self.on(target, |disk, path| disk.remove(path))?;
        }
        if self.there(via)? == There::Nothing || self.take_name(via, from)? {
            return Ok(None);
        }
        if holds_a_place(via)? {
            return self.on(via, |disk, path| disk.remove(path)).map(|()| None);
        }
        self.keep(via, from).map(Some)
    }

    /// `temp` holds the new bytes when the exchange has not happened, the displaced ones when it has.
    fn exchange_back(&self, temp: &Path, target: &Path, expected: Version, new: Version) -> Io<Option<PathBuf>> {
        let displaced = self.there(temp)?;
        if displaced == There::Nothing || displaced == There::Text(new) {
            return Ok(None);
        }
        match self.there(target)? {
            There::Text(now) if now == new => {
                self.exchange(temp, target)?;
                if self.there(temp)? == There::Text(new) {
                    return Ok(None);
                }
                // Edited in this very moment: the newer edit goes back, the older bytes are kept.
                self.exchange(temp, target)?;
            }
            There::Nothing if displaced != There::Text(expected) && self.take_name(temp, target)? => return Ok(None),
            _ => {}
        }
        self.keep(temp, target).map(Some)
    }

    /// Finishes or undoes what a crash inside an emulated exchange left.
    fn mend_emulated(&self, temp: &Path) -> Io<()> {
        let copy = emulated_copy(temp);
        if self.there(&copy)? == There::Nothing {
            return Ok(());
        }
        if self.there(temp)? == There::Nothing {
            self.on(temp, |disk, to| disk.rename_over(&copy, to))
        } else {
            self.on(&copy, |disk, path| disk.remove(path))
        }
    }
}
