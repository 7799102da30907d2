//! `dormouse init`: the layers' folders and a commented settings file; no note is touched.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dormouse_vault::{Bucket, Change, ChangeSet, CommitError, Conservation, NotePath, OpenOptions, Vault, Writer};
use serde::Serialize;

use super::Scene;
use crate::args::InitArgs;
use crate::output::Output;

/// The settings file of a new vault: every line a comment, so that the defaults hold.
const SETTINGS: &str = include_str!("dormouse.toml");

#[derive(Debug, Serialize)]
struct Reply {
    vault: PathBuf,
    created: Vec<String>,
    notes: usize,
}

pub(crate) fn run(scene: &Scene, args: &InitArgs, out: &mut Output) -> Result<u8> {
    let dir = match (&args.dir, scene.named()) {
        (Some(dir), _) => dir.clone(),
        (None, Some(named)) => named.to_path_buf(),
        (None, None) => std::env::current_dir().context("the current folder can't be read")?,
    };
    make(&dir)?;
    let vault = Vault::open_with(&dir, OpenOptions::default())?;
    if vault.is_read_only() {
        return Err(CommitError::ReadOnly { path: vault.root().to_path_buf() }.into());
    }
    let layout = vault.layout().clone();
    let mut created = Vec::new();
    let buckets = Bucket::ALL.map(|b| layout.bucket_folder(b));
    for folder in [&layout.daily, &layout.resource].into_iter().chain(&buckets) {
        let path = vault.root().join(folder);
        if !path.is_dir() {
            make(&path)?;
            created.push(format!("{folder}/"));
        }
    }
    let settings = NotePath::new("dormouse.toml")?;
    if !vault.root().join("dormouse.toml").exists() {
        let change = Change::Create { path: settings, content: SETTINGS.to_owned() };
        vault.commit(&ChangeSet::new(Writer::Person, Conservation::Free).with(change))?;
        created.push("dormouse.toml".to_owned());
    }
    let reply = Reply { vault: vault.root().to_path_buf(), created, notes: vault.snapshot().notes().count() };
    out.emit(&reply, |w| {
        writeln!(w, "{} is a vault with {}.", reply.vault.display(), super::counted(reply.notes, "note"))?;
        for made in &reply.created {
            writeln!(w, "  made {made}")?;
        }
        writeln!(w, "Next: `dormouse remember \"…\"`, `dormouse dream`, `dormouse search …`")
    })?;
    Ok(0)
}

/// Makes a folder, its parents too.
fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| match error.kind() {
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            CommitError::ReadOnly { path: folder.to_path_buf() }.into()
        }
        _ => anyhow::Error::new(error).context(format!("{}: the folder can't be made", folder.display())),
    })
}
