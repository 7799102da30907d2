//! Split: a digest note that has grown past one subject becomes an overview with a note for each
//! theme. The one exception that writes notes: asked inline after a dream's write, verbatim, under
//! the door's rule E-2.

mod apply;
mod plan;
mod question;
mod render;
mod sections;
mod ties;

use dormouse_vault::{ChangeSet, NotePath};

pub use apply::{SplitApplied, apply};
pub use plan::{Considered, OpenSplit, consider, plan};
pub use question::{SectionOutline, SplitJudgement, SplitQuestion};

/// The predicate by which a child names its parent.
pub const PART_OF: &str = "part_of";

/// What [`plan`] decided.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitDecision {
    /// Split, by this plan.
    Split(Box<SplitPlan>),
    /// Leave the note as it is.
    Keep(KeepReason),
}

/// Why a note is not split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeepReason {
    /// It lies outside the digest layer's buckets, or is a conflict copy.
    #[error("not a digest note")]
    NotADigest,
    /// It is not UTF-8, or its frontmatter can't be read.
    #[error("not well-formed")]
    Malformed,
    /// It says `locked: true`: a person alone writes it.
    #[error("locked")]
    Locked,
    /// The snapshot has another version of it.
    #[error("the snapshot has another version")]
    Stale,
    /// Its body has no more tokens than the threshold.
    #[error("short enough: {tokens} tokens, the threshold is {threshold}")]
    ShortEnough {
        /// Estimated tokens of the body.
        tokens: usize,
        /// The threshold.
        threshold: usize,
    },
    /// It was split not long ago.
    #[error("cooling down")]
    CoolingDown,
    /// Fewer than two themes stand apart.
    #[error("one theme")]
    OneTheme,
    /// So many sections that it is a list and no text.
    #[error("more than {max} sections")]
    TooManySections {
        /// The most that are compared.
        max: usize,
    },
    /// Something in it holds the sections together: footnotes and link references that are defined
    /// in one and used in another, links to itself, links of others to its blocks.
    #[error("its sections depend on each other")]
    Entangled,
}

/// A split, planned and not yet done.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitPlan {
    /// The note that becomes the overview, and stays where it is.
    pub parent: NotePath,
    /// The new notes, in the order of the old body.
    pub children: Vec<SplitChild>,
    /// For the audit: length, and what set the themes apart.
    pub reason: String,
    /// What the door applies: one replace and the creates, under `SplitUnion`.
    pub change_set: ChangeSet,
}

/// One child of a split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitChild {
    /// Its path, beside the parent.
    pub path: NotePath,
    /// Its name.
    pub name: String,
    /// The headings of the sections that it took over.
    pub headings: Vec<String>,
}
