//! The list of targets.

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name on the command line, and of its folders in `corpus/` and `regressions/`.
    pub name: &'static str,
    /// What it holds, in a line.
    pub about: &'static str,
    /// Panics when a law is broken.
    pub run: fn(&[u8]),
}

/// All targets, by name.
pub const TARGETS: &[Target] = &[
    Target {
        name: "commit",
        about: "on a disk that breaks, a plan is carried out whole or not at all, and no other file changes",
        run: crate::commit,
    },
    Target {
        name: "frontmatter_edit",
        about: "an edit of a property is read back and changes nothing else",
        run: crate::frontmatter_edit,
    },
    Target {
        name: "links",
        about: "every span slices, every link reads back as itself, a new target changes one link alone",
        run: crate::links,
    },
    Target {
        name: "resolve",
        about: "a link means the same file in any order of files, and what the rules say",
        run: crate::resolve,
    },
    Target {
        name: "snapshot_cache",
        about: "a damaged cached snapshot costs time alone; one that lies stops nothing",
        run: crate::snapshot_cache,
    },
];
