//! Whatever is done to the files, the snapshot comes to be what a fresh scan sees, and the deltas
//! tell how.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dormouse_fixtures::temp_vault;
use dormouse_vault::{NotePath, Watcher};

use super::{PATIENCE, QUICK, converges, path, watch};

/// Small numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const FOLDERS: [&str; 7] = ["", "a", "a/b", "A", "c", "c/deep/er", "图"];
const NAMES: [&str; 9] =
    ["n.md", "N.md", "two.md", "图.md", "x.png", "Caf\u{e9}.md", "Cafe\u{301}.md", "n 2.md", "b.canvas"];

fn place(dice: &mut Dice) -> String {
    let (folder, name) = (dice.pick(&FOLDERS), dice.pick(&NAMES));
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// One thing that some program does. What can't be done is not done.
///
/// `calm` leaves out what brings folders into play, so that files are looked at one by one.
fn act(root: &Path, outside: &Path, dice: &mut Dice, step: usize, calm: bool) -> String {
    let at = place(dice);
    let file = root.join(&at);
    let other = place(dice);
    let text = format!("{step} [[{}]] ![[{}]]\n", dice.pick(&["n", "two", "图", "Café", "gone", "x.png"]), other);
    let sibling = |end: &str| PathBuf::from(format!("{}{end}", file.display()));
    let hidden = file.with_file_name(format!(".{step}.tmp"));
    if let Some(folder) = file.parent().filter(|_| dice.roll(3) > 0 || calm) {
        let _ = fs::create_dir_all(folder);
    }
    let folder = root.join(dice.pick(&FOLDERS[1..]));
    let what = if calm { [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 19][dice.roll(11)] } else { dice.roll(20) };
    let done = match what {
        0 | 1 => fs::write(&file, text),
        2 => fs::write(&hidden, text).and_then(|()| fs::rename(&hidden, &file)),
        3 => fs::write(sibling(".tmp"), text).and_then(|()| fs::rename(sibling(".tmp"), &file)),
        4 => {
            let moved = fs::rename(&file, sibling("~")).is_ok();
            let written = fs::write(&file, text);
            if moved { written.and_then(|()| fs::remove_file(sibling("~"))) } else { written }
        }
        5 => fs::remove_file(&file).and_then(|()| fs::write(&file, text)),
        6 => fs::remove_file(&file),
        7 => fs::rename(&file, root.join(&other)),
        8 => {
            use std::io::Write;
            fs::OpenOptions::new().append(true).open(&file).and_then(|mut file| file.write_all(b"more [[two]]\n"))
        }
        9 => fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join("n.md"), text)),
        10 => fs::rename(&folder, root.join(dice.pick(&FOLDERS[1..]))),
        11 => fs::remove_dir_all(&folder),
        12 => fs::rename(&folder, outside.join(format!("f{}", step % 3))),
        13 => fs::rename(outside.join(format!("f{}", step % 3)), &folder),
        14 => fs::rename(&file, outside.join("file")),
        15 => fs::rename(outside.join("file"), &file),
        16 => {
            let turned: String = at
                .chars()
                .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
                .collect();
            fs::rename(&file, root.join(turned))
        }
        17 => link(&other, &file),
        18 => fs::remove_file(&file).and_then(|()| link(dice.pick(&["..", ".", "n.md", "/nowhere"]), &file)),
        _ => fs::rename(&file, sibling(".part")).and_then(|()| fs::rename(sibling(".part"), &file)),
    };
    match dice.roll(12) {
        0 => std::thread::sleep(Duration::from_millis(70)),
        1..=5 => std::thread::sleep(Duration::from_millis(dice.roll(6) as u64)),
        _ => {}
    }
    format!("{step}: {what} {at} {other} {done:?}")
}

#[cfg(unix)]
fn link(target: &str, file: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, file)
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Follows the deltas: the files that must be there after them.
fn follow(watcher: &Watcher, files: &mut BTreeSet<NotePath>) {
    while let Some(delta) = watcher.next(Duration::ZERO) {
        for path in &delta.removed {
            assert!(files.remove(path), "{path} was not there: {delta:?}");
        }
        for path in &delta.added {
            assert!(files.insert(path.clone()), "{path} was there: {delta:?}");
        }
        for path in &delta.changed {
            assert!(files.contains(path), "{path} was not there: {delta:?}");
        }
    }
}

/// `rounds` times `steps` random operations, with a comparison after each round.
fn soak(seed: u64, rounds: usize, steps: usize) {
    let folder = temp_vault("=== n.md\n[[two]]\n=== a/two.md\n[[n]]\n");
    let outside = tempfile::tempdir().unwrap();
    let (vault, watcher) = watch(folder.path(), QUICK);
    let mut files: BTreeSet<NotePath> = [path("n.md"), path("a/two.md")].into();
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut log = Vec::new();
    for round in 0..rounds {
        for step in 0..steps {
            log.push(act(folder.path(), outside.path(), &mut dice, round * steps + step, seed.is_multiple_of(2)));
        }
        let last = log.iter().rev().take(60).rev().cloned().collect::<Vec<_>>().join("\n");
        converges(folder.path(), &vault, &format!("seed {seed}, round {round}\n{last}"));
        let start = Instant::now();
        loop {
            follow(&watcher, &mut files);
            let snapshot = vault.snapshot();
            let there: BTreeSet<NotePath> =
                snapshot.notes().map(|note| note.path.clone()).chain(snapshot.files().cloned()).collect();
            let temporary = |path: &&NotePath| path.as_str().ends_with(".part") || path.as_str().ends_with('~');
            let there: BTreeSet<NotePath> = there.iter().filter(|path| !temporary(path)).cloned().collect();
            if there == files {
                break;
            }
            assert!(start.elapsed() < PATIENCE, "seed {seed}: the deltas tell {files:?}, there is {there:?}\n{last}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(watcher.problems(), []);
}

/// Vector 39.
#[test]
fn random_operations_end_as_a_fresh_scan_sees_them() {
    for seed in 1..=4 {
        soak(seed, 3, 100);
    }
}

/// For a person: runs for as many seconds as `DORMOUSE_SOAK_SECONDS` says, 60 by default.
#[test]
#[ignore = "takes as long as it is told to"]
fn random_operations_for_a_long_time() {
    let seconds = std::env::var("DORMOUSE_SOAK_SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let start = Instant::now();
    let mut seed = 1000;
    while start.elapsed() < Duration::from_secs(seconds) {
        soak(seed, 6, 150);
        seed += 1;
    }
    eprintln!("{} seeds", seed - 1000);
}
