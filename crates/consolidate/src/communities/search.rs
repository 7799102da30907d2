//! Which partition a run ends with: the last one where it holds, improved around what changed; a
//! fresh one where there is none, where much has changed, or where the last one has become worse.

use dormouse_vault::{Csr, GraphError};

use super::last_run::LastRun;
use super::leiden::{Leiden, Partition};
use super::modularity;
use crate::config::CommunitiesConfig;
use crate::error::ConsolidateError;
use crate::progress::Watch;

/// How much modularity the last run's themes may lack and still be kept: themes that move at every
/// run are of no use to a reader.
const KEEP_WITHIN: f64 = 0.005;
/// In a vault with more notes one start and a few passes are enough: starts differ by less than
/// 0.001 there, and later passes gain less than that. Only there is a search around what changed
/// worth its loss.
pub(super) const LARGE: usize = 10_000;
/// Passes over a large vault.
const PASSES: u32 = 4;
/// What may be left to gain, so that themes that were found in few passes are kept as they are.
const SETTLED: f64 = 0.001;
/// A search from scratch is due when more than one in this many notes have changed since the last.
const DUE: u64 = 20;

/// What a search works on.
pub(super) struct Ground<'a> {
    pub(super) rows: &'a Csr,
    /// Path and links of each node, as hashes.
    pub(super) notes: &'a [(u64, u64)],
    pub(super) config: &'a CommunitiesConfig,
    pub(super) seed: u64,
}

/// What a search ends with.
pub(super) struct Found {
    pub(super) partition: Partition,
    /// The modularity of the last search from scratch.
    pub(super) searched: f64,
    /// Notes whose links changed since then.
    pub(super) moved: u64,
    /// Whether everything was searched, not the surroundings of what changed alone.
    pub(super) anew: bool,
}

/// `carried` is the last run's partition of the notes of now, `last` what is known of that run when
/// the vault is large.
pub(super) fn search(
    ground: &Ground<'_>,
    carried: Option<&[u32]>,
    last: Option<&LastRun>,
    watch: &Watch<'_>,
) -> Result<Found, ConsolidateError> {
    let nodes = ground.rows.nodes();
    if let (Some(carried), Some(last)) = (carried, last) {
        let changed = last.changed(ground.notes);
        let gone = last.gone(ground.notes);
        let moved = last.moved.saturating_add((changed.len() + gone) as u64);
        let nothing = changed.is_empty() && gone == 0;
        if nothing || moved.saturating_mul(DUE) <= nodes as u64 {
            let stop = || (watch.cancel)();
            let partition = ground.leiden(0).run_around(ground.rows, carried, &changed, &stop)?;
            watch.check()?;
            if nothing || partition.modularity + KEEP_WITHIN / 2.0 >= last.searched {
                return Ok(Found { partition, searched: last.searched, moved, anew: false });
            }
        }
    }
    let partition = ground.search_anew(carried, watch)?;
    Ok(Found { searched: partition.modularity, partition, moved: 0, anew: true })
}

impl Ground<'_> {
    fn leiden(&self, start: u32) -> Leiden {
        let max_passes = if self.rows.nodes() > LARGE { PASSES } else { Leiden::default().max_passes };
        Leiden { resolution: self.config.resolution, seed: self.seed.wrapping_add(u64::from(start)), max_passes }
    }

    /// The best of several fresh starts, or the last run's themes where they hold up.
    fn search_anew(&self, carried: Option<&[u32]>, watch: &Watch<'_>) -> Result<Partition, ConsolidateError> {
        let stop = || (watch.cancel)();
        let starts = if self.rows.nodes() > LARGE { 1 } else { self.config.starts.max(1) };
        let mut best: Option<Partition> = None;
        for start in 0..starts {
            let found = self.leiden(start).run_from(self.rows, &[], &stop)?;
            watch.step(start as usize + 2)?;
            if best.as_ref().is_none_or(|b| found.modularity > b.modularity + 1e-12) {
                best = Some(found);
            }
        }
        let fresh = best.unwrap_or(Partition { membership: Vec::new(), modularity: 0.0 });
        let fresh = self.settle(fresh, &stop)?;
        watch.check()?;
        let Some(carried) = carried else {
            return Ok(fresh);
        };
        let kept = self.leiden(0).run_from(self.rows, carried, &stop)?;
        let kept = self.settle(kept, &stop)?;
        watch.check()?;
        if kept.modularity + KEEP_WITHIN < fresh.modularity {
            return Ok(fresh);
        }
        // Of a large vault the same themes again, unless there is something to gain.
        let as_it_was = self.rows.components_within(carried);
        let quality = modularity(self.rows, &as_it_was, self.config.resolution);
        if self.rows.nodes() > LARGE && quality + SETTLED >= kept.modularity && kept.modularity > 0.0 {
            return Ok(Partition { membership: as_it_was, modularity: quality });
        }
        Ok(kept)
    }

    /// Runs from the partition itself until that changes nothing, so that the next run on an
    /// unchanged vault, which starts from it, ends with it. Of a large vault this is left out.
    fn settle(&self, mut partition: Partition, stop: &dyn Fn() -> bool) -> Result<Partition, GraphError> {
        for _ in 0..if self.rows.nodes() > LARGE { 0 } else { 16 } {
            let next = self.leiden(0).run_from(self.rows, &partition.membership, stop)?;
            if next.modularity <= partition.modularity + 1e-12 {
                break;
            }
            partition = next;
        }
        Ok(partition)
    }
}
