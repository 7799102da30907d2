//! docs/capabilities.md stays true: the modules and tests that it names exist.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::sources::Source;

/// Reports every module and test that the table names and the tree lacks. In the table a module is
/// `` `crates/….rs` `` (a file or folder) and a test is `` `test_name` `` in the last column.
pub(crate) fn check(root: &Path, files: &[Source]) -> Result<Vec<String>> {
    let page = root.join("docs/capabilities.md");
    let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let is_row = line.starts_with('|') && cells.len() >= 4 && !line.contains("---");
        if !is_row {
            continue;
        }
        let (modules, tests) = (cells.get(cells.len() - 2), cells.last());
        for module in modules.into_iter().flat_map(|c| quoted(c)) {
            if !root.join(module).exists() {
                findings.push(format!("docs/capabilities.md:{}: no such module: {module}", number + 1));
            }
        }
        for test in tests.into_iter().flat_map(|c| quoted(c)) {
            let needle = format!("fn {test}(");
            if !files.iter().any(|f| f.text.contains(&needle)) {
                findings.push(format!("docs/capabilities.md:{}: no such test: {test}", number + 1));
            }
        }
    }
    Ok(findings)
}

fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_stand_in_backticks() {
        assert_eq!(quoted("`a/b.rs` and `c`"), ["a/b.rs", "c"]);
        assert!(quoted("none").is_empty());
    }
}
