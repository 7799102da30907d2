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
    /// The words of the query that name a speaker.
    pub(crate) names: BTreeSet<String>,
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
    let mut out = Terms::default();
    let mut places = Places { index, found: BTreeMap::new() };
    let words = corrected(analyze(text), &mut places, config, &mut out.notices)?;
    let names = if form { names(index, &words)? } else { BTreeMap::new() };
    if let Some(places) = subject(&words, text, &names).and_then(|name| names.get(name)) {
        out.spoken = places.iter().map(|p| (p.note, p.unit.block)).collect();
        out.names_others = names.len() > 1;
    }
    out.names = names.keys().cloned().collect();
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
        let (body, header) = places.take(&text)?;
        if !body.is_empty() || !header.is_empty() {
            out.terms.push(Term { text, weight, qualifies, body, header });
        }
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

/// Where terms stand, each looked up once.
struct Places<'a> {
    index: &'a dyn BlockIndex,
    found: BTreeMap<String, (Vec<Posting>, Vec<Posting>)>,
}

impl Places<'_> {
    fn find(&mut self, term: &str) -> Result<&(Vec<Posting>, Vec<Posting>), IndexError> {
        if !self.found.contains_key(term) {
            let places = (self.index.postings(Field::Body, term)?, self.index.postings(Field::Header, term)?);
            self.found.insert(term.to_owned(), places);
        }
        Ok(self.found.entry(term.to_owned()).or_default())
    }

    fn take(&mut self, term: &str) -> Result<(Vec<Posting>, Vec<Posting>), IndexError> {
        self.find(term)?;
        Ok(self.found.remove(term).unwrap_or_default())
    }

    fn known(&mut self, term: &str) -> Result<bool, IndexError> {
        self.find(term).map(|(body, header)| !body.is_empty() || !header.is_empty())
    }

    /// The known spellings one edit away from a word, the most frequent first. Inflected words stand
    /// in the index as they are spelled, behind `=`; words that are their own stem stand there bare.
    fn near(&self, surface: &str) -> Result<Vec<(String, u64)>, IndexError> {
        let mut near: BTreeMap<String, u64> = BTreeMap::new();
        for (term, count) in self.index.similar(surface)?.into_iter().chain(self.index.similar(&format!("={surface}"))?)
        {
            let spelled = term.strip_prefix('=').unwrap_or(&term);
            if spelled.chars().all(char::is_alphabetic) && analyze(spelled).iter().all(is_spelled) {
                let have = near.entry(spelled.to_owned()).or_default();
                *have = count.max(*have);
            }
        }
        let mut near: Vec<(String, u64)> = near.into_iter().collect();
        near.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(near)
    }
}

/// Whether a word has a meaning of its own and one piece, so that its spelling can be held against
/// others.
fn is_spelled(word: &Word) -> bool {
    word.terms.first().is_some_and(|(role, _)| *role == Role::Stem)
}

/// The words of a query, those that stand nowhere in the vault replaced by known ones one edit away:
/// the most frequent, and another one that is at least half as frequent.
fn corrected(
    words: Vec<Word>,
    places: &mut Places<'_>,
    config: &RecallConfig,
    notices: &mut Vec<String>,
) -> Result<Vec<Word>, IndexError> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        let letters = || word.surface.chars().count() >= 4 && word.surface.chars().all(char::is_alphabetic);
        let stem = word.terms.first().filter(|_| config.correct_typos && is_spelled(&word) && letters());
        let unknown = match stem {
            Some((_, stem)) => !places.known(stem)?,
            None => false,
        };
        let near = if unknown { places.near(&word.surface)? } else { Vec::new() };
        let most = near.first().map_or(0, |(_, count)| *count);
        for (spelled, _) in near.iter().take(2).filter(|(_, count)| 2 * count >= most) {
            notices.push(format!("{:?} stands nowhere; searched {spelled:?} instead", word.surface));
            let meant = analyze(spelled).into_iter().map(|known| Word { span: word.span.clone(), ..known });
            out.extend(meant);
        }
        if near.is_empty() {
            out.push(word);
        }
    }
    Ok(out)
}
