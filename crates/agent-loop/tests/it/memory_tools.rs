//! The memory tools as a model calls them: what they answer, and what they refuse by name.

use std::sync::Arc;

use dormouse_agent_loop::{MemoryTools, RunContext, ToolOutput, ToolSet, memory_tools};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_recall::{Recall, RecallConfig};
use dormouse_vault::{Clock, FixedClock, Vault};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

const NOTES: &str = "\
=== daily/2026-10-31/old.md
The old one. #review
=== daily/2026-11-03/talk.md
A talk. #review/weekly
=== daily/2026-12-01/late.md
Later.
=== digest/wiki/crane.md
---
name: The harbour crane
---
It is turquoise.
";

fn tools(dir: &TempVault) -> ToolSet {
    let clock: Arc<dyn Clock> = Arc::new(FixedClock::new("2026-11-30T10:00:00+01:00".parse().unwrap()));
    let vault = Arc::new(Vault::open(dir.path()).unwrap());
    let recall = Arc::new(Recall::open(vault, RecallConfig::default()).unwrap().with_clock(Arc::clone(&clock)));
    recall.sync().unwrap();
    memory_tools(&MemoryTools::new(recall, clock)).unwrap()
}

async fn call(dir: &TempVault, name: &str, arguments: Value) -> ToolOutput {
    let tool = Arc::clone(tools(dir).get(name).unwrap());
    tool.call(arguments, &RunContext::new("s")).await
}

async fn check(name: &str, arguments: Value, expected: Expect) {
    let dir = temp_vault(NOTES);
    let output = call(&dir, name, arguments).await;
    expected.assert_eq(&format!("{}{}", if output.is_error { "error: " } else { "" }, output.text));
}

#[tokio::test]
async fn a_listing_takes_its_conditions_one_by_one() {
    check(
        "list",
        json!({"since": "2026-11", "until": "2026-11"}),
        expect![[r#"
        <vault-data source="listing">
        1 note(s)
        - daily/2026-11-03/talk.md (2026-11-03): talk
        </vault-data>"#]],
    )
    .await;
    check(
        "list",
        json!({"layer": "daily", "tag": "review", "sort": "newest"}),
        expect![[r#"
        <vault-data source="listing">
        2 note(s)
        - daily/2026-11-03/talk.md (2026-11-03): talk
        - daily/2026-10-31/old.md (2026-10-31): old
        </vault-data>"#]],
    )
    .await;
    check(
        "list",
        json!({"bucket": "wiki"}),
        expect![[r#"
        <vault-data source="listing">
        1 note(s)
        - digest/wiki/crane.md: The harbour crane
        </vault-data>"#]],
    )
    .await;
}

#[tokio::test]
async fn a_condition_that_says_nothing_is_an_error_and_never_the_whole_vault() {
    check("list", json!({"since": "2026-13"}), expect![[r#"error: `since` is "2026-13"; expected a year, month or day that exists, such as 2026, 2026-11 or 2026-11-03"#]]).await;
    check("list", json!({"until": "yesterday"}), expect![[r#"error: `until` is "yesterday"; expected a year, month or day that exists, such as 2026, 2026-11 or 2026-11-03"#]]).await;
    check("list", json!({"layer": "diary"}), expect![[r#"error: list: the input does not fit: the reply does not fit the schema: /layer value is not one of "daily", "resource" or 2 other candidates"#]]).await;
    check("list", json!({"filter": "in:daily"}), expect!["error: list: the input does not fit: the reply does not fit the schema: / Additional properties are not allowed ('filter' was unexpected)"]).await;
}

#[tokio::test]
async fn reading_takes_a_path_and_walking_a_title_too() {
    check(
        "read",
        json!({"path": "The harbour crane"}),
        expect!["error: The harbour crane: no such note; `search` finds a note by its title or its words"],
    )
    .await;
    check(
        "traverse",
        json!({"from": "The harbour crane"}),
        expect![[r#"
            <vault-data source="listing">
            1 note(s)
            - digest/wiki/crane.md: The harbour crane
            </vault-data>"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_remembered_keeps_its_code_whole() {
    let dir = temp_vault(NOTES);
    let text = "Restore like this:\n\n```sh\ncp -a disk vault\n\nsync\n```\n\nNever on Sundays.";
    let output = call(&dir, "remember", json!({"title": "Restore", "text": text})).await;
    assert_eq!(output.text, "remembered: daily/2026-11-30/restore.md");
    expect![[r#"
        ---
        name: "Restore"
        description: "Restore like this:"
        date: 2026-11-30T10:00:00+01:00
        source: "remembered"
        remembered_in: "s"
        ---

        # Restore

        Restore like this: ^b1

        ```sh
        cp -a disk vault

        sync
        ```

        ^b2

        Never on Sundays. ^b3
    "#]]
    .assert_eq(&dir.read("daily/2026-11-30/restore.md"));
    let blank = call(&dir, "remember", json!({"title": "Nothing", "text": " \n\n "})).await;
    assert_eq!((blank.is_error, dir.exists("daily/2026-11-30/nothing.md")), (true, false));
}
