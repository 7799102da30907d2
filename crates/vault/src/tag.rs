//! Tags as Obsidian reads them.

/// The tag at the start of `text`, which begins behind `#`: its length in bytes. `None` for none,
/// or for digits only.
pub(crate) fn len(text: &str) -> Option<usize> {
    let len: usize = text.chars().take_while(|c| is_tag_char(*c)).map(char::len_utf8).sum();
    let tag = text.get(..len)?;
    (!tag.is_empty() && !tag.bytes().all(|b| b.is_ascii_digit())).then_some(len)
}

/// A tag of a `tags` property, `#` optional: `None` unless the whole string is one.
pub(crate) fn property(value: &str) -> Option<&str> {
    let value = value.trim();
    let tag = value.strip_prefix('#').unwrap_or(value);
    (len(tag) == Some(tag.len())).then_some(tag)
}

/// Whether a tag may follow `before`: the start of a line, white space, an opening bracket.
pub(crate) fn may_follow(before: Option<char>) -> bool {
    before.is_none_or(|c| c.is_whitespace() || "([{（【「『《〈［｛".contains(c))
}

fn is_tag_char(c: char) -> bool {
    match c {
        '_' | '-' | '/' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        // General and supplemental punctuation; then the Chinese and full-width marks.
        '\u{2000}'..='\u{206F}' | '\u{2E00}'..='\u{2E7F}' => false,
        '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{3030}' | '\u{303D}' | '\u{30FB}' => false,
        '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' => false,
        '\u{FF3B}'..='\u{FF3E}' | '\u{FF40}' | '\u{FF5B}'..='\u{FF65}' => false,
        '\u{80}'..='\u{A9}' | '\u{AB}'..='\u{AD}' | '\u{AF}'..='\u{B4}' => false,
        '\u{B6}'..='\u{B9}' | '\u{BB}'..='\u{BF}' | '\u{FEFF}' | '\u{FFFD}' => false,
        c => !c.is_whitespace(),
    }
}
