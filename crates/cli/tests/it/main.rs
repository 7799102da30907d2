//! The command from outside: what it prints, what it exits with, what it leaves in the vault.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as it should be"
)]

mod contract;
mod cycle;
mod health;
mod kills;
mod odd_vaults;
mod program;
mod watching;
mod writing;
