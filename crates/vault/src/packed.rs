//! A document at rest: the bytes that a snapshot holds of it until somebody asks.
//!
//! A vault of a hundred thousand notes has a hundred thousand documents, of which one query touches
//! a few. So a snapshot keeps each as a few hundred bytes, read from the text once, and spreads it
//! out when it is asked for. What the link graph needs comes first, and is read without the rest.

use std::fmt;
use std::sync::OnceLock;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::link::{Link, LinkKind};
use crate::note::Document;
use crate::problem::{Problem, ProblemKind};

/// Stands for how a text is read: raised by every change after which [`Document::parse`] gives
/// another answer to the same text, or the packed form is another. A test holds it to that.
pub(crate) const READING: u32 = 3;

/// What a link asks of the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Asked<'a> {
    /// Decoded and without subpath.
    pub(crate) target: &'a str,
    pub(crate) predicate: Option<&'a str>,
    /// Whether the target is a whole path from the vault's root.
    pub(crate) whole: bool,
}

impl<'a> From<&'a Link> for Asked<'a> {
    fn from(link: &'a Link) -> Self {
        let whole = link.kind == LinkKind::Canvas;
        Self { target: &link.target, predicate: link.predicate.as_deref(), whole }
    }
}

/// A packed document.
pub(crate) struct Packed {
    bytes: Bytes,
    open: OnceLock<Box<Document>>,
}

impl Packed {
    /// Packs a document. Linear in its size.
    pub(crate) fn new(doc: &Document) -> Self {
        let mut asked: Vec<Asked<'_>> = doc.links.iter().map(Asked::from).collect();
        asked.sort_unstable();
        asked.dedup();
        let bytes = postcard::to_stdvec(&(asked, doc)).unwrap_or_default();
        Self::from_bytes(bytes.into())
    }

    /// What [`Packed::bytes`] gave before.
    pub(crate) fn from_bytes(bytes: Bytes) -> Self {
        Self { bytes, open: OnceLock::new() }
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The document, kept from the first call on.
    pub(crate) fn get(&self) -> &Document {
        self.open.get_or_init(|| Box::new(self.unpack()))
    }

    /// The document, not kept.
    pub(crate) fn unpack(&self) -> Document {
        let read = postcard::take_from_bytes::<Vec<Asked<'_>>>(&self.bytes);
        read.and_then(|(_, rest)| postcard::from_bytes(rest)).unwrap_or_else(|_| broken())
    }

    /// What its links ask, each once, in order.
    pub(crate) fn asked(&self) -> Vec<Asked<'_>> {
        postcard::take_from_bytes(&self.bytes).map(|(asked, _)| asked).unwrap_or_default()
    }
}

/// Stands in for bytes that are no document: a cache that was damaged in a way its checksum missed.
fn broken() -> Document {
    let message = "the cache of this note is damaged; delete `.dormouse/` and open the vault again".to_owned();
    Document { problems: vec![Problem { kind: ProblemKind::Cache, line: None, message }], ..Document::default() }
}

impl Clone for Packed {
    fn clone(&self) -> Self {
        Self::from_bytes(self.bytes.clone())
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packed({} bytes)", self.bytes.len())
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

/// Properties in the packed form: postcard does not describe itself, so JSON does.
pub(crate) mod properties {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value};

    pub(crate) fn serialize<S: Serializer>(map: &Map<String, Value>, to: S) -> Result<S::Ok, S::Error> {
        if map.is_empty() {
            return to.serialize_str("");
        }
        to.serialize_str(&serde_json::to_string(map).map_err(serde::ser::Error::custom)?)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Map<String, Value>, D::Error> {
        let text = <&str>::deserialize(from)?;
        if text.is_empty() { Ok(Map::new()) } else { serde_json::from_str(text).map_err(D::Error::custom) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every file of the vectors of the link rules, packed, in one hash.
    fn reading() -> String {
        let vectors: serde_json::Value = serde_json::from_str(include_str!("../../../fixtures/links.json")).unwrap();
        let mut hasher = blake3::Hasher::new();
        for vector in vectors.as_array().unwrap() {
            for (path, text) in vector["files"].as_object().unwrap() {
                let read = if path.ends_with(".canvas") { Document::parse_canvas } else { Document::parse };
                hasher.update(Packed::new(&read(text.as_str().unwrap())).bytes());
            }
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    }

    #[test]
    fn another_reading_of_the_same_texts_has_another_number() {
        // When this fails, texts are read otherwise than before: raise READING, and pin what is read now.
        // When vectors were added and nothing else, the pin alone is new.
        assert_eq!((READING, reading().as_str()), (3, "753f8495194a3dbc"));
    }

    #[test]
    fn a_document_comes_back_as_it_was_packed() {
        let text = "---\na: 1\nb: \"[[x]]\"\n---\n# H\nk:: [[y#z|w]] #t\n\n- item ^id\n";
        let doc = Document::parse(text);
        let packed = Packed::new(&doc);
        assert_eq!(packed.unpack(), doc);
        assert_eq!(packed.get(), &doc);
        let asked: Vec<_> = packed.asked().iter().map(|asked| (asked.target, asked.predicate)).collect();
        assert_eq!(asked, [("x", Some("b")), ("y", Some("k"))]);
        let broken = Packed::from_bytes(packed.bytes().slice(..packed.bytes().len() - 3));
        assert!(matches!(broken.unpack().problems.as_slice(), [Problem { kind: ProblemKind::Cache, .. }]));
    }
}
