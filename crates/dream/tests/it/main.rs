//! Dream from outside: whole vaults in, whole vaults out.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on must stop")]

mod again;
mod bench;
mod boundary;
mod bug_reports;
mod erosion;
mod example_vault;
mod golden;
mod history;
mod invented;
mod labels;
mod recurring;
mod remembered;
mod repeated;
mod safety;
mod same_subject;
mod topics;
mod trouble;
mod withheld;
