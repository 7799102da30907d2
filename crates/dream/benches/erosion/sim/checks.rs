//! What must hold after every day: nothing certified is gone, nothing invented is in.
//!
//! Written apart from dream's own checks, from the vault's text alone.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{Document, Layer, Note, NotePath, Snapshot, Vault, Version};

use super::claims::{Claim, claims, digits, names, spoken_digits, without_ids};
use super::words::SUBJECTS;
use super::world::Statement;

/// Estimated tokens around a person's line: a heading, a list mark, an id.
const HAND_MARKS: usize = 8;

/// What went wrong, each with the day and the words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    pub(crate) lost: Vec<String>,
    pub(crate) invented: Vec<String>,
    pub(crate) over: Vec<String>,
    /// Lines by a person that are gone.
    pub(crate) erased: Vec<String>,
}

/// What was seen in the digests so far.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The version of each digest when it was last read.
    versions: BTreeMap<NotePath, Version>,
    /// Every form that a block of a digest ever had.
    blocks: BTreeMap<NotePath, BTreeSet<String>>,
    /// Every edge that a digest ever had: source, target with anchor, predicate.
    edges: BTreeSet<(NotePath, String, Option<String>)>,
    /// Lines that a person wrote, with their note.
    by_hand: BTreeMap<String, NotePath>,
    /// Texts of sources, which never change.
    sources: BTreeMap<NotePath, Source>,
    /// Which notes a stated fact stands in, as a block of its own.
    pub(crate) stated: BTreeMap<Statement, BTreeSet<NotePath>>,
    pub(crate) findings: Findings,
}

#[derive(Debug, Clone, Default)]
struct Source {
    text: String,
    digits: BTreeSet<String>,
    /// What each block with an id says.
    blocks: BTreeMap<String, String>,
}

impl Watch {
    pub(crate) fn wrote_by_hand(&mut self, note: NotePath, line: String) {
        self.by_hand.insert(line, note);
    }

    /// How many different claims, and edges, were certified.
    pub(crate) fn certified(&self) -> (usize, usize) {
        (self.stated.len(), self.edges.len())
    }

    /// Looks at all digests that changed since the last look. `budget` in estimated tokens.
    pub(crate) fn look(&mut self, vault: &Vault, day: &str, budget: usize) {
        let snapshot = vault.snapshot();
        let digests: Vec<_> = snapshot.notes().filter(|n| n.layer == Layer::Digest).cloned().collect();
        let paths: BTreeSet<&NotePath> = digests.iter().map(|n| &n.path).collect();
        for gone in self.versions.keys().filter(|path| !paths.contains(path)) {
            self.findings.lost.push(format!("{day} {gone}: the whole note"));
        }
        for note in &digests {
            if self.versions.get(&note.path) == Some(&note.version) {
                continue;
            }
            let Ok(read) = vault.read(&note.path) else {
                self.findings.lost.push(format!("{day} {}: can't be read", note.path));
                continue;
            };
            self.versions.insert(note.path.clone(), note.version);
            self.blocks(note, &read.text, day);
            self.edges(note, &snapshot, day);
            self.claims(vault, &snapshot, note, &read.text, day);
            // What a person writes is not dream's to bound.
            let by_hand = self.by_hand.iter().filter(|(_, path)| **path == note.path);
            let by_hand: usize = by_hand.map(|(line, _)| estimate_tokens(line) + HAND_MARKS).sum();
            let tokens = estimate_tokens(&read.text);
            if tokens > budget + by_hand {
                self.findings.over.push(format!("{day} {}: {tokens} tokens", note.path));
            }
        }
    }

    /// Once more, against everything that was ever seen.
    pub(crate) fn look_back(&mut self, vault: &Vault) {
        let snapshot = vault.snapshot();
        let mut texts: BTreeMap<NotePath, String> = BTreeMap::new();
        for note in snapshot.notes().filter(|n| n.layer == Layer::Digest) {
            texts.insert(note.path.clone(), vault.read(&note.path).map(|r| r.text).unwrap_or_default());
        }
        for (path, forms) in &self.blocks {
            let home = texts.get(path).map_or("", String::as_str);
            for form in forms {
                if !home.contains(form) && !texts.values().any(|text| text.contains(form)) {
                    self.findings.lost.push(format!("at the end {path}: {form}"));
                }
            }
        }
        let mut now: BTreeSet<(NotePath, String, Option<String>)> = BTreeSet::new();
        for note in snapshot.notes().filter(|n| n.layer == Layer::Digest) {
            now.extend(edges(note, &snapshot).into_iter().map(|(t, p, _)| (note.path.clone(), t, p)));
        }
        for (note, target, predicate) in self.edges.difference(&now) {
            self.findings.lost.push(format!("at the end {note}: the edge {predicate:?} to {target}"));
        }
        for (line, note) in &self.by_hand {
            if !texts.values().any(|text| text.contains(line)) {
                self.findings.erased.push(format!("{note}: {line}"));
            }
        }
    }

    /// Every form that a block had stands in what the note says now.
    fn blocks(&mut self, note: &Note, text: &str, day: &str) {
        let seen = self.blocks.entry(note.path.clone()).or_default();
        for form in seen.iter().filter(|form| !text.contains(form.as_str())) {
            self.findings.lost.push(format!("{day} {}: {form}", note.path));
        }
        seen.extend(note.doc().blocks.iter().filter_map(|b| text.get(b.span.clone())).map(without_ids));
    }

    fn edges(&mut self, note: &Note, snapshot: &Snapshot, day: &str) {
        let now = edges(note, snapshot);
        for (target, predicate, sound) in &now {
            if !sound {
                self.findings
                    .invented
                    .push(format!("{day} {}: {predicate:?} to {target}, which is not there", note.path));
            }
        }
        let keys: BTreeSet<_> = now.into_iter().map(|(t, p, _)| (note.path.clone(), t, p)).collect();
        for (_, target, predicate) in self.edges.iter().filter(|e| e.0 == note.path && !keys.contains(e)) {
            self.findings.lost.push(format!("{day} {}: the edge {predicate:?} to {target}", note.path));
        }
        self.edges.extend(keys);
    }

    /// Every number and name of a claim stands in the sources that it names; what its title,
    /// description and links say, in those of the whole note.
    fn claims(&mut self, vault: &Vault, snapshot: &Snapshot, note: &Note, text: &str, day: &str) {
        let read = claims(note, text, snapshot);
        let mut all = Source::default();
        for path in read.iter().flat_map(|c| c.sources.iter().map(|(path, _)| path)).collect::<BTreeSet<_>>() {
            let source = self.source(vault, snapshot, path);
            all.digits.extend(source.digits);
            all.text.push_str(&source.text);
        }
        // What a linked note is called may be said.
        for (_, resolution) in snapshot.links_of(note) {
            if let Some(linked) = resolution.path().and_then(|path| snapshot.note(path)) {
                all.digits.extend(digits(&linked.name));
                all.text.push_str(&linked.name);
            }
        }
        // A name that was taken has the day behind it.
        all.digits.extend(
            note.doc().frontmatter.properties.get("created").and_then(|v| v.as_str()).iter().flat_map(|d| digits(d)),
        );
        for claim in &read {
            if self.by_hand.keys().any(|line| claim.said.contains(line.as_str())) {
                continue;
            }
            let mut cited = Source::default();
            for (path, _) in &claim.sources {
                let source = self.source(vault, snapshot, path);
                cited.digits.extend(source.digits);
                cited.text.push_str(&source.text);
            }
            let grounds = if claim.sources.is_empty() { &all } else { &cited };
            if let Some(what) = invented(claim, &grounds.digits, &grounds.text) {
                self.findings.invented.push(format!("{day} {}: {what} in “{}”", note.path, claim.said));
            }
            self.provenance(note, claim, day);
        }
    }

    /// The blocks that a claim names say what it says: one of them the same, all of them about it.
    fn provenance(&mut self, note: &Note, claim: &Claim, day: &str) {
        let Some(statement) = Statement::read(&claim.said) else { return };
        if claim.sources.is_empty() {
            return;
        }
        let cited: Vec<Option<Statement>> = claim
            .sources
            .iter()
            .map(|(path, anchor)| {
                let block = self.sources.get(path)?.blocks.get(anchor.as_deref()?)?;
                Statement::read(block)
            })
            .collect();
        if !cited.iter().flatten().any(|c| *c == statement) {
            self.findings.invented.push(format!("{day} {}: no source says “{}”", note.path, claim.said));
        }
        if !claim.sources.is_empty() && cited.iter().any(|c| c.as_ref().is_none_or(|c| c.topic() != statement.topic()))
        {
            self.findings
                .invented
                .push(format!("{day} {}: a source is about something else: “{}”", note.path, claim.raw));
        }
        self.stated.entry(statement).or_default().insert(note.path.clone());
    }

    fn source(&mut self, vault: &Vault, snapshot: &Snapshot, path: &NotePath) -> Source {
        if let Some(have) = self.sources.get(path) {
            return have.clone();
        }
        let text = vault.read(path).map(|r| r.text).unwrap_or_default();
        let doc = Document::parse(&text);
        let mut source = Source { digits: digits(&text), ..Source::default() };
        source.digits.extend(digits(path.as_str()));
        if snapshot.exists(path) {
            for block in &doc.blocks {
                if let (Some(id), Some(said)) = (&block.id, text.get(block.span.clone())) {
                    source.blocks.insert(id.clone(), said.to_owned());
                }
            }
        }
        source.text = text;
        self.sources.insert(path.clone(), source.clone());
        source
    }

    /// Notes of one subject that the first of them has room for, by subject. `full` is what a note
    /// has to hold to count as full, in estimated tokens. With each, whether rules could have known.
    pub(crate) fn duplicates(&self, vault: &Vault, full: usize) -> Vec<Duplicate> {
        let snapshot = vault.snapshot();
        let mut by_subject: BTreeMap<usize, Vec<(NotePath, String, usize)>> = BTreeMap::new();
        for note in snapshot.notes().filter(|n| n.layer == Layer::Digest) {
            let text = vault.read(&note.path).map(|r| r.text).unwrap_or_default();
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for claim in claims(note, &text, &snapshot).iter().filter(|c| !c.sources.is_empty()) {
                if let Some(statement) = Statement::read(&claim.said) {
                    *counts.entry(statement.subject).or_default() += 1;
                }
            }
            if let Some((subject, _)) = counts.into_iter().max_by_key(|(_, n)| *n) {
                let tokens = estimate_tokens(&text);
                by_subject.entry(subject).or_default().push((note.path.clone(), note.name.to_string(), tokens));
            }
        }
        let mut out = Vec::new();
        for (subject, notes) in by_subject {
            let fulls = notes.iter().filter(|(_, _, tokens)| *tokens >= full).count();
            let extra = notes.len().saturating_sub(1 + fulls);
            let titles: Vec<(Option<&str>, BTreeSet<String>)> =
                notes.iter().map(|(path, name, _)| (path.as_str().rsplit('/').nth(1), title_words(name))).collect();
            let alike = titles.iter().enumerate().filter(|(i, t)| titles[..*i].contains(t)).count();
            out.extend((0..extra).map(|n| Duplicate {
                subject: SUBJECTS[subject].noun,
                knowable: n < alike.saturating_sub(fulls),
                notes: notes.iter().map(|(path, _, tokens)| format!("{path} ({tokens})")).collect(),
            }));
        }
        out
    }
}

/// One note too many about a subject.
#[derive(Debug, Clone)]
pub(crate) struct Duplicate {
    pub(crate) subject: &'static str,
    /// Whether it has the words of another one's name, in the same bucket.
    pub(crate) knowable: bool,
    pub(crate) notes: Vec<String>,
}

fn title_words(name: &str) -> BTreeSet<String> {
    dormouse_vault::text::content_words(name).into_iter().filter(|w| !w.chars().all(|c| c.is_ascii_digit())).collect()
}

fn invented(claim: &Claim, known: &BTreeSet<String>, text: &str) -> Option<String> {
    let number = digits(&claim.said).into_iter().find(|n| !known.contains(n));
    let spelled = || spoken_digits(&claim.said, text);
    let name = || names(&claim.said).into_iter().find(|name| !text.contains(name)).map(str::to_owned);
    number.or_else(spelled).or_else(name)
}

/// The links of a digest: target with anchor, predicate, and whether both are there.
fn edges(note: &Note, snapshot: &Snapshot) -> Vec<(String, Option<String>, bool)> {
    snapshot
        .links_of(note)
        .into_iter()
        .map(|(link, resolution)| {
            let sound = resolution
                .path()
                .is_some_and(|path| link.subpath.is_empty() || snapshot.anchor_line(path, &link.subpath).is_some());
            (format!("{}{}", link.target, link.subpath), link.predicate.clone(), sound)
        })
        .collect()
}
