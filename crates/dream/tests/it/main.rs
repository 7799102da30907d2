//! Dream from outside: whole vaults in, whole vaults out.

mod bench;
mod boundary;
mod bug_reports;
mod example_vault;
mod golden;
mod repeated;
mod safety;
