//! `dormouse watch`: what other programs change, as it happens.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use dormouse_vault::{Delta, NotePath, Problem, WatchOptions};
use serde::Serialize;

use super::{Scene, runtime, warn};
use crate::args::WatchArgs;
use crate::output::{Output, dim};

/// How soon Ctrl-C is heeded.
const HEED: Duration = Duration::from_millis(100);

pub(crate) fn run(scene: &Scene, args: &WatchArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let runtime = runtime()?;
    let ended = end_is_asked_for(&runtime)?;
    let rescan = args.rescan.map_or(WatchOptions::default().rescan, |seconds| Duration::from_secs(seconds.into()));
    let watcher = vault.watch(WatchOptions { rescan, ..WatchOptions::default() })?;
    // The first look takes in what changed since the vault was opened.
    while watcher.counts().rescans == 0 && watcher.problems().is_empty() && !ended.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let vault_root = vault.root().display().to_string();
    out.line(&Line::Watching { root: &vault_root }, |w| {
        writeln!(w, "{}", dim(format!("watching {vault_root}; Ctrl-C ends it")))
    })?;
    let mut said: Vec<Problem> = Vec::new();
    let mut left = args.deltas;
    while !ended.load(Ordering::SeqCst) && left != Some(0) {
        let delta = watcher.next(HEED);
        let problems = watcher.problems();
        if problems != said {
            if out.is_json() {
                out.line(&Line::Problems { problems: &problems }, |_| Ok(()))?;
            } else {
                warn(&problems);
            }
            said = problems;
        }
        if let Some(delta) = delta {
            out.line(&Line::of(&delta), |w| page(w, &delta))?;
            left = left.map(|left| left - 1);
        }
    }
    Ok(0)
}

/// True once the user has pressed Ctrl-C, or the system asks the process to end: the ordinary end of
/// a watch.
#[cfg(unix)]
fn end_is_asked_for(runtime: &tokio::runtime::Runtime) -> io::Result<Arc<AtomicBool>> {
    use tokio::signal::unix::{SignalKind, signal};
    let ended = Arc::new(AtomicBool::new(false));
    let _context = runtime.enter();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let (mut asked, flag) = (signal(kind)?, Arc::clone(&ended));
        runtime.spawn(async move {
            asked.recv().await;
            flag.store(true, Ordering::SeqCst);
        });
    }
    Ok(ended)
}

#[cfg(not(unix))]
fn end_is_asked_for(runtime: &tokio::runtime::Runtime) -> io::Result<Arc<AtomicBool>> {
    let ended = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ended);
    runtime.spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        flag.store(true, Ordering::SeqCst);
    });
    Ok(ended)
}

/// One line of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Line<'a> {
    /// The first line: from here on nothing is missed.
    Watching { root: &'a str },
    /// What changed.
    Delta { added: &'a [NotePath], changed: &'a [NotePath], removed: &'a [NotePath] },
    /// Why the vault is not watched as it should be, from now on; empty when all is well again.
    Problems { problems: &'a [Problem] },
}

impl<'a> Line<'a> {
    fn of(delta: &'a Delta) -> Self {
        Self::Delta { added: &delta.added, changed: &delta.changed, removed: &delta.removed }
    }
}

fn page(w: &mut dyn Write, delta: &Delta) -> io::Result<()> {
    for (mark, paths) in [("+", &delta.added), ("~", &delta.changed), ("-", &delta.removed)] {
        for path in paths {
            writeln!(w, "{mark} {path}")?;
        }
    }
    Ok(())
}
