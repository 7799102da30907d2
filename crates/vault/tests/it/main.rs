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

mod boundary;
mod broken_disk;
mod commit;
mod conserve;
mod daily;
mod editing;
mod faults;
mod format;
mod laws;
mod links;
mod material;
mod merge;
mod meta;
mod odd_files;
mod parsing;
mod process;
mod rename;
mod snapshot;
mod spool;
mod warm;
#[cfg(feature = "watch")]
mod watch;
