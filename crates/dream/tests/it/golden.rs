//! Golden dreams: small vaults, and the digests that the rules make of them.

use dormouse_fixtures::temp_vault;
use expect_test::{Expect, expect};

use crate::bench::{by_rules, digests};

fn check(vault: &str, expected: Expect) {
    let vault = temp_vault(vault);
    by_rules(&vault);
    expected.assert_eq(&digests(&vault));
}

#[test]
fn a_fault_becomes_cause_and_lesson_with_exact_sources() {
    check(
        r#"=== daily/2026-10-21/label-y.md
---
name: "A label \"y\" became a boolean"
description: A value of y was read as true.
date: 2026-10-21T11:30:00+02:00
---

A test vault with axis labels came back with `y` as true. ^b1

The cause was the YAML 1.1 reading of short words. ^b2

## What we learned

- Every property that a user typed as a word must come back as the same word. ^b3

It took forty minutes to find and one line to repair. ^b4
"#,
        expect![[r#"
            === digest/wiki/a-label-y-became-a-boolean.md
            ---
            name: "A label \"y\" became a boolean"
            description: "A value of y was read as true."
            created: 2026-11-30
            ---

            # A label "y" became a boolean

            - The cause was the YAML 1.1 reading of short words. (derived_from:: [[daily/2026-10-21/label-y#^b2|2026-10-21]])
            - Every property that a user typed as a word must come back as the same word. (derived_from:: [[daily/2026-10-21/label-y#^b3|2026-10-21]])
        "#]],
    );
}

#[test]
fn steps_become_a_numbered_procedure_of_their_own() {
    check(
        "=== daily/2026-10-28/exchange.md
---
name: Exchange of names
---

## Steps

1. Write the new text into a temporary file. ^b1
2. Call fsync on it. ^b2
3. Exchange the two names. ^b3
",
        expect![[r#"
            === digest/procedure/exchange-of-names-steps.md
            ---
            name: "Exchange of names: steps"
            description: "Write the new text into a temporary file. Call fsync on it. Exchange the two names."
            created: 2026-11-30
            ---

            # Exchange of names: steps

            1. Write the new text into a temporary file. (derived_from:: [[daily/2026-10-28/exchange#^b1|2026-10-28]])
            2. Call fsync on it. (derived_from:: [[daily/2026-10-28/exchange#^b2|2026-10-28]])
            3. Exchange the two names. (derived_from:: [[daily/2026-10-28/exchange#^b3|2026-10-28]])
        "#]],
    );
}

#[test]
fn preferences_in_chinese_become_a_personal_note_in_chinese() {
    check(
        "=== daily/2026-10-20/偏好.md
---
name: 用户的工作偏好
---

上午和用户聊了聊各自的时间安排。 ^b1

用户希望用中文讨论设计，但代码一律用英文。 ^b2

## 决定

- 以后都先给出结论，再给出依据。 ^b3
",
        expect![[r#"
            === digest/personal/用户的工作偏好.md
            ---
            name: "用户的工作偏好"
            description: "用户希望用中文讨论设计，但代码一律用英文。"
            created: 2026-11-30
            ---

            # 用户的工作偏好

            - 用户希望用中文讨论设计，但代码一律用英文。 (derived_from:: [[daily/2026-10-20/偏好#^b2|2026-10-20]])
            - 以后都先给出结论，再给出依据。 (derived_from:: [[daily/2026-10-20/偏好#^b3|2026-10-20]])
        "#]],
    );
}

#[test]
fn a_value_that_is_superseded_is_marked_in_place_with_both_sources() {
    check(
        "=== daily/2026-11-02/alpha-first.md
---
name: A first value for alpha
---

## Decision

- Alpha starts at 0.3, a guess that has not been measured yet. ^b1
=== daily/2026-11-09/alpha-lowered.md
---
name: Alpha lowered
---

The guess from [[alpha-first|last Monday]] has been looked at. ^b1

## Decision

- Alpha is 0.15 from today; the value 0.3 is superseded. ^b2
",
        expect![[r#"
            === digest/wiki/a-first-value-for-alpha.md
            ---
            name: "A first value for alpha"
            description: "Alpha starts at 0.3, a guess that has not been measured yet."
            created: 2026-11-30
            ---

            # A first value for alpha

            - Alpha starts at 0.3, a guess that has not been measured yet. (derived_from:: [[daily/2026-11-02/alpha-first#^b1|2026-11-02]]) **Superseded 2026-11-09:** Alpha is 0.15 from today; the value 0.3 is superseded. (derived_from:: [[daily/2026-11-09/alpha-lowered#^b2|2026-11-09]])
        "#]],
    );
}

#[test]
fn the_same_fact_from_a_second_day_adds_its_source_and_nothing_else() {
    check(
        "=== daily/2026-11-02/backup.md
---
name: Backups
---

## Decision

- Backups are made before every upgrade of the index. ^b1
=== daily/2026-11-05/backup-again.md
---
name: Backups
---

## Decision

- Backups are made before every upgrade of the index. ^b1
",
        expect![[r#"
            === digest/wiki/backups.md
            ---
            name: "Backups"
            description: "Backups are made before every upgrade of the index."
            created: 2026-11-30
            ---

            # Backups

            - Backups are made before every upgrade of the index. (derived_from:: [[daily/2026-11-02/backup#^b1|2026-11-02]]) (derived_from:: [[daily/2026-11-05/backup-again#^b1|2026-11-05]])
        "#]],
    );
}

#[test]
fn links_keep_their_targets_and_what_resolves_to_nothing_becomes_words() {
    check(
        "=== Projects/Dormouse.md
# Dormouse
=== daily/2026-11-02/links.md
---
name: Links of a decision
---

## Decision

- The page [[Dormouse]] stays, ![[Nowhere|the old one]] goes, and `[[code]]` is code. ^b1
",
        expect![[r#"
            === digest/wiki/links-of-a-decision.md
            ---
            name: "Links of a decision"
            description: "The page Dormouse stays, the old one goes, and `[[code]]` is code."
            created: 2026-11-30
            ---

            # Links of a decision

            - The page [[Projects/Dormouse|Dormouse]] stays, the old one goes, and `[[code]]` is code. (derived_from:: [[daily/2026-11-02/links#^b1|2026-11-02]])
        "#]],
    );
}

#[test]
fn a_conversation_keeps_what_its_speakers_say_about_themselves() {
    check(
        "=== daily/2022-01-21/chat.md
---
date: 2022-01-21
---

# Joanna and Nate, 21 January 2022

**Nate**: Hey Joanna! Long time no see! ^D1-1

**Joanna**: Do you have any hobbies you love? ^D1-2

**Nate**: I love collecting old video games and fixing them. ^D1-3

**Joanna**: Cool! ^D1-4
",
        expect![[r#"
            === digest/personal/nate-i-love-collecting-old-video-games-and-fixing-them.md
            ---
            name: "Nate: I love collecting old video games and fixing them"
            description: "I love collecting old video games and fixing them."
            created: 2026-11-30
            ---

            # Nate: I love collecting old video games and fixing them

            - [Do you have any hobbies you love?] Nate: I love collecting old video games and fixing them. (derived_from:: [[daily/2022-01-21/chat#^D1-3|2022-01-21]])
        "#]],
    );
}

#[test]
fn noise_gives_no_unit() {
    check(
        "=== daily/2026-10-21/waiting.md
---
name: Waiting for builds
---

The first full build was slow, as first builds are. The fan was louder than the music. ^b1

The user made coffee, came back, and it was still linking. ^b2

We looked at the weather and talked about whether hedgehogs also hibernate. They do. ^b3

At a quarter to six the build finished and so did the day. ^b4
=== daily/2026-10-29/杂记.md
---
name: 午后杂记
---

下午主要在等一个长时间的测量跑完。 ^b1

用户说窗台上的薄荷长得太快，剪了一半泡水喝。 ^b2
=== daily/2026-10-29.md
# 2026-10-29

- [[daily/2026-10-29/杂记|午后杂记]]
=== resource/2026-10-29/table.csv
a,b
必须,1
",
        expect![""],
    );
}
