//! A disk that breaks: at one operation, at two, from one on, when it fills up, or with an error for
//! something that it did. It can lack what some file systems lack, and lets an editor in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use dormouse_vault::{Disk, OsDisk};

/// The operations of [`Disk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    Read,
    Write,
    Exchange,
    Link,
    RenameNew,
    RenameOver,
    Remove,
    MakeFolders,
    RemoveFolder,
    SyncFolder,
}

/// What goes wrong. Operations count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Never,
    /// The n-th fails, and the next ones work.
    Once(usize),
    /// Two fail.
    Twice(usize, usize),
    /// The n-th fails, and so does everything after it: the process is dead, or the disk is gone.
    Death(usize),
    /// From the n-th on nothing that needs room works.
    Full(usize),
    /// The n-th happens, and says that it did not.
    Lie(usize),
}

/// What the file system can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Can {
    /// Exchange, and rename to a free name.
    Everything,
    /// No exchange.
    NoExchange,
    /// Neither exchange nor rename to a free name, but hard links.
    LinksAlone,
    /// None of the three.
    PlainRenames,
}

pub(crate) const EVERY_KIND: [Can; 4] = [Can::Everything, Can::NoExchange, Can::LinksAlone, Can::PlainRenames];

/// Another program that writes to the file that is about to be moved into place.
type Editor<'a> = Box<dyn FnMut(&Path) + Send + 'a>;

pub(crate) struct BrokenDisk<'a> {
    done: Mutex<Vec<Op>>,
    fault: Fault,
    can: Can,
    error: i32,
    editor: Mutex<Option<Editor<'a>>>,
}

/// `ENOSPC`
pub(crate) const FULL: i32 = 28;

impl<'a> BrokenDisk<'a> {
    pub(crate) fn new(fault: Fault, can: Can) -> Self {
        Self { done: Mutex::default(), fault, can, error: FULL, editor: Mutex::new(None) }
    }

    pub(crate) fn whole() -> Self {
        Self::new(Fault::Never, Can::Everything)
    }

    /// The error that it gives, by its number.
    pub(crate) fn saying(self, error: i32) -> Self {
        Self { error, ..self }
    }

    pub(crate) fn with_editor(self, editor: impl FnMut(&Path) + Send + 'a) -> Self {
        *self.editor.lock().unwrap() = Some(Box::new(editor));
        self
    }

    /// The operations up to now.
    pub(crate) fn done(&self) -> Vec<Op> {
        self.done.lock().unwrap().clone()
    }

    fn dead(&self) -> bool {
        matches!(self.fault, Fault::Death(_))
    }

    /// Counts the operation, does it unless it is to fail, and says how it went.
    fn run<T>(&self, op: Op, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let n = {
            let mut done = self.done.lock().unwrap();
            done.push(op);
            done.len() - 1
        };
        let no = || io::Error::from_raw_os_error(self.error);
        let needs_room = matches!(op, Op::Write | Op::MakeFolders | Op::Link);
        match self.fault {
            Fault::Lie(at) if n == at => act().and_then(|_| Err(no())),
            Fault::Once(at) if n == at => Err(no()),
            Fault::Twice(one, two) if n == one || n == two => Err(no()),
            Fault::Death(at) if n >= at => Err(no()),
            Fault::Full(at) if n >= at && needs_room => Err(no()),
            _ => act(),
        }
    }

    /// A write whose first half arrives where it fails, as when the disk fills up.
    fn write(&self, path: &Path, bytes: &[u8], all: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let before = self.done().len();
        self.run(Op::Write, all).inspect_err(|error| {
            let is_first = match self.fault {
                Fault::Death(at) => at == before,
                Fault::Lie(_) => false,
                _ => true,
            };
            if is_first && error.raw_os_error() == Some(self.error) {
                let _ = OsDisk.write_new(path, &bytes[..bytes.len() / 2], false);
            }
        })
    }

    fn editor_writes(&self, path: &Path) {
        if let Some(editor) = self.editor.lock().unwrap().as_mut() {
            editor(path);
        }
    }
}

impl Disk for BrokenDisk<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.run(Op::Read, || OsDisk.read(path))
    }
    // A process dies here, not the power: the tests need not wait for the platters.
    fn write_new(&self, path: &Path, bytes: &[u8], _durable: bool) -> io::Result<()> {
        self.write(path, bytes, || OsDisk.write_new(path, bytes, false))
    }
    fn write_like(&self, path: &Path, bytes: &[u8], _durable: bool, like: &Path) -> io::Result<()> {
        self.write(path, bytes, || OsDisk.write_like(path, bytes, false, like))
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        if self.can != Can::Everything {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.editor_writes(b);
        self.run(Op::Exchange, || OsDisk.exchange(a, b))
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.can == Can::PlainRenames {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.run(Op::Link, || OsDisk.link(from, to))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.editor_writes(to);
        match self.can {
            Can::Everything | Can::NoExchange => self.run(Op::RenameNew, || OsDisk.rename_new(from, to)),
            Can::LinksAlone => {
                self.link(from, to)?;
                self.run(Op::RenameNew, || OsDisk.remove(from)).or_else(|error| {
                    if !from.exists() {
                        return Ok(());
                    }
                    if !self.dead() {
                        let _ = OsDisk.remove(to);
                    }
                    Err(error)
                })
            }
            Can::PlainRenames => {
                let taken = self.run(Op::RenameNew, || OsDisk.write_new(to, b"", false));
                taken.inspect_err(|_| {
                    if matches!(self.fault, Fault::Lie(_)) {
                        let _ = OsDisk.remove(to);
                    }
                })?;
                self.run(Op::RenameNew, || OsDisk.rename_over(from, to)).inspect_err(|_| {
                    if !self.dead() && from.exists() {
                        let _ = OsDisk.remove(to);
                    }
                })
            }
        }
    }
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(Op::RenameOver, || OsDisk.rename_over(from, to))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(Op::Remove, || OsDisk.remove(path))
    }
    fn make_folders(&self, path: &Path) -> io::Result<()> {
        self.run(Op::MakeFolders, || OsDisk.make_folders(path))
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.run(Op::RemoveFolder, || OsDisk.remove_folder(path))
    }
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.run(Op::SyncFolder, || Ok(()))
    }
}

/// A disk that takes `a.md` and `A.md` for one name, and keeps the spelling that it was given: every
/// name is looked up as it is spelled in its folder.
pub(crate) struct CaseBlind;

impl CaseBlind {
    fn found(path: &Path) -> PathBuf {
        let fold = |name: &std::ffi::OsStr| name.to_string_lossy().to_lowercase();
        let wanted = fold(path.file_name().unwrap());
        let entries = fs::read_dir(path.parent().unwrap()).into_iter().flatten();
        let there = entries.map(|entry| entry.unwrap().path()).find(|other| fold(other.file_name().unwrap()) == wanted);
        there.unwrap_or_else(|| path.to_path_buf())
    }
}

impl Disk for CaseBlind {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        OsDisk.read(&Self::found(path))
    }
    fn write_new(&self, path: &Path, bytes: &[u8], _durable: bool) -> io::Result<()> {
        OsDisk.write_new(&Self::found(path), bytes, false)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        OsDisk.exchange(&Self::found(a), &Self::found(b))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsDisk.rename_new(&Self::found(from), &Self::found(to))
    }
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        // Two names of one file: such a rename does nothing, and says that it went well.
        if Self::found(from) == Self::found(to) { Ok(()) } else { OsDisk.rename_over(from, &Self::found(to)) }
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        OsDisk.remove(&Self::found(path))
    }
    fn make_folders(&self, path: &Path) -> io::Result<()> {
        OsDisk.make_folders(path)
    }
    fn is_same_file(&self, a: &Path, b: &Path) -> bool {
        Self::found(a) == Self::found(b)
    }
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
