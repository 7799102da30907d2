//! Commits: those of one part of a repository gather in one note, each with its subject and why.

use dormouse_vault::Bucket;
use dormouse_vault::text::sentences;

use super::cues::classify;
use super::names;
use crate::decide::{Candidate, Flavour, Relation, Verdict};
use crate::gate::{Fact, GroundedUnit, Unit};
use crate::markdown::{folded, plain};
use crate::material::{Marker, Material, Origin};

/// Facts of one commit: its subject, and so many statements of its body.
const STATEMENTS: usize = 4;

/// A statement is at most so many characters; of a longer paragraph the sentences with a cue count.
const WHOLE: usize = 320;

/// What a commit's note is called before its part.
const HISTORY: &str = "History of ";

/// The unit of a commit; `None` for a material that is none, or that says nothing.
pub(super) fn of_commit(material: &Material) -> Option<Unit> {
    if material.origin != Origin::Commit {
        return None;
    }
    let mut passages = material.passages.iter().filter(|p| p.marker != Marker::Verbatim);
    let subject = passages.next()?;
    let part = part(&material.name);
    let fact = |text: &str| Fact { text: text.to_owned(), evidence: vec![text.to_owned()], step: false };
    let mut facts = vec![fact(&subject.text)];
    for passage in passages.filter(|p| !p.text.starts_with("It touched `")) {
        facts.extend(statements(&passage.text, passage.marker == Marker::Plain).into_iter().map(fact));
    }
    facts.truncate(1 + STATEMENTS);
    let name = format!("{HISTORY}{}", part.as_deref().unwrap_or("the repository"));
    Some(Unit {
        summary: format!("What was changed in {}, and why.", part.as_deref().unwrap_or("it")),
        name,
        bucket: Bucket::Wiki,
        facts,
    })
}

/// The part before the colon of a commit's subject: `vault: a door`, `feat(vault)!: a door`. Of
/// several the first.
fn part(subject: &str) -> Option<String> {
    let (head, _) = subject.split_once([':', '：'])?;
    let scope = head.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(scope, _)| scope);
    let first = scope.unwrap_or(head).split([',', '+', '&', '、']).next().unwrap_or(head).trim().trim_end_matches('!');
    let short = first.chars().count() <= 32 && first.split_whitespace().count() <= 2;
    (short && first.chars().any(char::is_alphanumeric)).then(|| plain(first))
}

/// What a paragraph of the body says: all of a short one that is a full sentence, else its sentences
/// with a cue. Of an item only those.
fn statements(text: &str, prose: bool) -> Vec<&str> {
    let said: Vec<&str> = sentences(text).into_iter().filter_map(|range| text.get(range)).collect();
    let full = prose && text.chars().count() <= WHOLE && text.trim_end().ends_with(['.', '!', '。', '！']);
    if full {
        return vec![text];
    }
    said.into_iter()
        .filter(|s| s.chars().count() <= WHOLE && classify(s).is_some_and(|cue| prose || cue.strong))
        .collect()
}

/// Whether a unit is that of a commit.
pub(super) fn is_history(material: &Material, unit: &GroundedUnit) -> bool {
    material.origin == Origin::Commit && unit.name.starts_with(HISTORY)
}

/// The notes of the same part, whichever of them has room: the same.
pub(super) fn verdicts(unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<Verdict> {
    candidates
        .iter()
        .filter(|c| c.bucket == Some(unit.bucket) && !c.locked)
        .filter(|c| folded(names::undated(&c.name)) == folded(&unit.name))
        .map(|c| Verdict { path: c.path.clone(), relation: Relation::Same(Flavour::Corroborate) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_commit_stands_before_its_colon() {
        let check = |subject: &str, expected: Option<&str>| assert_eq!(part(subject).as_deref(), expected, "{subject}");
        check("vault: a door", Some("vault"));
        check("vault, consolidate: locked at the door", Some("vault"));
        check("feat(recall)!: another weight", Some("recall"));
        check("A subject without a part", None);
        check("This sentence has a colon somewhere: here", None);
    }

    #[test]
    fn a_list_gives_only_what_has_a_cue_and_prose_its_sentences() {
        assert_eq!(statements("Renamed a and b.", false), Vec::<&str>::new());
        assert_eq!(statements("Renamed a and b, so that both agree.", true), ["Renamed a and b, so that both agree."]);
        assert_eq!(statements("The cause was a lock.", false), ["The cause was a lock."]);
    }
}
