//! How one statement stands to an older one, by its own words: agrees, goes further, narrows.

use super::cues::padded;

/// What a sentence with a link says about what it links to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remark {
    /// It holds, again or still; the sentence says what.
    Agrees,
    /// The same, but of what stands before the sentence: it says nothing of its own.
    AgreesPointingBack,
}

#[rustfmt::skip]
const AGREES_EN: &[&str] = &[
    "and held", "has held", "still holds", "still hold", "confirmed", "confirms", "agrees with", "agree with", "in line with",
    "was the lesson", "is an example", "checks it", "does its work", "is settled", "consistent with",
];
const AGREES_ZH: &[&str] = &["一致", "再次", "就是例子", "确认", "相符", "吻合"];
/// These deny, and agree all the same.
const UNMOVED_EN: &[&str] = &["not affected", "will not move", "not change"];
const DENIES_EN: &[&str] = &["not", "no longer", "never", "hardly", "differs", "differ"];
const DENIES_ZH: &[&str] = &["不一", "不相", "不同", "不再", "并非", "未确认", "没有确认", "待确认", "不吻合"];
const FURTHER_EN: &[&str] = &["goes further", "go further", "more precisely", "more exactly", "narrows"];
const FURTHER_ZH: &[&str] = &["更进一步", "更具体", "更准确", "细化"];
#[rustfmt::skip]
const NARROWS_EN: &[&str] = &[
    "only when", "only if", "only for", "not only", "only in", "at most", "at least", "unless", "except", "no more than", "when more than",
    "when fewer than", "wherever", "as long as", "not before", "if more than", "up to", "with more than",
];
#[rustfmt::skip]
const NARROWS_ZH: &[&str] = &["除非", "只在", "只有", "不超过", "至少", "最多", "仍然", "以内", "不仅", "除了", "超过"];

fn says(text: &str, english: &[&str], chinese: &[&str]) -> bool {
    let padded = padded(text);
    english.iter().any(|cue| padded.contains(&format!(" {cue} "))) || chinese.iter().any(|cue| text.contains(cue))
}

/// What `text` says about what it links to.
pub(super) fn remark_on(text: &str) -> Option<Remark> {
    let agrees = says(text, UNMOVED_EN, &[]) || says(text, AGREES_EN, AGREES_ZH) && !says(text, DENIES_EN, DENIES_ZH);
    if !agrees {
        return None;
    }
    let padded = padded(text);
    let start = text.trim_start();
    let points_back = ["这", "与", "和", "同"].iter().any(|w| start.starts_with(w))
        || ["this", "these", "that", "it", "both", "as"].iter().any(|w| padded.starts_with(&format!(" {w} ")));
    let says_more = text.contains([':', '：', ';', '；']);
    Some(if points_back && !says_more { Remark::AgreesPointingBack } else { Remark::Agrees })
}

/// Whether it says of itself that it makes an older statement more precise.
pub(super) fn goes_further(text: &str) -> bool {
    says(text, FURTHER_EN, FURTHER_ZH)
}

/// Whether it states a condition, bound or scope.
pub(super) fn narrows_cue(text: &str) -> bool {
    says(text, NARROWS_EN, NARROWS_ZH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_says_whether_it_says_anything_itself() {
        assert_eq!(remark_on("After this the weights of yesterday were run again and held."), Some(Remark::Agrees));
        assert_eq!(remark_on("与第二周回顾里的说法一致，这里只是写成规定。"), Some(Remark::AgreesPointingBack));
        assert_eq!(remark_on("The store is new."), None);
        assert_eq!(remark_on("The figure was never confirmed."), None);
        assert_eq!(remark_on("与上次的说法不一致。"), None);
        assert_eq!(remark_on("The store is not affected."), Some(Remark::Agrees));
    }
}
