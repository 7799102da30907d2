//! Frontmatter: every line that is not ours survives, byte for byte and in order.

use crate::conserve::{Part, Violation};

/// The keys whose values are ours to change.
const OURS: [&str; 2] = ["name:", "description:"];

/// Checks that the user's lines are still there; lines may be added between them.
pub(super) fn check(part: &Part<'_>) -> Option<Violation> {
    check_but(part, &OURS)
}

/// [`check`] with other keys whose values may change, each with its colon.
pub(super) fn check_but(part: &Part<'_>, ours: &[&str]) -> Option<Violation> {
    let old = part.old.as_ref()?.frontmatter.span.clone()?;
    let old = part.touched.text_before()?.get(old)?;
    let new = part.new.frontmatter.span.clone().and_then(|span| part.touched.text_after().get(span)).unwrap_or("");
    let mut rest = users_lines(new, ours).into_iter();
    let lost = users_lines(old, ours).into_iter().filter(|line| !rest.by_ref().any(|other| other == *line));
    let lines: Vec<String> = lost.map(|line| line.trim_end().to_owned()).collect();
    (!lines.is_empty()).then(|| Violation::PropertiesLost { path: part.touched.path.clone(), lines })
}

/// The lines between the fences, without the entries of our keys and what continues these.
fn users_lines<'t>(block: &'t str, keys: &[&str]) -> Vec<&'t str> {
    let mut ours = false;
    let mut lines: Vec<&str> = block
        .split_inclusive('\n')
        .skip(1)
        .filter(|line| {
            let continues = line.starts_with([' ', '\t', '-']) && !line.starts_with("---");
            if !(continues || line.trim().is_empty()) {
                ours = keys.iter().any(|key| line.starts_with(key));
            }
            !ours
        })
        .collect();
    if lines.last().is_some_and(|last| matches!(last.trim_end(), "---" | "...")) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::users_lines;

    #[test]
    fn what_continues_one_of_our_keys_is_ours_and_comments_are_not() {
        let block = "---\nname: >\n  a\n\n  b\n# mine\ntags: [x]\ndescription: d\nodd:   'no'\n---\n";
        assert_eq!(users_lines(block, &super::OURS), ["# mine\n", "tags: [x]\n", "odd:   'no'\n"]);
    }
}
