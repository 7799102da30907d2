//! Which vault a command means: `--vault`, `DORMOUSE_VAULT`, else the nearest parent that is one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::failure::refuse;

/// The vault's folder.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(named) = named {
        return Ok(named.to_path_buf());
    }
    let here = std::env::current_dir().context("the current folder can't be read")?;
    nearest(&here).ok_or_else(|| {
        refuse(
            "no-vault",
            format!("no vault at or above {}", here.display()),
            "name one with --vault DIR or DORMOUSE_VAULT, or make one with `dormouse init DIR`",
        )
    })
}

/// The nearest folder at or above `from` that has `dormouse.toml` or `.obsidian`.
fn nearest(from: &Path) -> Option<PathBuf> {
    from.ancestors()
        .find(|dir| dir.join("dormouse.toml").is_file() || dir.join(".obsidian").is_dir())
        .map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use dormouse_fixtures::temp_vault;

    use super::nearest;

    #[test]
    fn the_nearest_parent_with_a_marker_is_the_vault() {
        let vault = temp_vault("=== .obsidian/app.json\n{}\n=== a/b/note.md\nx\n");
        assert_eq!(nearest(&vault.path().join("a/b")).as_deref(), Some(vault.path()));
        let inner = temp_vault("=== dormouse.toml\n=== deep/er/x.md\n");
        assert_eq!(nearest(&inner.path().join("deep/er")).as_deref(), Some(inner.path()));
    }
}
