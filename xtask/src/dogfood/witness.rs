//! The witness: looks at the vault after every step and holds it against the invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use dormouse_vault::{EdgeKey, Layer, Note, NotePath, Snapshot, Vault, Version};

/// What a step may do to notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Somebody else puts a file into the vault.
    Arrive,
    /// The loop lives through a conversation: new events, then a dream.
    Live,
    /// A dream on what arrived.
    Dream,
    /// Consolidate: no note changes but by split.
    Consolidate,
    /// Questions: no note changes.
    Ask,
}

/// A digest's state when it was last seen.
#[derive(Debug, Clone)]
struct Digest {
    edges: Vec<EdgeKey>,
    blocks: Vec<String>,
}

/// Sees everything, forgets nothing.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    versions: BTreeMap<NotePath, Version>,
    texts: BTreeMap<NotePath, String>,
    digests: BTreeMap<NotePath, Digest>,
    /// Every digest block that was ever certified, with the note that held it.
    facts: BTreeMap<String, NotePath>,
    /// Digests that were there before the first day: not ours to vouch for.
    inherited: BTreeSet<NotePath>,
    violations: BTreeSet<String>,
    /// How many single checks were made.
    pub(crate) checks: usize,
}

impl Witness {
    /// Looks at the vault after a step of kind `step`.
    pub(crate) fn look(&mut self, vault: &Vault, step: Step) -> Result<()> {
        let snapshot = vault.snapshot();
        self.nothing_is_gone(&snapshot);
        let mut changed: Vec<Arc<Note>> = Vec::new();
        for note in snapshot.notes() {
            if self.versions.get(&note.path) != Some(&note.version) {
                changed.push(Arc::clone(note));
            }
        }
        let created: BTreeSet<NotePath> =
            changed.iter().filter(|n| !self.versions.contains_key(&n.path)).map(|n| n.path.clone()).collect();
        for note in &changed {
            let is_new = created.contains(&note.path);
            self.may_change(step, note, is_new);
            let text = vault.read(&note.path)?.text;
            if note.layer == Layer::Digest {
                if step == Step::Arrive {
                    self.inherited.insert(note.path.clone());
                }
                self.digest(&snapshot, note, &text, &created, step);
            } else {
                self.only_appended(note, &text, is_new);
            }
            self.no_statistics(note);
            self.versions.insert(note.path.clone(), note.version);
            self.texts.insert(note.path.clone(), text);
        }
        self.checks += 1;
        Ok(())
    }

    /// Adds a finding of another check.
    pub(crate) fn violation(&mut self, invariant: &str, what: impl std::fmt::Display) {
        self.violations.insert(format!("{invariant}: {what}"));
    }

    /// Checks `holds`, and notes `what` when it doesn't.
    pub(crate) fn check(&mut self, holds: bool, invariant: &str, what: impl std::fmt::Display) {
        self.checks += 1;
        if !holds {
            self.violation(invariant, what);
        }
    }

    /// What was found, in order.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.violations.iter().cloned().collect()
    }

    /// At the end: every fact that a dream certified still stands in a digest, every digest's
    /// provenance resolves, and no page of `audit/` or `meta/` is a source of an edge.
    pub(crate) fn at_the_end(&mut self, vault: &Vault) -> Result<()> {
        let snapshot = vault.snapshot();
        let mut all = String::new();
        for note in snapshot.notes().filter(|n| n.layer == Layer::Digest) {
            let inherited = self.inherited.contains(&note.path);
            all.push_str(&vault.read(&note.path)?.text);
            all.push('\n');
            if inherited {
                continue;
            }
            let sources = note.doc().links.iter().filter(|l| l.predicate.as_deref() == Some("derived_from"));
            let mut any = false;
            for link in sources {
                any = true;
                let resolved = snapshot.resolve(&note.path, &link.target);
                let target = resolved.path();
                self.check(target.is_some(), "provenance resolves", format_args!("{} → {}", note.path, link.target));
                if let Some(target) = target.filter(|_| !link.subpath.is_empty()) {
                    let anchored = snapshot.anchor_line(target, &link.subpath).is_some();
                    self.check(
                        anchored,
                        "provenance anchors resolve",
                        format_args!("{} → {}{}", note.path, link.target, link.subpath),
                    );
                }
            }
            self.check(any, "every digest has provenance", &note.path);
        }
        let lost: Vec<String> = self
            .facts
            .iter()
            .filter(|(fact, _)| !all.contains(fact.as_str()))
            .map(|(f, n)| format!("{n}: {f:?}"))
            .collect();
        self.checks += self.facts.len();
        for fact in lost {
            self.violation("no certified fact is gone", fact);
        }
        for edge in snapshot.graph().edges() {
            let layer = vault.layout().layer(edge.source);
            self.check(!matches!(layer, Layer::Meta | Layer::Audit), "audit links are no edges", edge.source);
        }
        Ok(())
    }

    /// F-1: no file is moved or removed.
    fn nothing_is_gone(&mut self, snapshot: &Snapshot) {
        let gone: Vec<NotePath> = self.versions.keys().filter(|p| !snapshot.exists(p)).cloned().collect();
        self.checks += self.versions.len();
        for path in gone {
            self.violation("F-1 no file is moved or removed", path);
        }
    }

    /// F-2, F-3 and the boundary of the layers: who may change what in this step.
    fn may_change(&mut self, step: Step, note: &Note, is_new: bool) {
        let allowed = step == Step::Arrive
            || matches!(
                (step, note.layer),
                (Step::Live, Layer::Daily | Layer::Digest) | (Step::Dream | Step::Consolidate, Layer::Digest)
            );
        let what = format_args!("{} was {} by {step:?}", note.path, if is_new { "created" } else { "changed" });
        self.check(allowed, "F-2 only the subject changes", what);
    }

    /// Daily events, resources and the user's notes keep their bytes; the day's index only grows.
    fn only_appended(&mut self, note: &Note, text: &str, is_new: bool) {
        if is_new {
            return;
        }
        let is_index =
            note.layer == Layer::Daily && note.path.date().is_some_and(|d| note.path.stem() == d.to_string());
        let grew = is_index && self.texts.get(&note.path).is_some_and(|old| text.starts_with(old.as_str()));
        self.check(grew, "no source byte changes", &note.path);
    }

    /// E-1 and E-2: edges and blocks of a digest stay, in it or in what was split off in this step.
    fn digest(&mut self, snapshot: &Snapshot, note: &Note, text: &str, created: &BTreeSet<NotePath>, step: Step) {
        let edges = snapshot.edges_of(&note.path, note.doc());
        let blocks: Vec<String> =
            note.doc().blocks.iter().filter_map(|b| Some(text.get(b.span.clone())?.trim().to_owned())).collect();
        if let Some(old) = self.digests.get(&note.path).cloned() {
            let mut after: BTreeSet<EdgeKey> = edges.iter().cloned().collect();
            for child in created.iter().filter_map(|p| snapshot.note(p)) {
                after.extend(snapshot.edges_of(&child.path, child.doc()));
            }
            let missing: Vec<String> =
                old.edges.iter().filter(|e| !after.contains(e)).map(ToString::to_string).collect();
            self.check(
                missing.is_empty(),
                "E-1 out-edges are conserved",
                format_args!("{}: {}", note.path, missing.join(", ")),
            );
            let was_split = !created.is_empty() && blocks.len() < old.blocks.len();
            self.check(step != Step::Consolidate || was_split, "F-3 consolidate only splits", &note.path);
        } else if step == Step::Consolidate {
            let is_child = edges
                .iter()
                .any(|e| matches!(&e.target, dormouse_vault::EdgeTarget::File(t) if self.digests.contains_key(t)));
            self.check(is_child, "F-3 consolidate only splits", &note.path);
        }
        for block in &blocks {
            self.facts.entry(block.clone()).or_insert_with(|| note.path.clone());
        }
        self.digests.insert(note.path.clone(), Digest { edges, blocks });
    }

    /// The boundary of derived signals: no computed value stands in a note that we write.
    fn no_statistics(&mut self, note: &Note) {
        const COMPUTED: [&str; 10] = [
            "score",
            "recency",
            "community",
            "centrality",
            "pagerank",
            "hits",
            "hits_30",
            "modularity",
            "stability",
            "archived",
        ];
        if note.layer != Layer::Digest {
            return;
        }
        let properties = note.doc().frontmatter.properties.keys().map(String::as_str);
        let fields = note.doc().fields.iter().map(|f| f.key.as_str());
        let found: Vec<&str> =
            properties.chain(fields).filter(|k| COMPUTED.contains(&k.to_lowercase().as_str())).collect();
        self.check(
            found.is_empty(),
            "no computed value in a note",
            format_args!("{}: {}", note.path, found.join(", ")),
        );
    }
}
