//! Dream from outside: whole vaults in, whole vaults out.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on must stop")]

mod bench;
mod boundary;
mod bug_reports;
mod example_vault;
mod golden;
mod history;
mod labels;
mod recurring;
mod remembered;
mod repeated;
mod safety;
mod trouble;
mod withheld;
