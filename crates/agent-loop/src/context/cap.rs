//! Cutting text to size, always between characters.

/// The longest prefix of at most `max` bytes that ends between characters, with a mark that says how
/// much was cut. Text that fits comes back as it is. The mark is not counted.
#[must_use]
pub fn cap_bytes(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let kept = prefix(text, max);
    format!("{kept}\n[… {} bytes cut]", text.len() - kept.len())
}

/// At most `max` bytes of text: the beginning (70 %) and the end, with a mark between them. The mark
/// is not counted.
#[must_use]
pub fn cap_middle(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let head = prefix(text, max / 10 * 7 + max % 10 * 7 / 10);
    let tail = suffix(text, max - head.len());
    format!("{head}\n[… {} bytes cut]\n{tail}", text.len() - head.len() - tail.len())
}

fn prefix(text: &str, max: usize) -> &str {
    let end = text.floor_char_boundary(max);
    text.get(..end).unwrap_or_default()
}

fn suffix(text: &str, max: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(max));
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn agt_06_text_is_cut_between_characters() {
        let outputs = [
            format!("{}{}", "a".repeat(120), "─".repeat(30)),
            format!("{}{}", "a".repeat(119), "🙂".repeat(40)),
            "é".repeat(90),
            "a".repeat(121),
            "字".repeat(42),
        ];
        let kept = [120, 119, 120, 121, 120];
        for (text, kept) in outputs.iter().zip(kept) {
            let capped = cap_bytes(text, 121);
            let body = capped.split("\n[…").next().unwrap();
            assert_eq!((body.len(), text.starts_with(body)), (kept, true));
            assert_eq!(capped.contains("bytes cut]"), text.len() > 121);
        }
    }

    proptest! {
        #[test]
        fn both_ends_stay_and_nothing_is_invented(text in "[aé字🙂]{0,60}", max in 0_usize..80) {
            let capped = cap_middle(&text, max);
            if text.len() <= max {
                prop_assert_eq!(capped, text);
            } else {
                let (head, rest) = capped.split_once("\n[… ").unwrap();
                let (_, tail) = rest.split_once("]\n").unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail) && head.len() + tail.len() <= max);
            }
        }
    }
}
