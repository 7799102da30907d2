//! Pairs that a person has looked at and wants to keep apart: `meta/dismissed.json`.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use dormouse_vault::meta::{Artefact, Dismissed, DismissedPair};
use dormouse_vault::{ChangeSet, Clock, CommitError, Conservation, NotePath, Stage, StageLock, Vault, Version, Writer};

use super::signature::Signature;
use crate::error::ConsolidateError;
use crate::reading::Reading;

/// A note with what it says, as a dismissal remembers it.
pub(super) fn says(signature: &Signature) -> Version {
    Version::of(&signature.says().to_le_bytes())
}

/// Times that a change waits for another one to end, and how long each: five seconds in all.
const PATIENCE: (u32, Duration) = (250, Duration::from_millis(20));

/// Whether a dismissal of the pair is in force: both notes still say what they said. `says` is asked
/// only of notes of a pair that was dismissed.
pub(super) fn holds(
    dismissed: &Dismissed,
    a: &NotePath,
    b: &NotePath,
    says: impl Fn(&NotePath) -> Option<Version>,
) -> bool {
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    let at = dismissed.pairs.binary_search_by(|pair| (&pair.a, &pair.b).cmp(&(first, second)));
    let pair = at.ok().and_then(|at| dismissed.pairs.get(at));
    pair.is_some_and(|pair| says(first) == Some(pair.a_says) && says(second) == Some(pair.b_says))
}

/// Remembers that `a` and `b` are no duplicates, as long as both say what they say now: an edit of
/// headings, properties, links and provenance leaves it in force, an edit of what either says ends
/// it. Dismissals of notes that are gone are forgotten. Returns whether it was new.
///
/// # Errors
/// [`ConsolidateError::Vault`] when a note is not there or can't be read,
/// [`ConsolidateError::Unreadable`] when the earlier dismissals can't be read,
/// [`ConsolidateError::Commit`] when nothing can be written, `Locked` when another change of the file
/// does not end within five seconds.
pub fn dismiss(vault: &Vault, a: &NotePath, b: &NotePath, clock: &dyn Clock) -> Result<bool, ConsolidateError> {
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    let pair = DismissedPair {
        a: a.clone(),
        b: b.clone(),
        a_says: says_now(vault, a)?,
        b_says: says_now(vault, b)?,
        at: clock.now_utc(),
    };
    change(vault, clock, |pairs| {
        let old = pairs.insert((a.clone(), b.clone()), pair.clone());
        old.is_none_or(|old| (old.a_says, old.b_says) != (pair.a_says, pair.b_says))
    })
}

/// Takes a dismissal back: the pair is reported again when it is found. Returns whether there was
/// one.
///
/// # Errors
/// [`ConsolidateError::Unreadable`] and [`ConsolidateError::Commit`] as [`dismiss`].
pub fn undismiss(vault: &Vault, a: &NotePath, b: &NotePath, clock: &dyn Clock) -> Result<bool, ConsolidateError> {
    let key = if a <= b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
    change(vault, clock, |pairs| pairs.remove(&key).is_some())
}

/// A dismissal, and whether it is in force.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Dismissal {
    /// The first note, by path.
    pub a: NotePath,
    /// The second.
    pub b: NotePath,
    /// When it was dismissed.
    pub at: chrono::DateTime<chrono::Utc>,
    /// Whether both notes still say what they said then.
    pub in_force: bool,
}

/// All dismissals, by path. Reads their notes.
///
/// # Errors
/// [`ConsolidateError::Unreadable`] when the file that holds them can't be read.
pub fn dismissals(vault: &Vault) -> Result<Vec<Dismissal>, ConsolidateError> {
    let pairs = load(vault)?;
    let holds = |path: &NotePath, says: Version| says_now(vault, path).is_ok_and(|now| now == says);
    let all = pairs.into_iter().map(|p| {
        let in_force = holds(&p.a, p.a_says) && holds(&p.b, p.b_says);
        Dismissal { a: p.a, b: p.b, at: p.at, in_force }
    });
    Ok(all.collect())
}

/// What the file at `path` says at this moment.
pub(super) fn says_now(vault: &Vault, path: &NotePath) -> Result<Version, ConsolidateError> {
    let read = vault.read(path)?;
    let doc = dormouse_vault::Document::parse(&read.text);
    Ok(says(&Signature::of(&Reading::of(&doc, &read.text).statement())))
}

type Pairs = BTreeMap<(NotePath, NotePath), DismissedPair>;

/// The pairs of the file; none when there is no file.
fn load(vault: &Vault) -> Result<Vec<DismissedPair>, ConsolidateError> {
    let loaded = vault.meta::<Dismissed>();
    match loaded.problem {
        Some(problem) => Err(ConsolidateError::Unreadable { problem: Box::new(problem) }),
        None => Ok(loaded.value.map(|d| d.pairs).unwrap_or_default()),
    }
}

fn lock(vault: &Vault) -> Result<StageLock, CommitError> {
    for _ in 0..PATIENCE.0 {
        match vault.lock_stage(Stage::Dismissals) {
            Err(CommitError::Locked { .. }) => thread::sleep(PATIENCE.1),
            ended => return ended,
        }
    }
    vault.lock_stage(Stage::Dismissals)
}

/// Changes the file while nobody else does; when `act` says that nothing is new, nothing is written.
fn change(vault: &Vault, clock: &dyn Clock, act: impl FnOnce(&mut Pairs) -> bool) -> Result<bool, ConsolidateError> {
    let _lock = lock(vault)?;
    let mut pairs: Pairs = load(vault)?.into_iter().map(|p| ((p.a.clone(), p.b.clone()), p)).collect();
    if !act(&mut pairs) {
        return Ok(false);
    }
    let snapshot = vault.snapshot();
    pairs.retain(|(a, b), _| snapshot.exists(a) && snapshot.exists(b));
    let file =
        Dismissed { version: Dismissed::VERSION, computed_at: clock.now_utc(), pairs: pairs.into_values().collect() };
    let set = ChangeSet::new(Writer::Meta, Conservation::Additive).with(file.to_change(vault.layout()));
    vault.commit(&set)?;
    Ok(true)
}
