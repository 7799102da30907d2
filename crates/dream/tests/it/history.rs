//! A repository's history: the commits of one part gather in few notes.

use dormouse_dream::DreamConfig;
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::Vault;

use crate::bench::{by_rules, digest_count, digests, provenance_is_whole};

/// The things that the commits are about.
const MATTERS: [&str; 6] = ["lock", "journal", "index", "weight", "graph", "clock"];

fn commits(count: usize) -> TempVault {
    let mut text = String::new();
    for n in 0..count {
        let part = ["vault", "recall", "dream", "cli"].get(n % 4).unwrap();
        let matter = MATTERS.get(n % 6).unwrap();
        let hash = format!("a{n:03}f{:03}", n * 7 % 1000);
        let day = 1 + n / 3;
        text.push_str(&format!(
            "=== daily/2026-10-{day:02}/commit-{n}.md\n---\nname: \"{part}: the {matter} number {n} is kept\"\nsource: commit\ncommit: {hash}\n---\n\n# {part}\n\nCommit `{hash}`: {part}: the {matter} number {n} is kept. ^b1\n\nThe {matter} of round {n} was lost when two runs met, so it is kept. ^b2\n\n- rename a file ^b3\n- sort the {matter} ^b4\n- drop a line ^b5\n\nIt touched `a{n}.rs`, `b.rs`. ^b6\n"
        ));
    }
    temp_vault(&text)
}

#[test]
fn sixty_commits_make_a_handful_of_digests_with_all_of_them_in_it() {
    let vault = commits(60);
    let report = by_rules(&vault);
    assert_eq!((report.totals.done, report.totals.failed), (60, 0));
    let all = digests(&vault);
    assert!((4..=8).contains(&digest_count(&vault)), "{}", digest_count(&vault));
    for n in 0..60 {
        assert!(
            all.contains(&format!("`a{n:03}f{:03}`", n * 7 % 1000)) && all.contains(&format!("of round {n} was")),
            "{n}: {all}"
        );
    }
    assert!(!all.contains("It touched") && !all.contains("rename a file"));
    let most = DreamConfig::default().subject_tokens + 600;
    for (path, bytes) in vault.files().into_iter().filter(|(p, _)| p.starts_with("digest/")) {
        let tokens = dormouse_vault::text::estimate_tokens(&String::from_utf8(bytes).unwrap());
        assert!(tokens <= most, "{path}: {tokens}");
    }
    provenance_is_whole(&Vault::open(vault.path()).unwrap());
    assert_eq!(by_rules(&vault).totals.done, 0);
    vault.remove("meta/dreamed.json");
    by_rules(&vault);
    assert_eq!(digests(&vault), all);
}
