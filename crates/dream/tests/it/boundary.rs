//! What a dream may write, in which form, and that all of it can be followed.

use dormouse_dream::{LexicalNeighbours, Neighbours};
use dormouse_fixtures::{copy_tree, example_vault, temp_vault};
use dormouse_vault::{BlockKind, Layer, Vault};

use crate::bench::{audit, by_rules, provenance_is_whole};

#[test]
fn digests_have_the_form_of_the_format_page() {
    let vault = temp_vault("");
    copy_tree(&example_vault(), vault.path());
    by_rules(&vault);
    let open = Vault::open(vault.path()).unwrap();
    let snapshot = open.snapshot();
    provenance_is_whole(&open);
    let mut facts = 0;
    for note in snapshot.notes().filter(|n| n.layer == Layer::Digest) {
        let properties = &note.doc().frontmatter;
        for key in ["name", "description", "created"] {
            assert!(properties.text(key).is_some(), "{}: no {key}", note.path);
        }
        for block in note.doc().blocks.iter().filter(|b| b.kind == BlockKind::ListItem) {
            let heading = block.heading.and_then(|h| note.doc().headings.get(h as usize));
            if heading.is_some_and(|h| matches!(h.text.as_str(), "Related" | "相关")) {
                continue;
            }
            facts += 1;
            let sourced =
                note.doc().fields.iter().any(|f| f.key == "derived_from" && block.span.contains(&f.span.start));
            assert!(sourced, "{}:{} states something without a source", note.path, block.lines.0);
        }
        // What we write is the full path: it means the same from everywhere.
        for (link, resolution) in snapshot.links_of(note) {
            let target = resolution.path().unwrap_or_else(|| panic!("{}: dangling {}", note.path, link.target));
            assert_eq!(link.target, target.link_target(), "{}", note.path);
        }
    }
    assert!(facts > 50, "{facts}");
}

#[test]
fn every_digest_that_is_written_stands_on_the_audit_page() {
    let vault = temp_vault("");
    copy_tree(&example_vault(), vault.path());
    let report = by_rules(&vault);
    let page = audit(&vault);
    let open = Vault::open(vault.path()).unwrap();
    let digests: Vec<_> =
        open.snapshot().notes().filter(|n| n.layer == Layer::Digest).map(|n| n.path.clone()).collect();
    assert!(digests.len() > 20 && report.totals.created >= digests.len());
    for path in digests {
        assert!(page.contains(&format!("[[{}|", path.link_target())), "{path} is not on the page");
    }
    assert!(page.contains("no model was involved"));
}

#[test]
fn replay_finds_digests_of_every_bucket_and_nothing_else() {
    let text = "Backups run before every upgrade of the index.\n";
    let places = [
        "digest/wiki/a.md",
        "digest/personal/b.md",
        "digest/procedure/c.md",
        "daily/2026-11-29/d.md",
        "resource/2026-11-29/e.md",
        "audit/2026-11-29/dream.md",
        "Mine.md",
        "digest/wiki/a (Conflicted copy laptop 202611301405).md",
    ];
    let vault = temp_vault(&places.iter().map(|p| format!("=== {p}\n{text}")).collect::<String>());
    let open = Vault::open(vault.path()).unwrap();
    let found = LexicalNeighbours::new(&open).neighbours("backups before the upgrade", 30);
    let mut paths: Vec<_> = found.iter().map(|n| n.path.to_string()).collect();
    paths.sort();
    assert_eq!(paths, ["digest/personal/b.md", "digest/procedure/c.md", "digest/wiki/a.md"]);
}
