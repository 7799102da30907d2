//! Layers and buckets: which folder is whose.

use serde::{Deserialize, Serialize};

use crate::fold;
use crate::path::{NotePath, PathError};

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

/// The layers' folders, vault-relative. Settings: `[layout]` in `dormouse.toml`. A folder may have
/// several segments and may lie in another layer's; the deepest one decides.
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
    /// The layer that `path` lies in: that of the deepest layer folder above it.
    #[must_use]
    pub fn layer(&self, path: &NotePath) -> Layer {
        let above = self.folders().into_iter().filter(|(_, folder)| path.is_in(folder));
        above.max_by_key(|(_, folder)| folder.len()).map_or(Layer::Other, |(layer, _)| layer)
    }

    fn folders(&self) -> [(Layer, &str); 5] {
        [
            (Layer::Daily, &self.daily),
            (Layer::Resource, &self.resource),
            (Layer::Digest, &self.digest),
            (Layer::Meta, &self.meta),
            (Layer::Audit, &self.audit),
        ]
    }

    /// The layout with each folder in the form that paths are compared in, or what is wrong with
    /// it: a folder that is no path inside the vault, that is hidden, or that two layers share.
    pub(crate) fn checked(&self) -> Result<Self, LayoutError> {
        let fold = |layer: Layer, folder: &str| match NotePath::new(folder.trim_end_matches('/')) {
            Ok(path) if path.as_str().split('/').any(|segment| segment.starts_with('.')) => {
                Err(LayoutError::Hidden(layer))
            }
            Ok(path) => Ok(path.as_str().to_owned()),
            Err(source) => Err(LayoutError::Path { layer, source }),
        };
        let layout = Self {
            daily: fold(Layer::Daily, &self.daily)?,
            resource: fold(Layer::Resource, &self.resource)?,
            digest: fold(Layer::Digest, &self.digest)?,
            meta: fold(Layer::Meta, &self.meta)?,
            audit: fold(Layer::Audit, &self.audit)?,
        };
        let mut seen: Vec<(Layer, String)> = Vec::new();
        for (layer, folder) in layout.folders() {
            let folded = fold::name(folder);
            if let Some((other, _)) = seen.iter().find(|(_, have)| *have == folded) {
                return Err(LayoutError::Shared(*other, layer));
            }
            seen.push((layer, folded));
        }
        Ok(layout)
    }

    /// The bucket of a digest path; `None` outside the three bucket folders.
    #[must_use]
    pub fn bucket(&self, path: &NotePath) -> Option<Bucket> {
        let rest = path.as_str().strip_prefix(self.digest.as_str())?.strip_prefix('/')?;
        let (folder, _) = rest.split_once('/')?;
        Bucket::ALL.into_iter().find(|b| b.as_str() == folder)
    }

    /// The file `rest` below a layer's folder: `meta/recency.json`. A folder that can't be part of
    /// a path gives way to the default one; `rest` is ours and well-formed.
    pub(crate) fn file(&self, layer: Layer, rest: &str) -> NotePath {
        let folder = match layer {
            Layer::Daily => &self.daily,
            Layer::Resource => &self.resource,
            Layer::Digest => &self.digest,
            Layer::Meta => &self.meta,
            Layer::Audit | Layer::Other => &self.audit,
        };
        #[expect(clippy::expect_used, reason = "a layer's name and a name of ours make a valid path")]
        NotePath::new(&format!("{folder}/{rest}"))
            .or_else(|_| NotePath::new(&format!("{layer}/{rest}")))
            .expect("a valid path")
    }

    /// The folder of a bucket, vault-relative.
    #[must_use]
    pub fn bucket_folder(&self, bucket: Bucket) -> String {
        format!("{}/{bucket}", self.digest)
    }
}

/// Why a layout can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LayoutError {
    /// A folder that is no path.
    #[error("{layer}: {source}")]
    Path {
        /// Whose folder.
        layer: Layer,
        /// Which rule it breaks.
        source: PathError,
    },
    /// A folder that is never read.
    #[error("{0}: a name that starts with a dot is never read")]
    Hidden(Layer),
    /// One folder for two layers.
    #[error("{0} and {1} have the same folder")]
    Shared(Layer, Layer),
}
