//! Layers and buckets: which folder is whose.

use serde::{Deserialize, Serialize};

use crate::path::NotePath;

/// The three kinds of abstraction, one folder each below the digest layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bucket {
    /// How to do it.
    Procedure,
    /// Who they are, what they prefer, what never to do.
    Personal,
    /// What it is, what happened, why it was decided. The default.
    Wiki,
}

impl Bucket {
    /// All buckets, in folder order.
    pub const ALL: [Self; 3] = [Self::Procedure, Self::Personal, Self::Wiki];

    /// The folder name below the digest layer.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Procedure => "procedure",
            Self::Personal => "personal",
            Self::Wiki => "wiki",
        }
    }
}

impl std::fmt::Display for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a file is to the memory cycle, decided by its folder alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// What happened.
    Daily,
    /// Source material.
    Resource,
    /// The abstractions.
    Digest,
    /// Derived signals; never a note.
    Meta,
    /// Reports; their links are no edges.
    Audit,
    /// Anything else: the user's own notes.
    Other,
}

impl Layer {
    /// The name as used in queries (`in:digest`) and settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Resource => "resource",
            Self::Digest => "digest",
            Self::Meta => "meta",
            Self::Audit => "audit",
            Self::Other => "other",
        }
    }
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The layers' folders, vault-relative. Settings: `[layout]` in `dormouse.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Layout {
    /// Default `daily`.
    pub daily: String,
    /// Default `resource`.
    pub resource: String,
    /// Default `digest`.
    pub digest: String,
    /// Default `meta`.
    pub meta: String,
    /// Default `audit`.
    pub audit: String,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            daily: "daily".into(),
            resource: "resource".into(),
            digest: "digest".into(),
            meta: "meta".into(),
            audit: "audit".into(),
        }
    }
}

impl Layout {
    /// The layer that `path` lies in.
    #[must_use]
    pub fn layer(&self, path: &NotePath) -> Layer {
        if path.is_in(&self.digest) {
            Layer::Digest
        } else if path.is_in(&self.daily) {
            Layer::Daily
        } else if path.is_in(&self.resource) {
            Layer::Resource
        } else if path.is_in(&self.meta) {
            Layer::Meta
        } else if path.is_in(&self.audit) {
            Layer::Audit
        } else {
            Layer::Other
        }
    }

    /// The bucket of a digest path; `None` outside the three bucket folders.
    #[must_use]
    pub fn bucket(&self, path: &NotePath) -> Option<Bucket> {
        let rest = path.as_str().strip_prefix(self.digest.as_str())?.strip_prefix('/')?;
        let (folder, _) = rest.split_once('/')?;
        Bucket::ALL.into_iter().find(|b| b.as_str() == folder)
    }

    /// The folder of a bucket, vault-relative.
    #[must_use]
    pub fn bucket_folder(&self, bucket: Bucket) -> String {
        format!("{}/{bucket}", self.digest)
    }
}
