//! Health: what needs a person, found in one look over the vault and its derived signals.

mod baseline;
mod digests;
mod page;
mod signals;

use std::collections::BTreeMap;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::{NotePath, Vault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use baseline::Baseline;
pub(crate) use page::entry;
pub(crate) use signals::Signals;
pub use signals::{Freshness, SignalState};

use crate::config::ConsolidateConfig;
use crate::duplicates::PairsFound;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::{Silent, Watch};
use crate::report::Task;
use crate::state::{Looked, Looks};
use crate::ties::{Ties, ties};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The memory can't be trusted here: look at it now.
    Severe,
    /// Something is broken or about to be.
    Warning,
    /// Good to know.
    Notice,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// A digest note whose sources are missing, or that a dream wrote and that names none.
    BrokenProvenance,
    /// Links of a digest note that were there at the last check and are not any more: conservation was
    /// broken, or a person took them out.
    LinksLost,
    /// A digest note that was there at the last check and is gone.
    NoteGone,
    /// A link of a digest note to nothing.
    BrokenLink,
    /// Frontmatter that can't be read.
    MalformedFrontmatter,
    /// Any other problem of a file.
    FileProblem,
    /// A sync tool's conflict copy.
    ConflictCopy,
    /// A digest note that has grown too long.
    Oversize,
    /// Material whose dream failed.
    FailedMaterial,
    /// Material that waits for a dream.
    PendingMaterial,
    /// A derived signal that can't be read, or speaks of another vault than this one.
    StaleMeta,
    /// A digest note that no other note is linked with.
    Orphan,
    /// One bucket has nearly everything.
    BucketImbalance,
    /// A digest note outside the three buckets.
    NoBucket,
    /// A digest note that no dream wrote and that names no source.
    NoSource,
    /// Pairs of notes that say the same, as the last search for them found, without those that were
    /// merged or dismissed since.
    Duplicates,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What it is.
    pub kind: FindingKind,
    /// The note, when it is about one.
    pub path: Option<NotePath>,
    /// 1-based line, where there is one.
    pub line: Option<u32>,
    /// For a person: what it is, and what to do.
    pub message: String,
}

/// The result of a health check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthReport {
    /// Number of severe findings.
    pub severe: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Number of notices.
    pub notices: usize,
    /// How many of each kind, the most severe first.
    pub counts: Vec<KindCount>,
    /// How each derived signal stands.
    pub signals: Vec<SignalState>,
    /// The findings, of each kind the first `max_listed` of the settings: the most severe first, then
    /// by kind, path and line.
    pub findings: Vec<Finding>,
}

/// How many findings of one kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindCount {
    /// How much they matter.
    pub severity: Severity,
    /// The kind.
    pub kind: FindingKind,
    /// How many, at least 1.
    pub count: usize,
}

impl FindingKind {
    /// The kind as a person calls it, in the plural.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BrokenProvenance => "broken provenance",
            Self::LinksLost => "links lost",
            Self::NoteGone => "notes gone",
            Self::BrokenLink => "broken links",
            Self::MalformedFrontmatter => "malformed frontmatter",
            Self::FileProblem => "problems of files",
            Self::ConflictCopy => "conflict copies",
            Self::Oversize => "oversize notes",
            Self::FailedMaterial => "failed material",
            Self::PendingMaterial => "pending material",
            Self::StaleMeta => "stale signals",
            Self::Orphan => "orphans",
            Self::BucketImbalance => "bucket balance",
            Self::NoBucket => "notes outside the buckets",
            Self::NoSource => "notes without a source",
            Self::Duplicates => "duplicates",
        }
    }

    /// What a person does about it next.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::BrokenProvenance => {
                "restore the source, or correct the link (`dormouse edit NOTE`); a dreamed note without a source gets `derived_from:: [[…]]`"
            }
            Self::LinksLost => {
                "look at the note and at audit/ of that day; write the link back if nobody meant to take it out"
            }
            Self::NoteGone => {
                "restore the note from a backup, or from the trash of Obsidian or your sync tool, if nobody meant to delete it"
            }
            Self::BrokenLink => "write the note, or correct the link; `dormouse rename` keeps links whole from now on",
            Self::MalformedFrontmatter => "mend the line in an editor; the note's text is read all the same",
            Self::FileProblem => "see what is said of the file; it is left out until it is mended",
            Self::ConflictCopy => "take over what is missing in the original, then delete the copy",
            Self::Oversize => "give its themes headings; then `dormouse consolidate --task split` can split it",
            Self::FailedMaterial => "`dormouse dream` tries again; if the reason stays, mend what it names",
            Self::PendingMaterial => "`dormouse dream`",
            Self::StaleMeta => "`dormouse consolidate`",
            Self::Orphan => "nothing has to be done; a link to it from a related note helps it to be found",
            Self::BucketImbalance => "nothing has to be done; sort the notes if the buckets are to help",
            Self::NoBucket => "move it with `dormouse rename NOTE digest/wiki/`, or leave it",
            Self::NoSource => {
                "nothing has to be done; where there is a source, `derived_from:: [[…]]` makes it be found"
            }
            Self::Duplicates => {
                "read the pairs on that page; `dormouse merge KEEP DROP` or `dormouse dismiss A B` settles one"
            }
        }
    }
}

/// Collects findings: all are counted, of each kind the first few are kept, so that a vault where
/// everything is wrong costs no more memory and no longer page than any other.
#[derive(Debug)]
pub(crate) struct Findings {
    kept: Vec<Finding>,
    counts: BTreeMap<(Severity, FindingKind), usize>,
    most: usize,
}

impl Findings {
    fn new(most: usize) -> Self {
        Self { kept: Vec::new(), counts: BTreeMap::new(), most }
    }

    /// Adds one; `message` is only made when it is kept.
    pub(crate) fn add(
        &mut self,
        severity: Severity,
        kind: FindingKind,
        path: Option<&NotePath>,
        line: Option<u32>,
        message: impl FnOnce() -> String,
    ) {
        let count = self.counts.entry((severity, kind)).or_default();
        *count += 1;
        if *count <= self.most {
            self.kept.push(Finding { severity, kind, path: path.cloned(), line, message: message() });
        }
    }

    fn report(self, signals: Vec<SignalState>) -> HealthReport {
        let mut findings = self.kept;
        findings.sort_by(|a, b| {
            let key = |f: &Finding| (f.severity, f.kind, f.path.clone(), f.line);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        let of = |wanted| self.counts.iter().filter(|((s, _), _)| *s == wanted).map(|(_, n)| n).sum();
        let counts = self.counts.iter().map(|(&(severity, kind), &count)| KindCount { severity, kind, count });
        HealthReport {
            severe: of(Severity::Severe),
            warnings: of(Severity::Warning),
            notices: of(Severity::Notice),
            counts: counts.collect(),
            signals,
            findings,
        }
    }
}

impl HealthReport {
    /// How many findings of `kind` there are.
    #[must_use]
    pub fn count(&self, kind: FindingKind) -> usize {
        self.counts.iter().filter(|c| c.kind == kind).map(|c| c.count).sum()
    }

    /// How many must be acted on: all but notices.
    #[must_use]
    pub fn to_act_on(&self) -> usize {
        self.severe + self.warnings
    }
}

/// What the check works with, beside the notes.
pub(crate) struct Ground<'a> {
    pub(crate) signals: &'a Signals,
    pub(crate) baseline: Option<&'a Baseline>,
    pub(crate) looked: &'a [Looked],
    pub(crate) ties: &'a [Ties],
    pub(crate) pairs: Option<PairsFound>,
    pub(crate) config: &'a ConsolidateConfig,
    pub(crate) now: DateTime<FixedOffset>,
}

/// Looks at everything. Linear in notes and links.
pub(crate) fn check(
    inputs: &Inputs<'_>,
    ground: &Ground<'_>,
    watch: &Watch<'_>,
) -> Result<HealthReport, ConsolidateError> {
    watch.begin(inputs.digests.len());
    let mut findings = Findings::new(ground.config.health.max_listed);
    let broken = digests::broken(inputs);
    let dreamed = ground.signals.dreamed();
    let nothing = Ties::default();
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 64 == 0 {
            watch.step(at)?;
        }
        let tokens = ground.looked.get(at).map_or(0, |l| l.tokens);
        let ties = ground.ties.get(at).unwrap_or(&nothing);
        let broken = !broken.is_empty() && broken.contains(digest.path());
        let about = digests::About { ties, tokens, broken, dreamed: dreamed.contains(digest.path()) };
        digests::note(inputs, digest, &about, &ground.config.health, &mut findings);
    }
    digests::balance(inputs, &ground.config.health, &mut findings);
    watch.check()?;
    digests::files(inputs, &mut findings);
    watch.check()?;
    let states = ground.signals.states(inputs, ground.config, ground.now);
    ground.signals.check(inputs, &states, &mut findings);
    watch.check()?;
    if let Some(pairs) = ground.pairs.as_ref().filter(|p| !p.pairs.is_empty()) {
        findings.add(Severity::Notice, FindingKind::Duplicates, None, None, || {
            format!(
                "pairs of notes that say the same: {}; they stand side by side in audit/{}/duplicates.md",
                pairs.pairs.len(),
                pairs.day
            )
        });
    }
    if let Some(baseline) = ground.baseline {
        baseline.compare(inputs, &mut findings);
    }
    watch.step(inputs.digests.len())?;
    Ok(findings.report(states))
}

/// The health of a vault, looked at without writing anything: for `dormouse doctor`, for a vault
/// that is read-only, and while a run is under way. What vanished is compared with the last check
/// that a run made.
///
/// # Errors
/// [`ConsolidateError::Vault`] when the vault can't be read, [`ConsolidateError::Cancelled`].
pub fn examine(
    vault: &Vault,
    config: &ConsolidateConfig,
    now: DateTime<FixedOffset>,
    cancel: &(dyn Fn() -> bool + Sync),
) -> Result<HealthReport, ConsolidateError> {
    let watch = Watch { task: Task::Health, progress: &Silent, cancel };
    let inputs = Inputs::of(vault, &watch)?;
    let looked = Looks::load(vault).look(&inputs, now.date_naive(), &watch)?;
    let ties = ties(&inputs, now.date_naive(), &watch)?;
    let (signals, baseline) = (Signals::read(vault), Baseline::load(vault));
    let ground = Ground {
        signals: &signals,
        baseline: baseline.as_ref(),
        looked: &looked,
        ties: &ties,
        pairs: PairsFound::open(&inputs, &watch)?,
        config,
        now,
    };
    check(&inputs, &ground, &watch)
}
