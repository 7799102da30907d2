//! Phrases and exclusions: what must and must not stand in a text, word by word.

use std::collections::BTreeSet;

use crate::index::{IndexError, IndexView, NoteKey};
use crate::text::{Role, analyze};

/// A phrase as a run of words; case, accents and punctuation don't count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase(Vec<String>);

impl Phrase {
    /// Reads a phrase; `None` when there is no word in it.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let words: Vec<String> = analyze(text).into_iter().map(|word| word.surface).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Whether it stands in `text`. Linear for the short phrases of queries.
    pub(crate) fn stands_in(&self, text: &str) -> bool {
        let words: Vec<String> = analyze(text).into_iter().map(|word| word.surface).collect();
        words.windows(self.0.len()).any(|run| run == self.0)
    }
}

/// The notes that may hold `text`: those with all of its meaningful terms, in block or header.
pub(crate) fn holders(view: &dyn IndexView, text: &str) -> Result<Option<BTreeSet<NoteKey>>, IndexError> {
    let mut out: Option<BTreeSet<NoteKey>> = None;
    for word in analyze(text) {
        let main =
            word.terms.iter().filter(|(role, _)| matches!(role, Role::Stem | Role::Whole | Role::Single | Role::Stop));
        for (_, term) in main {
            let notes = view.holders(term)?;
            out = Some(match out {
                None => notes,
                Some(have) => have.intersection(&notes).copied().collect(),
            });
        }
    }
    Ok(out)
}
