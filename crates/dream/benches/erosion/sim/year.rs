//! The year: events through the vault's door, a dream at night, a person at work in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Days, FixedOffset, NaiveDate, NaiveTime, TimeZone};
use dormouse_dream::{
    Abstractor, DreamConfig, DreamContext, DreamEvent, DreamReport, DreamRequest, ExtractiveAbstractor,
    LexicalNeighbours, ModelAbstractor, dream,
};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::daily::DailyEvent;
use dormouse_vault::material::pending;
use dormouse_vault::meta::DreamLedger;
use dormouse_vault::{FixedClock, Layer, NotePath, Vault};

use super::checks::{Duplicate, Findings, Watch};
use super::model::Adversary;
use super::random::Random;
use super::words::BY_HAND;
use super::world::{Statement, World};

/// What is lived through.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) days: u64,
    /// By rules, without the model.
    pub(crate) offline: bool,
    pub(crate) config: DreamConfig,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Year {
    pub(crate) events: usize,
    pub(crate) requests: usize,
    /// How often the model erred, by kind.
    pub(crate) faults: BTreeMap<String, usize>,
    pub(crate) hand_edits: usize,
    pub(crate) failed_runs: usize,
    pub(crate) notes: usize,
    /// The largest note, in estimated tokens.
    pub(crate) largest: usize,
    /// Different statements in the events, and those of them that a digest states.
    pub(crate) stated: usize,
    pub(crate) kept: usize,
    /// Different statements and edges that were ever in a digest.
    pub(crate) facts: usize,
    pub(crate) edges: usize,
    /// Statements that stand in more than one note.
    pub(crate) twice: usize,
    pub(crate) pending: usize,
    /// Requests that a run over unchanged material sent; must be none.
    pub(crate) asked_again: usize,
    pub(crate) duplicates: Vec<Duplicate>,
    pub(crate) findings: Findings,
}

impl Year {
    /// Whether nothing was lost, invented or over its budget.
    pub(crate) fn holds(&self) -> bool {
        let findings = &self.findings;
        let kinds = [&findings.lost, &findings.invented, &findings.over, &findings.erased];
        kinds.iter().all(|kind| kind.is_empty()) && self.asked_again == 0 && self.pending == 0
    }
}

/// How many of a thousand days a person edits a digest, edits one while a dream runs, and the model
/// is not to be reached.
const EDITED: usize = 100;
const MEDDLED: usize = 60;
const DOWN: usize = 50;

struct Life<'p> {
    plan: &'p Plan,
    folder: TempVault,
    vault: Vault,
    model: Arc<Adversary>,
    abstractor: Box<dyn Abstractor>,
    clock: FixedClock,
    random: Random,
    watch: Watch,
    told: BTreeSet<Statement>,
    year: Year,
}

/// Lives through a plan.
pub(crate) fn live(plan: &Plan) -> Year {
    let first = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
    let folder = temp_vault("=== daily/2026-01-01/first.md\nHello. ^b1\n");
    let vault = Vault::open(folder.path()).unwrap();
    let model = Arc::new(Adversary::new(plan.seed));
    let abstractor: Box<dyn Abstractor> =
        if plan.offline { Box::new(ExtractiveAbstractor) } else { Box::new(ModelAbstractor::new(model.clone())) };
    let mut life = Life {
        plan,
        folder,
        vault,
        model,
        abstractor,
        clock: FixedClock::new(evening(first)),
        random: Random::new(plan.seed ^ 0x11FE),
        watch: Watch::default(),
        told: BTreeSet::new(),
        year: Year::default(),
    };
    let mut world = World::new(plan.seed);
    for n in 0..plan.days {
        let day = first.checked_add_days(Days::new(n)).unwrap();
        for (hour, event) in (9..).zip(world.events(day)) {
            life.year.events += 1;
            life.told.extend(event.states.iter().cloned());
            let event = DailyEvent {
                at: at(day, hour),
                name: event.name,
                description: event.description,
                properties: vec![("source".into(), "conversation".into())],
                blocks: event.blocks,
            };
            life.vault.write_event(&event).unwrap();
        }
        life.day(day, n);
    }
    life.end(first.checked_add_days(Days::new(plan.days)).unwrap());
    life.year
}

fn at(day: NaiveDate, hour: u32) -> DateTime<FixedOffset> {
    let zone = FixedOffset::east_opt(3600).unwrap();
    zone.from_local_datetime(&day.and_time(NaiveTime::from_hms_opt(hour, 30, 0).unwrap())).unwrap()
}

fn evening(day: NaiveDate) -> DateTime<FixedOffset> {
    at(day, 21)
}

impl Life<'_> {
    fn day(&mut self, day: NaiveDate, n: u64) {
        self.clock.set(evening(day));
        if self.random.permille(EDITED) {
            self.edit_by_hand(n);
            self.vault.refresh().unwrap();
        }
        // Once a year meta/ is thrown away: everything is dreamed again.
        if n == self.plan.days / 2 {
            let _ = fs::remove_file(self.folder.path().join("meta/dreamed.json"));
            self.vault.refresh().unwrap();
        }
        let down = !self.plan.offline && self.random.permille(DOWN);
        self.model.set_down(down);
        self.year.failed_runs += usize::from(down);
        let meddled = self.random.permille(MEDDLED).then(|| self.hand_edit(n)).flatten();
        self.dream(meddled);
        self.look(day);
    }

    /// Dreams what is pending; a person may save `meddled` while it runs.
    fn dream(&mut self, meddled: Option<(NotePath, String, String)>) -> DreamReport {
        let edit = meddled.as_ref().map(|(path, _, text)| (self.folder.path().join(path.as_str()), text.clone()));
        let saved = AtomicBool::new(false);
        let observer = |event: &DreamEvent<'_>| {
            if let (DreamEvent::Gating { .. }, Some((file, text))) = (event, &edit)
                && !saved.swap(true, Ordering::Relaxed)
            {
                fs::write(file, text).unwrap();
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let report = runtime.block_on(dream(
            DreamContext {
                vault: &self.vault,
                abstractor: self.abstractor.as_ref(),
                neighbours: &LexicalNeighbours::new(&self.vault),
                clock: &self.clock,
                config: &self.plan.config,
                observer: &observer,
                cancel: &|| false,
            },
            DreamRequest::default(),
        ));
        if saved.load(Ordering::Relaxed)
            && let Some((path, line, _)) = meddled
        {
            self.year.hand_edits += 1;
            self.watch.wrote_by_hand(path, line);
        }
        self.vault.refresh().unwrap();
        report.unwrap()
    }

    fn look(&mut self, day: NaiveDate) {
        self.watch.look(&self.vault, &day.to_string(), self.plan.config.subject_tokens);
    }

    fn edit_by_hand(&mut self, n: u64) {
        if let Some((path, line, text)) = self.hand_edit(n) {
            self.folder.write(path.as_str(), text);
            self.year.hand_edits += 1;
            self.watch.wrote_by_hand(path, line);
        }
    }

    /// A digest with a line by a person: the note, the line, and the text with it.
    fn hand_edit(&mut self, n: u64) -> Option<(NotePath, String, String)> {
        let snapshot = self.vault.snapshot();
        let digests: Vec<&NotePath> =
            snapshot.notes().filter(|note| note.layer == Layer::Digest).map(|note| &note.path).collect();
        if digests.is_empty() {
            return None;
        }
        let path = self.random.pick(&digests).clone();
        let language = self.random.below(2);
        let line = format!("{} ({n})", self.random.pick(BY_HAND[language]));
        let text = self.vault.read(&path).ok()?.text;
        let text = match self.random.below(4) {
            0 => format!("{}\n- {line}\n", text.trim_end()),
            1 => format!("{}\n\n{line}\n", text.trim_end()),
            2 => format!("{}\n\n## Notes\n\n{line} ^hand-{n}\n", text.trim_end()),
            _ => {
                let at = text.find("\n# ").and_then(|h| text[h + 1..].find('\n').map(|e| h + 1 + e))?;
                format!("{}\n\n{line}\n{}", &text[..at], &text[at..])
            }
        };
        Some((path, line, text))
    }

    /// The model comes to its senses, what is pending is dreamed, and then there is nothing to do.
    fn end(&mut self, day: NaiveDate) {
        self.clock.set(evening(day));
        self.model.set_down(false);
        self.model.set_sober(true);
        self.dream(None);
        self.look(day);
        let asked = self.model.requests();
        self.year.requests = asked;
        self.dream(None);
        self.year.asked_again = self.model.requests() - asked;
        self.look(day);
        self.watch.look_back(&self.vault);
        let snapshot = self.vault.snapshot();
        let ledger = self.vault.meta::<DreamLedger>().value;
        self.year.pending = pending(&snapshot, ledger.as_ref()).len();
        let digests: Vec<_> = snapshot.notes().filter(|note| note.layer == Layer::Digest).collect();
        self.year.notes = digests.len();
        let tokens = |path: &NotePath| {
            self.vault.read(path).map(|r| dormouse_vault::text::estimate_tokens(&r.text)).unwrap_or_default()
        };
        self.year.largest = digests.iter().map(|note| tokens(&note.path)).max().unwrap_or(0);
        let room = self.plan.config.subject_tokens.div_ceil(4);
        self.year.duplicates = self.watch.duplicates(&self.vault, self.plan.config.subject_tokens.saturating_sub(room));
        (self.year.facts, self.year.edges) = self.watch.certified();
        self.year.stated = self.told.len();
        self.year.kept = self.told.iter().filter(|s| self.watch.stated.contains_key(*s)).count();
        self.year.twice = self.watch.stated.values().filter(|notes| notes.len() > 1).count();
        self.year.faults = self.model.faults().into_iter().map(|(fault, n)| (format!("{fault:?}"), n)).collect();
        self.year.findings = std::mem::take(&mut self.watch.findings);
    }
}
