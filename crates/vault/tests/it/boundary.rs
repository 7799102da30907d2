//! A link is a part of the text: an edge has no life of its own.

use dormouse_fixtures::temp_vault;
use dormouse_vault::{Conservation, NotePath, Vault, Writer};

#[test]
fn an_edge_comes_and_goes_with_its_link_in_the_body() {
    let folder = temp_vault("=== a.md\nalpha\n=== b.md\nbeta\n");
    let vault = Vault::open(folder.path()).unwrap();
    let a = NotePath::new("a.md").unwrap();
    let edges = |vault: &Vault| {
        vault.snapshot().graph().edges().iter().map(|e| format!("{} -> {}", e.source, e.target)).collect::<Vec<_>>()
    };
    assert!(edges(&vault).is_empty());
    let write = |text: &str| {
        let read = vault.read(&a).unwrap();
        let plan = vault.begin(Writer::Person).rule(Conservation::Free).replace(a.clone(), read.version, text);
        plan.commit().unwrap();
    };
    write("alpha [[b]]\n");
    assert_eq!(edges(&vault), ["a.md -> b.md"]);
    write("alpha `[[b]]`\n");
    assert!(edges(&vault).is_empty());
    // An edge that another program writes is the same edge, and no file but the note holds it.
    folder.write("a.md", "alpha [beta](b.md)\n");
    vault.refresh().unwrap();
    assert_eq!(edges(&vault), ["a.md -> b.md"]);
    assert_eq!(folder.dump(), "=== a.md\nalpha [beta](b.md)\n=== b.md\nbeta\n");
}
