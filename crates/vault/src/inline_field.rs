//! Dataview inline fields: `key:: value`, `[key:: value]`, `(key:: value)`.

use std::ops::Range;

/// One inline field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineField {
    /// The key without formatting, as written.
    pub key: String,
    /// The value, trimmed.
    pub value: String,
    /// The whole field in the source.
    pub span: Range<usize>,
    /// The value's bytes in the source, trimmed.
    pub value_span: Range<usize>,
    /// 1-based line in the file.
    pub line: u32,
}
