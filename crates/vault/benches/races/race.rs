//! Races: an editor's thread and the door on one note, and a look at the disk after each.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use dormouse_fixtures::{SplitMix64, TempVault, temp_vault};
use dormouse_vault::{CommitError, Conservation, NotePath, Vault, Writer};

use crate::editor::{Dice, Editor, Save, Style};

const NOTE: &str = "note.md";
/// How often the door plans again after a conflict.
const TRIES: usize = 3;

#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) commits: usize,
    pub(crate) conflicts: usize,
    pub(crate) set_aside: usize,
    pub(crate) losses: Vec<String>,
}

/// A commit that the door said is done.
struct Told {
    mark: String,
    started: Instant,
}

pub(crate) fn run(style: Style, races: usize, seed: u64) -> Sum {
    let folder = temp_vault("");
    let mut dice = Dice(SplitMix64(seed ^ (style as u64) << 32));
    let mut sum = Sum::default();
    fs::write(folder.path().join(NOTE), "").unwrap();
    let vault = Vault::open(folder.path()).unwrap();
    for race in 0..races {
        let lines = dice.below(400);
        let base: String = (0..lines).map(|n| format!("base {race} {n} {}\n", "x".repeat(40))).collect();
        fs::write(folder.path().join(NOTE), &base).unwrap();
        let (saves, told) = meet(&vault, folder.path(), style, race, &mut dice, &mut sum);
        // Opening the vault looks for late writes and tells of them.
        drop(Vault::open(folder.path()).unwrap());
        judge(&folder, style, race, &saves, &told, &mut sum);
    }
    sum
}

/// Both sides at once.
fn meet(
    vault: &Vault,
    folder: &Path,
    style: Style,
    race: usize,
    dice: &mut Dice,
    sum: &mut Sum,
) -> (Vec<Save>, Vec<Told>) {
    let start = Barrier::new(2);
    let end_of_door = Barrier::new(2);
    let note = folder.join(NOTE);
    let (count, commits) = (1 + dice.below(3) as usize, 1 + dice.below(2) as usize);
    // Half of the held files are written only when the door has finished.
    let is_late = style == Style::Held && dice.below(2) == 0;
    let mut editor = Editor { note: &note, style, dice: Dice(SplitMix64(dice.below(u64::MAX))), held: None };
    editor.prepare();
    let mut own = Dice(SplitMix64(dice.below(u64::MAX)));
    thread::scope(|scope| {
        let (start, end_of_door) = (&start, &end_of_door);
        let saves = scope.spawn(move || {
            start.wait();
            if is_late {
                end_of_door.wait();
            }
            let saves: Vec<Save> = (0..count).map(|n| editor.save(race, n)).collect();
            if !is_late {
                end_of_door.wait();
            }
            saves
        });
        start.wait();
        let mut told = Vec::new();
        for n in 0..commits {
            own.dawdle();
            told.extend(commit(vault, &format!("- door {race}.{n}"), &mut own, sum));
        }
        end_of_door.wait();
        (saves.join().unwrap(), told)
    })
}

/// Adds one line to the note, as an agent does: read, plan, commit; after a conflict again.
fn commit(vault: &Vault, mark: &str, dice: &mut Dice, sum: &mut Sum) -> Option<Told> {
    let path = NotePath::new(NOTE).unwrap();
    let started = Instant::now();
    let mut read = vault.read(&path).ok()?;
    for _ in 0..TRIES {
        if dice.below(3) == 0 {
            dice.dawdle();
        }
        let gap = if read.text.is_empty() || read.text.ends_with('\n') { "" } else { "\n" };
        let text = format!("{}{gap}{mark}\n", read.text);
        let plan = vault.begin(Writer::Person).rule(Conservation::Free);
        match plan.replace(path.clone(), read.version, text).commit() {
            Ok(_) => {
                sum.commits += 1;
                return Some(Told { mark: mark.to_owned(), started });
            }
            Err(CommitError::Conflict(conflict)) => {
                sum.conflicts += 1;
                read = conflict.current?;
            }
            // A save that was read in the middle of a character.
            Err(CommitError::NotUtf8 { .. }) => return None,
            Err(error) => panic!("{error}"),
        }
    }
    None
}

/// What either side was told is saved lies in the note, or is set aside for a person; nothing of
/// ours is left over.
fn judge(folder: &TempVault, style: Style, race: usize, saves: &[Save], told: &[Told], sum: &mut Sum) {
    let mut texts = vec![folder.read(NOTE)];
    let displaced = folder.path().join(".dormouse/displaced");
    for entry in fs::read_dir(&displaced).into_iter().flatten().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let is_for_a_person = !name.starts_with("recent-") && !name.starts_with("old-");
        if is_for_a_person {
            sum.set_aside += 1;
            texts.push(String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned());
        }
        fs::remove_file(entry.path()).unwrap();
    }
    let is_kept = |text: &str| texts.iter().any(|have| have.contains(text));
    let mut lose = |what: String| sum.losses.push(format!("{} {race}: {what}", style.name()));
    // An append adds to what is there; any other save is a whole text in place of the one before.
    let binding = if style == Style::Append { saves } else { &saves[saves.len() - 1..] };
    for save in binding.iter().filter(|save| !is_kept(&save.text)) {
        lose(save.text.lines().next().unwrap_or_default().to_owned());
    }
    for commit in told.iter().filter(|commit| !is_kept(&format!("{}\n", commit.mark))) {
        // An editor that saves a whole text over a commit has taken that commit's line away itself.
        let is_overwritten = style != Style::Append && saves.iter().any(|save| save.finished >= commit.started);
        if !is_overwritten {
            lose(commit.mark.clone());
        }
    }
    let journal = fs::read_dir(folder.path().join(".dormouse/journal")).into_iter().flatten().count();
    let temps = folder.files().keys().filter(|name| name.contains(".dormouse-tmp")).count();
    if journal + temps > 0 {
        lose(format!("{journal} journals and {temps} temporary files are left"));
    }
}
