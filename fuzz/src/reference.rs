//! A resolver that is written from the rules, one after the other, over a plain list of files: slow,
//! without an index, and nothing in common with the one that it is compared with.

use dormouse_vault::NotePath;
use unicode_normalization::UnicodeNormalization;

/// The file that `target` means in a link of `source`, and whether only the order of bytes chose it.
pub(crate) fn resolve(files: &[NotePath], source: &NotePath, target: &str) -> Option<(NotePath, bool)> {
    // An empty path is the source itself.
    if target.is_empty() {
        return Some((source.clone(), false));
    }
    // Slashes at the end say nothing, and nothing else is no name.
    let target = target.trim_end_matches('/');
    if target.is_empty() {
        return None;
    }
    // As written when the last segment has a dot, then with `.md`.
    let last = target.rsplit('/').next().unwrap_or("");
    let written = if last.contains('.') { find(files, source, target) } else { None };
    written.or_else(|| find(files, source, &format!("{target}.md")))
}

fn find(files: &[NotePath], source: &NotePath, target: &str) -> Option<(NotePath, bool)> {
    let all = || files.iter();
    let wanted = segments(target);
    // `.` and `..` are folders, and a folder is no file.
    if matches!(wanted.last().map(String::as_str), None | Some("." | "..")) {
        return None;
    }
    // `./` and `../` mean one place relative to the source.
    if target.starts_with("./") || target.starts_with("../") {
        let mut place = segments(source.folder());
        for segment in &wanted {
            match segment.as_str() {
                "." => {}
                ".." => {
                    place.pop()?;
                }
                name => place.push(name.to_owned()),
            }
        }
        return best(all().filter(|file| segments(file.as_str()) == place), source, target);
    }
    // A leading `/` means one place from the root.
    let exact = best(all().filter(|file| segments(file.as_str()) == wanted), source, target);
    if target.starts_with('/') || exact.is_some() {
        return exact;
    }
    // The end of a path, in whole folders.
    best(all().filter(|file| segments(file.as_str()).ends_with(&wanted)), source, target)
}

/// In the source's folder or below it, then the shortest path, then spelled as the link, then bytes.
fn best<'f>(fitting: impl Iterator<Item = &'f NotePath>, source: &NotePath, target: &str) -> Option<(NotePath, bool)> {
    let folder = segments(source.folder());
    let spelled = squeezed(&target.replace('\u{A0}', " "));
    let spelled = spelled.trim_start_matches("../").trim_start_matches("./").trim_start_matches('/');
    let mut fitting: Vec<&NotePath> = fitting.collect();
    let rank = |file: &NotePath| {
        let place = segments(file.as_str());
        let below = place.len() > folder.len() && place.starts_with(&folder);
        (!below, file.as_str().chars().count(), !file.as_str().ends_with(spelled))
    };
    fitting.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    // A file that is listed twice is one file.
    fitting.dedup_by(|a, b| a == b);
    let first = fitting.first()?;
    let tie = fitting.get(1).is_some_and(|second| rank(second) == rank(first));
    // The spelling that was listed last is the one on disk.
    Some(((*first).clone(), tie))
}

/// The folders and the name of a path, as they are compared.
fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !segment.is_empty()).map(folded).collect()
}

/// NFC, no-break spaces as spaces, and lower case by single characters.
fn folded(name: &str) -> String {
    let spaced: String = name.chars().map(|c| if matches!(c, '\u{A0}' | '\u{202F}') { ' ' } else { c }).collect();
    let lower: String = spaced.nfc().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect();
    lower.nfc().collect()
}

fn squeezed(path: &str) -> String {
    let mut out = path.to_owned();
    while out.contains("//") {
        out = out.replace("//", "/");
    }
    out
}
