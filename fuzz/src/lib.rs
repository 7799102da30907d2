//! What must hold for any bytes, and vectors of Obsidian's link rules.
//!
//! A target is a plain function over bytes that asserts laws. `cargo test` replays the checked-in
//! inputs (`corpus/<target>/`, `regressions/<target>/`) through it on every run; `cargo xtask fuzz`
//! gives it inputs that a coverage-guided engine makes (`engine/`, a package of its own).
//!
//! ```
//! for target in dormouse_fuzz::TARGETS {
//!     (target.run)(b"see [[A|b]]");
//! }
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a broken law stops the run, and that is what a target is for"
)]

mod commit;
mod frontmatter_edit;
mod links;
mod reference;
mod resolve;
mod seeds;
mod snapshot_cache;
mod targets;
pub mod vectors;

pub use commit::commit;
pub use frontmatter_edit::frontmatter_edit;
pub use links::links;
pub use resolve::resolve;
pub use seeds::seeds;
pub use snapshot_cache::snapshot_cache;
pub use targets::{TARGETS, Target};
