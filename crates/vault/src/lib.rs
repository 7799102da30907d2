//! An Obsidian vault as a library: link rules, lossless notes, a link graph and one safe door for
//! writing.
//!
//! [`Vault::open`] looks at a folder of Markdown files and gives an immutable [`Snapshot`]: notes
//! with every part that has a meaning ([`Document`]), the [`LinkGraph`], unresolved links, tags,
//! and the [`Problem`]s of files that a person should mend. A malformed note is never an error.
//! [`Vault::refresh`] takes in what changed on disk, at the cost of the change; readers that hold
//! an older snapshot are not disturbed.
//!
//! All writing goes through one door. A stage plans a [`ChangeSet`], data that can be shown as a
//! diff; [`Vault::commit`] checks who writes, that nothing changed since it was read, and that no
//! link or block is lost, and then applies all of it or nothing.
//!
//! ```
//! use dormouse_vault::{NotePath, Vault};
//!
//! let folder = dormouse_fixtures::temp_vault(
//!     "=== daily/2026-11-30.md\nSlept on [[Winter stores|the stores]].\n=== Winter stores.md\nNuts, see [[Map]].\n",
//! );
//! let vault = Vault::open(folder.path())?;
//! let snapshot = vault.snapshot();
//! let stores = snapshot.find("winter stores").map(|note| note.path.clone());
//! assert_eq!(stores, NotePath::new("Winter stores.md").ok());
//! assert_eq!(snapshot.graph().edge_count(), 1);
//! assert!(snapshot.unresolved().contains_key("map"));
//!
//! folder.write("Map.md", "# Map\n");
//! let delta = vault.refresh()?;
//! assert_eq!(delta.added, [NotePath::new("Map.md")?]);
//! assert!(vault.snapshot().unresolved().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// What a note is.
mod anchor;
mod block;
mod block_id;
mod canvas;
mod conflict_copy;
mod date;
mod document;
pub mod edit;
mod fold;
mod frontmatter;
mod html_tag;
mod inline;
mod inline_field;
mod json_strings;
mod lines;
mod link;
mod marks;
mod mask;
mod note;
mod packed;
mod path;
mod problem;
mod quoting;
mod structure;
mod tag;
mod version;
mod wikilink;
mod yaml_plain;
mod yaml_spans;
mod yaml_value;

// What a vault is.
mod graph;
mod layout;
mod names;
mod pagerank;
mod reading;
mod resolve;
mod settings;
mod snapshot;
mod sparse;
mod take_in;
mod vault;
mod walk;
mod warm;
#[cfg(feature = "watch")]
mod watch;

// How it is written.
mod cache;
mod capability;
mod change;
mod clock;
mod commit;
mod conserve;
mod error;
mod fs;
mod ground;
mod journal;
mod lock;
pub mod merge;
pub mod rename;
mod set_aside;
mod spool;
mod transaction;

// What is written beside the notes, and measures of text that the stages share.
pub mod audit;
pub mod daily;
pub mod material;
pub mod meta;
pub mod text;

pub use block::{Block, BlockKind, Heading};
pub use change::{Change, ChangeSet, FileDiff, Writer};
pub use clock::{Clock, FixedClock};
pub use conserve::{Conservation, Violation};
pub use error::{CommitError, Conflict, VaultError};
pub use frontmatter::Frontmatter;
pub use fs::{Disk, OsDisk};
pub use graph::{EdgeKey, EdgeRef, EdgeTarget, LinkGraph, LinkRows, LinksOf};
pub use inline_field::InlineField;
pub use layout::{Bucket, Layer, Layout};
pub use link::{Link, LinkKind};
pub use names::FileNames;
pub use note::{DateSource, Document, Note, NoteDate, NoteText};
pub use pagerank::PageRank;
pub use path::{NotePath, PathError};
pub use problem::{Problem, ProblemKind};
pub use quoting::Quoting;
pub use resolve::Resolution;
pub use settings::Settings;
pub use snapshot::{Delta, Snapshot};
pub use sparse::{Csr, GraphError, RawRows, RawWeights};
pub use spool::{AccessHit, Spool, Spooled};
pub use transaction::Transaction;
pub use vault::{Committed, OpenOptions, Stage, StageLock, Vault};
pub use version::{Version, VersionError};
#[cfg(feature = "watch")]
pub use watch::{WatchCounts, WatchOptions, Watcher};
