//! What a sentence does, where no cue word says it: it advises, explains, concludes, tells how things
//! are from now on, passes on what somebody who knows has said, or says what somebody is like.

use super::cues::{Class, padded};
use super::instructions::{advises, methods};
use super::persons::of_body;
use super::{acts_zh, measured};
use crate::material::Language;

/// The class of what a sentence does; `None` when it only tells. Every one of these stands for itself.
pub(super) fn act(sentence: &str) -> Option<Class> {
    if Language::of(sentence) == Language::Chinese {
        return acts_zh::act(sentence);
    }
    let sentence = sentence.trim();
    let said = Said::new(sentence);
    if methods(sentence) {
        return Some(Class::Method);
    }
    if said.is_like() {
        return Some(Class::Preference);
    }
    if advises(sentence) || said.demands() {
        return Some(Class::Rule);
    }
    if said.settles() {
        return Some(Class::Decision);
    }
    if said.explains() {
        return Some(Class::Cause);
    }
    if said.concludes() || said.passes_on() || said.is_general() || said.says_where() {
        return Some(Class::Lesson);
    }
    measured::compares(&said.padded).then_some(Class::Measure)
}

/// A sentence in the forms that the questions below are asked of.
struct Said {
    padded: String,
    length: usize,
    /// Its first word.
    first: String,
    /// Whether a past tense stands in it.
    past: bool,
}

impl Said {
    fn new(sentence: &str) -> Self {
        let padded = padded(sentence);
        let words: Vec<&str> = padded.split_whitespace().collect();
        let past = words.iter().any(|w| is_past(w));
        let first = words.first().copied().unwrap_or("").to_owned();
        Self { length: words.len(), first, past, padded }
    }

    fn has(&self, cues: &[&str]) -> bool {
        cues.iter().any(|cue| self.padded.contains(&format!(" {cue} ")))
    }

    fn begins(&self, cues: &[&str]) -> bool {
        cues.iter().any(|cue| self.padded.starts_with(&format!(" {cue} ")))
    }

    /// What somebody likes, can't bear, or does as a habit of theirs.
    fn is_like(&self) -> bool {
        #[rustfmt::skip]
        const LIKES: &[&str] = &[
            "id rather", "i would rather", "i like the", "i like my", "i like it when", "i like to have", "i hate it when", "i hate when", "i want the", "i want my",
            "i want all", "i want every", "i want no", "i dont want", "i dont like", "i do not like", "i cant stand", "cant stand", "cannot stand", "cant bear",
            "makes him happy", "makes her happy", "makes me happy", "makes them happy", "doesnt like", "does not like", "doesnt eat", "does not eat", "doesnt drink",
            "doesnt tolerate", "does not tolerate", "cant tolerate", "cannot tolerate", "cant eat", "cannot eat", "must not eat", "intolerant", "is allergic", "are allergic", "on request", "i stop", "i dont drink", "i dont eat", "i never eat",
            "i never drink", "ill keep away", "i will keep away", "i will only", "i only", "i will stop", "i am not to",
        ];
        let habit =
            self.has(&["each time", "every time", "whenever", "when i", "after i", "if i", "so it is", "so its"]);
        let wants = self.has(&["wants"]) && self.has(&["to be", "to have", "without", "before"]);
        (wants || self.has(LIKES)) && !self.past_only() || habit && of_body(&self.padded) && self.length >= 6
    }

    /// What is asked of everybody, or of whoever wants something.
    fn demands(&self) -> bool {
        let asked = self.begins(&["for the", "for a", "for an", "they", "you", "one"])
            || self.has(&["they want", "they require", "they need", "they insist"]);
        let refused =
            self.has(&["are refused", "is refused", "not accepted", "is required", "are required", "is mandatory"]);
        let only = self.has(&["only after", "only when", "only once", "only if", "not before"]);
        asked && self.has(&["they want", "they require", "they need", "they insist"]) && self.length >= 8
            || refused
            || only && !self.past_only()
    }

    /// What is done from now on, or was chosen with a reason.
    fn settles(&self) -> bool {
        let now = self.padded.contains(" now ")
            && !self.begins(&["now", "i", "he", "she", "it", "and now", "but now"])
            && !self.has(&[
                "until now",
                "just now",
                "right now",
                "by now",
                "up to now",
                "even now",
                "for now",
                "is now on",
            ]);
        let stays = self.has(&["stay on", "stays on", "remain on", "remains on"]);
        #[rustfmt::skip]
        let choice = self.has(&[
            "were moving", "we are moving", "were going with", "we are going with", "were getting", "we are getting", "were keeping", "we are keeping", "opted for",
            "we picked", "i picked", "we took the", "we stay with", "were staying with",
        ]) && self.has(&["because", "since", "rather than", "instead of", "so", "as"]);
        now && self.length >= 5 || stays || choice
    }

    /// Why something was as it was.
    fn explains(&self) -> bool {
        let found = self.begins(&["found it", "found the", "it was because", "that was because", "this was because"]);
        let by = self.past
            && self.has(&[
                "prolonged by",
                "broken by",
                "blocked by",
                "due to",
                "had never been",
                "was never",
                "because of",
            ]);
        let because =
            self.past && !is_past(&self.first) && self.length >= 9 && self.has(&["because", "thats why", "since the"]);
        (found || by || because) && self.length >= 6
    }

    /// What follows from what was seen, or was seen again.
    fn concludes(&self) -> bool {
        let so =
            self.begins(&["so the", "so it is", "so its", "so a", "so an", "it really is", "it is the", "what counts"]);
        let again =
            self.begins(&[
                "again the",
                "again a",
                "again an",
                "again it was",
                "third time",
                "same story",
                "the same story",
            ]) || self.has(&["same as with", "same story as", "each time", "made the difference", "what helped"]);
        let contrast = self.has(&["rather than", "and not the", "but not the"]) && !self.has(&["or"]);
        let means = self.has(&["means that", "means a", "means the", "which means"]);
        self.length >= 6 && (so || again || contrast || means)
    }

    /// What somebody who knows has said.
    fn passes_on(&self) -> bool {
        #[rustfmt::skip]
        const WHO: &[&str] = &[
            "doctor", "paediatrician", "pediatrician", "dentist", "vet", "nurse", "pharmacist", "physio", "plumber", "electrician", "mechanic", "carpenter", "gardener",
            "authors", "author", "paper", "study", "studies", "researchers", "book", "chapter", "manual", "documentation", "docs", "specification", "lawyer", "accountant",
            "expert", "experts", "teacher", "trainer", "coach", "neighbour", "neighbor",
        ];
        #[rustfmt::skip]
        const SAY: &[&str] = &[
            "says that", "says i", "says it", "says the", "says to", "say that", "said that", "said to", "thinks that", "thinks it", "report that", "reports that", "show that",
            "shows that", "found that", "find that", "recommends", "recommend", "advises", "advised", "warns", "warned", "confirmed", "explained that", "explains that",
            "argue that", "argues that",
        ];
        self.length >= 7
            && (self.has(WHO) && self.has(SAY) || self.begins(&["according to"]) || self.has(&["according to it"]))
    }

    /// What is so of every one of its kind: a subject without an article or with "a", in the present.
    fn is_general(&self) -> bool {
        if self.length < 6 || self.past {
            return false;
        }
        let each = self.begins(&["every", "each", "any", "no", "a", "an"]) && self.has_present();
        let doing = self.first.len() > 4
            && self.first.ends_with("ing")
            && self.has(&[
                "works", "helps", "keeps", "prevents", "beats", "saves", "avoids", "makes", "is", "costs", "takes",
            ]);
        let effect =
            self.has(&["prevents", "beats", "works better", "is better than", "are better than", "everywhere in"]);
        each || doing || effect
    }

    /// Where something is kept.
    fn says_where(&self) -> bool {
        !self.past
            && self.length >= 6
            && self.begins(&["the", "our", "all", "every", "my"])
            && self.has(&[
                "lives in",
                "live in the",
                "is kept in",
                "are kept in",
                "is stored in",
                "are stored in",
                "lies in",
                "hangs in",
                "is written on",
            ])
    }

    /// A verb of the present in the third person right behind the subject.
    fn has_present(&self) -> bool {
        let words: Vec<&str> = self.padded.split_whitespace().collect();
        words.iter().skip(2).take(7).any(|w| {
            matches!(*w, "is" | "are" | "has" | "does" | "needs" | "must" | "can" | "cannot" | "gets" | "goes")
                || w.len() > 4 && w.ends_with('s') && !w.ends_with("ss") && !w.ends_with("us")
        })
    }

    /// Whether the only verbs that it has are of the past.
    fn past_only(&self) -> bool {
        self.past
            && !self.has(&[
                "is", "are", "has", "have", "cant", "cannot", "must", "dont", "doesnt", "will", "want", "wants",
                "makes",
            ])
    }
}

/// Whether a word is a past tense: `-ed`, or one of the common irregular ones.
pub(super) fn is_past(word: &str) -> bool {
    #[rustfmt::skip]
    const IRREGULAR: &[&str] = &[
        "was", "were", "had", "did", "went", "came", "got", "took", "made", "said", "told", "gave", "found", "ran", "saw", "felt", "left", "met", "sent", "slept", "spent",
        "bought", "brought", "thought", "kept", "began", "woke", "drove", "ate", "drank", "paid", "sat", "stood", "held", "heard", "knew", "fell", "built", "broke",
        "chose", "lost", "won", "wrote", "forgot", "didnt", "wasnt", "werent", "hadnt", "couldnt", "froze", "stuck", "became", "grew",
    ];
    IRREGULAR.contains(&word) || word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: Option<Class>) {
        assert_eq!(act(sentence), expected, "{sentence}");
    }

    #[test]
    fn a_sentence_is_read_by_what_it_does() {
        check("Before you travel, copy the tickets onto your phone.", Some(Class::Rule));
        check("To reset it: hold the button for ten seconds, let go, press it once.", Some(Class::Method));
        check("For parties I'd rather cook one large pot.", Some(Class::Preference));
        check("The gateway now refuses calls without a token.", Some(Class::Decision));
        check("The pharmacist says that the tablets must not be halved.", Some(Class::Lesson));
        check("A lock without an owner blocks everybody.", Some(Class::Lesson));
    }

    #[test]
    fn what_only_tells_of_a_day_does_nothing() {
        check("Read the paper on the train.", None);
        check("The rain stopped at noon and we went out.", None);
        check("A man asked for the way to the station.", None);
        check("The call is now on Wednesday.", None);
        check("He came back from the shop.", None);
    }
}
