//! Topics: what a host might raise, from events in and as lines out.

use dormouse_dream::{DreamConfig, DreamError, TopicMark, mark_topic, refresh_topics};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::meta::{TopicKind, TopicState, Topics};
use dormouse_vault::{FixedClock, Vault};
use expect_test::{Expect, expect};

use crate::bench::by_rules;

fn on(day: &str) -> FixedClock {
    FixedClock::new(format!("{day}T09:00:00+00:00").parse().unwrap())
}

fn topics(vault: &TempVault, day: &str) -> Topics {
    refresh_topics(&Vault::open(vault.path()).unwrap(), &on(day), &DreamConfig::default()).unwrap().0
}

fn lines(topics: &Topics) -> String {
    let mut out = String::new();
    for topic in &topics.topics {
        let kind = match topic.kind {
            TopicKind::FollowUp => "follow-up",
            TopicKind::Question => "question",
            TopicKind::Interest => "interest",
        };
        let due = topic.due.map(|due| format!(" by {due}")).unwrap_or_default();
        let state = match &topic.state {
            TopicState::Open => String::new(),
            TopicState::Raised { .. } => " (raised)".to_owned(),
            TopicState::Resolved { by, .. } => {
                format!(" (resolved by {})", by.as_ref().map_or("a person".to_owned(), ToString::to_string))
            }
        };
        let evidence: Vec<String> = topic
            .evidence
            .iter()
            .map(|e| format!("{}{}", e.note, e.block.as_ref().map(|b| format!("#^{b}")).unwrap_or_default()))
            .collect();
        out.push_str(&format!("{kind}{due}: {}{state} [{}]\n", topic.subject, evidence.join(", ")));
    }
    out
}

fn check(text: &str, day: &str, expected: &Expect) {
    let vault = temp_vault(text);
    expected.assert_eq(&lines(&topics(&vault, day)));
}

const WEEK: &str = "\
=== daily/2026-11-23/lease.md
The landlord wants an answer. We have to send the lease back by Friday. ^b1
=== daily/2026-11-24/heating.md
Cold again. Why does the boiler lose pressure at night? ^b1
=== daily/2026-11-24/chat.md
**User**: Which train goes to Lund on Sundays? ^b1

**Assistant**: The regional train, every hour. ^b2

**User**: And does the dog need a ticket of its own? ^b3

**Assistant**: I'm not sure, please check with the operator. ^b4
=== daily/2026-11-25/visa.md
下周三要去大使馆交签证材料。 ^b1

护照的照片要不要重新拍？ ^b2
";

#[test]
fn intentions_with_a_day_and_questions_that_nothing_answered_are_topics() {
    check(
        WEEK,
        "2026-11-26",
        &expect![[r#"
            follow-up by 2026-11-27: We have to send the lease back by Friday. [daily/2026-11-23/lease.md#^b1]
            follow-up by 2026-12-02: 下周三要去大使馆交签证材料。 [daily/2026-11-25/visa.md#^b1]
            question: 护照的照片要不要重新拍？ [daily/2026-11-25/visa.md#^b2]
            question: And does the dog need a ticket of its own? [daily/2026-11-24/chat.md#^b3]
            question: Why does the boiler lose pressure at night? [daily/2026-11-24/heating.md#^b1]
        "#]],
    );
}

#[test]
fn an_event_that_answers_or_reports_it_done_resolves_a_topic() {
    let vault = temp_vault(WEEK);
    topics(&vault, "2026-11-26");
    vault.write("daily/2026-11-27/boiler.md", "The boiler loses pressure at night because a valve is worn. ^b1\n");
    vault.write("daily/2026-11-27/post.md", "We sent the lease back to the landlord, registered. ^b1\n");
    vault.write("daily/2026-11-28/photo.md", "护照的照片已经重新拍了。 ^b1\n");
    expect![[r#"
        follow-up by 2026-12-02: 下周三要去大使馆交签证材料。 [daily/2026-11-25/visa.md#^b1]
        question: And does the dog need a ticket of its own? [daily/2026-11-24/chat.md#^b3]
        follow-up by 2026-11-27: We have to send the lease back by Friday. (resolved by daily/2026-11-27/post.md) [daily/2026-11-23/lease.md#^b1]
        question: 护照的照片要不要重新拍？ (resolved by daily/2026-11-28/photo.md) [daily/2026-11-25/visa.md#^b2]
        question: Why does the boiler lose pressure at night? (resolved by daily/2026-11-27/boiler.md) [daily/2026-11-24/heating.md#^b1]
    "#]]
    .assert_eq(&lines(&topics(&vault, "2026-11-29")));
}

#[test]
fn what_was_raised_is_not_found_again_under_nearly_the_same_words() {
    let vault = temp_vault(WEEK);
    let boiler = topics(&vault, "2026-11-26").topics.into_iter().find(|t| t.subject.contains("boiler")).unwrap();
    let open = Vault::open(vault.path()).unwrap();
    assert!(mark_topic(&open, &boiler.id, TopicMark::Raised, &on("2026-11-26")).unwrap());
    assert!(!mark_topic(&open, &boiler.id, TopicMark::Raised, &on("2026-11-26")).unwrap());
    vault.write("daily/2026-11-28/again.md", "Still: why does the boiler lose pressure at night? ^b1\n");
    let after = lines(&topics(&vault, "2026-11-29"));
    assert_eq!(after.matches("boiler").count(), 1, "{after}");
    assert!(after.contains("lose pressure at night? (raised)"), "{after}");
}

#[test]
fn a_subject_of_three_days_is_an_interest_and_one_of_two_is_not() {
    let told = |day: &str| {
        format!(
            "=== daily/{day}/bread.md\n---\nname: Sourdough\n---\n\nDecision: the sourdough rests for {day} hours. ^b1\n"
        )
    };
    let vault = temp_vault(&format!(
        "{}{}{}=== digest/wiki/sourdough.md\n---\nname: Sourdough\n---\n\n- It rests. (derived_from:: [[daily/2026-11-20/bread#^b1]])\n- It rests. (derived_from:: [[daily/2026-11-21/bread#^b1]])\n",
        told("2026-11-20"),
        told("2026-11-21"),
        told("2026-11-22")
    ));
    assert_eq!(lines(&topics(&vault, "2026-11-26")), "");
    let file = "digest/wiki/sourdough.md";
    let more = format!("{}- It rests. (derived_from:: [[daily/2026-11-22/bread#^b1]])\n", vault.read(file));
    vault.write(file, more);
    assert_eq!(
        lines(&topics(&vault, "2026-11-26")),
        "interest: Sourdough [daily/2026-11-20/bread.md#^b1, daily/2026-11-21/bread.md#^b1, daily/2026-11-22/bread.md#^b1]\n"
    );
}

#[test]
fn a_dream_stores_them_and_a_second_look_changes_no_byte() {
    let vault = temp_vault(&WEEK.replace("2026-11-2", "2026-11-1"));
    by_rules(&vault);
    let stored = vault.read("meta/topics.json");
    assert!(stored.contains("\"follow-up\""), "{stored}");
    topics(&vault, "2026-11-30");
    assert_eq!(vault.read("meta/topics.json"), stored);
}

#[test]
fn topics_that_can_not_be_read_are_never_written_over_by_a_mark_and_are_set_aside_by_a_dream() {
    let vault = temp_vault(WEEK);
    vault.write("meta/topics.json", "{ cut");
    let open = Vault::open(vault.path()).unwrap();
    let refused = mark_topic(&open, "abcd", TopicMark::Raised, &on("2026-11-26"));
    assert!(matches!(refused, Err(DreamError::TopicsUnreadable { .. })), "{refused:?}");
    assert_eq!(vault.read("meta/topics.json"), "{ cut");
    let (found, problem) = refresh_topics(&open, &on("2026-11-26"), &DreamConfig::default()).unwrap();
    assert!(problem.is_some() && found.topics.len() == 5, "{problem:?}");
    let aside = vault.files().into_iter().any(|(path, bytes)| path.contains("set-aside") && bytes == b"{ cut");
    assert!(aside || std::fs::read_dir(vault.path().join(".dormouse/set-aside")).is_ok_and(|mut d| d.next().is_some()));
    let missing = mark_topic(&open, "abcdabcdabcd", TopicMark::Raised, &on("2026-11-26"));
    assert!(matches!(missing, Err(DreamError::NoSuchTopic { .. })), "{missing:?}");
}
