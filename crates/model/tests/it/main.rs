//! The port's behaviour as its users see it: doubles, recordings, retries and real HTTP on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests: a broken expectation must stop them"
)]

mod doubles;
#[cfg(feature = "genai")]
mod provider;
#[cfg(feature = "genai")]
mod server;
