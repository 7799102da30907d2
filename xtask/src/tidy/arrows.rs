//! The arrows between the crates: few, drawn in ARCHITECTURE.md, and held here.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Each crate with the crates of ours that it may depend on.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("dormouse-vault", &[]),
    ("dormouse-model", &[]),
    ("dormouse-dream", &["dormouse-vault", "dormouse-model"]),
    ("dormouse-consolidate", &["dormouse-vault", "dormouse-model"]),
    ("dormouse-recall", &["dormouse-vault"]),
    (
        "dormouse-agent-loop",
        &["dormouse-vault", "dormouse-model", "dormouse-dream", "dormouse-consolidate", "dormouse-recall"],
    ),
    (
        "dormouse",
        &[
            "dormouse-vault",
            "dormouse-model",
            "dormouse-dream",
            "dormouse-consolidate",
            "dormouse-recall",
            "dormouse-agent-loop",
        ],
    ),
    ("dormouse-fixtures", &[]),
    ("dormouse-fuzz", &["dormouse-vault", "dormouse-fixtures"]),
    (
        "xtask",
        &[
            "dormouse-vault",
            "dormouse-model",
            "dormouse-dream",
            "dormouse-consolidate",
            "dormouse-recall",
            "dormouse-agent-loop",
            "dormouse-fixtures",
            "dormouse-fuzz",
        ],
    ),
];

/// Reads the workspace's metadata and reports every arrow that is not drawn.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .context("`cargo metadata` could not be started")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` printed no JSON")?;
    Ok(violations(&metadata))
}

fn violations(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours: Vec<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let mut findings = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            findings.push(format!("{name}: a crate without drawn arrows; add it to xtask/src/tidy/arrows.rs"));
            continue;
        };
        for dependency in package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let target = dependency["name"].as_str().unwrap_or_default();
            let fixtures_for_tests = target == "dormouse-fixtures" && dependency["kind"] == "dev";
            if ours.contains(&target) && !allowed.contains(&target) && !fixtures_for_tests {
                findings.push(format!("{name} → {target}: a forbidden arrow"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::violations;

    #[test]
    fn a_stage_may_not_depend_on_another_stage() {
        let metadata = json!({ "packages": [
            { "name": "dormouse-dream", "dependencies": [{ "name": "dormouse-vault", "kind": null }, { "name": "dormouse-recall", "kind": null }] },
            { "name": "dormouse-recall", "dependencies": [{ "name": "dormouse-fixtures", "kind": "dev" }] },
            { "name": "dormouse-vault", "dependencies": [{ "name": "dormouse-fixtures", "kind": null }] },
            { "name": "dormouse-fixtures", "dependencies": [{ "name": "serde", "kind": null }] },
        ]});
        assert_eq!(
            violations(&metadata),
            [
                "dormouse-dream → dormouse-recall: a forbidden arrow",
                "dormouse-vault → dormouse-fixtures: a forbidden arrow"
            ]
        );
    }
}
