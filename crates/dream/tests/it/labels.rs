//! The labelled events, dreamed by rules: what the gate keeps, where it lies, and what meets again.
//!
//! `cargo test -p dormouse-dream --test it labels -- --nocapture` prints the table and the misses of
//! the events that rules may be changed by; `DORMOUSE_HELD_OUT=1` adds those of all others.
#![allow(clippy::print_stdout, reason = "a measurement that a person reads")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Mutex;

use async_trait::async_trait;
use dormouse_dream::{
    Abstractor, Candidate, ComposeJob, Composed, Decided, DreamConfig, DreamError, DreamRequest, ExtractiveAbstractor,
    Gated, GroundedUnit, Material, Unit,
};
use dormouse_fixtures::{LabelledEvent, Part, TempVault, labelled_events, temp_vault};

use crate::bench::run;

/// Judges by rules, and keeps what the gate said.
#[derive(Default)]
struct Watched(Mutex<BTreeMap<String, Vec<Unit>>>);

#[async_trait]
impl Abstractor for Watched {
    fn name(&self) -> &str {
        ExtractiveAbstractor.name()
    }

    fn uses_model(&self) -> bool {
        false
    }

    async fn gate(&self, material: &Material, config: &DreamConfig) -> Result<Gated, DreamError> {
        let gated = ExtractiveAbstractor.gate(material, config).await?;
        self.0.lock().unwrap().insert(material.path.to_string(), gated.units.clone());
        Ok(gated)
    }

    fn parts(&self, m: &Material, unit: &GroundedUnit, candidates: &[Candidate]) -> Vec<GroundedUnit> {
        ExtractiveAbstractor.parts(m, unit, candidates)
    }

    async fn decide(
        &self,
        m: &Material,
        u: &GroundedUnit,
        c: &[Candidate],
        config: &DreamConfig,
    ) -> Result<Decided, DreamError> {
        ExtractiveAbstractor.decide(m, u, c, config).await
    }

    async fn compose(&self, job: &ComposeJob<'_>, config: &DreamConfig) -> Result<Composed, DreamError> {
        ExtractiveAbstractor.compose(job, config).await
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default)]
struct Share(usize, usize);

impl Share {
    fn count(&mut self, right: bool) {
        *self = Share(self.0 + usize::from(right), self.1 + 1);
    }

    fn value(self) -> f64 {
        self.0 as f64 / self.1.max(1) as f64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.3} ({}/{})", self.value(), self.0, self.1))
    }
}

/// What was measured over some of the events.
#[derive(Debug, Default)]
struct Figures {
    /// Of the events of which something was kept: those that hold something.
    event_precision: Share,
    /// Of the events that hold something: those of which something was kept.
    event_recall: Share,
    /// Of the units that were kept: those with a quote that is labelled.
    unit_precision: Share,
    /// Of the labelled units: those that were kept.
    unit_recall: Share,
    /// Of the statements that were kept: those that are labelled.
    fact_precision: Share,
    /// Of the labelled units that were kept: those in a digest of their bucket.
    bucket: Share,
    /// Of the units whose abstraction was there already: those that went to it and nowhere else.
    met_again: Share,
    /// Of the units that look like another abstraction, or went to one: those that stayed apart.
    apart: Share,
    misses: Vec<String>,
}

impl Figures {
    fn same(&self) -> Share {
        Share(self.met_again.0 + self.apart.0, self.met_again.1 + self.apart.1)
    }
}

/// A line of a digest and a source that it names.
struct Cited {
    digest: String,
    event: String,
    block: String,
    line: String,
}

fn citations(vault: &TempVault) -> Vec<Cited> {
    let mut out = Vec::new();
    for (digest, text) in vault.files().iter().filter(|(path, _)| path.starts_with("digest/")) {
        let text = String::from_utf8_lossy(text);
        for line in text.lines() {
            for source in line.split("derived_from:: [[").skip(1) {
                let target = source.split(['|', ']']).next().unwrap();
                let (event, block) = target.split_once("#^").unwrap_or((target, ""));
                out.push(Cited {
                    digest: digest.clone(),
                    event: format!("{event}.md"),
                    block: block.to_owned(),
                    line: line.to_owned(),
                });
            }
        }
    }
    out
}

/// Whether a statement is the quote, holds it or is held by it.
fn is_quote(statement: &str, quote: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let (statement, quote) = (bare(statement), bare(quote));
    statement.contains(&quote) || quote.contains(&statement)
}

/// The digests in which the quotes of a unit lie: of several that cite a quote's block those with its words.
fn digests_of(event: &LabelledEvent, key: &str, cited: &[Cited]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for fact in event.kept.iter().filter(|f| f.key == key) {
        let block = event.block_of(&fact.quote).unwrap();
        let here: Vec<&Cited> = cited.iter().filter(|c| c.event == event.path() && c.block == block).collect();
        let verbatim: Vec<&Cited> = here.iter().copied().filter(|c| is_quote(&c.line, &fact.quote)).collect();
        let digests = if verbatim.is_empty() { here } else { verbatim };
        out.extend(digests.into_iter().map(|c| c.digest.clone()));
    }
    out
}

fn statements(units: &[Unit]) -> impl Iterator<Item = &str> {
    units.iter().flat_map(|u| &u.facts).filter_map(|f| f.evidence.first()).map(String::as_str)
}

/// Whether wishes about one topic gather in a digest: it holds several abstractions on purpose.
fn gathers(digest: &str) -> bool {
    const TOPICS: [&str; 5] =
        ["how-the-user-wants", "what-the-user-is-asked", "用户希望的", "用户对提交", "先征得用户"];
    TOPICS.iter().any(|name| digest.starts_with(&format!("digest/personal/{name}")))
}

/// What the gate let through of an event, against its labels.
fn gate(event: &LabelledEvent, units: &[Unit], figures: &mut Figures) {
    let labelled = |statement: &str| event.kept.iter().any(|k| is_quote(statement, &k.quote));
    let id = &event.id;
    if !units.is_empty() {
        figures.event_precision.count(!event.kept.is_empty());
    }
    if !event.kept.is_empty() {
        figures.event_recall.count(!units.is_empty());
    }
    for unit in units {
        figures.unit_precision.count(unit.facts.iter().any(|f| f.evidence.iter().any(|e| labelled(e))));
    }
    for statement in statements(units) {
        figures.fact_precision.count(labelled(statement));
        if !labelled(statement) {
            figures.misses.push(format!("{id} kept for nothing: {statement}"));
        }
    }
}

/// Where the units of an event went, against its labels. `known` has the digests of each abstraction so
/// far.
fn decisions(
    event: &LabelledEvent,
    units: &[Unit],
    cited: &[Cited],
    known: &mut BTreeMap<String, BTreeSet<String>>,
    alike: &BTreeSet<(String, String)>,
    figures: &mut Figures,
) {
    let id = &event.id;
    let keys: BTreeSet<&str> = event.kept.iter().map(|k| k.key.as_str()).collect();
    let mut here: Vec<(&str, BTreeSet<String>)> = Vec::new();
    for key in keys {
        let quotes: Vec<_> = event.kept.iter().filter(|k| k.key == key).collect();
        let digests = digests_of(event, key, cited);
        let found = !digests.is_empty() && statements(units).any(|s| quotes.iter().any(|q| is_quote(s, &q.quote)));
        figures.unit_recall.count(found);
        if !found {
            let all: Vec<&str> = quotes.iter().map(|q| q.quote.as_str()).collect();
            figures.misses.push(format!("{id} not kept ({key}): {}", all.join(" / ")));
            continue;
        }
        let buckets: BTreeSet<&str> = quotes.iter().map(|q| q.bucket.as_str()).collect();
        let right = digests.iter().all(|d| buckets.iter().any(|b| d.starts_with(&format!("digest/{b}/"))));
        figures.bucket.count(right);
        if !right {
            figures.misses.push(format!("{id} wrong bucket ({key}): {buckets:?}, it is in {digests:?}"));
        }
        let before = known.get(key).cloned().unwrap_or_default();
        // What was kept for nothing is no abstraction that one could be taken for.
        let others = |d: &String| known.iter().any(|(other, digests)| other != key && digests.contains(d));
        let astray = digests.iter().any(|d| !before.contains(d) && !gathers(d) && others(d));
        if !before.is_empty() {
            let right = !astray && !digests.is_disjoint(&before);
            figures.met_again.count(right);
            if !right {
                figures.misses.push(format!("{id} did not meet {key}: in {digests:?}, not {before:?}"));
            }
        } else if astray
            || !digests.iter().any(|d| gathers(d)) && alike.iter().any(|(a, b)| a == key && known.contains_key(b))
        {
            figures.apart.count(!astray);
            if astray {
                figures.misses.push(format!("{id} taken for another ({key}): in {digests:?}"));
            }
        }
        here.push((key, digests));
    }
    for (key, digests) in here {
        known.entry(key.to_owned()).or_default().extend(digests);
    }
}

fn measured() -> [Figures; 4] {
    let events = labelled_events();
    let text: String = events.iter().map(|e| format!("=== {}\n{}", e.path(), e.note())).collect();
    let vault = temp_vault(&text);
    let watched = Watched::default();
    let report = run(&vault, &watched, DreamRequest::default()).unwrap();
    assert_eq!((report.totals.done, report.totals.failed), (events.len(), 0));
    let gated = watched.0.into_inner().unwrap();
    let cited = citations(&vault);
    let alike: BTreeSet<(String, String)> = events
        .iter()
        .flat_map(|e| &e.near)
        .flat_map(|(a, b)| [(a.clone(), b.clone()), (b.clone(), a.clone())])
        .collect();
    let mut known = BTreeMap::new();
    let mut out: [Figures; 4] = Default::default();
    for event in &events {
        let [tuned, held_out, later, unseen] = &mut out;
        let figures = match event.part() {
            Part::Tuned => tuned,
            Part::HeldOut => held_out,
            Part::Later => later,
            Part::Unseen => unseen,
        };
        let units = gated.get(&event.path()).map(Vec::as_slice).unwrap_or_default();
        gate(event, units, figures);
        decisions(event, units, &cited, &mut known, &alike, figures);
    }
    out
}

/// A figure's name, what it is, and the least of it in each part and in the unseen one.
type Row = (&'static str, fn(&Figures) -> Share, f64, f64);

const NAMES: [&str; 4] = ["tuned", "held out", "later", "unseen"];

#[test]
fn rules_agree_with_the_labels() {
    let parts = measured();
    // The least of each part, and of what no rule was made for: that it falls no further.
    let rows: [Row; 7] = [
        ("gate, events: precision", |f| f.event_precision, 0.8, 0.5),
        ("gate, events: recall", |f| f.event_recall, 0.6, 0.5),
        ("gate, units: precision", |f| f.unit_precision, 0.8, 0.5),
        ("gate, units: recall", |f| f.unit_recall, 0.6, 0.5),
        ("gate, statements: precision", |f| f.fact_precision, 0.8, 0.5),
        ("bucket", |f| f.bucket, 0.85, 0.8),
        ("same abstraction or not", Figures::same, 0.85, 0.0),
    ];
    print!("{:<28}", "");
    for name in NAMES.into_iter().chain(["all"]) {
        print!(" {name:>15}");
    }
    println!();
    let mut failed = Vec::new();
    for (name, of, least, least_unseen) in rows {
        let shares = parts.each_ref().map(of);
        let all = shares.iter().fold(Share::default(), |sum, s| Share(sum.0 + s.0, sum.1 + s.1));
        print!("{name:<28}");
        for share in shares.iter().chain([&all]) {
            print!(" {share:>15}");
        }
        println!();
        let [tuned, held_out, later, unseen] = shares;
        let met = [tuned, held_out, later, all].iter().all(|share| share.value() >= least);
        if !met || unseen.value() < least_unseen {
            failed.push(format!("{name}: at least {least}, of the unseen {least_unseen}"));
        }
    }
    let hidden = std::env::var_os("DORMOUSE_HELD_OUT").is_none();
    for (name, figures) in NAMES.iter().zip(&parts) {
        println!("\n{name}: met again {}, stayed apart {}", figures.met_again, figures.apart);
        if *name == "tuned" || !hidden {
            println!("{}", figures.misses.join("\n"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
