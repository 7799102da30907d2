//! Recall over whole vaults written as text.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test stops where it fails, and breaks files on purpose"
)]

mod assist;
mod boundary;
mod cases;
mod context;
mod degrade;
mod embed;
mod index;
mod life;
mod pages;
mod query;
mod signals;

use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use dormouse_fixtures::TempVault;
use dormouse_recall::{Recall, RecallConfig, SearchReply, SearchRequest};
use dormouse_vault::{FixedClock, Vault};

/// The moment at which the tests happen.
fn now() -> DateTime<FixedOffset> {
    "2026-11-30T12:00:00+01:00".parse().unwrap()
}

fn recall(vault: &TempVault) -> Recall {
    let vault = Arc::new(Vault::open(vault.path()).unwrap());
    Recall::open(vault, RecallConfig::default()).unwrap().with_clock(Arc::new(FixedClock::new(now())))
}

fn search(recall: &Recall, query: &str) -> SearchReply {
    recall.search(&SearchRequest { quiet: true, ..SearchRequest::new(query) }).unwrap()
}

fn paths(reply: &SearchReply) -> Vec<&str> {
    reply.hits.iter().map(|hit| hit.path.as_str()).collect()
}
