//! English words that need a list: those without meaning for a search, and irregular forms.

/// Whether a folded word says nothing about what is searched: articles, pronouns, prepositions,
/// auxiliaries and question words.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

/// Whether a term frames a question and says little of what is asked: what kind of, how many, 哪里,
/// 什么, and the particles that stand in every Chinese sentence.
pub(crate) fn is_frame(term: &str) -> bool {
    if term.is_ascii() {
        return matches!(term, "kind" | "type" | "sort" | "mani" | "much");
    }
    let mut chars = term.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some(one), None, None) => CHINESE_ASKS.contains(&one) || CHINESE_PARTICLES.contains(&one),
        (Some(one), Some(two), None) => {
            CHINESE_ASKS.contains(&one) || CHINESE_ASKS.contains(&two) || CHINESE_FRAMES.contains(&term)
        }
        _ => false,
    }
}

const CHINESE_ASKS: [char; 8] = ['哪', '谁', '几', '什', '么', '怎', '吗', '呢'];
#[rustfmt::skip]
const CHINESE_PARTICLES: [char; 13] = ['的', '了', '是', '在', '和', '与', '被', '有', '由', '为', '其', '及', '等'];
const CHINESE_FRAMES: [&str; 9] = ["多少", "怎样", "如何", "为何", "何时", "何地", "何处", "多久", "是何"];

/// The lemma of an irregular form.
pub(crate) fn lemma(word: &str) -> Option<&'static str> {
    let at = IRREGULAR.binary_search_by(|(form, _)| (*form).cmp(word)).ok()?;
    IRREGULAR.get(at).map(|(_, lemma)| *lemma)
}

#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "also", "am", "an", "and", "any", "are", "arent", "as",
    "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "cannot", "cant",
    "could", "couldnt", "did", "didnt", "do", "does", "doesnt", "doing", "dont", "down", "during", "each", "few", "for",
    "from", "further", "had", "hadnt", "has", "hasnt", "have", "havent", "having", "he", "her", "here", "hers",
    "herself", "him", "himself", "his", "how", "i", "id", "if", "ill", "im", "in", "into", "is", "isnt", "it", "its",
    "itself", "ive", "just", "may", "me", "might", "more", "most", "must", "my", "myself", "no", "nor", "not", "of",
    "off", "on", "once", "only", "or", "other", "our", "ours", "out", "over", "own", "s", "same", "shall", "she",
    "should", "shouldnt", "so", "some", "such", "t", "than", "that", "thats", "the", "their", "theirs", "them",
    "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up",
    "us", "very", "was", "wasnt", "we", "were", "werent", "what", "whats", "when", "where", "which", "while", "who",
    "whom", "whose", "why", "will", "with", "wont", "would", "wouldnt", "you", "your", "yours", "yourself",
];

#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("ate", "eat"), ("became", "become"), ("began", "begin"), ("begun", "begin"), ("best", "good"), ("better", "good"),
    ("bit", "bite"), ("bought", "buy"), ("broke", "break"), ("broken", "break"), ("brought", "bring"),
    ("built", "build"), ("came", "come"), ("caught", "catch"), ("children", "child"), ("chose", "choose"),
    ("chosen", "choose"), ("drank", "drink"), ("drawn", "draw"), ("drew", "draw"), ("driven", "drive"),
    ("drove", "drive"), ("eaten", "eat"), ("fallen", "fall"), ("feet", "foot"), ("fell", "fall"), ("felt", "feel"),
    ("flew", "fly"), ("forgot", "forget"), ("forgotten", "forget"), ("fought", "fight"), ("found", "find"),
    ("gave", "give"), ("given", "give"), ("gone", "go"), ("got", "get"), ("gotten", "get"), ("grew", "grow"),
    ("grown", "grow"), ("heard", "hear"), ("held", "hold"), ("kept", "keep"), ("knew", "know"), ("known", "know"),
    ("laid", "lay"), ("lain", "lie"), ("led", "lead"), ("left", "leave"), ("lent", "lend"), ("lost", "lose"),
    ("made", "make"), ("meant", "mean"), ("men", "man"), ("met", "meet"), ("mice", "mouse"), ("paid", "pay"),
    ("people", "person"), ("ran", "run"), ("ridden", "ride"), ("rode", "ride"), ("said", "say"), ("sang", "sing"),
    ("sat", "sit"), ("saw", "see"), ("seen", "see"), ("sent", "send"), ("shown", "show"), ("slept", "sleep"),
    ("sold", "sell"), ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("stole", "steal"),
    ("stolen", "steal"), ("stood", "stand"), ("stuck", "stick"), ("sung", "sing"), ("swam", "swim"), ("swum", "swim"),
    ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"), ("thought", "think"), ("threw", "throw"),
    ("thrown", "throw"), ("told", "tell"), ("took", "take"), ("tore", "tear"), ("torn", "tear"),
    ("understood", "understand"), ("went", "go"), ("wives", "wife"), ("woke", "wake"), ("women", "woman"),
    ("won", "win"), ("wore", "wear"), ("worn", "wear"), ("worse", "bad"), ("worst", "bad"), ("written", "write"),
    ("wrote", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_so_that_they_can_be_searched() {
        assert!(STOP.is_sorted());
        assert!(IRREGULAR.is_sorted_by_key(|(form, _)| *form));
        assert_eq!(lemma("went"), Some("go"));
    }
}
