//! Which texts of a note get a vector.

use dormouse_vault::{BlockKind, Note};

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
/// person reads it, a long one in parts. A list of other notes says nothing of its own. Linear.
pub(crate) fn texts_of(note: &Note, text: &str) -> Vec<(u32, String)> {
    let mut out = Vec::new();
    for (number, block) in note.doc().blocks.iter().enumerate() {
        let Ok(number) = u32::try_from(number) else {
            continue;
        };
        if block.kind == BlockKind::Rule || points_elsewhere(note, block) {
            continue;
        }
        let mode = std::env::var("M_TEXT").unwrap_or_default();
        let said = |block: &dormouse_vault::Block| {
            let shown = block_text(block, text);
            let p = plain(&readable(shown));
            if !mode.contains('s') { return p; }
            match crate::text::speaker(shown) {
                Some(who) => p.strip_prefix(who).map(|r| r.trim_start_matches([':', '：', ' ']).to_owned()).unwrap_or(p),
                None => p,
            }
        };
        let mut plain = said(block);
        let before = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)).and_then(|n| note.doc().blocks.get(n));
        if let Some(before) = before {
            let b = said(before);
            if mode.contains('p') || (mode.contains('q') && b.trim_end().ends_with('?')) {
                plain = format!("{b}\n{plain}");
            }
        }
        if mode.contains('h') {
            plain = format!("{}\n{}\n{plain}", note.name, crate::units::heading_path(note, block).join("\n"));
        }
        let pieces = parts(&plain).map(str::trim).filter(|piece| piece.chars().any(char::is_alphanumeric));
        out.extend(pieces.map(|piece| (number, piece.to_owned())));
    }
    out
}

/// Without the signs of emphasis, which are words to a model that reads none.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '*' | '`' | '#' | '|')).collect()
}
