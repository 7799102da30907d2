//! Dream: fresh experience becomes linked digest notes. The only writer of digest bodies.
//!
//! A run takes materials (events of the daily layer, text files of the resource layer) and passes
//! each through five steps: **gate** (is anything worth keeping, and on which evidence?), **replay**
//! (which digests are near?), **decide** (the same, related, or neither?), **weave** (links and
//! provenance into the text) and **write** (one subject a commit, conservation checked at the
//! vault's door). What is worth keeping is judged by an [`Abstractor`]: [`ExtractiveAbstractor`]
//! follows rules and needs no model, [`ModelAbstractor`] asks one. Neither is trusted: evidence,
//! provenance, links and what an update must conserve are checked by code.
//!
//! Digests, audit pages and derived signals are never material. Running twice changes nothing the
//! second time, also when `meta/` was deleted in between.
//!
//! ```
//! use dormouse_dream::{DreamConfig, DreamContext, DreamRequest, ExtractiveAbstractor, LexicalNeighbours, dream};
//! use dormouse_fixtures::temp_vault;
//! use dormouse_vault::{FixedClock, Vault};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let notes = temp_vault("=== daily/2026-11-02/fusion.md\nWe decided to add both scores. ^b1\n");
//! let vault = Vault::open(notes.path())?;
//! let clock = FixedClock::new("2026-11-30T14:05:09+01:00".parse()?);
//! let report = dream(
//!     DreamContext {
//!         vault: &vault,
//!         abstractor: &ExtractiveAbstractor,
//!         neighbours: &LexicalNeighbours::new(&vault),
//!         clock: &clock,
//!         config: &DreamConfig::default(),
//!         observer: &(),
//!         cancel: &|| false,
//!     },
//!     DreamRequest::default(),
//! )
//! .await?;
//! assert_eq!((report.totals.created, report.totals.failed), (1, 0));
//! assert!(notes.dump().contains("(derived_from:: [[daily/2026-11-02/fusion#^b1|2026-11-02]])"));
//! # Ok(()) }
//! ```

mod abstractor;
mod audit;
mod config;
mod decide;
mod drive;
mod error;
mod extractive;
mod founded;
mod gate;
mod integrate;
mod ledger;
mod machine;
mod markdown;
mod material;
mod model_abstractor;
mod neighbours;
mod observer;
mod plan;
mod prompts;
mod replay;
mod report;
mod stated;
mod topics;
mod weave;
mod withheld;

pub use abstractor::{Abstractor, ComposeJob, Composed, Decided, Gated, Target};
pub use config::{DreamConfig, Price};
pub use decide::{Candidate, CandidateBlock, Flavour, Relation, Verdict};
pub use drive::{DreamContext, DreamRequest, DreamScope, dream};
pub use error::{DreamError, ReplyFault};
pub use extractive::ExtractiveAbstractor;
pub use gate::{Fact, GroundedFact, GroundedUnit, Unit};
pub use material::{Language, Marker, Material, Origin, Passage};
pub use model_abstractor::ModelAbstractor;
pub use neighbours::{LexicalNeighbours, Neighbour, Neighbours};
pub use observer::{DreamEvent, DreamObserver};
pub use report::{
    Action, Cost, DreamReport, DreamTotals, DroppedUnit, KeptUnit, MaterialReport, MaterialState, SubjectReport,
    UsageReport,
};
pub use topics::{TopicMark, mark_topic, refresh_topics};
