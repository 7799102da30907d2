//! What was given to be remembered, and what was changed after it was dreamed.

use dormouse_fixtures::{TempVault, temp_vault};

use crate::bench::{by_rules, digests};

fn remember(text: &str) -> TempVault {
    let name = text.lines().next().unwrap_or_default();
    let vault = temp_vault(&format!(
        "=== daily/2026-11-28/a.md\n---\nname: \"{name}\"\nsource: remember\n---\n\n{}\n",
        text.lines().enumerate().map(|(i, l)| format!("{l} ^b{i}\n\n")).collect::<String>()
    ));
    by_rules(&vault);
    vault
}

#[test]
fn a_plain_statement_that_was_given_to_be_remembered_is_kept() {
    for text in [
        "Reindexing takes 4 s on 10k notes",
        "网关的超时是 30 秒。",
        "The archive lies on the second disk.",
        "备用钥匙在邻居家。",
    ] {
        let vault = remember(text);
        assert!(
            digests(&vault).contains(&format!("- {text} (derived_from:: [[daily/2026-11-28/a#^b0|2026-11-28]])")),
            "{text}: {}",
            digests(&vault)
        );
    }
}

#[test]
fn questions_and_requests_are_nothing_to_remember() {
    let vault =
        remember("Where does the archive lie?\nPlease look at the archive again.\n帮我看一下归档。\n归档在哪里？");
    assert_eq!(digests(&vault), "");
}

#[test]
fn a_measured_statement_with_a_subject_is_kept_from_any_day() {
    let vault = temp_vault(
        "=== daily/2026-11-28/a.md\n---\nname: A quiet day\n---\n\nReindexing takes 4 s on a laptop. ^b1\n\nIt rained. ^b2\n=== daily/2026-11-28/b.md\n---\nname: 网关\n---\n\n网关的超时是 30 秒。 ^b1\n\n午饭很好吃。 ^b2\n",
    );
    by_rules(&vault);
    let all = digests(&vault);
    assert!(all.contains("takes 4 s on a laptop") && all.contains("超时是 30 秒"), "{all}");
    assert!(!all.contains("rained") && !all.contains("午饭"), "{all}");
}

/// The digests after the material says each of `texts` in turn, dreamed in between and at the end
/// twice more, once without the ledger.
fn changed(texts: &[&str]) -> (String, Vec<(usize, usize)>) {
    let vault = temp_vault("");
    let mut counts = Vec::new();
    for text in texts {
        vault.write("daily/2026-11-28/a.md", format!("---\nname: Reindexing\nsource: remember\n---\n\n{text} ^b1\n"));
        let report = by_rules(&vault);
        counts.push((report.totals.corrected, report.totals.corroborated));
    }
    let all = digests(&vault);
    assert_eq!(by_rules(&vault).totals.done, 0);
    vault.remove("meta/dreamed.json");
    by_rules(&vault);
    assert_eq!(digests(&vault), all);
    (all, counts)
}

#[test]
fn a_source_that_was_changed_corrects_its_digest_and_both_statements_stay() {
    let (all, counts) = changed(&["Reindexing takes 4 s on 10k notes.", "Reindexing takes 6 s on 10k notes."]);
    assert_eq!(counts, [(0, 0), (1, 0)], "{all}");
    assert!(
        all.contains("- Reindexing takes 4 s on 10k notes. (derived_from:: [[daily/2026-11-28/a#^b1|2026-11-28]]) **Superseded 2026-11-30:** Reindexing takes 6 s on 10k notes. (derived_from::"),
        "{all}"
    );
    let (all, counts) = changed(&["网关的超时是 30 秒。", "网关的超时是 45 秒。"]);
    assert_eq!(counts, [(0, 0), (1, 0)], "{all}");
    assert!(all.contains("更正:** 网关的超时是 45 秒。"), "{all}");
}

#[test]
fn a_source_that_was_changed_back_says_so_last() {
    let four = "Reindexing takes 4 s on 10k notes.";
    let (all, counts) = changed(&[four, "Reindexing takes 6 s on 10k notes.", four]);
    assert_eq!(counts.last(), Some(&(1, 0)), "{all}");
    assert_eq!(all.matches("Superseded").count(), 2, "{all}");
    assert!(all.rfind("takes 4 s") > all.rfind("takes 6 s"), "{all}");
}

#[test]
fn an_explicit_correction_with_another_figure_marks_the_older_statement() {
    for (old, new) in [
        ("The timeout of the gateway is 30 seconds.", "Correction: the timeout of the gateway is 45 seconds."),
        (
            "The timeout of the gateway is 30 seconds.",
            "The timeout of the gateway is 45 seconds instead of the first guess.",
        ),
        ("网关的超时是 30 秒。", "更正：网关的超时是 45 秒。"),
        ("网关的超时是 30 秒。", "网关的超时是 45 秒，而不是 30 秒。"),
    ] {
        let vault =
            temp_vault(&format!("=== daily/2026-11-27/a.md\n---\nname: Gateway\nsource: remember\n---\n\n{old} ^b1\n"));
        by_rules(&vault);
        vault.write("daily/2026-11-28/b.md", format!("---\nname: Later\nsource: remember\n---\n\n{new} ^b1\n"));
        let report = by_rules(&vault);
        assert_eq!(report.totals.corrected, 1, "{new}: {}", digests(&vault));
    }
}
