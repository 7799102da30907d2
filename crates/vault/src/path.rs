//! `NotePath`: the identity of a note or file, a validated vault-relative path.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A vault-relative path, `/`-separated, with extension: the identity of a note or any other file.
///
/// Construction validates it. Equality, order and hash are on the NFC form, so that a name that a
/// Mac wrote decomposed is the same note; [`NotePath::as_disk`] keeps the bytes as they are on disk.
#[derive(Clone)]
pub struct NotePath {
    nfc: Arc<str>,
    /// The spelling on disk where it differs from NFC.
    disk: Option<Arc<str>>,
}

/// Why a string is not a [`NotePath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Nothing, or only slashes.
    #[error("the path is empty")]
    Empty,
    /// It starts with `/`, `\` or a drive letter.
    #[error("the path is absolute; name it relative to the vault")]
    Absolute,
    /// It has a `.` or `..` segment.
    #[error("the path has a `.` or `..` segment")]
    Dots,
    /// It has a NUL or another control character.
    #[error("the path has a control character")]
    Control,
    /// It has a backslash.
    #[error("the path has a backslash; separate folders with `/`")]
    Backslash,
    /// A segment is empty (`a//b`, `a/`).
    #[error("the path has an empty segment")]
    EmptySegment,
    /// A segment is longer than 255 bytes.
    #[error("a name in the path is longer than 255 bytes")]
    TooLong,
}

impl NotePath {
    /// Validates `path`.
    ///
    /// # Errors
    /// [`PathError`] says which rule it breaks: no `..`, no absolute path, no control characters,
    /// no backslash, no empty segment, no name over 255 bytes.
    pub fn new(path: &str) -> Result<Self, PathError> {
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        let bytes = path.as_bytes();
        let drive = bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic);
        if path.starts_with(['/', '\\']) || (drive && matches!(bytes.get(2), Some(b'/' | b'\\'))) {
            return Err(PathError::Absolute);
        }
        if path.chars().any(char::is_control) {
            return Err(PathError::Control);
        }
        if path.contains('\\') {
            return Err(PathError::Backslash);
        }
        for segment in path.split('/') {
            match segment {
                "" => return Err(PathError::EmptySegment),
                "." | ".." => return Err(PathError::Dots),
                s if s.len() > 255 => return Err(PathError::TooLong),
                _ => {}
            }
        }
        let disk: Arc<str> = Arc::from(path);
        Ok(if is_nfc_quick(path.chars()) == IsNormalized::Yes {
            Self { nfc: disk, disk: None }
        } else {
            let nfc: String = path.nfc().collect();
            if nfc == path { Self { nfc: disk, disk: None } } else { Self { nfc: Arc::from(nfc), disk: Some(disk) } }
        })
    }

    /// The path in NFC: what is compared, shown and written into links.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.nfc
    }

    /// [`NotePath::as_str`], shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.nfc)
    }

    /// The path as it is spelled on disk.
    #[must_use]
    pub fn as_disk(&self) -> &str {
        self.disk.as_deref().unwrap_or(&self.nfc)
    }

    /// The last segment, with extension.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.nfc.rsplit('/').next().unwrap_or(&self.nfc)
    }

    /// The last segment without its extension.
    #[must_use]
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => name.get(..dot).unwrap_or(name),
            _ => name,
        }
    }

    /// The extension without its dot, as written; empty when there is none.
    #[must_use]
    pub fn extension(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => name.get(dot + 1..).unwrap_or(""),
            _ => "",
        }
    }

    /// The folder, without trailing slash; empty at the root.
    #[must_use]
    pub fn folder(&self) -> &str {
        match self.nfc.rfind('/') {
            Some(slash) => self.nfc.get(..slash).unwrap_or(""),
            None => "",
        }
    }

    /// The path without its extension: what a wikilink that we write names.
    #[must_use]
    pub fn link_target(&self) -> &str {
        if self.is_markdown() { self.nfc.get(..self.nfc.len() - 3).unwrap_or(&self.nfc) } else { &self.nfc }
    }

    /// Whether the extension is `md`, in any case.
    #[must_use]
    pub fn is_markdown(&self) -> bool {
        self.extension().eq_ignore_ascii_case("md")
    }

    /// Whether the extension is `canvas`, in any case.
    pub(crate) fn is_canvas(&self) -> bool {
        self.extension().eq_ignore_ascii_case("canvas")
    }

    /// Whether the path lies in `folder` (which may itself have several segments) or deeper.
    #[must_use]
    pub fn is_in(&self, folder: &str) -> bool {
        self.nfc.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// The first ISO date (`2026-11-30`) that stands as a whole segment, or at the start of one.
    #[must_use]
    pub fn date(&self) -> Option<NaiveDate> {
        self.nfc.split('/').find_map(|segment| {
            let head = segment.get(..10)?;
            let next = segment.get(10..)?.chars().next();
            if next.is_some_and(char::is_alphanumeric) {
                return None;
            }
            NaiveDate::parse_from_str(head, "%Y-%m-%d").ok()
        })
    }
}

impl PartialEq for NotePath {
    fn eq(&self, other: &Self) -> bool {
        self.nfc == other.nfc
    }
}
impl Eq for NotePath {}
impl PartialOrd for NotePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for NotePath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nfc.cmp(&other.nfc)
    }
}
impl Hash for NotePath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nfc.hash(state);
    }
}
impl Borrow<str> for NotePath {
    fn borrow(&self) -> &str {
        &self.nfc
    }
}
impl AsRef<str> for NotePath {
    fn as_ref(&self) -> &str {
        &self.nfc
    }
}
impl fmt::Display for NotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.nfc)
    }
}
impl fmt::Debug for NotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &self.nfc)
    }
}
impl std::str::FromStr for NotePath {
    type Err = PathError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::new(s)
    }
}
impl Serialize for NotePath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.nfc)
    }
}
impl<'de> Deserialize<'de> for NotePath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}
impl schemars::JsonSchema for NotePath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NotePath".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "vault-relative path, `/`-separated, with extension" })
    }
}
