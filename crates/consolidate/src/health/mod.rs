//! Health: what needs a person, found in one look over the vault and its derived signals.

mod baseline;
mod digests;
mod page;
mod signals;

use chrono::{DateTime, FixedOffset};
use dormouse_vault::NotePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use baseline::{BASELINE_FILE, Baseline};
pub(crate) use page::entry;
pub(crate) use signals::Signals;

use crate::config::ConsolidateConfig;
use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;

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
    /// A digest note whose sources are missing, or that names none.
    BrokenProvenance,
    /// Links of a digest note that were there at the last check and are not any more.
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
    /// All findings: the most severe first, then by kind, path and line.
    pub findings: Vec<Finding>,
}

impl HealthReport {
    fn of(mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|a, b| {
            let key = |f: &Finding| (f.severity, f.kind, f.path.clone(), f.line);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        findings.dedup();
        let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
        Self {
            severe: count(Severity::Severe),
            warnings: count(Severity::Warning),
            notices: count(Severity::Notice),
            findings,
        }
    }
}

/// Looks at everything. Linear in notes and links.
pub(crate) fn check(
    inputs: &Inputs,
    signals: &Signals,
    baseline: Option<&Baseline>,
    config: &ConsolidateConfig,
    now: DateTime<FixedOffset>,
    watch: &Watch<'_>,
) -> Result<HealthReport, ConsolidateError> {
    watch.begin(inputs.digests.len());
    let mut findings = Vec::new();
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 64 == 0 {
            watch.step(at)?;
        }
        digests::note(inputs, digest, &config.health, &mut findings);
    }
    digests::balance(inputs, &config.health, &mut findings);
    digests::files(inputs, &mut findings);
    watch.check()?;
    signals.check(inputs, config, now, &mut findings);
    if let Some(baseline) = baseline {
        baseline.compare(inputs, &mut findings);
    }
    watch.step(inputs.digests.len())?;
    Ok(HealthReport::of(findings))
}
