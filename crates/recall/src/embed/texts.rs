//! Which texts of a note get a vector.

use dormouse_vault::{BlockKind, Layer, Note};

use crate::text::speaker;
use crate::units::{block_text, parts, points_elsewhere, readable};

/// The key of a text: 64 bits of its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextKey(pub(crate) u64);

impl TextKey {
    pub(crate) fn of(text: &str) -> Self {
        let hash = blake3::hash(text.as_bytes());
        Self(hash.as_bytes().iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte)))
    }
}

/// The texts of a note whose text is `text`, with the numbers of their blocks: each block as a
/// person reads it, without the name of who speaks, a long one in parts. A list of other notes says
/// nothing of its own. Linear.
pub(crate) fn texts_of(note: &Note, text: &str) -> Vec<(u32, String)> {
    let mut out = Vec::new();
    let doc = note.document();
    for (number, block) in doc.blocks.iter().enumerate() {
        let Ok(number) = u32::try_from(number) else {
            continue;
        };
        if block.kind == BlockKind::Rule || (note.layer == Layer::Digest && points_elsewhere(&doc, block)) {
            continue;
        }
        let shown = block_text(block, text);
        let plain = plain(&readable(shown));
        let said = speaker(shown).and_then(|who| plain.strip_prefix(who)).unwrap_or(&plain);
        let pieces = parts(said).map(trimmed).filter(|piece| piece.chars().any(char::is_alphanumeric));
        out.extend(pieces.map(|piece| (number, piece.to_owned())));
    }
    out
}

/// Without blanks, and what stands between a speaker and what is said.
fn trimmed(piece: &str) -> &str {
    piece.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '：' | '-' | '>')).trim_end()
}

/// Without the signs of emphasis, which are words to a model that reads none.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '*' | '`' | '#' | '|')).collect()
}
