//! The thin async driver: materials through the gate side by side, into the vault one by one.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use dormouse_model::{ModelError, Usage};
use dormouse_vault::audit::AuditEntry;
use dormouse_vault::material::{day, is_day_note, materials, not_material};
use dormouse_vault::meta::{Artefact, DreamLedger, DreamOutcome, Dreamed};
use dormouse_vault::{
    ChangeSet, Clock, CommitError, Conservation, NotePath, Snapshot, Stage, Vault, Writer, audit as vault_audit,
};
use futures::StreamExt;
use futures::stream;

use crate::abstractor::{Abstractor, Gated};
use crate::audit;
use crate::config::DreamConfig;
use crate::error::DreamError;
use crate::gate::{GroundedUnit, ground};
use crate::integrate::{Outcome, Taken, parts, prepare, write};
use crate::ledger::{self, Cause, is_settled};
use crate::material::{Material, Read, read};
use crate::neighbours::Neighbours;
use crate::observer::{DreamEvent, DreamObserver};
use crate::report::{DreamReport, DreamTotals, MaterialReport, MaterialState, UsageReport};
use crate::topics::refresh_topics;

/// What a run works with.
#[derive(Clone, Copy)]
pub struct DreamContext<'a> {
    /// The vault.
    pub vault: &'a Vault,
    /// Who judges.
    pub abstractor: &'a dyn Abstractor,
    /// Who finds digests that are near.
    pub neighbours: &'a dyn Neighbours,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Settings.
    pub config: &'a DreamConfig,
    /// Hears of progress.
    pub observer: &'a dyn DreamObserver,
    /// Asked between materials and units; true ends the run, with everything written that was
    /// settled so far.
    pub cancel: &'a (dyn Fn() -> bool + Sync),
}

/// What to dream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DreamRequest {
    /// Which materials.
    pub scope: DreamScope,
    /// At most so many materials, not counting unchanged ones. All when `None`.
    pub limit: Option<usize>,
    /// Writes nothing, and reports the diffs.
    pub dry_run: bool,
    /// Tries at once what failed before and is left alone for a while.
    pub retry: bool,
}

/// Which materials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DreamScope {
    /// All that are pending, but for the note of a day that is not over yet.
    #[default]
    Pending,
    /// These. One that is unchanged since it was dreamed is reported so and not dreamed again.
    Notes(Vec<NotePath>),
    /// All pending ones of this day or later.
    Since(NaiveDate),
}

/// Dreams: material → gate → replay → decide → weave → write, under the dream stage's lock.
///
/// A material that fails stays pending and never stops the others, except that
/// [`DreamConfig::max_failures`] materials in a row of which the model gave nothing end the run.
/// Materials are taken oldest first.
///
/// # Errors
/// [`DreamError::Commit`] when another process dreams or writes, the vault is read-only (not for a
/// dry run) or the ledger can't be stored; [`DreamError::NoSuchMaterial`] for a named note that does
/// not exist.
pub async fn dream(context: DreamContext<'_>, request: DreamRequest) -> Result<DreamReport, DreamError> {
    let _lock = if request.dry_run { None } else { Some(context.vault.lock_stage(Stage::Dream)?) };
    let started_at = context.clock.now();
    let mut report = DreamReport {
        run: format!("dream-{}", started_at.format("%Y-%m-%dT%H:%M:%S%:z")),
        started_at,
        abstractor: context.abstractor.name().to_owned(),
        dry_run: request.dry_run,
        stopped: false,
        materials: Vec::new(),
        totals: DreamTotals::default(),
        usage: Default::default(),
        problems: Vec::new(),
        diffs: Vec::new(),
    };
    let loaded = context.vault.meta::<DreamLedger>();
    if let Some(problem) = &loaded.problem {
        let problem = format!("the dream ledger can't be read, and all is dreamed again: {problem}");
        tracing::warn!("{problem}");
        report.problems.push(problem);
    }
    let ledger = loaded.value.unwrap_or_else(|| ledger::empty(context.clock.now_utc()));
    let queue = queue(&context, &request, &ledger, &mut report)?;
    context.observer.event(&DreamEvent::Started { materials: queue.len() });
    let mut run =
        Run { context, request: &request, report, ledger, dirty: 0, usage: Usage::default(), planned: BTreeSet::new() };
    run.all(queue).await?;
    run.finish()
}

/// The materials to dream, in order; what is not dreamed is reported at once.
fn queue(
    context: &DreamContext<'_>,
    request: &DreamRequest,
    ledger: &DreamLedger,
    report: &mut DreamReport,
) -> Result<Vec<NotePath>, DreamError> {
    let snapshot = context.vault.snapshot();
    let named = match &request.scope {
        DreamScope::Notes(paths) => {
            let mut named: Vec<NotePath> = Vec::new();
            for path in paths {
                if !snapshot.exists(path) {
                    return Err(DreamError::NoSuchMaterial { path: path.clone() });
                }
                if named.contains(path) {
                    continue;
                }
                match not_material(&snapshot, path) {
                    Some(why) => report
                        .settle(MaterialReport::new(path.clone(), MaterialState::Skipped { reason: why.to_string() })),
                    None => named.push(path.clone()),
                }
            }
            named
        }
        DreamScope::Pending => closed(&snapshot, context.clock.today()),
        DreamScope::Since(from) => {
            let on_or_after = |p: &NotePath| day(&snapshot, p).is_some_and(|d| d >= *from);
            closed(&snapshot, context.clock.today()).into_iter().filter(on_or_after).collect()
        }
    };
    let mut queue = Vec::new();
    for path in named {
        let version = match snapshot.note(&path) {
            Some(note) => Some(note.version),
            None if ledger.materials.contains_key(&path) => context.vault.read(&path).ok().map(|t| t.version),
            None => None,
        };
        let resting = version.filter(|_| !request.retry && !matches!(request.scope, DreamScope::Notes(_)));
        let resting = resting.and_then(|v| ledger::resting(ledger, &path, v, context.clock.now_utc()));
        if version.is_some_and(|v| is_settled(ledger, &path, v)) {
            report.settle(MaterialReport::new(path, MaterialState::Unchanged));
        } else if let Some((reason, until)) = resting {
            report.settle(MaterialReport::new(path, MaterialState::Waiting { reason, until }));
        } else {
            queue.push(path);
        }
    }
    queue.truncate(request.limit.unwrap_or(usize::MAX));
    Ok(queue)
}

/// All materials but the note of a day that is not over yet, by the clock's own calendar: somebody
/// still writes in it. Events of today are closed when they are written.
fn closed(snapshot: &Snapshot, today: NaiveDate) -> Vec<NotePath> {
    let open = |path: &NotePath| is_day_note(snapshot, path) && path.date().is_some_and(|day| day >= today);
    materials(snapshot).into_iter().filter(|path| !open(path)).collect()
}

impl DreamReport {
    fn settle(&mut self, material: MaterialReport) {
        self.totals.add(&material);
        self.materials.push(material);
    }
}

/// A run on its way.
struct Run<'a> {
    context: DreamContext<'a>,
    request: &'a DreamRequest,
    report: DreamReport,
    ledger: DreamLedger,
    /// Ledger entries that are not on disk yet.
    dirty: usize,
    usage: Usage,
    /// Paths that a dry run would have created.
    planned: BTreeSet<NotePath>,
}

/// A material behind the gate.
enum Judged {
    /// What the gate let through, with evidence checked.
    Material(Box<Material>, Result<Gated, DreamError>),
    /// No material after all.
    Not(NotePath, String),
    /// It could not be read as it is now; the next run tries again.
    Unread(NotePath, String),
}

/// The ledger is stored after so many materials, and at the end. What a crash leaves out is dreamed
/// again, and provenance keeps it from being written twice.
const STORE_EVERY: usize = 16;

impl Run<'_> {
    async fn all(&mut self, queue: Vec<NotePath>) -> Result<(), DreamError> {
        let context = self.context;
        let mut failures = 0;
        let mut judged = stream::iter(queue).map(|path| judge(context, path)).buffered(context.config.fan_out.max(1));
        loop {
            if (context.cancel)() {
                self.report.stopped = true;
                break;
            }
            let Some(next) = judged.next().await else {
                break;
            };
            let material_report = match next {
                Judged::Not(path, reason) => MaterialReport::new(path, MaterialState::Skipped { reason }),
                Judged::Unread(path, reason) => MaterialReport::new(path, MaterialState::Pending { reason }),
                Judged::Material(material, gated) => {
                    let (report, failure) = self.one(&material, gated).await?;
                    let silent = failure.is_some_and(|error| is_of_the_abstractor(&error));
                    failures = if silent { failures + 1 } else { 0 };
                    report
                }
            };
            context.observer.event(&DreamEvent::Finished { report: &material_report });
            self.report.settle(material_report);
            if self.dirty >= STORE_EVERY {
                self.store()?;
            }
            if failures >= context.config.max_failures.max(1) {
                self.report.stopped = true;
                break;
            }
        }
        Ok(())
    }

    async fn one(
        &mut self,
        material: &Material,
        gated: Result<Gated, DreamError>,
    ) -> Result<(MaterialReport, Option<DreamError>), DreamError> {
        let mut report = MaterialReport::new(material.path.clone(), MaterialState::Done);
        let mut outcomes = Vec::new();
        let failure = match gated {
            Err(error) => Some(error),
            Ok(gated) => {
                self.usage += gated.usage;
                report.dropped = gated.rejected;
                let (units, dropped) = ground(material, gated.units, self.context.config);
                report.dropped.extend(dropped);
                self.units(material, &units, &mut outcomes).await.err()
            }
        };
        for outcome in &outcomes {
            report.kept.push(outcome.kept.clone());
            report.remarks.extend(outcome.remarks.iter().cloned());
            report.subjects.extend(outcome.written.as_ref().map(|w| w.report()));
            self.usage += outcome.usage;
            self.report.diffs.extend(outcome.diffs.iter().cloned());
        }
        if let Some(error) = &failure {
            self.usage += error.usage();
            report.state = MaterialState::Pending { reason: error.to_string() };
        }
        if !self.request.dry_run {
            self.record(material, &report, &outcomes, failure.as_ref().map_or(Cause::Vault, cause));
            self.audit(material, &report, &outcomes);
        }
        match failure {
            Some(error) if ends_the_run(&error) => Err(error),
            failure => Ok((report, failure)),
        }
    }

    /// Decides units side by side, writes them in order. Every outcome is kept, also when another
    /// one fails; a subject that can't be written does not keep the others from it.
    async fn units(
        &mut self,
        material: &Material,
        units: &[GroundedUnit],
        outcomes: &mut Vec<Outcome>,
    ) -> Result<(), DreamError> {
        let context = self.context;
        let none = BTreeSet::new();
        let taken = Taken { written: &none, planned: &none };
        let mut written = BTreeSet::new();
        let mut cut = Vec::new();
        for unit in units {
            cut.extend(parts(&context, material, unit)?);
        }
        let units = cut;
        // The same state of the vault for all, so that the order of answers does not matter.
        let asked: Vec<_> = units.iter().map(|unit| prepare(&context, material, unit, taken, &[])).collect();
        let prepared: Vec<_> = stream::iter(asked).buffered(context.config.fan_out.max(1)).collect().await;
        let mut failure = None;
        for (unit, prepared) in units.iter().zip(prepared) {
            let dry = self.request.dry_run.then_some(&mut self.planned);
            match write(&context, material, unit, prepared?, &written, dry).await {
                Ok(outcome) => {
                    written.extend(outcome.written.as_ref().map(|w| w.path.clone()));
                    outcomes.push(outcome);
                }
                Err(error @ DreamError::Commit(_)) if !ends_the_run(&error) => {
                    failure.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn record(&mut self, material: &Material, report: &MaterialReport, outcomes: &[Outcome], cause: Cause) {
        let outcome = match &report.state {
            MaterialState::Pending { reason } => ledger::failed(
                &self.ledger,
                &material.path,
                reason.clone(),
                cause,
                self.context.clock.now_utc(),
                self.context.config,
            ),
            _ => {
                let subjects: BTreeSet<NotePath> = outcomes.iter().flat_map(|o| o.subjects.iter().cloned()).collect();
                let dropped = report.dropped.iter().filter(|d| d.whole).count();
                DreamOutcome::Done {
                    subjects: subjects.into_iter().collect(),
                    dropped: u32::try_from(dropped).unwrap_or(u32::MAX),
                }
            }
        };
        let entry = Dreamed {
            content: material.version,
            at: self.context.clock.now_utc(),
            by: self.context.abstractor.name().to_owned(),
            outcome,
        };
        self.ledger.materials.insert(material.path.clone(), entry);
        self.dirty += 1;
    }

    /// Writes the audit. A page that can't be written is a problem of the report: what it would say
    /// has happened already.
    fn audit(&mut self, material: &Material, report: &MaterialReport, outcomes: &[Outcome]) {
        let context = &self.context;
        let (name, uses_model) = (context.abstractor.name(), context.abstractor.uses_model());
        let Some(entry) =
            audit::entry(context.clock.now(), &self.report.run, name, uses_model, material, report, outcomes)
        else {
            return;
        };
        self.append(entry);
    }

    fn append(&mut self, entry: AuditEntry) {
        let vault = self.context.vault;
        if let Err(error) = vault.commit(&vault_audit::append(&[entry], vault.layout())) {
            let problem = format!("the audit can't be written: {error}");
            if !self.report.problems.contains(&problem) {
                self.report.problems.push(problem);
            }
        }
    }

    fn store(&mut self) -> Result<(), DreamError> {
        if self.dirty == 0 {
            return Ok(());
        }
        self.ledger.computed_at = self.context.clock.now_utc();
        let snapshot = self.context.vault.snapshot();
        self.ledger.materials.retain(|path, _| snapshot.exists(path));
        let set = ChangeSet::new(Writer::Meta, Conservation::Additive)
            .with(self.ledger.to_change(self.context.vault.layout()));
        self.context.vault.commit(&set)?;
        self.dirty = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<DreamReport, DreamError> {
        if !self.request.dry_run {
            self.store()?;
        }
        self.report.usage = UsageReport::of(self.usage, self.context.config.price.as_ref());
        if !self.request.dry_run && self.report.usage.calls > 0 {
            self.append(audit::spent(self.context.clock.now(), &self.report));
        }
        if !self.request.dry_run && self.report.totals.done > 0 {
            match refresh_topics(self.context.vault, self.context.clock, self.context.config) {
                Ok((_, problem)) => self.report.problems.extend(problem),
                Err(error) => self.report.problems.push(format!("the topics are those of the run before: {error}")),
            }
        }
        let totals = self.report.totals;
        tracing::info!(run = %self.report.run, done = totals.done, failed = totals.failed, created = totals.created, "dreamed");
        Ok(self.report)
    }
}

/// Reads a material and passes it through the gate.
async fn judge(context: DreamContext<'_>, path: NotePath) -> Judged {
    context.observer.event(&DreamEvent::Gating { path: &path });
    let snapshot = context.vault.snapshot();
    let material = match read(context.vault, &snapshot, &path, context.config) {
        Ok(Read::Material(material)) => material,
        Ok(Read::Not(why)) => return Judged::Not(path, why.to_owned()),
        Ok(Read::Changed) => {
            return Judged::Unread(path, "changed while it was read; it is dreamed at the next run".to_owned());
        }
        Err(error) => return Judged::Unread(path, error.to_string()),
    };
    let gated = context.abstractor.gate(&material, context.config).await;
    Judged::Material(material, gated)
}

/// A vault that can't be written at all is no matter of one material.
fn ends_the_run(error: &DreamError) -> bool {
    matches!(error, DreamError::Commit(CommitError::ReadOnly { .. } | CommitError::Locked { .. }))
}

fn cause(error: &DreamError) -> Cause {
    match error {
        DreamError::Reply { .. }
        | DreamError::Model(ModelError::Timeout(_) | ModelError::ContextOverflow | ModelError::Malformed) => {
            Cause::Answer
        }
        DreamError::Model(_) => Cause::Service,
        _ => Cause::Vault,
    }
}

/// Whether it is the abstractor that failed: the next material would most likely fail as well.
fn is_of_the_abstractor(error: &DreamError) -> bool {
    matches!(error, DreamError::Model(_) | DreamError::Reply { .. })
}
