//! Integration tests of the vault, in one binary.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test plays other programs on the same files, and stops when something is broken"
)]

mod snapshot;
mod faults;
mod commit;
mod process;
mod editing;
mod laws;
mod links;
mod parsing;
#[cfg(feature = "watch")]
mod watch;
mod conserve;
mod daily;
mod meta;
mod spool;
mod boundary;
mod format;
