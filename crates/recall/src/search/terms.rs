//! A query's terms, with their weights and how rare they are.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::RecallConfig;
use crate::index::{Field, IndexError, IndexView, NoteKey, Sought};
use crate::text::{Role, Word, analyze, is_frame, is_time_word, kinds_asked};

/// Terms that are looked up; of a longer query the rarest are kept. A set of them is one number.
const MAX_TERMS: usize = 64;
/// Unknown words that are looked up by their spelling.
const MAX_CORRECTED: usize = 8;
/// Turns by which is seen whether a label names a speaker.
const TURNS: usize = 256;
/// Places of a term by which is seen how many of them a note has.
const PLACES: usize = 2_048;

/// One term of a query.
#[derive(Debug)]
pub(crate) struct Term {
    /// As it stands in the index.
    pub(crate) text: String,
    /// How much it says, 0..=1.
    pub(crate) weight: f64,
    /// Whether it alone makes a note a result; a single Chinese character of a longer word doesn't.
    pub(crate) qualifies: bool,
    /// Units whose own text has it.
    pub(crate) body: u64,
    /// Units whose header has it.
    pub(crate) header: u64,
    /// Notes whose blocks have it; where it stands in many blocks, as many as a part of them lets expect.
    pub(crate) notes: f64,
}

/// The terms of a query.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// In order of the query.
    pub(crate) terms: Vec<Term>,
    /// The speakers whom the query names, in order.
    pub(crate) names: Vec<String>,
    /// The one of them whom the query is about.
    pub(crate) subject: Option<usize>,
    /// That one's name as it stands in text.
    pub(crate) subject_term: Option<String>,
    /// How the words were read.
    pub(crate) notices: Vec<String>,
}

impl Terms {
    /// The terms as they stand in the index, in order.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.terms.iter().map(|term| term.text.as_str()).collect()
    }

    /// What finds candidates: the terms that make a note a result, in blocks and, for less, in headers.
    pub(crate) fn sought(&self, header_weight: f64) -> Vec<Sought<'_>> {
        let mut out = Vec::new();
        for Term { text, weight, body, header, .. } in self.terms.iter().filter(|term| term.qualifies) {
            for (field, weight, units) in
                [(Field::Body, *weight, body), (Field::Header, header_weight * weight, header)]
            {
                if *units > 0 && weight > 0.0 {
                    out.push(Sought { field, term: text, weight });
                }
            }
        }
        out
    }
}

/// Reads and looks up the words of `text`.
pub(crate) fn look_up(
    view: &dyn IndexView,
    text: &str,
    verbatim: &[String],
    config: &RecallConfig,
    form: bool,
) -> Result<Terms, IndexError> {
    let mut out = Terms::default();
    let words = corrected(analyze(text), verbatim, view, config, &mut out.notices)?;
    if form {
        out.names = names(view, &words)?;
        out.subject = subject(&words, text, &out.names);
        let subject = out.subject.and_then(|at| out.names.get(at));
        let named = words.iter().find(|word| Some(&word.surface) == subject);
        out.subject_term = named.and_then(|word| word.terms.first()).map(|(_, term)| term.clone());
    }
    let mut weights: BTreeMap<String, (f64, bool, usize)> = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        let scale = if out.names.contains(&word.surface) { config.name_weight } else { 1.0 };
        for (term, weight, qualifies) in weighted(word, config) {
            let entry = weights.entry(term).or_insert((0.0, false, at));
            entry.0 = entry.0.max(weight * scale);
            entry.1 |= qualifies;
        }
    }
    for (at, kind) in if form { kinds_asked(&words) } else { Vec::new() } {
        weights.entry(kind.to_owned()).or_insert((config.kind_weight, false, at));
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
        let (body, header) = (view.frequency(Field::Body, &text)?, view.frequency(Field::Header, &text)?);
        if body > 0 || header > 0 {
            out.terms.push(Term { text, weight, qualifies, body, header, notes: 0.0 });
        }
    }
    if out.terms.len() > MAX_TERMS {
        out.notices
            .push(format!("the query has {} different terms; the {MAX_TERMS} rarest were searched", out.terms.len()));
        // What makes a note a result goes before what only sharpens the order.
        out.terms.sort_by_key(|t| (!t.qualifies, t.body + t.header));
        out.terms.truncate(MAX_TERMS);
    }
    for term in &mut out.terms {
        term.notes = notes_with(view, &term.text, term.body)?;
    }
    Ok(out)
}

/// In how many notes a term stands that `units` have.
fn notes_with(view: &dyn IndexView, term: &str, units: u64) -> Result<f64, IndexError> {
    let places = view.first(Field::Body, term, PLACES)?;
    let notes = places.chunk_by(|a, b| a.0 == b.0).count();
    Ok(units as f64 * notes as f64 / places.len().max(1) as f64)
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

/// The words of the query that name a speaker of a conversation. A label that stands only here and
/// there in bold is none.
fn names(view: &dyn IndexView, words: &[Word]) -> Result<Vec<String>, IndexError> {
    let mut out: Vec<String> = Vec::new();
    for word in words.iter().filter(|w| !w.terms.iter().any(|(role, _)| *role == Role::Stop)) {
        if out.contains(&word.surface) {
            continue;
        }
        let turns = view.first(Field::Speaker, &word.surface, TURNS)?;
        let notes: BTreeSet<NoteKey> = turns.iter().map(|(note, _)| *note).collect();
        if turns.len() >= 3 && turns.len() >= 2 * notes.len() {
            out.push(word.surface.clone());
        }
    }
    Ok(out)
}

/// Whom a query is about: the first person named who does not merely own something (`Ann's`), else
/// the first.
fn subject(words: &[Word], text: &str, names: &[String]) -> Option<usize> {
    let owns = |word: &Word| {
        let raw = text.get(word.span.clone()).unwrap_or("");
        raw.ends_with("'s") || raw.ends_with("’s")
    };
    let named = || words.iter().filter(|word| names.contains(&word.surface));
    let subject = named().find(|word| !owns(word)).or_else(|| named().next())?;
    names.iter().position(|name| *name == subject.surface)
}

/// The known spellings one edit away from a word, the most frequent first. Inflected words stand
/// in the index as they are spelled, behind `=`; words that are their own stem stand there bare.
fn near(view: &dyn IndexView, surface: &str) -> Result<Vec<(String, u64)>, IndexError> {
    let mut near: BTreeMap<String, u64> = BTreeMap::new();
    for (term, count) in view.similar(surface)?.into_iter().chain(view.similar(&format!("={surface}"))?) {
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

/// Whether a word has a meaning of its own and one piece, so that its spelling can be held against
/// others.
fn is_spelled(word: &Word) -> bool {
    word.terms.first().is_some_and(|(role, _)| *role == Role::Stem)
}

fn is_known(view: &dyn IndexView, term: &str) -> Result<bool, IndexError> {
    Ok(view.frequency(Field::Body, term)? > 0 || view.frequency(Field::Header, term)? > 0)
}

/// The words of a query, those that stand nowhere in the vault replaced by known ones one edit away:
/// the most frequent, and another one that is at least half as frequent.
fn corrected(
    words: Vec<Word>,
    verbatim: &[String],
    view: &dyn IndexView,
    config: &RecallConfig,
    notices: &mut Vec<String>,
) -> Result<Vec<Word>, IndexError> {
    let mut out = Vec::with_capacity(words.len());
    let mut looked_up = 0;
    for word in words {
        let letters = || word.surface.chars().count() >= 4 && word.surface.chars().all(char::is_alphabetic);
        let stem = word.terms.first().filter(|_| config.correct_typos && is_spelled(&word) && letters());
        let meant = || is_time_word(&word.surface) || verbatim.contains(&word.surface);
        let unknown = match stem.filter(|_| looked_up < MAX_CORRECTED && !meant()) {
            Some((_, stem)) => !is_known(view, stem)?,
            None => false,
        };
        looked_up += usize::from(unknown);
        let near = if unknown { near(view, &word.surface)? } else { Vec::new() };
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
