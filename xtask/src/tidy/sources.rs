//! Module headers and file sizes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The longest production part of a file, in lines.
const LONGEST: usize = 500;

/// One source file.
pub(crate) struct Source {
    /// Relative to the workspace, `/`-separated.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

/// All Rust files of the workspace, in order.
pub(crate) fn collect(root: &Path) -> Result<Vec<Source>> {
    let mut files = Vec::new();
    for top in ["crates", "xtask", "fixtures", "fuzz"] {
        walk(&root.join(top), &mut files)?;
    }
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            Ok(Source { path, text })
        })
        .collect()
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|n| n != "target" && n != "vaults") {
                walk(&path, files)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Reports files without a header and files that are too long.
pub(crate) fn check(files: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files {
        if !file.text.starts_with("//!") {
            findings.push(format!("{}: no module header; say in `//!` what it is for", file.path));
        }
        let production = file.text.lines().take_while(|line| *line != "#[cfg(test)]").count();
        let is_test = file.path.contains("/tests/") || file.path.ends_with("tests.rs");
        if production > LONGEST && !is_test {
            findings.push(format!("{}: {production} lines before its tests; {LONGEST} at the most", file.path));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Source, check};

    #[test]
    fn long_and_headless_files_are_reported() {
        let long = format!("//! Header.\n{}", "fn f() {}\n".repeat(LONGEST));
        let files = [
            Source { path: "crates/a/src/long.rs".into(), text: long },
            Source { path: "crates/a/src/bare.rs".into(), text: "fn f() {}\n".into() },
            Source { path: "crates/a/src/good.rs".into(), text: "//! Header.\n".into() },
        ];
        assert_eq!(check(&files).len(), 2);
    }
}
