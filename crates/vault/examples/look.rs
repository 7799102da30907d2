//! Opens a vault and shows what it is made of: notes, links, unresolved links, backlinks, problems.
//!
//! `cargo run -p dormouse-vault --example look -- FOLDER` looks at your own vault, read-only;
//! without a folder it makes a small one.
#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use std::error::Error;

use dormouse_vault::{OpenOptions, Vault};

const SMALL: &str = "\
=== daily/2026-11-30/stores.md
Counted the nuts in the [[Hollow oak]]. ^b1
=== digest/wiki/winter-stores.md
---
name: Winter stores
---
Enough for five months, in the [[Hollow oak|oak]], see [[Map of the hedge]].

derived_from:: [[daily/2026-11-30/stores#^b1]]
=== Places/Hollow oak.md
# Hollow oak
Holds the [[winter-stores]].
";

fn main() -> Result<(), Box<dyn Error>> {
    let small = dormouse_fixtures::temp_vault(SMALL);
    let folder = std::env::args_os().nth(1).map_or_else(|| small.path().to_owned(), Into::into);
    let vault = Vault::open_with(folder, OpenOptions { read_only: true, settings: None, ..OpenOptions::default() })?;
    let snapshot = vault.snapshot();
    let graph = snapshot.graph();

    println!(
        "{} notes, {} other files, {} links",
        snapshot.notes().count(),
        snapshot.files().count(),
        graph.edge_count()
    );
    for note in snapshot.notes() {
        println!("\n{}  ({}, {})", note.name, note.path, note.layer);
        for edge in graph.out_edges(&note.path) {
            println!(
                "  -> {}{}",
                edge.predicate.map(|predicate| format!("{predicate}:: ")).unwrap_or_default(),
                edge.target
            );
        }
        for edge in graph.in_edges(&note.path) {
            println!("  <- {}", edge.source);
        }
    }
    println!("\nunresolved");
    for (target, sources) in snapshot.unresolved() {
        let sources: Vec<_> = sources.iter().map(ToString::to_string).collect();
        println!("  {target}  in {}", sources.join(", "));
    }
    println!("\nproblems");
    for (path, problem) in snapshot.problems() {
        println!("  {path}: {problem}");
    }
    for problem in vault.problems() {
        println!("  {problem}");
    }
    Ok(())
}
