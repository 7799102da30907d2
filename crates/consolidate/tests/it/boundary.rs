//! The border between what is certified and what is computed: what a run may write, what a split
//! leaves alone, and what it never reads.

use dormouse_consolidate::split::{SplitDecision, apply, plan};
use dormouse_consolidate::{SplitConfig, Task};
use dormouse_fixtures::temp_vault;
use dormouse_vault::meta::{Archived, Communities};
use dormouse_vault::{Clock, NotePath, Vault};

use crate::{NOON, clock, consolidate, meta, notes};

/// Everything that tempts: a pair of duplicates, a note that falls asleep, a broken link, a
/// conflict copy, material that waits.
fn tempting() -> String {
    let twin = "The ferry to the island leaves from the eastern pier at nine each morning, and returns from the island at five in the evening; \
                in winter there is one boat less, and the timetable is on the door of the harbour office beside the pier.";
    format!(
        "=== digest/wiki/ferry.md\n---\nname: Ferry\n---\n{twin}\n\n[[boat]] [[nowhere]]\n\
         === digest/wiki/island-ferry.md\n---\nname: Island ferry\n---\n{twin}\n\n[[boat]]\n\
         === digest/wiki/boat.md\n---\nname: Boat\n---\nIt is blue. [[ferry]]\n\
         === digest/wiki/idle.md\n---\nname: Idle\ncreated: 2020-01-01\n---\nnobody asks\n\
         === digest/wiki/boat (Conflicted copy laptop 202611301405).md\n---\nname: Boat\n---\nIt is red. [[ferry]]\n\
         === daily/2026-11-29/walk.md\nTo the pier, see [[ferry]]. ^b1\n\
         === Mine.md\n[[ferry]] and [[idle]]\n"
    )
}

#[test]
fn a_run_writes_signals_and_reports_and_touches_no_note() {
    let vault = temp_vault(&tempting());
    let before = notes(&vault);
    consolidate(&vault, NOON, &[Task::Communities, Task::Duplicates, Task::Time, Task::Health]);
    // It did see all of it …
    assert!(vault.read("audit/2026-11-30/duplicates.md").contains("island-ferry"));
    assert!(vault.read("audit/2026-11-30/health.md").contains("nowhere"));
    assert!(meta::<Archived>(&vault).notes.contains_key("digest/wiki/idle.md"));
    assert!(!meta::<Communities>(&vault).communities.is_empty());
    // … and merged, mended, moved and marked nothing.
    assert_eq!(notes(&vault), before);
}

#[test]
fn what_stands_in_audit_changes_no_signal() {
    let plain = temp_vault(&tempting());
    let loud = temp_vault(&tempting());
    loud.write(
        "audit/2026-11-01/dream.md",
        "# Dream\n\n[[ferry]] [[idle]] [[boat]]\n\nMerge [[island-ferry]] into [[ferry]].\n",
    );
    for vault in [&plain, &loud] {
        consolidate(vault, NOON, &[Task::Communities, Task::Time]);
    }
    let signals = |vault: &dormouse_fixtures::TempVault| vault.dump_if(|p| p.starts_with("meta/"));
    assert!(signals(&plain).contains("digest/wiki/idle.md"));
    assert_eq!(signals(&plain), signals(&loud));
}

#[test]
fn a_split_leaves_inbound_links_at_the_parent() {
    let big = "---\nname: Ranking\n---\n# Ranking\n\nThe lead.\n\n\
        ## Text score\n\nBM25 without a length norm wins on short blocks of prose.\n\n- The stop list holds question words.\n- Stems stand beside exact forms.\n\n\
        ## Deployment\n\nContainers restart nightly at three; the cluster drains one machine after another.\n\nA second pair of machines waits in the cellar for the day of the flood.\n\n\
        ## Kitchen\n\nSoup is served at noon, bread comes from the baker across the street, tea stands beside the window all day.\n";
    let inbound = [
        ("Mine.md", "[[big]] and [[big#Deployment|how it runs]]\n"),
        ("daily/2026-11-29/e.md", "about [[digest/wiki/big|Ranking]] ^b1\n"),
        ("digest/wiki/other.md", "refines:: [[big]]\n"),
    ];
    let vault = temp_vault(&format!("=== digest/wiki/big.md\n{big}"));
    inbound.iter().for_each(|(path, text)| vault.write(path, text));
    let config = SplitConfig { threshold_tokens: 60, min_child_tokens: 10, ..SplitConfig::default() };
    let open = Vault::open(vault.path()).unwrap();
    let parent: NotePath = "digest/wiki/big.md".parse().unwrap();
    let before = open.snapshot();
    let arrows = before.graph().in_edges(&parent);
    assert_eq!(arrows.len(), 3);
    let decision = plan(&before, &open.read(&parent).unwrap(), None, &config, clock(NOON).now());
    let SplitDecision::Split(plan) = decision else { panic!("it is not split") };
    // All three leave; the parent keeps the heading that an anchor points to.
    let children = plan.children.len();
    assert_eq!(children, 3);
    apply(&open, &plan, &config, &clock(NOON)).unwrap();
    let after = open.snapshot();
    for (path, text) in inbound {
        assert_eq!(vault.read(path), text);
    }
    assert!(after.anchor_line(&parent, "#Deployment").is_some());
    let still = after.graph().in_edges(&parent);
    assert!(arrows.iter().all(|edge| still.contains(edge)), "{still:?}");
    assert_eq!(still.len(), arrows.len() + children, "only the children were added");
    // The parent stayed where it was and nothing else went.
    assert!(before.notes().all(|note| after.note(&note.path).is_some()));
}

#[test]
fn of_all_tasks_split_alone_changes_notes_and_only_those_that_it_names() {
    let sections: String = [
        ("Text score", "BM25 norm block prose stem"),
        ("Deployment", "container cluster machine restart drain"),
        ("Kitchen", "soup bread tea baker window"),
    ]
    .iter()
    .map(|(head, words)| format!("## {head}\n\n{}\n\n", format!("{words} {head}. ").repeat(12)))
    .collect();
    let vault = temp_vault(&format!("{}=== digest/wiki/big.md\n# Big\n\nThe lead.\n\n{sections}", tempting()));
    let before = vault.files();
    let config = dormouse_consolidate::ConsolidateConfig {
        split: SplitConfig { threshold_tokens: 60, min_child_tokens: 10, ..SplitConfig::default() },
        ..Default::default()
    };
    let report = crate::consolidate_with(&vault, NOON, &Task::ALL, &config);
    let named: Vec<String> =
        report.splits.iter().flat_map(|s| s.children.iter().chain([&s.parent])).map(ToString::to_string).collect();
    assert!(named.contains(&"digest/wiki/big.md".to_owned()), "{report:?}");
    let after = vault.files();
    let is_note = |path: &String| !path.starts_with("meta/") && !path.starts_with("audit/");
    for path in after.keys().chain(before.keys()).filter(|p| is_note(p) && !named.contains(p)) {
        assert_eq!(after.get(path), before.get(path), "{path} is as it was");
    }
}
