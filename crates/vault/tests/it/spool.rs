//! The access spool: many write at once, one folds in.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;

use chrono::DateTime;
use dormouse_fixtures::temp_vault;
use dormouse_vault::meta::AccessKind;
use dormouse_vault::{AccessHit, NotePath, Vault};

fn hit(name: &str) -> AccessHit {
    AccessHit {
        path: NotePath::new(name).unwrap(),
        at: DateTime::parse_from_rfc3339("2026-11-30T14:00:00+01:00").unwrap(),
        kind: AccessKind::Returned,
    }
}

#[test]
fn hits_come_back_in_order_and_a_discard_keeps_what_came_since() {
    let folder = temp_vault("");
    let spool = Vault::open(folder.path()).unwrap().spool();
    assert!(spool.read().unwrap().hits.is_empty());
    spool.append(&[]).unwrap();
    assert!(folder.files().is_empty());
    spool.append(&[hit("a.md"), hit("漢字.md")]).unwrap();
    let read = spool.read().unwrap();
    assert_eq!((read.hits.as_slice(), read.skipped), ([hit("a.md"), hit("漢字.md")].as_slice(), 0));
    spool.append(&[hit("b.md")]).unwrap();
    spool.discard(&read).unwrap();
    assert_eq!(spool.read().unwrap().hits, [hit("b.md")]);
    // What is no longer there is not discarded again.
    spool.discard(&read).unwrap();
    assert_eq!(spool.read().unwrap().hits, [hit("b.md")]);
    spool.discard(&spool.read().unwrap()).unwrap();
    assert!(spool.read().unwrap().hits.is_empty());
    assert!(folder.files().is_empty());
}

#[test]
fn a_line_that_was_cut_costs_itself_alone() {
    let folder = temp_vault("");
    let spool = Vault::open(folder.path()).unwrap().spool();
    folder.write(
        "meta/access_spool.jsonl",
        b"{\"path\":\"a.md\",{\"pa\n\xff\xfe\n\n{\"path\":\"../x\"}\n{\"path\":\"cut",
    );
    spool.append(&[hit("b.md")]).unwrap();
    let read = spool.read().unwrap();
    assert_eq!((read.hits.len(), read.skipped), (1, 4));
}

#[test]
fn a_spool_that_cannot_be_written_is_an_error_with_its_path() {
    let folder = temp_vault("=== meta\nnot a folder\n");
    let spool = Vault::open(folder.path()).unwrap().spool();
    let error = spool.append(&[hit("a.md")]).unwrap_err();
    assert!(error.to_string().contains("access_spool.jsonl"), "{error}");
}

/// RCL-10: eight processes append while the spool is folded in; no hit is torn, lost or doubled.
#[test]
fn rcl_10_parallel_processes_never_tear_the_log() {
    let folder = temp_vault("");
    let vault = Vault::open(folder.path()).unwrap();
    let spool = vault.spool();
    let mut children: Vec<_> = (0..8).map(|n| crate::process::start("spool::appender", folder.path(), n)).collect();
    let mut seen = BTreeSet::new();
    let mut count = 0;
    let mut fold = || {
        let read = spool.read().unwrap();
        assert_eq!(read.skipped, 0);
        count += read.hits.len();
        seen.extend(read.hits.iter().map(|h| h.path.to_string()));
        spool.discard(&read).unwrap();
    };
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        fold();
    }
    children.into_iter().for_each(crate::process::finish);
    fold();
    assert_eq!((count, seen.len()), (1600, 1600));
    let mut file =
        OpenOptions::new().append(true).create(true).open(folder.path().join("meta/access_spool.jsonl")).unwrap();
    file.write_all(b"{\"path\":\"a.md\",{\"pa\n").unwrap();
    spool.append(&[hit("b.md")]).unwrap();
    let read = spool.read().unwrap();
    assert_eq!((read.hits.len(), read.skipped), (1, 1));
}

/// One process of the test above: 200 hits, whose lines are of 80 and of 9,000 bytes by turns.
#[test]
#[ignore = "started by another test"]
fn appender() {
    let Some((folder, n)) = crate::process::task() else {
        return;
    };
    let spool = Vault::open(folder).unwrap().spool();
    for i in 0..200 {
        let mut hit = hit(&format!("{n}-{i:03}.md"));
        let bare = serde_json::to_string(&hit).unwrap().len() + 1;
        let wanted = if i % 2 == 0 { 80 } else { 9_000 };
        // A folder's name is of 200 bytes at most.
        let folders: String = std::iter::repeat_n("x".repeat(199) + "/", (wanted - bare) / 200).collect();
        let rest = "y".repeat(wanted - bare - folders.len() - 1) + "/";
        hit.path = NotePath::new(&format!("{folders}{rest}{}", hit.path)).unwrap();
        assert_eq!(serde_json::to_string(&hit).unwrap().len() + 1, wanted);
        spool.append(&[hit]).unwrap();
    }
}
