//! Inline HTML tags and autolinks, as CommonMark reads them: what stands inside one is no link.

/// How much may be read for tags that turn out to be none. It keeps the reading of any text linear:
/// a tag may hold the opening of others in its quotes, and each would be tried again.
pub(crate) struct Budget {
    left: usize,
    /// Behind the last `>` nothing can be a tag.
    last: usize,
}

impl Budget {
    /// The budget for one text: eight times its length.
    pub(crate) fn of(source: &str) -> Self {
        Self { left: source.len() * 8, last: source.rfind('>').unwrap_or(0) }
    }

    /// The end of the tag or autolink whose `<` stands at `open`.
    pub(crate) fn end_of(&mut self, bytes: &[u8], open: usize) -> Option<usize> {
        if open >= self.last || self.left == 0 {
            return None;
        }
        let mut read = Read { bytes, i: open + 1, limit: open.saturating_add(self.left) };
        let end = if read.tag().is_some() { Some(read.i) } else { None };
        if end.is_none() {
            self.left = self.left.saturating_sub(read.i - open);
            let mut read = Read { bytes, i: open + 1, limit: open.saturating_add(self.left) };
            let autolink = read.autolink().map(|()| read.i);
            if autolink.is_none() {
                self.left = self.left.saturating_sub(read.i - open);
            }
            return autolink;
        }
        end
    }
}

struct Read<'b> {
    bytes: &'b [u8],
    i: usize,
    limit: usize,
}

impl Read<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.i).copied().filter(|_| self.i < self.limit)
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> usize {
        let from = self.i;
        while self.peek().is_some_and(&wanted) {
            self.i += 1;
        }
        self.i - from
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.i += 1)
    }

    /// `name attribute="value" />` or `/name>`.
    fn tag(&mut self) -> Option<()> {
        let closing = self.eat(b'/').is_some();
        self.peek().filter(u8::is_ascii_alphabetic)?;
        self.skip(|b| b.is_ascii_alphanumeric() || b == b'-');
        loop {
            let blanks = self.skip(|b| b.is_ascii_whitespace());
            let begins = |b: u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b':');
            if closing || blanks == 0 || !self.peek().is_some_and(begins) {
                break;
            }
            self.skip(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'-'));
            let name_end = self.i;
            self.skip(|b| b.is_ascii_whitespace());
            if self.eat(b'=').is_some() {
                self.skip(|b| b.is_ascii_whitespace());
                self.value()?;
            } else {
                self.i = name_end;
            }
        }
        if !closing {
            let _ = self.eat(b'/');
        }
        self.eat(b'>')
    }

    fn value(&mut self) -> Option<()> {
        match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.i += 1;
                self.skip(|b| b != quote);
                self.eat(quote)
            }
            _ => {
                let bare = |b: u8| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'=' | b'<' | b'>' | b'`');
                (self.skip(bare) > 0).then_some(())
            }
        }
    }

    /// `scheme:anything>` without blanks.
    fn autolink(&mut self) -> Option<()> {
        self.peek().filter(u8::is_ascii_alphabetic)?;
        let scheme = self.skip(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'));
        if !(2..=32).contains(&scheme) {
            return None;
        }
        self.eat(b':')?;
        self.skip(|b| !b.is_ascii_whitespace() && !b.is_ascii_control() && !matches!(b, b'<' | b'>'));
        self.eat(b'>')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: Option<&str>) {
        let end = Budget::of(source).end_of(source.as_bytes(), 0);
        assert_eq!(end.map(|end| &source[..end]), expected);
    }

    #[test]
    fn tags_and_autolinks_are_told_from_a_sign() {
        check("<a href=\"[[x]] > y\" b c='>' d=e />z>", Some("<a href=\"[[x]] > y\" b c='>' d=e />"));
        check("</b >x", Some("</b >"));
        check("<https://e.com/[[x]]> y", Some("<https://e.com/[[x]]>"));
        check("<b\n  i>x", Some("<b\n  i>"));
        for none in [
            "< b>",
            "<3>",
            "<a [[x]]>",
            "<a =b>",
            "<a b=>",
            "</b c>",
            "<a b=\"x>",
            "<x y>z".split_at(3).0,
            "<->",
            "<a:b c>",
        ] {
            check(none, None);
        }
    }
}
