//! Words that are one edit apart.

/// Whether `a` and `b` differ by exactly one insertion, deletion, replacement or swap of
/// neighbours, counted in characters. Linear.
pub(crate) fn one_edit_apart(a: &str, b: &str) -> bool {
    if a == b || a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let same = a.chars().zip(b.chars()).take_while(|(x, y)| x == y);
    let skip: usize = same.map(|(x, _)| x.len_utf8()).sum();
    let (a, b) = (a.get(skip..).unwrap_or(""), b.get(skip..).unwrap_or(""));
    let (mut after_a, mut after_b) = (a.chars(), b.chars());
    let (first_a, first_b) = (after_a.next(), after_b.next());
    let (rest_a, rest_b) = (after_a.as_str(), after_b.as_str());
    if rest_a == rest_b || rest_a == b || a == rest_b {
        return true;
    }
    let swapped = after_a.next() == first_b && after_b.next() == first_a;
    swapped && first_a.is_some() && first_b.is_some() && after_a.as_str() == after_b.as_str()
}

#[cfg(test)]
mod tests {
    use super::one_edit_apart;

    #[test]
    fn one_edit_is_an_insertion_deletion_replacement_or_swap() {
        for (a, b) in [
            ("recall", "recal"),
            ("recall", "recaall"),
            ("recall", "recoll"),
            ("recall", "recla l"),
            ("缓存", "缓冲"),
            ("ab", "ba"),
        ] {
            let expected = b != "recla l";
            assert_eq!(one_edit_apart(a, b), expected, "{a} {b}");
            assert_eq!(one_edit_apart(b, a), expected, "{b} {a}");
        }
        assert!(!one_edit_apart("same", "same"));
        assert!(!one_edit_apart("recall", "recoil"));
    }
}
