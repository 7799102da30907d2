//! Trials after the life: dream again, take away what may be missing, and see that all holds.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use dormouse_dream::{Abstractor, DreamConfig, DreamContext, DreamRequest, DreamScope, LexicalNeighbours, dream};
use dormouse_recall::SignalSwitches;
use dormouse_vault::{Clock, Layer, Vault};

use super::ask::{self, ask};
use super::live::Life;
use super::questions::Asked;

/// A copy of a vault that goes away when it is dropped.
pub(crate) struct Copy {
    /// The opened copy.
    pub(crate) vault: Arc<Vault>,
    _dir: tempfile::TempDir,
}

/// A copy of the vault at `from` without the folders that are named, and without the cache.
pub(crate) fn without(from: &Path, folders: &[&str]) -> Result<Copy> {
    let dir = tempfile::tempdir()?;
    let to = dir.path().join("vault");
    dormouse_fixtures::copy_tree_without(from, &to, &[folders, &[".dormouse"]].concat());
    Ok(Copy { vault: Arc::new(Vault::open(&to)?), _dir: dir })
}

/// A second dream over all material, also when the ledger is gone, changes no note.
pub(crate) async fn dreaming_again_changes_nothing(life: &mut Life, abstractor: &dyn Abstractor) -> Result<()> {
    let before = life.vault.snapshot().fingerprint();
    again(&life.vault, abstractor, &life.clock).await?;
    life.witness.check(
        life.vault.snapshot().fingerprint() == before,
        "dreaming twice changes nothing",
        "the second run changed notes",
    );
    if abstractor.name() != "extractive" {
        // A model need not say the same twice; the ledger is what keeps it from being asked.
        return Ok(());
    }
    let copy = without(life.vault.root(), &[&life.vault.layout().meta])?;
    let before: Vec<_> = digests(&copy.vault);
    again(&copy.vault, abstractor, &life.clock).await?;
    let after = digests(&copy.vault);
    let changed: Vec<String> = after.iter().filter(|d| !before.contains(d)).map(|(path, _)| path.clone()).collect();
    life.witness.check(changed.is_empty(), "dreaming without the ledger changes nothing", changed.join(", "));
    Ok(())
}

fn digests(vault: &Vault) -> Vec<(String, dormouse_vault::Version)> {
    let snapshot = vault.snapshot();
    snapshot.notes().filter(|n| n.layer == Layer::Digest).map(|n| (n.path.to_string(), n.version)).collect()
}

async fn again(vault: &Vault, abstractor: &dyn Abstractor, clock: &dyn Clock) -> Result<()> {
    let snapshot = vault.snapshot();
    let paths = snapshot.notes().map(|n| &n.path).chain(snapshot.files());
    let materials = paths.filter(|p| matches!(vault.layout().layer(p), Layer::Daily | Layer::Resource));
    let context = DreamContext {
        vault,
        abstractor,
        neighbours: &LexicalNeighbours::new(vault),
        clock,
        config: &vault.settings().section::<DreamConfig>("dream").0,
        observer: &(),
        cancel: &|| false,
    };
    let request = DreamRequest { scope: DreamScope::Notes(materials.cloned().collect()), ..DreamRequest::default() };
    let report = dream(context, request).await?;
    anyhow::ensure!(report.totals.failed == 0, "dreaming again failed for {} materials", report.totals.failed);
    Ok(())
}

/// Without `meta/`, without `.dormouse/`, and with rubbish in both: the same questions get answers.
pub(crate) fn the_cache_can_go(life: &mut Life, questions: &[Asked], vault: &Path) -> Result<()> {
    let clock: Arc<dyn Clock> = Arc::new(life.clock.clone());
    let bare = without(vault, &[&life.vault.layout().meta])?;
    let rubbish = without(vault, &[])?;
    spoil(rubbish.vault.root(), &life.vault.layout().meta)?;
    for (copy, what) in [(bare, "without meta and cache"), (rubbish, "with rubbish in meta and cache")] {
        let recall = ask::recall(&copy.vault, &clock)?;
        let answers = ask(&recall, questions, SignalSwitches::ALL, &mut life.witness)?;
        super::every_question_is_answered(&answers, what, life);
    }
    Ok(())
}

/// Fills the derived files and the index with what a crash or another program may leave.
fn spoil(root: &Path, meta: &str) -> Result<()> {
    let mut files = std::fs::read_dir(root.join(meta))?.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    for (n, file) in files.into_iter().enumerate() {
        let spoiled: &[u8] = match n % 3 {
            0 => b"{\"version\": 1, \"computed_at\": \"20",
            1 => &[0; 64],
            _ => b"{\"version\": 999, \"computed_at\": \"2026-11-30T00:00:00Z\"}",
        };
        std::fs::write(file, spoiled)?;
    }
    let index = root.join(".dormouse/index");
    std::fs::create_dir_all(&index)?;
    std::fs::write(index.join("meta.json"), b"rubbish")?;
    Ok(())
}
