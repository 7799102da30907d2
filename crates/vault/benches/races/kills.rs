//! Kills: a process that commits to several files without a pause is killed at any point; so is, now
//! and then, the one that recovers after it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dormouse_vault::{Change, ChangeSet, Conservation, NotePath, Vault, Version, Writer};

const FOLDER: &str = "DORMOUSE_KILLS_FOLDER";
const TASK: &str = "DORMOUSE_KILLS_TASK";
const NOTES: usize = 6;

#[derive(Default)]
pub(crate) struct Sum {
    /// Kills that left a journal behind.
    pub(crate) inside: usize,
    /// Recoveries that were killed while there was a journal.
    pub(crate) recoveries: usize,
    /// Half-done commits that were taken back, and those that were finished.
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) broken: Vec<String>,
}

pub(crate) fn is_child() -> bool {
    std::env::var_os(FOLDER).is_some()
}

/// What a process was started for: to commit for ever, or to open the vault once.
pub(crate) fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    if std::env::var(TASK).unwrap() == "commit" { commit_for_ever(&folder) } else { drop(Vault::open(&folder)) }
}

fn start(folder: &Path, task: &str, args: &[&str]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args).env(FOLDER, folder).env(TASK, task).stdout(Stdio::null()).spawn().unwrap()
}

/// Kills so many processes; `args` make this program call [`child`], and `below` throws dice.
pub(crate) fn run(kills: usize, args: &[&str], mut below: impl FnMut(u64) -> u64) -> Sum {
    let folder = dormouse_fixtures::temp_vault("");
    let mut sum = Sum::default();
    fill(folder.path());
    for n in 0..kills {
        let mut child = start(folder.path(), "commit", args);
        let ready = folder.path().join(".ready");
        wait_for(&ready, &mut child);
        std::thread::sleep(Duration::from_micros(below(60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        fs::remove_file(&ready).unwrap();
        let phase = journal(folder.path());
        sum.inside += usize::from(phase.is_some());
        if phase.is_some() && below(2) == 0 {
            let mut recovery = start(folder.path(), "open", args);
            std::thread::sleep(Duration::from_micros(below(4_000)));
            recovery.kill().unwrap();
            recovery.wait().unwrap();
            sum.recoveries += 1;
        }
        match phase.as_deref() {
            Some("done") => sum.new += 1,
            Some(_) => sum.old += 1,
            None => {}
        }
        if let Err(broken) = settled(folder.path()) {
            sum.broken.push(format!("kill {n}, in phase {phase:?}: {broken}"));
            fs::remove_dir_all(folder.path().join(".dormouse")).unwrap();
            fill(folder.path());
        }
    }
    sum
}

fn wait_for(file: &Path, child: &mut Child) {
    let start = Instant::now();
    while !file.exists() {
        assert!(child.try_wait().unwrap().is_none(), "the process ended by itself");
        assert!(start.elapsed() < Duration::from_secs(60), "the process does not start");
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn journal(folder: &Path) -> Option<String> {
    let mut entries = fs::read_dir(folder.join(".dormouse/journal")).into_iter().flatten().filter_map(Result::ok);
    entries.next().map(|entry| entry.path().extension().unwrap_or_default().to_string_lossy().into_owned())
}

/// Six notes of round 0 that link to the hub, and the hub.
pub(crate) fn fill(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|e| e.file_name() != ".dormouse") {
        if entry.path().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    fs::create_dir(folder.join("in")).unwrap();
    fs::write(folder.join("hub-0.md"), "the hub\n").unwrap();
    for n in 0..NOTES {
        fs::write(folder.join(note(n).as_str()), text(n, 0, 0)).unwrap();
    }
}

fn path(text: &str) -> NotePath {
    NotePath::new(text).unwrap()
}

fn note(n: usize) -> NotePath {
    path(&if n.is_multiple_of(2) { format!("n{n}.md") } else { format!("in/n{n}.md") })
}

fn text(n: usize, round: usize, hub: usize) -> String {
    format!("round {round} [[hub-{hub}]] note {n}\n{}", format!("{round} filler of the note\n").repeat(n * 40))
}

/// Round and hub of a note's text, when all of it is of one round.
fn read(n: usize, bytes: &[u8]) -> Option<(usize, usize)> {
    let text_now = std::str::from_utf8(bytes).ok()?;
    let (round, rest) = text_now.strip_prefix("round ")?.split_once(" [[hub-")?;
    let (round, hub) = (round.parse().ok()?, rest.split_once("]]")?.0.parse().ok()?);
    (text(n, round, hub) == text_now).then_some((round, hub))
}

fn state(folder: &Path) -> Result<(usize, usize), String> {
    let mut states = Vec::new();
    for n in 0..NOTES {
        let bytes = fs::read(folder.join(note(n).as_str())).map_err(|error| format!("{}: {error}", note(n)))?;
        states.push(read(n, &bytes).ok_or_else(|| format!("{} is torn", note(n)))?);
    }
    states.dedup();
    if let [one] = states[..] { Ok(one) } else { Err(format!("rounds and hubs side by side: {states:?}")) }
}

/// Opens the vault, which settles it, and looks at everything.
pub(crate) fn settled(folder: &Path) -> Result<(), String> {
    let vault = Vault::open(folder).map_err(|error| error.to_string())?;
    if let Some(problem) = vault.problems().first() {
        return Err(problem.to_string());
    }
    let (round, hub) = state(folder)?;
    let mut names = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
            if entry.path().is_dir() {
                if name != ".dormouse" {
                    folders.push(entry.path());
                }
                if name.starts_with("made/") && fs::read_dir(entry.path()).unwrap().next().is_none() {
                    return Err(format!("{name} is an empty folder"));
                }
            } else {
                names.push(name);
            }
        }
    }
    if let Some(left) = names.iter().find(|name| name.contains(".dormouse-tmp")) {
        return Err(format!("{left} is left"));
    }
    if journal(folder).is_some() {
        return Err("the journal is not empty".to_owned());
    }
    let hubs: Vec<&String> = names.iter().filter(|name| name.starts_with("hub-")).collect();
    if hubs != [&format!("hub-{hub}.md")] {
        return Err(format!("the notes link to hub-{hub}, and there is {hubs:?}"));
    }
    // A round that divides by three made a file of its own.
    let newest =
        names.iter().filter_map(|name| name.strip_prefix("made/")?.split_once('/')?.0.parse::<usize>().ok()).max();
    if newest.is_some_and(|made| made > round) || (round > 0 && round % 3 == 0 && newest != Some(round)) {
        return Err(format!("the notes are of round {round}, and the newest file that was made of {newest:?}"));
    }
    let _ = fs::remove_dir_all(folder.join("made"));
    if round % 3 == 0 && round > 0 {
        fs::create_dir_all(folder.join(format!("made/{round}"))).unwrap();
        fs::write(folder.join(format!("made/{round}/file.md")), "made\n").unwrap();
    }
    Ok(())
}

/// Commits round after round: all notes; all notes and a new file in a new folder; a new name for
/// the hub with all links to it.
pub(crate) fn commit_for_ever(folder: &Path) {
    let vault = Vault::open(folder).unwrap();
    let (mut round, mut hub) = state(folder).unwrap();
    let _ = fs::write(folder.join(".ready"), "");
    loop {
        let is_rename = round % 3 == 2 && round % 2 == 0;
        let (next_round, next_hub) = if is_rename { (round, hub + 1) } else { (round + 1, hub) };
        let rule = if is_rename {
            let (from, to) = (path(&format!("hub-{hub}.md")), path(&format!("hub-{next_hub}.md")));
            Conservation::Retarget { from, to }
        } else {
            Conservation::Free
        };
        let mut set = ChangeSet::new(Writer::Person, rule.clone());
        if let Conservation::Retarget { from, to } = rule {
            set = set.with(Change::Rename { from, to, expected: Version::of(b"the hub\n") });
        }
        for n in 0..NOTES {
            let expected = Version::of(text(n, round, hub).as_bytes());
            set = set.with(Change::Replace { path: note(n), expected, content: text(n, next_round, next_hub) });
        }
        if !is_rename && next_round % 3 == 0 {
            let file = path(&format!("made/{next_round}/file.md"));
            set = set.with(Change::Create { path: file, content: "made\n".into() });
        }
        vault.commit(&set).unwrap();
        (round, hub) = (next_round, next_hub);
        if is_rename {
            // The next round follows at once, so that names do not change for ever.
            let mut set = ChangeSet::new(Writer::Person, Conservation::Free);
            for n in 0..NOTES {
                let expected = Version::of(text(n, round, hub).as_bytes());
                set = set.with(Change::Replace { path: note(n), expected, content: text(n, round + 1, hub) });
            }
            let file = path(&format!("made/{}/file.md", round + 1));
            if (round + 1) % 3 == 0 {
                set = set.with(Change::Create { path: file, content: "made\n".into() });
            }
            vault.commit(&set).unwrap();
            round += 1;
        }
    }
}
