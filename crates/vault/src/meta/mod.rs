//! The derived signals: typed contracts of `meta/*.json`, through which the stages meet.
//!
//! Every artefact has `version` and `computed_at` (UTC). A reader that meets another version
//! ignores the file and says so; nothing here is ever a recall result. A file that can't be
//! read is kept under `.dormouse/set-aside/` before a new one is put in its place.

mod load;

pub(crate) use load::is_current;
pub use load::{Loaded, schemas};

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::layout::{Layer, Layout};
use crate::path::NotePath;
use crate::version::Version;

/// A file of `meta/`.
pub trait Artefact: Serialize + DeserializeOwned + schemars::JsonSchema {
    /// File name below `meta/`.
    const FILE: &'static str;
    /// The version that this build reads and writes.
    const VERSION: u32;
    /// What follows when it can't be read, for a person.
    const UNREAD: &'static str = "it is ignored, and the next run that computes it makes it anew";

    /// The change that stores it. Pretty-printed JSON with a final line end; equal values give
    /// equal bytes.
    fn to_change(&self, layout: &Layout) -> Change {
        let content = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        Change::Put { path: layout.file(Layer::Meta, Self::FILE), content }
    }

    /// When it was computed.
    fn computed_at(&self) -> DateTime<Utc>;
}

macro_rules! artefact {
    ($type:ty, $file:literal, $version:literal $(, $unread:literal)?) => {
        impl Artefact for $type {
            const FILE: &'static str = $file;
            const VERSION: u32 = $version;
            $(const UNREAD: &'static str = $unread;)?

            fn computed_at(&self) -> DateTime<Utc> {
                self.computed_at
            }
        }
    };
}

mod topics;
pub use topics::{Topic, TopicEvidence, TopicKind, TopicState, Topics};

/// `meta/communities.json`: thematic groups of digest notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Communities {
    /// Format version.
    pub version: u32,
    /// When it was computed.
    pub computed_at: DateTime<Utc>,
    /// The seed of the run.
    pub seed: u64,
    /// Resolution parameter.
    pub resolution: f64,
    /// Modularity of the partition on the undirected link graph.
    pub modularity: f64,
    /// The first id that no community has had yet: an id never means two.
    #[serde(default)]
    pub next_id: u32,
    /// In order of size, then id.
    pub communities: Vec<Community>,
    /// The second level, when more than forty communities have two members or more; in order of
    /// size, then id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<CommunityGroup>,
}
artefact!(Communities, "communities.json", 1);

/// One community.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Community {
    /// Stable between runs by maximum overlap of members.
    pub id: u32,
    /// For a person: its most distinctive terms.
    pub label: String,
    /// Distinctive terms, best first.
    pub terms: Vec<String>,
    /// The member with the most links inside.
    pub hub: NotePath,
    /// Jaccard overlap with the same id in the last run, 0..=1: 1 when nothing changed, and on the
    /// first run; 0 for a community that no earlier one went over into.
    pub stability: f64,
    /// In path order.
    pub members: Vec<NotePath>,
}

/// Communities that links join: the second level, for a person with many themes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CommunityGroup {
    /// Stable between runs by maximum overlap of communities.
    pub id: u32,
    /// For a person: the first terms of its largest communities.
    pub label: String,
    /// Those terms, at most five.
    pub terms: Vec<String>,
    /// Notes in all of its communities.
    pub notes: usize,
    /// The ids of its communities, the largest first; two or more.
    pub communities: Vec<u32>,
}

/// `meta/recency.json`: how fresh each digest note is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Recency {
    /// Format version.
    pub version: u32,
    /// When it was computed.
    pub computed_at: DateTime<Utc>,
    /// Per digest note.
    pub notes: BTreeMap<NotePath, RecencyScore>,
}
artefact!(Recency, "recency.json", 1);

/// The freshness of one note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RecencyScore {
    /// 0..=1.
    pub score: f64,
    /// The last day that it was written, dated or hit.
    pub last_active: NaiveDate,
    /// Days with a hit among the last thirty.
    pub hits_30: u32,
}

/// `meta/archived.json`: digest notes that sleep. Soft: the note itself is not touched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Archived {
    /// Format version.
    pub version: u32,
    /// When it was computed.
    pub computed_at: DateTime<Utc>,
    /// Per archived note.
    pub notes: BTreeMap<NotePath, ArchivedNote>,
}
artefact!(Archived, "archived.json", 1);

/// Why and since when a note sleeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ArchivedNote {
    /// The day that it fell below the threshold.
    pub since: NaiveDate,
    /// Its recency then.
    pub score: f64,
}

/// `meta/access_log.json`: on which days a note was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AccessLog {
    /// Format version.
    pub version: u32,
    /// When it was computed.
    pub computed_at: DateTime<Utc>,
    /// Per note: per day the strongest use.
    pub notes: BTreeMap<NotePath, BTreeMap<NaiveDate, AccessKind>>,
}
artefact!(AccessLog, "access_log.json", 1);

/// How a note was used, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// It was among the results.
    Returned,
    /// It was read or cited.
    Read,
}

/// `meta/dreamed.json`: which material has been dreamed, at which version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DreamLedger {
    /// Format version.
    pub version: u32,
    /// When it was last written.
    pub computed_at: DateTime<Utc>,
    /// Per material.
    pub materials: BTreeMap<NotePath, Dreamed>,
}
artefact!(DreamLedger, "dreamed.json", 1);

/// The state of one material.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Dreamed {
    /// The content that was dreamed.
    pub content: Version,
    /// When.
    pub at: DateTime<Utc>,
    /// Which abstractor: `extractive`, or the model's name.
    pub by: String,
    /// What came of it.
    pub outcome: DreamOutcome,
}

/// What came of a material.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum DreamOutcome {
    /// Dreamed: the digest notes that it went into, possibly none.
    Done {
        /// Subjects in path order.
        subjects: Vec<NotePath>,
        /// Units dropped by the evidence check.
        dropped: u32,
    },
    /// Pending: failed, to be tried again at a later run.
    Pending {
        /// Why.
        reason: String,
        /// Failed tries so far that were of its own making; a server that could not be asked counts
        /// for none.
        tries: u32,
        /// Not tried again before this time, unless it changes or is asked for by name. `None`: at
        /// the next run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<DateTime<Utc>>,
    },
}

/// `meta/cooldowns.json`: notes that are not split again before a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cooldowns {
    /// Format version.
    pub version: u32,
    /// When it was last written.
    pub computed_at: DateTime<Utc>,
    /// Until when.
    pub notes: BTreeMap<NotePath, DateTime<Utc>>,
}
artefact!(Cooldowns, "cooldowns.json", 1);

/// `meta/dismissed.json`: pairs of notes that a person has looked at and wants to keep apart. The one
/// file of `meta/` that holds a person's word; it can't be computed again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Dismissed {
    /// Format version.
    pub version: u32,
    /// When it was last written.
    pub computed_at: DateTime<Utc>,
    /// By `a`, then `b`.
    pub pairs: Vec<DismissedPair>,
}
artefact!(Dismissed, "dismissed.json", 1, "no dismissal holds until it is mended");

/// A pair that is not reported as long as both notes say what they said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DismissedPair {
    /// The first note, by path.
    pub a: NotePath,
    /// The second.
    pub b: NotePath,
    /// A hash of the words of `a`, without headings, links' targets and provenance.
    pub a_says: Version,
    /// The same of `b`.
    pub b_says: Version,
    /// When it was dismissed.
    pub at: DateTime<Utc>,
}
