//! One search, from the request to the reply.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::meta::DreamLedger;
use dormouse_vault::{Layer, Note, NotePath, Vault};

use super::alike::{Candidates, ask};
use super::blocks::{self, Asks, Scored, best_first};
use super::candidate::{Candidate, explain, same_text, uncrowded};
use super::centrality::Central;
use super::citations::by_block;
use super::evidence::{Bm25, Evidence, Extent, Weighing};
use super::factors::{Factors, boost_communities};
use super::links::spread;
use super::pairs::collapse;
use super::passages::passages;
use super::phrase::Phrase;
use super::query::Query;
use super::reply::{Hit, SearchReply, SignalState};
use super::request::SearchRequest;
use super::signals::{MetaCache, Signals};
use super::terms::{Terms, look_up};
use super::wording::Wording;
use crate::conditions::{Conditions, Ground};
use crate::config::RecallConfig;
use crate::embed::{self, Meaning};
use crate::error::RecallError;
use crate::filter::{newest_first, stated_date};
use crate::index::{Asked, Found, NoteKey, UnitId};
use crate::sync::Current;
use crate::text::{Role, analyze, asks_when, asks_where, fold};
use crate::units::block_text;

/// The most passages of a note that a request gets.
const MAX_PASSAGES: usize = 100;
/// Links bring a note that has none of the words only from this activation on.
const WORTH_BRINGING: f64 = 0.3;

/// What becomes of a digest and the source that it restates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// One result with two places, for a reader.
    OneResult,
    /// Two results, for a caller who wants both texts.
    Apart,
}

/// A reply, and the notes that had changed on disk since the snapshot.
pub(crate) struct Outcome {
    pub(crate) reply: SearchReply,
    pub(crate) stale: Vec<NotePath>,
    /// The archived notes that were left out.
    pub(crate) asleep: Arc<BTreeSet<NotePath>>,
}

/// Answers `request` from `current`.
pub(crate) fn run(
    vault: &Vault,
    current: &Current,
    (meta, meaning): (&MetaCache, Option<&Meaning>),
    config: &RecallConfig,
    request: &SearchRequest,
    now: Option<DateTime<FixedOffset>>,
    pairing: Pairing,
) -> Result<Outcome, RecallError> {
    let query = Query::read(&request.query, now.map(|now| now.date_naive()), request.soft_dates);
    let mut signals = Signals::load(vault, meta, request.signals, now, config);
    let index = match (current.in_memory, current.whole) {
        (true, _) => SignalState::InMemory,
        (false, true) => SignalState::Fresh,
        (false, false) => SignalState::Partial,
    };
    signals.state("index", index, None);
    let ledger = || vault.meta::<DreamLedger>().value;
    let ground =
        Ground { snapshot: &current.snapshot, traits: &meta.traits, archived: signals.archived(), ledger: &ledger };
    let conditions = Conditions::of(&[&request.filters, &query.filters], &ground);
    let central = meta.ranks.of(&current.snapshot, config);
    let mut search =
        Search { vault, current, meaning, config, request, now, query, conditions, signals, central, pairing };
    let (mut candidates, terms, asked) = search.candidates()?;
    if meaning.is_some() && !request.signals.meaning {
        search.signals.state("meaning", SignalState::Off, None);
    }
    if let Some(asked) = asked {
        search.signals.state("meaning", asked.state, None);
        search.signals.warnings.extend(asked.warning);
    }
    // Without words the conditions alone answer, newest first.
    if !search.query.text.trim().is_empty() {
        ranked(&mut candidates);
        if pairing == Pairing::OneResult {
            candidates = collapse(candidates, &current.citations, &current.snapshot);
        }
        candidates = uncrowded(candidates, config.digest_crowd);
    }
    let asleep = if search.drops_archived() { search.signals.archived() } else { Arc::default() };
    let (ranked, filtered) = (candidates.len(), search.is_filtered());
    let Read { hits, stale, copies } = search.hits(candidates, &terms);
    let total = ranked.saturating_sub(copies + stale.len());
    let warnings = current.warnings.iter().cloned().chain(search.signals.warnings).collect();
    let notices = search.query.notices.iter().cloned().chain(search.conditions.notices).chain(terms.notices).collect();
    let freshness = search.signals.freshness;
    let mut notices: Vec<String> = notices;
    let mut told = BTreeSet::new();
    notices.retain(|notice| told.insert(notice.clone()));
    if total == 0 && filtered && notices.is_empty() {
        notices.push("no note fulfils all of these conditions".to_owned());
    }
    let reply = SearchReply { hits, total, freshness, warnings, notices, ..SearchReply::default() };
    Ok(Outcome { reply, stale, asleep })
}

/// Notes as they were read for a reply.
struct Read {
    hits: Vec<Hit>,
    /// Those that changed since the snapshot.
    stale: Vec<NotePath>,
    /// How many say what one before them says.
    copies: usize,
}

/// Best first, equals in the order of their paths.
fn ranked(candidates: &mut [Candidate]) {
    candidates.sort_by_cached_key(|c| (Reverse(Score(c.score())), c.note.path.clone()));
}

/// A score in the order of numbers.
#[derive(PartialEq)]
struct Score(f64);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct Search<'a> {
    vault: &'a Vault,
    current: &'a Current,
    meaning: Option<&'a Meaning>,
    config: &'a RecallConfig,
    request: &'a SearchRequest,
    now: Option<DateTime<FixedOffset>>,
    query: Query,
    conditions: Conditions<'a>,
    signals: Signals,
    central: Arc<Central>,
    pairing: Pairing,
}

impl Search<'_> {
    fn candidates(&self) -> Result<(Vec<Candidate>, Terms, Option<embed::Asked>), RecallError> {
        let view = self.current.view.as_ref();
        let wording = Wording::of(&self.query, view)?;
        if self.query.text.trim().is_empty() {
            let all = if self.is_filtered() { self.newest(&wording) } else { Vec::new() };
            return Ok((all, Terms::default(), None));
        }
        let switches = self.request.signals;
        if self.asks_for_a_time_alone() {
            return Ok((self.of_that_time(&wording), Terms::default(), None));
        }
        let terms = look_up(view, &self.query.words, &self.query.verbatim, self.config, switches.form)?;
        let may = |note: NoteKey| self.may(note, &wording);
        let meaning = self.meaning.filter(|_| switches.meaning);
        let asked = ask(meaning, &self.query.words, &terms.names, self.config);
        let evidence = self.evidence(&terms, &may, asked.as_ref())?;
        let asks = self.asks(&evidence);
        let scored = blocks::score(&evidence, &terms, &asks, &may, switches, self.config);
        let mut candidates: BTreeMap<NoteKey, Candidate> = BTreeMap::new();
        for (key, mut blocks) in scored {
            if let Some(at) = wording.held(key) {
                blocks.iter_mut().filter(|s| at.contains(&s.block)).for_each(|s| s.parts.push(("phrase", 1.0)));
                best_first(&mut blocks);
            }
            if let Some(note) = self.current.notes.get(&key) {
                candidates.insert(key, self.candidate(note, blocks));
            }
        }
        if candidates.is_empty() && self.query.words != self.query.text {
            // The words say nothing here, but the time does.
            return Ok((self.of_that_time(&wording), terms, asked));
        }
        if switches.links {
            self.follow_links(&mut candidates, &wording);
        }
        let mut candidates: Vec<Candidate> = candidates.into_values().collect();
        if switches.community {
            ranked(&mut candidates);
            let mut notes: Vec<(&Note, &mut Factors)> =
                candidates.iter_mut().map(|c| (c.note.as_ref(), &mut c.factors)).collect();
            boost_communities(&mut notes, &self.signals, self.config);
        }
        Ok((candidates, terms, asked))
    }

    /// What the notes of the best blocks have of the query, with the source blocks that their digest
    /// blocks cite.
    fn evidence(
        &self,
        terms: &Terms,
        may: &dyn Fn(NoteKey) -> bool,
        meant: Option<&embed::Asked>,
    ) -> Result<Evidence, RecallError> {
        let view = self.current.view.as_ref();
        let lends = |note: NoteKey| self.request.signals.digests && self.lends(note);
        let mut found = self.found(terms, may, &lends)?;
        let version = |note| self.current.notes.get(&note).map(|note| note.version);
        let like = Candidates { asked: meant, version: &version, allowed: may, limit: self.config.meaning_candidates };
        let nearest = like.nearest();
        let known: BTreeSet<NoteKey> = found.iter().map(|found| found.note).collect();
        found.extend(nearest.difference(&known).copied().map(Found::elsewhere));
        let (texts, names) = (terms.texts(), terms.names.iter().map(String::as_str).collect::<Vec<_>>());
        let asked = Asked { terms: &texts, speakers: &names };
        let gathered = view.gather(&found, asked)?;
        let extent = Extent { units: view.unit_count()?, notes: self.current.notes.len() };
        let mut weighing =
            Weighing::new(Bm25::of(terms, extent, &gathered, self.config), self.pairing == Pairing::Apart);
        for note in &gathered {
            let lender = self.current.notes.get(&note.note).filter(|_| lends(note.note));
            let cited = lender.map(|lender| self.current.citations.of(lender, &self.current.snapshot));
            weighing.add(note, cited.as_deref());
        }
        let lacking = weighing.lacking().into_iter().filter(|note| self.current.notes.contains_key(note));
        let lacking: Vec<Found> = lacking.map(Found::elsewhere).collect();
        for note in &view.gather(&lacking, asked)? {
            weighing.add(note, None);
        }
        let mut evidence = weighing.finish(may);
        let alike = like.alike(evidence.notes().map(|(note, _)| note).filter(|note| may(*note)));
        evidence.mean(&nearest, &alike, self.config.meaning_share);
        Ok(evidence)
    }

    /// The notes of the best blocks: of as many as it takes to answer with as many notes as are wanted.
    fn found(
        &self,
        terms: &Terms,
        may: &dyn Fn(NoteKey) -> bool,
        lends: &dyn Fn(NoteKey) -> bool,
    ) -> Result<Vec<Found>, RecallError> {
        let sought = terms.sought(self.config.header_weight);
        let view = self.current.view.as_ref();
        let wanted = self.request.limit;
        let mut limit = self.config.candidates.max(1);
        let mut found = loop {
            let best = view.best(&sought, limit, &mut |note| may(note))?;
            if best.complete || best.notes.len() >= wanted {
                break best.notes;
            }
            limit = limit.saturating_mul(4);
        };
        if self.is_filtered() {
            // Digests that may not be returned lend all the same, and take no other note's place.
            let limit = self.config.candidates.max(1) / 4;
            found.extend(view.best(&sought, limit, &mut |note| !may(note) && lends(note))?.notes);
        }
        Ok(found)
    }

    fn candidate(&self, note: &Arc<Note>, blocks: Vec<Scored>) -> Candidate {
        let central = self.central.of(&note.path, &self.current.snapshot);
        let factors = Factors::of(note, central, &self.signals, self.request.signals, self.now, self.config);
        let share = if self.request.signals.support { self.config.support_share } else { 0.0 };
        Candidate::new(note, blocks, factors, share)
    }

    /// What the query asks for besides its words.
    fn asks(&self, evidence: &Evidence) -> Asks {
        let prefers = self.request.signals.dates && !self.query.dates.is_empty();
        let fit = |key: NoteKey| Some((key, self.fit(self.current.notes.get(&key)?)?));
        let dated = if prefers { evidence.qualified().filter_map(fit).collect() } else { BTreeMap::new() };
        Asks { when: asks_when(&self.query.text), place: asks_where(&self.query.text), dated }
    }

    /// How well the date that a note states fits the dates that the query names, where it does at all.
    fn fit(&self, note: &Note) -> Option<f64> {
        let date = stated_date(note)?;
        let best = self.query.dates.iter().map(|span| span.fits(date)).fold(0.0, f64::max);
        (best > 0.0).then_some(best)
    }

    /// Whether there are conditions beside the words.
    fn is_filtered(&self) -> bool {
        !(self.query.filters.is_empty() && self.request.filters.is_empty())
    }

    /// Whether a note fulfils every condition. A note is looked at when something stands in it, once.
    fn may(&self, key: NoteKey, wording: &Wording) -> bool {
        let others = || {
            self.current.notes.get(&key).is_some_and(|note| {
                !(self.drops_archived() && self.signals.is_archived(&note.path)) && self.conditions.hold(note)
            })
        };
        wording.hold(key, |phrase| self.standing(key, phrase), others)
    }

    /// Whether archived notes are left out: by default, unless somebody asks for them.
    fn drops_archived(&self) -> bool {
        let asked_for = self.request.include_archived
            || self.request.filters.wants_archived()
            || self.query.filters.wants_archived();
        self.config.drop_archived && !asked_for && self.request.signals.archive
    }

    fn lends(&self, key: NoteKey) -> bool {
        self.current.notes.get(&key).is_some_and(|note| {
            note.layer == Layer::Digest
                && !self.signals.is_doubtful(&note.path)
                && !self.signals.is_archived(&note.path)
        })
    }

    /// The blocks of a note that a phrase stands in; the header for its name, description, aliases
    /// and headings.
    fn standing(&self, key: NoteKey, phrase: &Phrase) -> Vec<u32> {
        let Some(note) = self.current.notes.get(&key) else {
            return Vec::new();
        };
        let Ok(read) = self.vault.read(&note.path) else {
            return Vec::new();
        };
        let inside =
            note.doc().blocks.iter().enumerate().filter(|(_, block)| phrase.stands_in(block_text(block, &read.text)));
        let mut out: Vec<u32> = inside.filter_map(|(at, _)| u32::try_from(at).ok()).collect();
        let names = [note.name.as_ref(), note.description.as_deref().unwrap_or(""), note.path.stem()];
        let others = note.aliases.iter().map(String::as_str).chain(note.doc().headings.iter().map(|h| h.text.as_str()));
        if names.into_iter().chain(others).any(|text| phrase.stands_in(text)) {
            out.push(UnitId::HEADER);
        }
        out
    }

    /// Whether nothing with a meaning is left of a query beside a date as seen from today.
    fn asks_for_a_time_alone(&self) -> bool {
        let empty = |role: &Role| *role == Role::Stop;
        self.query.words != self.query.text
            && self.query.phrases.is_empty()
            && analyze(&self.query.words).iter().flat_map(|word| &word.terms).all(|(role, _)| empty(role))
    }

    /// The notes of the time that a query asks for, the best fit first.
    fn of_that_time(&self, wording: &Wording) -> Vec<Candidate> {
        let notes = self.current.notes.iter().filter_map(|(key, note)| Some((key, note, self.fit(note)?)));
        let notes = notes.filter(|(key, ..)| self.may(**key, wording));
        notes.map(|(_, note, fit)| self.candidate(note, vec![Scored::of(UnitId::HEADER, "date", fit)])).collect()
    }

    /// Without a word to search for: everything that fulfils the conditions, newest first.
    fn newest(&self, wording: &Wording) -> Vec<Candidate> {
        let of_keys = self.current.notes.iter().filter(|(key, _)| self.may(**key, wording));
        let mut notes: Vec<&Arc<Note>> = of_keys.map(|(_, note)| note).collect();
        notes.sort_by_cached_key(|note| newest_first(note));
        let count = notes.len().max(1) as f64;
        let ranked = notes.into_iter().enumerate().map(|(at, note)| {
            let rank = 1.0 - at as f64 / count;
            let header = Scored::of(UnitId::HEADER, "newest", rank);
            let even = Factors { layer: 1.0, centrality: 1.0, community: 1.0, recency: 1.0 };
            Candidate::new(note, vec![header], even, 0.0)
        });
        ranked.collect()
    }

    fn follow_links(&self, candidates: &mut BTreeMap<NoteKey, Candidate>, wording: &Wording) {
        let mut seeds: Vec<(NotePath, f64)> = candidates.values().map(|c| (c.note.path.clone(), c.score())).collect();
        seeds.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let best = seeds.first().map_or(0.0, |(_, score)| *score);
        for (path, reached) in
            spread(&seeds, &self.current.snapshot, &|path| self.signals.is_doubtful(path), self.config)
        {
            let key = NoteKey::of(&path);
            let Some(note) = self.current.notes.get(&key).filter(|_| self.may(key, wording)) else {
                continue;
            };
            if let Some(candidate) = candidates.get_mut(&key) {
                candidate.links = (1.0 + self.config.link_share * reached).clamp(0.5, 2.0);
            } else if reached >= WORTH_BRINGING {
                let value = self.config.link_share * reached * best;
                candidates.insert(key, self.candidate(note, vec![Scored::of(UnitId::HEADER, "links", value)]));
            }
        }
    }

    /// Reads the best notes until the limit is full. A note that changed since the snapshot is left
    /// out, and the caller is told.
    fn hits(&self, candidates: Vec<Candidate>, terms: &Terms) -> Read {
        let limit = self.request.limit;
        let words: BTreeSet<&str> = terms.terms.iter().map(|t| t.text.as_str()).collect();
        let mut hits: Vec<Hit> = Vec::new();
        let mut texts: BTreeMap<String, usize> = BTreeMap::new();
        let (mut stale, mut copies) = (Vec::new(), 0);
        for candidate in candidates {
            if hits.len() >= limit {
                break;
            }
            let Some(mut hit) = self.hit(&candidate, &words) else {
                stale.push(candidate.note.path.clone());
                continue;
            };
            match same_text(&hit, &texts) {
                Some(at) => {
                    copies += 1;
                    if let Some(first) = hits.get_mut(at) {
                        first.also_at.push(hit.path);
                        first.also_at.append(&mut hit.also_at);
                    }
                }
                None => {
                    for passage in &hit.passages {
                        texts.entry(fold(&passage.text)).or_insert(hits.len());
                    }
                    hits.push(hit);
                }
            }
        }
        Read { hits, stale, copies }
    }

    fn hit(&self, candidate: &Candidate, words: &BTreeSet<&str>) -> Option<Hit> {
        let Candidate { note, blocks, .. } = candidate;
        let read = self.vault.read(&note.path).ok().filter(|read| read.version == note.version)?;
        let cites = by_block(note, &self.current.snapshot);
        let limit = self.request.passages.min(MAX_PASSAGES);
        Some(Hit {
            path: note.path.clone(),
            name: note.name.to_string(),
            description: note.description.as_deref().map(str::to_owned),
            date: stated_date(note),
            layer: note.layer,
            bucket: note.bucket,
            score: candidate.score(),
            passages: passages(note, &read.text, blocks, candidate.factor(), limit, words, &cites),
            explain: self.request.explain.then(|| explain(candidate)),
            archived: self.signals.is_archived(&note.path),
            also_at: candidate.also_at.clone(),
        })
    }
}
