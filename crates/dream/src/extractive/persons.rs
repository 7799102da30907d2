//! Whether a statement is of a person of the household: what their body does, what they are like.

use super::cues::padded;

/// Whether a sentence speaks of the writer's own body or of somebody of the family.
pub(super) fn of_household(sentence: &str) -> bool {
    #[rustfmt::skip]
    const KIN: &[&str] = &[
        "daughter", "son", "wife", "husband", "partner", "mother", "mum", "mom", "father", "dad", "sister", "brother", "aunt", "uncle", "niece", "nephew", "grandmother",
        "grandma", "grandfather", "grandpa", "kids", "children", "baby", "boy", "girl", "cousin", "parents", "family", "cat", "dog",
    ];
    const BY_NAME: &[&str] = &["mum", "mom", "dad", "grandma", "grandpa", "granny"];
    #[rustfmt::skip]
    const CHINESE: &[&str] = &[
        "孩子", "爸", "妈", "妹妹", "姐姐", "弟弟", "哥哥", "爷爷", "奶奶", "外公", "外婆", "老婆", "老公", "妻子", "丈夫", "儿子", "女儿", "宝宝",
    ];
    let padded = padded(sentence);
    let words: Vec<&str> = padded.split_whitespace().collect();
    let kin = words.windows(2).any(|w| matches!(w, ["my" | "our", who] if KIN.contains(who)))
        || words.first().is_some_and(|w| BY_NAME.contains(w))
        || padded.starts_with(" the cat ")
        || padded.starts_with(" the dog ");
    kin || CHINESE.iter().any(|who| sentence.contains(who)) || of_body(sentence)
}

/// Whether a sentence speaks of a part of the body, or of what it does not bear.
pub(super) fn of_body(sentence: &str) -> bool {
    #[rustfmt::skip]
    const BODY: &[&str] = &[
        "knee", "knees", "hip", "hips", "stomach", "shoulder", "shoulders", "neck", "elbow", "wrist", "ankle", "skin", "migraine", "headache", "blood", "allergic", "allergy",
        "intolerant", "lactose",
    ];
    #[rustfmt::skip]
    const CHINESE: &[&str] = &["膝盖", "腰", "胃", "嗓子", "血压", "血糖", "肩", "脖子", "手腕", "脚踝", "皮肤", "头疼", "过敏", "不耐受"];
    let padded = padded(sentence);
    BODY.iter().any(|part| padded.contains(&format!(" {part} "))) || CHINESE.iter().any(|part| sentence.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_and_body_are_of_the_household_and_processes_have_no_children() {
        for sentence in
            ["Our son is afraid of dogs.", "The ankle swells after tennis.", "妹妹不会开车。", "手腕一打字就疼。"]
        {
            assert!(of_household(sentence), "{sentence}");
        }
        for sentence in ["The child process inherits the lock.", "The parent waits for its children.", "服务会重启。"]
        {
            assert!(!of_household(sentence), "{sentence}");
        }
    }
}
