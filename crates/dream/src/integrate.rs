//! One unit on its way into the vault: replay, decide, weave, write, and again after a conflict.

use std::collections::BTreeSet;

use dormouse_model::Usage;
use dormouse_vault::text::estimate_tokens;
use dormouse_vault::{ChangeSet, CommitError, Document, FileDiff, Layer, NotePath, Snapshot, Violation};

use crate::abstractor::{ComposeJob, Target};
use crate::config::DreamConfig;
use crate::decide::{Candidate, Settled, has_room, settle, states, without_day};
use crate::drive::DreamContext;
use crate::error::DreamError;
use crate::founded::Grounds;
use crate::gate::GroundedUnit;
use crate::markdown::{Piece, link, pieces, spoken};
use crate::material::Material;
use crate::observer::DreamEvent;
use crate::plan::{self, ChangedBlock};
use crate::replay::{citing, load, replay};
use crate::report::{Action, KeptUnit, SubjectReport};
use crate::stated::{Likeness, stated};

/// What came of a unit.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) kept: KeptUnit,
    pub(crate) written: Option<Written>,
    /// The digests that state it.
    pub(crate) subjects: BTreeSet<NotePath>,
    pub(crate) remarks: Vec<String>,
    pub(crate) usage: Usage,
    pub(crate) diffs: Vec<FileDiff>,
}

/// A subject that was written.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) path: NotePath,
    pub(crate) name: String,
    pub(crate) action: Action,
    pub(crate) facts: usize,
    pub(crate) edges_added: usize,
    pub(crate) changed: Vec<ChangedBlock>,
}

impl Written {
    pub(crate) fn report(&self) -> SubjectReport {
        SubjectReport { path: self.path.clone(), action: self.action, edges_added: self.edges_added }
    }
}

/// A unit that was thought through against one state of the vault.
pub(crate) struct Prepared {
    plan: Option<Plan>,
    known: BTreeSet<NotePath>,
    remarks: Vec<String>,
    usage: Usage,
    query: String,
}

struct Plan {
    set: ChangeSet,
    subject: NotePath,
    name: String,
    action: Action,
    facts: usize,
    edges_before: usize,
    edges_planned: usize,
    changed: Vec<ChangedBlock>,
    lost: Vec<String>,
}

impl Prepared {
    /// Whether notes written since it was prepared could change the answer.
    fn is_stale(&self, context: &DreamContext<'_>, written: &BTreeSet<NotePath>) -> bool {
        if written.is_empty() {
            return false;
        }
        let Some(plan) = &self.plan else { return false };
        written.contains(&plan.subject)
            || context.neighbours.neighbours(&self.query, 5).iter().any(|n| written.contains(&n.path))
    }
}

/// The parts of a unit that belong to different notes. What a digest states already from this
/// material is not asked about.
pub(crate) fn parts(
    context: &DreamContext<'_>,
    material: &Material,
    unit: &GroundedUnit,
) -> Result<Vec<GroundedUnit>, DreamError> {
    let snapshot = context.vault.snapshot();
    let citing = load(context, &snapshot, citing(&snapshot, &material.path))?;
    let likeness = Likeness::of(context.abstractor.uses_model());
    let new = |fact| stated(fact, material, &citing, likeness).is_none();
    if !unit.facts.iter().any(new) {
        return Ok(vec![unit.clone()]);
    }
    let candidates = replay(context, &snapshot, material, unit, &unit.query());
    let parts = context.abstractor.parts(material, unit, &candidates);
    Ok(parts.into_iter().flat_map(|part| fitting(part, context.config)).collect())
}

/// Estimated tokens of a fact's source and marks.
const FACT_MARKS: usize = 40;

/// Cuts a unit that would fill more than half of a note's budget.
fn fitting(unit: GroundedUnit, config: &DreamConfig) -> Vec<GroundedUnit> {
    let mut out: Vec<GroundedUnit> = Vec::new();
    let mut have = 0;
    for fact in &unit.facts {
        let need = estimate_tokens(&fact.text) + FACT_MARKS;
        match out.last_mut() {
            Some(last) if (have + need) * 2 <= config.subject_tokens => {
                have += need;
                last.facts.push(fact.clone());
            }
            _ => {
                have = need;
                out.push(GroundedUnit { facts: vec![fact.clone()], ..unit.clone() });
            }
        }
    }
    out
}

/// Notes that the same run has to do with already.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken<'a> {
    /// Written from the same material.
    pub(crate) written: &'a BTreeSet<NotePath>,
    /// Paths that a dry run would have created.
    pub(crate) planned: &'a BTreeSet<NotePath>,
}

/// Replay, decide and weave, without writing.
pub(crate) async fn prepare(
    context: &DreamContext<'_>,
    material: &Material,
    unit: &GroundedUnit,
    taken: Taken<'_>,
    violations: &[Violation],
) -> Result<Prepared, DreamError> {
    let snapshot = context.vault.snapshot();
    let query = unit.query();
    let mut prepared =
        Prepared { plan: None, known: BTreeSet::new(), remarks: Vec::new(), usage: Usage::default(), query };
    let mut unit = unit.clone();
    for fact in &mut unit.facts {
        let (text, gone) = safe_links(&snapshot, material, &fact.text);
        fact.text = text;
        prepared
            .remarks
            .extend(gone.into_iter().map(|target| format!("a link to “{target}” became text: there is no such note")));
    }
    let citing = load(context, &snapshot, citing(&snapshot, &material.path))?;
    let likeness = Likeness::of(context.abstractor.uses_model());
    unit.facts.retain(|fact| match stated(fact, material, &citing, likeness) {
        Some(path) => {
            prepared.known.insert(path.clone());
            false
        }
        None => true,
    });
    if unit.facts.is_empty() {
        return Ok(prepared);
    }
    let candidates = replay(context, &snapshot, material, &unit, &prepared.query);
    let decided = context.abstractor.decide(material, &unit, &candidates, context.config).await?;
    prepared.usage += decided.usage;
    prepared.remarks.extend(decided.rejected);
    let day = context.clock.today();
    let mut full: BTreeSet<NotePath> = BTreeSet::new();
    let (settled, name, composed) = loop {
        let mut settled = settle(&decided.verdicts, &candidates, &unit, taken.written, &full, context.config);
        founded(&mut settled, material, &mut prepared.remarks);
        unit.bucket = settled.bucket;
        // What a note without room states already needs no new one.
        unit.facts.retain(|fact| {
            let closed = candidates.iter().filter(|c| !has_room(c, &full, context.config));
            let mut closed = closed.filter(|c| c.bucket == Some(unit.bucket));
            let home = closed.find(|c| states(c, &fact.text)).map(|c| prepared.known.insert(c.path.clone()));
            home.is_none()
        });
        if unit.facts.is_empty() {
            return Ok(prepared);
        }
        let name = match &settled.subject {
            Some((subject, _)) => subject.name.clone(),
            None => plan::free_name(&snapshot, unit.bucket, without_day(&unit.name), material.date.unwrap_or(day)),
        };
        let target = match &settled.subject {
            Some((subject, flavour)) => Target::Update { subject, flavour: *flavour },
            None => Target::Create,
        };
        let job = ComposeJob {
            material,
            unit: &unit,
            name: &name,
            target,
            related: &settled.related,
            today: day,
            language: material.language,
            violations,
        };
        let composed =
            context.abstractor.compose(&job, context.config).await.map_err(|error| error.after(prepared.usage))?;
        prepared.usage += composed.usage;
        match &settled.subject {
            Some((subject, _)) if outgrows(subject, &composed.text, context.config) => {
                full.insert(subject.path.clone());
            }
            _ => break (settled, name, composed),
        }
    };
    prepared.remarks.extend(composed.remarks);
    let facts = unit.facts.len();
    prepared.plan = match &settled.subject {
        Some((subject, _)) if composed.text == subject.text => {
            prepared.known.insert(subject.path.clone());
            None
        }
        Some((subject, flavour)) => {
            let (changed, lost) = match plan::compare(subject, &composed.text) {
                Ok(changed) => (changed, Vec::new()),
                Err(lost) => (Vec::new(), lost),
            };
            Some(Plan {
                edges_planned: snapshot.edges_of(&subject.path, &Document::parse(&composed.text)).len(),
                set: plan::replace(subject, composed.text),
                subject: subject.path.clone(),
                name,
                action: (*flavour).into(),
                facts,
                edges_before: snapshot.graph().out_edges(&subject.path).len(),
                changed,
                lost,
            })
        }
        None => plan::free_path(&snapshot, unit.bucket, &name, taken.planned).map(|path| Plan {
            edges_planned: snapshot.edges_of(&path, &Document::parse(&composed.text)).len(),
            set: plan::create(path.clone(), composed.text),
            subject: path,
            name,
            action: Action::Create,
            facts,
            edges_before: 0,
            changed: Vec::new(),
            lost: Vec::new(),
        }),
    };
    Ok(prepared)
}

/// Writes a prepared unit; plans again after a conflict, composes again once after a violation.
pub(crate) async fn write(
    context: &DreamContext<'_>,
    material: &Material,
    unit: &GroundedUnit,
    mut prepared: Prepared,
    written: &BTreeSet<NotePath>,
    dry: Option<&mut BTreeSet<NotePath>>,
) -> Result<Outcome, DreamError> {
    let planned = dry.as_deref().cloned().unwrap_or_default();
    let taken = Taken { written, planned: &planned };
    let mut usage = Usage::default();
    let mut violations: Vec<Violation> = Vec::new();
    let mut conflicts = 0;
    // A dry run writes nothing, so that a path may be planned twice.
    let clash = prepared.plan.as_ref().is_some_and(|plan| planned.contains(&plan.subject));
    if clash || prepared.is_stale(context, written) {
        usage += prepared.usage;
        prepared = prepare(context, material, unit, taken, &violations).await?;
    }
    loop {
        usage += prepared.usage;
        let kept = KeptUnit {
            name: unit.name.clone(),
            bucket: unit.bucket,
            facts: unit.facts.len(),
            known: prepared.plan.is_none(),
        };
        let mut outcome = Outcome {
            kept,
            written: None,
            subjects: prepared.known.clone(),
            remarks: prepared.remarks.clone(),
            usage,
            diffs: Vec::new(),
        };
        let Some(plan) = prepared.plan else {
            return Ok(outcome);
        };
        let result = if plan.lost.is_empty() {
            if let Some(planned) = dry {
                outcome.diffs = context.vault.preview(&plan.set)?;
                planned.insert(plan.subject.clone());
                let after = plan.edges_planned;
                let added = after.saturating_sub(plan.edges_before);
                outcome.written = Some(plan.written(added));
                return Ok(outcome);
            }
            context.vault.commit(&plan.set)
        } else {
            let lost = Violation::BlocksLost { path: plan.subject.clone(), blocks: plan.lost.clone() };
            Err(CommitError::Conservation(vec![lost]))
        };
        match result {
            Ok(committed) => {
                let edges = committed.snapshot.graph().out_edges(&plan.subject).len();
                outcome.subjects.insert(plan.subject.clone());
                let added = edges.saturating_sub(plan.edges_before);
                let done = plan.written(added);
                context.observer.event(&DreamEvent::Wrote { path: &done.path, action: done.action });
                outcome.written = Some(done);
                return Ok(outcome);
            }
            Err(CommitError::Conflict(_)) => {
                conflicts += 1;
                if conflicts > context.config.max_replans {
                    return Err(DreamError::Contended { path: plan.subject });
                }
                tracing::debug!(subject = %plan.subject, conflicts, "changed by others, planned again");
                context.vault.refresh()?;
            }
            Err(CommitError::Conservation(found)) if violations.is_empty() => violations = found,
            Err(CommitError::Conservation(found)) => {
                let why = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                outcome.remarks.push(format!("refused, twice: {why}"));
                return Ok(outcome);
            }
            Err(error) => return Err(error.into()),
        }
        prepared = prepare(context, material, unit, taken, &violations).await?;
    }
}

impl Plan {
    fn written(self, edges_added: usize) -> Written {
        Written {
            path: self.subject,
            name: self.name,
            action: self.action,
            facts: self.facts,
            edges_added,
            changed: self.changed,
        }
    }
}

/// Whether an update would take a note beyond its budget.
fn outgrows(subject: &Candidate, text: &str, config: &DreamConfig) -> bool {
    text.len() > subject.text.len() && estimate_tokens(text) > config.subject_tokens
}

/// A sentence for a link that says what neither the material nor the linked note has is left out; the
/// link stays.
fn founded(settled: &mut Settled, material: &Material, remarks: &mut Vec<String>) {
    if settled.related.iter().all(|(_, sentence)| sentence.is_none()) {
        return;
    }
    let of_material = Grounds::of(material);
    for (note, sentence) in &mut settled.related {
        let Some(text) = sentence.as_deref() else { continue };
        let mut grounds = of_material.clone();
        grounds.add(&note.text);
        grounds.add(&note.name);
        if text.contains("[[") || !grounds.found(text) {
            let remark = format!("a sentence about “{}” says what no note says, and was left out", note.name);
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
            *sentence = None;
        }
    }
}

/// The text with each link checked: an existing file by its full path, anything else as mere words.
/// Also what it links to as Markdown (`[x](y.md)`) is left to the door, which refuses dangling links.
fn safe_links(snapshot: &Snapshot, material: &Material, text: &str) -> (String, Vec<String>) {
    let mut out = String::new();
    let mut gone = Vec::new();
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Link { target, shown } => {
                let bare = target.split('#').next().unwrap_or(target).trim();
                let words = spoken(target, shown);
                let resolution = snapshot.resolve(&material.path, bare);
                let allowed = resolution
                    .path()
                    .filter(|p| !bare.is_empty() && !matches!(snapshot.layout().layer(p), Layer::Meta | Layer::Audit));
                match allowed {
                    Some(path) => {
                        let anchor = target
                            .split_once("#^")
                            .map(|(_, id)| id.trim())
                            .filter(|id| snapshot.anchor_line(path, &format!("#^{id}")).is_some());
                        out.push_str(&link(path, anchor, &words));
                    }
                    None => {
                        gone.push(words.clone());
                        out.push_str(&words);
                    }
                }
            }
        }
    }
    (out, gone)
}
