//! What the links of each digest note say, read in one pass that time and health share.

use std::collections::HashMap;

use chrono::{Datelike, NaiveDate};
use dormouse_vault::{DateSource, Layer, NotePath};

use crate::error::ConsolidateError;
use crate::inputs::Inputs;
use crate::progress::Watch;
use crate::time::by;

/// The predicate of provenance.
pub(crate) const SOURCE: &str = "derived_from";

/// What the links of one digest note say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ties {
    /// The day of the newest material that it links to, as far as it is not ahead of the clock.
    pub(crate) newest_source: Option<NaiveDate>,
    /// Whether it names a source that exists.
    pub(crate) sourced: bool,
    /// Whether it links to another note but for provenance.
    pub(crate) authored: bool,
    /// How many notes link to it.
    pub(crate) inbound: usize,
}

/// The ties of each digest note, in the order of the inputs. Linear in the links.
pub(crate) fn ties(inputs: &Inputs<'_>, today: NaiveDate, watch: &Watch<'_>) -> Result<Vec<Ties>, ConsolidateError> {
    let graph = inputs.snapshot.graph();
    let layout = inputs.snapshot.layout();
    let mut days: HashMap<&NotePath, Option<NaiveDate>> = HashMap::new();
    let mut out = Vec::with_capacity(inputs.digests.len());
    for (at, digest) in inputs.digests.iter().enumerate() {
        if at % 1024 == 0 {
            watch.check()?;
        }
        let mut ties = Ties { inbound: graph.inbound(digest.path()), ..Ties::default() };
        for (target, predicate) in graph.targets(digest.path()) {
            let sources = predicate == Some(SOURCE);
            ties.sourced |= sources;
            ties.authored |= !sources && target != digest.path();
            if matches!(layout.layer(target), Layer::Daily | Layer::Resource) {
                let day = *days.entry(target).or_insert_with(|| source_day(inputs, target));
                ties.newest_source = ties.newest_source.max(day.and_then(|day| by(day, today)));
            }
        }
        out.push(ties);
    }
    Ok(out)
}

/// The day of a material: what its note states, else the date in its path.
fn source_day(inputs: &Inputs<'_>, path: &NotePath) -> Option<NaiveDate> {
    let stated = inputs.snapshot.note(path).and_then(|n| n.date).filter(|d| d.source != DateSource::Mtime);
    stated.map(|d| d.day).or_else(|| path.date()).filter(|day| day.year() >= 1970)
}
