//! Everything that a fuzzer was fed or found holds, and the vectors of the link rules come out.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops when something is broken"
)]

use std::path::Path;

use dormouse_fuzz::{TARGETS, seeds, vectors};

#[test]
fn what_was_fed_and_what_was_found_breaks_no_law() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for target in TARGETS {
        for (name, data) in seeds(target.name) {
            let held = std::panic::catch_unwind(|| (target.run)(&data));
            assert!(held.is_ok(), "the seed {name} breaks a law of `{}`", target.name);
        }
        for folder in ["corpus", "regressions"] {
            let Ok(entries) = std::fs::read_dir(root.join(folder).join(target.name)) else {
                continue;
            };
            let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            files.sort();
            for file in files {
                let data = std::fs::read(&file).unwrap();
                let held = std::panic::catch_unwind(|| (target.run)(&data));
                assert!(held.is_ok(), "{} breaks a law of `{}`", file.display(), target.name);
            }
        }
    }
}

#[test]
fn the_vectors_of_the_link_rules_come_out() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/links.json");
    let vectors = vectors::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert!(vectors.len() > 100, "{}", vectors.len());
    let failures: Vec<_> = vectors.iter().filter_map(|vector| vectors::run(vector).unwrap()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_vector_that_is_wrong_is_told_and_a_broken_file_says_where() {
    let wrong = r##"[{"id": "x", "files": {"A.md": "", "s.md": "[[A]]"}, "source": "s.md",
        "expect": [{"kind": "wiki", "target": "A", "resolves": null}]}]"##;
    let failure = vectors::run(&vectors::parse(wrong).unwrap()[0]).unwrap().unwrap();
    assert_eq!(serde_json::to_string(&failure.actual).unwrap(), r#"[{"kind":"wiki","target":"A","resolves":"A.md"}]"#);

    let fault = |text: &str| vectors::parse(text).unwrap_err().to_string();
    assert!(fault("[").starts_with("not a JSON list of vectors: EOF"));
    assert!(
        fault(r#"[{"id": "one", "files": {}, "source": "s.md", "expect": []}, {"id": "two"}]"#).starts_with("two: ")
    );
    assert!(fault(r#"[{}]"#).starts_with("entry 1: "));
    let astray = r##"[{"id": "y", "files": {"A.md": ""}, "source": "s.md", "expect": []}]"##;
    let fault = vectors::run(&vectors::parse(astray).unwrap()[0]).unwrap_err().to_string();
    assert_eq!(fault, "y: the source \"s.md\" is not among the files");
}
