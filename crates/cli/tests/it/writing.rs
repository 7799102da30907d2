//! `rename` and `edit` from outside: what they print, what they exit with, what they leave.

use dormouse_fixtures::temp_vault;
use expect_test::expect;

use crate::program::{program, run, run_with};

const VAULT: &str = "=== birds/Heron.md\n---\ntags: [bird]\n---\n# Heron\n\n## Log\n\n- seen ^b1\n\n## Food\n\nfish\n\
    === n.md\n[[Heron|it]] [x](birds/Heron.md#Log)\n=== other/Grey heron.md\n=== daily/2026-11-02.md\n[[Heron]]\n";

#[test]
fn a_rename_prints_each_line_and_a_dry_run_changes_nothing() {
    let vault = temp_vault(VAULT);
    let before = vault.files();
    let dry = run(vault.path(), &["rename", "heron", "Grey heron", "--dry-run"]);
    expect![[r#"
        birds/Heron.md → birds/Grey heron.md
        daily/2026-11-02.md:1  [[Heron]] → [[birds/Grey heron]]  longer, since the short form would mean other/Grey heron.md as well
        n.md:1  [[Heron|it]] → [[birds/Grey heron|it]]  longer, since the short form would mean other/Grey heron.md as well
        n.md:1  [x](birds/Heron.md#Log) → [x](birds/Grey%20heron.md#Log)
        ── would rename 1 file, 3 links in 2 files written anew
    "#]]
    .assert_eq(&dry.stdout);
    assert_eq!((dry.code, vault.files()), (0, before));
    let reply = run(vault.path(), &["rename", "birds/Heron.md", "birds/Grey heron.md", "--json"]).json();
    assert_eq!((reply["links_rewritten"].as_u64(), reply["files_rewritten"].as_u64()), (Some(3), Some(2)));
    assert_eq!((reply["written"].as_bool(), reply["rewritten"][1]["line"].as_u64()), (Some(true), Some(1)));
    assert_eq!(vault.read("n.md"), "[[birds/Grey heron|it]] [x](birds/Grey%20heron.md#Log)\n");
    assert_eq!(run(vault.path(), &["rename", "birds", "animals/birds/"]).code, 0);
    assert!(vault.read("animals/birds/birds/Grey heron.md").contains("# Heron"));
}

#[test]
fn a_rename_that_is_refused_says_why_by_its_exit_code() {
    let vault = temp_vault(VAULT);
    let before = vault.files();
    let fails = |new: &str, code: i32, error: &str| {
        let ran = run(vault.path(), &["rename", "birds/Heron.md", new, "--json"]);
        assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (code, Some(error)), "{new}: {}", ran.stdout);
    };
    fails("birds/Heron.md", 2, "same-name");
    fails("../x.md", 2, "bad-path");
    fails("other/grey HERON", 4, "exists");
    fails("birds/C#", 7, "bad-name");
    fails("daily/Heron", 7, "denied");
    assert_eq!(run(vault.path(), &["rename", "nobody", "x"]).code, 3);
    assert_eq!(vault.files(), before);
}

#[test]
fn an_edit_shows_its_diff_and_changes_one_place() {
    let vault = temp_vault(VAULT);
    let edit = |args: &[&str]| run(vault.path(), &[&["edit", "heron"], args].concat());
    let dry = edit(&["--heading", "log", "--append", "--text", "- gone", "--dry-run"]);
    expect![[r#"
        --- a/birds/Heron.md
        +++ b/birds/Heron.md
        @@ -6,6 +6,7 @@
         ## Log
         
         - seen ^b1
        +- gone
         
         ## Food
         
        ── birds/Heron.md · version 0 · dry run, nothing written
    "#]]
    .assert_eq(&without_token(&dry.stdout));
    assert!(vault.read("birds/Heron.md").contains("- seen ^b1\n\n## Food"));
    assert_eq!(edit(&["--heading", "log", "--append", "--text", "- gone"]).code, 0);
    assert_eq!(edit(&["--block", "b1", "--text", "seen twice"]).code, 0);
    assert_eq!(
        edit(&["--set", "status=in flight: yes", "--set", "count=3", "--add", "tags=grey", "--unset", "none"]).code,
        3
    );
    assert_eq!(edit(&["--set", "status=in flight: yes", "--set", "count=3", "--add", "tags=grey"]).code, 0);
    assert_eq!(run_with(vault.path(), &["edit", "heron", "--heading", "Food"], "frogs\n").code, 0);
    expect![[r#"
        ---
        tags: [bird, grey]
        status: "in flight: yes"
        count: 3
        ---
        # Heron

        ## Log

        - seen twice ^b1
        - gone

        ## Food

        frogs
    "#]]
    .assert_eq(&vault.read("birds/Heron.md"));
    let range = run(vault.path(), &["edit", "n.md", "--range", "0..2", "--text", "![[", "--json"]).json();
    assert_eq!(range["written"], true);
    assert!(vault.read("n.md").starts_with("![[Heron|it]]"));
}

/// The page without the version token, which says nothing to a reader.
fn without_token(page: &str) -> String {
    let mut words: Vec<&str> = page.split(' ').collect();
    for word in &mut words {
        if word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit()) {
            *word = "0";
        }
    }
    words.join(" ")
}

#[test]
fn an_edit_of_another_version_is_a_conflict_that_shows_the_diff() {
    let vault = temp_vault(VAULT);
    let token = run(vault.path(), &["read", "heron", "--json"]).json()["version"].as_str().unwrap().to_owned();
    vault.write("birds/Heron.md", "# Heron\n\n## Log\n\nmine\n");
    let args = ["edit", "heron", "--heading", "Log", "--text", "ours", "--if-version", &token];
    let ran = run(vault.path(), &[&args[..], &["--json"]].concat());
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (4, Some("conflict")));
    assert_eq!(ran.json()["error"]["conflict"]["expected"], token.as_str());
    assert!(ran.json()["error"]["conflict"]["diff"].as_str().unwrap().contains("-mine\n+ours\n"));
    let ran = run(vault.path(), &args);
    assert!(ran.code == 4 && ran.stderr.contains("-mine\n+ours\n"), "{}", ran.stderr);
    assert_eq!(vault.read("birds/Heron.md"), "# Heron\n\n## Log\n\nmine\n");
}

#[test]
fn an_edit_that_is_not_clear_or_not_allowed_is_refused() {
    let vault = temp_vault("=== a.md\n---\nbad: a: b\n---\n# H\n# H\n=== daily/2026-11-02.md\n# D\n");
    let before = vault.files();
    let fails = |args: &[&str], code: i32, error: &str| {
        let ran = run(vault.path(), &[&["edit"], args, &["--json"]].concat());
        assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (code, Some(error)), "{args:?}: {}", ran.stdout);
    };
    fails(&["a", "--heading", "H", "--text", "x"], 2, "ambiguous");
    fails(&["a", "--heading", "none", "--text", "x"], 3, "not-found");
    fails(&["a", "--block", "none", "--text", "x"], 3, "not-found");
    fails(&["a", "--set", "k=v"], 7, "malformed-frontmatter");
    fails(&["a", "--set", "k"], 2, "usage");
    fails(&["a", "--range", "9999..10000", "--text", "x"], 2, "usage");
    fails(&["a", "--heading", "H", "--occurrence", "2"], 2, "usage");
    fails(&["a"], 2, "usage");
    fails(&["2026-11-02", "--heading", "D", "--text", "x"], 7, "denied");
    fails(&["nobody", "--set", "k=v"], 3, "not-found");
    assert_eq!(vault.files(), before);
}

#[test]
fn an_edit_of_what_is_no_note_is_refused_and_nothing_is_written() {
    let vault = temp_vault(
        "=== board.canvas\n{\"nodes\": []}\n=== t.base\nviews: []\n=== p.svg\n<svg/>\n=== d.csv\na,b\n=== t.txt\n# H\n=== dormouse.toml\n",
    );
    vault.write("p.pdf", b"%PDF-1.4\xff");
    let before = vault.files();
    for name in ["board.canvas", "t.base", "p.svg", "p.pdf", "d.csv", "t.txt", "dormouse.toml"] {
        let places = [&["--set", "k=v"][..], &["--add", "k=v"], &["--heading", "H"], &["--range", "0..1"]];
        for place in places {
            let text: &[&str] =
                if place[0].starts_with("--h") || place[0].starts_with("--r") { &["--text", "x"] } else { &[] };
            let ran = run(vault.path(), &[&["edit", name, "--json"], place, text].concat());
            assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (7, Some("not-a-note")), "{name} {place:?}");
        }
    }
    assert_eq!(vault.files(), before);
}

/// Refused with the candidates named, and nothing written.
#[track_caller]
fn check_ambiguous(vault: &dormouse_fixtures::TempVault, args: &[&str], candidates: &[&str]) {
    let before = vault.files();
    let ran = run(vault.path(), &[args, &["--json"]].concat());
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (2, Some("ambiguous")), "{args:?}: {}", ran.stdout);
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with(&format!(": {}", candidates.join(", "))), "{message}");
    assert_eq!(vault.files(), before);
}

#[test]
fn a_name_that_several_notes_answer_to_is_refused_with_all_of_them() {
    let vault = temp_vault(
        "=== a/N.md\n=== a/b/n.md\n=== c/d/N.md\n=== e/c/d/N.md\n=== 项目/计划.md\n=== 归档/计划.md\n=== M.md\n=== x/M.md\n",
    );
    let all = ["a/N.md", "a/b/n.md", "c/d/N.md", "e/c/d/N.md"];
    for name in ["N", "n", "N.md", "[[N]]", "![[N#H|x]]"] {
        check_ambiguous(&vault, &["edit", name, "--set", "k=v"], &all);
        check_ambiguous(&vault, &["rename", name, "Z"], &all);
        check_ambiguous(&vault, &["read", name], &all);
    }
    check_ambiguous(&vault, &["read", "D/n"], &["c/d/N.md", "e/c/d/N.md"]);
    check_ambiguous(&vault, &["edit", "计划", "--set", "k=v"], &["归档/计划.md", "项目/计划.md"]);
    for (name, path) in [
        ("a/N", "a/N.md"),
        ("a/b/n.md", "a/b/n.md"),
        ("[[c/d/N]]", "c/d/N.md"),
        ("[[C/D/n#H]]", "c/d/N.md"),
        ("/c/d/N", "c/d/N.md"),
        ("./c/d/N", "c/d/N.md"),
        ("././M.md", "M.md"),
        ("./M", "M.md"),
        ("M", "M.md"),
        ("m", "M.md"),
        ("x/M", "x/M.md"),
    ] {
        assert_eq!(run(vault.path(), &["read", name, "--json"]).json()["path"], path, "{name}");
    }
}

#[test]
fn a_name_of_a_folder_and_of_a_note_is_refused() {
    let vault = temp_vault("=== A/x.md\n=== d/A.md\n=== B/x.md\n=== B.md\n=== n.md\n[[d/A]]\n");
    check_ambiguous(&vault, &["rename", "A", "new"], &["A/", "d/A.md"]);
    check_ambiguous(&vault, &["rename", "./A", "new"], &["A/", "d/A.md"]);
    check_ambiguous(&vault, &["rename", "B", "new"], &["B/", "B.md"]);
    assert_eq!(run(vault.path(), &["rename", "./d/A", "d/C"]).code, 0);
    assert_eq!(vault.read("n.md"), "[[d/C]]\n");
    assert_eq!(run(vault.path(), &["rename", "A/", "./F"]).code, 0);
    assert!(vault.files().contains_key("F/x.md"));
}

#[test]
fn writers_at_the_same_time_all_get_their_turn() {
    let vault = temp_vault("=== x.md\n# X\n\n## Log\n=== o.md\n[[x]]\n");
    run(vault.path(), &["list"]);
    let start = |args: &[&str]| {
        let mut command = program(vault.path());
        command.args(args).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let values: Vec<String> = (0..8).map(|n| format!("list=v{n}")).collect();
    let writers: Vec<_> = values.iter().map(|value| start(&["edit", "x", "--add", value])).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = vault.read("x.md");
    assert!((0..8).all(|n| text.contains(&format!("  - v{n}\n"))), "{text}");
    // A rename meets edits of a note that links to what is renamed.
    let mut writers: Vec<_> = values.iter().take(5).map(|value| start(&["edit", "o", "--add", value])).collect();
    writers.push(start(&["rename", "x", "y"]));
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = vault.read("o.md");
    assert!((0..5).all(|n| text.contains(&format!("  - v{n}\n"))) && text.contains("[[y]]"), "{text}");
}

#[test]
fn a_mistake_is_answered_with_what_would_be_right() {
    let vault =
        temp_vault("=== a.md\n# H\n# H\n=== d.md\n---\nk: 1\nk: 2\nStatus: x\n---\n=== daily/2026-11-02.md\n# D\n");
    let before = vault.files();
    let says = |args: &[&str], code: i32, words: &str| {
        let ran = run(vault.path(), args);
        assert!(ran.code == code && ran.stderr.contains(words), "{args:?}: {} {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains(".md,") && !ran.stderr.contains("ARCHITECTURE"), "{}", ran.stderr);
    };
    says(&["edit", "a", "--heading", "H", "--text", "x", "--occurrence", "3"], 3, "there are only 2, on lines 1, 2");
    says(&["edit", "a", "--heading", "H", "--text", "x", "--occurrence", "0"], 2, "occurrences are counted from 1");
    says(&["list", "--since", "yesterday"], 2, "a day is written YYYY-MM-DD, as 2026-11-30");
    says(&["rename", "a", ""], 2, "NEW is empty");
    says(&["rename", "", "a"], 2, "OLD is empty");
    says(&["rename", "a", "daily/a"], 7, "within their folder");
    says(&["edit", "2026-11-02", "--set", "k=v"], 7, "you edit digests and your own notes");
    for place in [["--set", "a=b"], ["--unset", "k"], ["--add", "a=b"], ["--remove", "k=1"]] {
        says(&["edit", "d", place[0], place[1]], 7, "on lines 2, 3; keep one");
    }
    assert_eq!(vault.files(), before);
}

#[test]
fn one_of_something_is_counted_as_one() {
    let vault = temp_vault("=== a.md\n# A\n=== b.md\n[[a]]\n");
    assert!(run(vault.path(), &["read", "a"]).stdout.contains("· 0 links out, 1 note links here\n"));
    assert!(run(vault.path(), &["read", "b"]).stdout.contains("· 1 link out, 0 notes link here\n"));
    assert!(run(vault.path(), &["list", "--links-to", "a"]).stdout.ends_with("1 note\n"));
    assert!(
        run(vault.path(), &["rename", "a", "c"]).stdout.ends_with("renamed 1 file, 1 link in 1 file written anew\n")
    );
}

#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "a person protects the notes, not the program")]
fn a_note_that_is_write_protected_is_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let vault = temp_vault("=== a.md\n# A\n=== b.md\n[[a]]\n");
    for name in ["a.md", "b.md"] {
        std::fs::set_permissions(vault.path().join(name), std::fs::Permissions::from_mode(0o444)).unwrap();
    }
    let before = vault.files();
    for args in [&["edit", "a", "--set", "k=v"][..], &["rename", "a", "c"]] {
        let ran = run(vault.path(), &[args, &["--json"]].concat());
        let error = &ran.json()["error"];
        assert_eq!((ran.code, error["code"].as_str()), (6, Some("read-only")), "{}", ran.stdout);
        assert!(error["hint"].as_str().unwrap().contains("write protection"), "{error}");
    }
    assert_eq!(vault.files(), before);
}

#[test]
fn two_notes_are_merged_or_dismissed() {
    let vault = temp_vault("=== a.md\nHerons fish.\n=== b.md\nHerons fish.\n\nOtters sleep.\n=== n.md\n[[b|it]]\n");
    let before = vault.files();
    let dry = run(vault.path(), &["merge", "a", "b", "--dry-run", "--json"]).json();
    assert_eq!((&dry["written"], &dry["blocks_added"], &dry["blocks_same"]), (&false.into(), &1.into(), &1.into()));
    assert_eq!(vault.files(), before);
    let dismissed = run(vault.path(), &["dismiss", "b", "a", "--json"]).json();
    assert_eq!((&dismissed["a"], &dismissed["changed"]), (&"b.md".into(), &true.into()));
    let list = run(vault.path(), &["dismiss", "--list", "--json"]).json();
    assert_eq!(list["dismissed"][0]["in_force"], true);
    assert_eq!(run(vault.path(), &["dismiss", "--undo", "a", "b", "--json"]).json()["changed"], true);
    assert_eq!(run(vault.path(), &["merge", "a", "nothing"]).code, 3);
    assert_eq!(run(vault.path(), &["merge", "a", "a"]).code, 2);
    let done = run(vault.path(), &["merge", "a", "b", "--json"]).json();
    assert_eq!(done["trash"], ".trash/b.md");
    assert_eq!(vault.read("n.md"), "[[a|it]]\n");
    assert!(vault.read("a.md").ends_with("Herons fish.\n\nOtters sleep.\n"));
    assert!(!vault.exists("b.md"));
}
