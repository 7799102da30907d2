//! The loop as its users see it, and the memory cycle end to end on small vaults.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests: a broken expectation must stop them"
)]

mod background;
mod cycle;
mod idle;
mod looping;
mod memory_tools;
mod secrets;
