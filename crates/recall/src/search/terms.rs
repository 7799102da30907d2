//! A query's terms, with their weights and everywhere they stand.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::RecallConfig;
use crate::index::{BlockIndex, Field, IndexError, NoteKey, Posting};
use crate::text::{Role, Word, analyze, is_frame};

/// Terms that are looked up; of a longer query the rarest are kept.
const MAX_TERMS: usize = 64;

/// One term of a query, looked up.
#[derive(Debug)]
pub(crate) struct Term {
    /// As it stands in the index.
    pub(crate) text: String,
    /// How much it says, 0..=1.
    pub(crate) weight: f64,
    /// Whether it alone makes a note a result; a single Chinese character of a longer word doesn't.
    pub(crate) qualifies: bool,
    /// Where it stands in blocks.
    pub(crate) body: Vec<Posting>,
    /// Where it stands in headings and note names.
    pub(crate) header: Vec<Posting>,
}

/// The terms of a query.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// In order of the query.
    pub(crate) terms: Vec<Term>,
    /// The places where the person speaks whom the query is about; empty when it names none.
    pub(crate) spoken: BTreeSet<(NoteKey, u32)>,
    /// Whether the query names others besides.
    pub(crate) names_others: bool,
    /// The conversations in which all persons speak whom the query names; empty when it names none.
    pub(crate) cast: BTreeSet<NoteKey>,
    /// How the words were read.
    pub(crate) notices: Vec<String>,
}

/// Reads and looks up the words of `text`.
pub(crate) fn look_up(
    index: &dyn BlockIndex,
    text: &str,
    config: &RecallConfig,
    form: bool,
) -> Result<Terms, IndexError> {
    let words = analyze(text);
    let mut out = Terms::default();
    let names = if form { names(index, &words)? } else { BTreeMap::new() };
    if let Some(places) = subject(&words, text, &names).and_then(|name| names.get(name)) {
        out.spoken = places.iter().map(|p| (p.note, p.unit.block)).collect();
        out.names_others = names.len() > 1;
    }
    let casts = names.values().map(|places| places.iter().map(|p| p.note).collect::<BTreeSet<NoteKey>>());
    out.cast = casts.reduce(|all, one| all.intersection(&one).copied().collect()).unwrap_or_default();
    let mut weights: BTreeMap<String, (f64, bool, usize)> = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        let scale = if names.contains_key(&word.surface) { config.name_weight } else { 1.0 };
        for (term, weight, qualifies) in weighted(word, config) {
            let entry = weights.entry(term).or_insert((0.0, false, at));
            entry.0 = entry.0.max(weight * scale);
            entry.1 |= qualifies;
        }
    }
    // With no word that qualifies, words without meaning and single characters are all there is.
    let any = weights.values().any(|(_, qualifies, _)| *qualifies);
    if !any {
        for word in &words {
            for (role, term) in word.terms.iter().filter(|(role, _)| matches!(role, Role::Stop | Role::Single)) {
                weights.insert(term.clone(), (if *role == Role::Stop { 0.5 } else { 1.0 }, true, 0));
            }
        }
    }
    let mut order: Vec<(String, (f64, bool, usize))> = weights.into_iter().collect();
    order.sort_by(|a, b| a.1.2.cmp(&b.1.2).then_with(|| a.0.cmp(&b.0)));
    for (text, (weight, qualifies, _)) in order {
        let body = index.postings(Field::Body, &text)?;
        let header = index.postings(Field::Header, &text)?;
        if body.is_empty() && header.is_empty() {
            if config.correct_typos && qualifies {
                correct(index, &text, weight, &mut out)?;
            }
            continue;
        }
        out.terms.push(Term { text, weight, qualifies, body, header });
    }
    if out.terms.len() > MAX_TERMS {
        out.notices
            .push(format!("the query has {} different words; the {MAX_TERMS} rarest were searched", out.terms.len()));
        out.terms.sort_by_key(|t| t.body.len() + t.header.len());
        out.terms.truncate(MAX_TERMS);
    }
    Ok(out)
}

/// The query terms of a word: term, weight, whether it qualifies.
fn weighted(word: &Word, config: &RecallConfig) -> Vec<(String, f64, bool)> {
    let compound = word.terms.iter().any(|(role, _)| *role == Role::Whole);
    let weigh = |role: Role| match role {
        Role::Stem | Role::Whole | Role::Pair => Some((1.0, true)),
        Role::Exact => Some((config.exact_share, false)),
        Role::Part => Some((if compound { 0.6 } else { 1.0 }, true)),
        Role::Single => Some((config.single_weight, false)),
        Role::Stop => None,
    };
    let frames = |term: &str| if is_frame(term) { config.frame_weight } else { 1.0 };
    word.terms
        .iter()
        .filter_map(|(role, term)| weigh(*role).map(|(weight, q)| (term.clone(), weight * frames(term), q)))
        .collect()
}

/// The words of the query that name a speaker of a conversation, with the units spoken. A label
/// that stands only here and there in bold is none.
fn names(index: &dyn BlockIndex, words: &[Word]) -> Result<BTreeMap<String, Vec<Posting>>, IndexError> {
    let mut out = BTreeMap::new();
    for word in words.iter().filter(|w| !w.terms.iter().any(|(role, _)| *role == Role::Stop)) {
        let places = index.postings(Field::Speaker, &word.surface)?;
        let notes: BTreeSet<NoteKey> = places.iter().map(|p| p.note).collect();
        if places.len() >= 3 && places.len() >= 2 * notes.len() {
            out.insert(word.surface.clone(), places);
        }
    }
    Ok(out)
}

/// Whom a query is about: the first person named who does not merely own something (`Ann's`), else
/// the first.
fn subject<'a>(words: &'a [Word], text: &str, names: &BTreeMap<String, Vec<Posting>>) -> Option<&'a str> {
    let owns = |word: &Word| {
        let raw = text.get(word.span.clone()).unwrap_or("");
        raw.ends_with("'s") || raw.ends_with("’s")
    };
    let named = || words.iter().filter(|word| names.contains_key(&word.surface));
    named().find(|word| !owns(word)).or_else(|| named().next()).map(|word| word.surface.as_str())
}

/// Searches the known words one edit away from an unknown one, the most frequent first.
fn correct(index: &dyn BlockIndex, text: &str, weight: f64, out: &mut Terms) -> Result<(), IndexError> {
    let letters = text.chars().count() >= 4
        && text.chars().all(char::is_alphabetic)
        && !text.chars().any(dormouse_vault::text::is_cjk);
    if !letters {
        return Ok(());
    }
    let mut near = index.similar(text)?;
    near.retain(|(term, _)| term.chars().all(char::is_alphabetic));
    near.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (known, _) in near.into_iter().take(2) {
        if out.terms.iter().any(|t| t.text == known) {
            continue;
        }
        let body = index.postings(Field::Body, &known)?;
        let header = index.postings(Field::Header, &known)?;
        out.notices.push(format!("{text:?} stands nowhere; searched {known:?} as well"));
        out.terms.push(Term { text: known, weight: weight * 0.8, qualifies: true, body, header });
    }
    Ok(())
}
