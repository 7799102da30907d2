//! Cursors: where the next page of an answer starts, as text that a caller hands back.

use std::fmt;

use dormouse_vault::NotePath;

use crate::error::RecallError;

/// What is said on a page when the results before it are others.
pub(crate) const CHANGED: &str =
    "what stands before this page is not what it was: it goes on at the same place, notes may be missing or come twice";
/// The first characters of a cursor: its version.
const VERSION: &str = "d1";
/// Characters of a cursor: the version, two hashes and the place.
const LENGTH: usize = VERSION.len() + 16 + 16 + 8;

/// A place in the answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The question.
    pub(crate) question: u64,
    /// The results before the place, as a hash.
    pub(crate) state: u64,
    /// Results before the place.
    pub(crate) offset: usize,
}

impl Cursor {
    /// Reads a cursor of `question`.
    ///
    /// # Errors
    /// [`RecallError::BadCursor`], [`RecallError::OtherCursor`].
    pub(crate) fn read(text: &str, question: u64) -> Result<Self, RecallError> {
        let hex = text.trim().strip_prefix(VERSION).filter(|hex| hex.len() + VERSION.len() == LENGTH);
        let number = |range| {
            let digits: &str = hex?.get(range)?;
            u64::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        let (Some(asked), Some(state), Some(offset)) = (number(0..16), number(16..32), number(32..40)) else {
            return Err(RecallError::BadCursor);
        };
        if asked != question {
            return Err(RecallError::OtherCursor);
        }
        Ok(Self { question, state, offset: usize::try_from(offset).map_err(|_| RecallError::BadCursor)? })
    }

    /// What tells the results before a place from others, in every process. Linear in them.
    pub(crate) fn state_of<'a>(before: impl Iterator<Item = &'a NotePath>) -> u64 {
        question(&before.map(NotePath::as_str).collect::<Vec<_>>())
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = u32::try_from(self.offset).unwrap_or(u32::MAX);
        write!(f, "{VERSION}{:016x}{:016x}{offset:08x}", self.question, self.state)
    }
}

/// What tells one question from another.
pub(crate) fn question(parts: &[&str]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    first(hasher.finalize().as_bytes())
}

fn first(hash: &[u8; 32]) -> u64 {
    hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_reads_as_it_was_written(question: u64, state: u64, offset: u32) {
            let cursor = Cursor { question, state, offset: offset as usize };
            prop_assert_eq!(Cursor::read(&cursor.to_string(), question).unwrap(), cursor);
            prop_assert!(matches!(Cursor::read(&cursor.to_string(), question ^ 1), Err(RecallError::OtherCursor)));
        }

        #[test]
        fn any_other_text_is_no_cursor(text in "(d1)?[\\PC]{0,45}") {
            prop_assert!(Cursor::read(&text, 0).is_err());
        }
    }
}
