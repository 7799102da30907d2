//! What a run begins with, made from the vectors of the link rules.

use crate::vectors::{self, Vector};

/// The vectors of the link rules.
const VECTORS: &str = include_str!("../../fixtures/links.json");

/// The inputs that the engine is given for a target beside its corpus: a name and the bytes.
/// Empty for a target that the vectors say nothing about.
///
/// # Panics
/// When fixtures/links.json can't be read, which a test excludes.
#[must_use]
pub fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let make: fn(&Vector) -> String = match target {
        "links" => |vector| vector.files[&vector.source].clone(),
        "frontmatter_edit" => |vector| format!("status {}\n{}", vector.id, vector.files[&vector.source]),
        "resolve" => resolve_seed,
        _ => return Vec::new(),
    };
    let vectors = vectors::parse(VECTORS).expect("our own vectors can be read");
    vectors.iter().map(|vector| (vector.id.clone(), make(vector).into_bytes())).collect()
}

/// The files, the source and the first target, a line each.
fn resolve_seed(vector: &Vector) -> String {
    let mut lines: Vec<&str> = vector.files.keys().map(String::as_str).collect();
    lines.push(&vector.source);
    let first = vector.expect.first().and_then(|row| row.get("target"));
    lines.push(first.and_then(|target| target.as_str()).unwrap_or("N"));
    lines.join("\n")
}
