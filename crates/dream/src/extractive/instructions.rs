//! Which list items read like steps.

use dormouse_vault::text::is_cjk;

use super::cues::padded;

/// Verbs that open an instruction.
const IMPERATIVES: &[&str] = &[
    "add",
    "ask",
    "apply",
    "back",
    "build",
    "call",
    "change",
    "check",
    "choose",
    "clean",
    "click",
    "clone",
    "close",
    "commit",
    "compare",
    "compile",
    "configure",
    "confirm",
    "copy",
    "create",
    "cut",
    "delete",
    "deploy",
    "disable",
    "do",
    "download",
    "edit",
    "enable",
    "ensure",
    "enter",
    "exchange",
    "export",
    "fetch",
    "find",
    "fix",
    "flush",
    "follow",
    "go",
    "import",
    "install",
    "keep",
    "list",
    "log",
    "look",
    "make",
    "merge",
    "mount",
    "move",
    "name",
    "note",
    "open",
    "pause",
    "press",
    "print",
    "publish",
    "pull",
    "push",
    "put",
    "read",
    "rebuild",
    "record",
    "refuse",
    "remove",
    "rename",
    "repeat",
    "replace",
    "report",
    "restart",
    "restore",
    "retry",
    "return",
    "review",
    "run",
    "save",
    "scan",
    "search",
    "select",
    "send",
    "set",
    "show",
    "sort",
    "start",
    "stop",
    "swap",
    "switch",
    "sync",
    "tag",
    "take",
    "tell",
    "test",
    "turn",
    "type",
    "unmount",
    "update",
    "upload",
    "use",
    "verify",
    "wait",
    "warm",
    "watch",
    "write",
    "if",
    "when",
    "then",
    "first",
    "finally",
];

/// First words that no instruction begins with, though "the" may follow them.
#[rustfmt::skip]
const NO_VERBS: &[&str] = &[
    "in", "on", "at", "by", "for", "from", "of", "to", "with", "without", "over", "under", "after", "before", "between", "during", "until", "since", "about", "like", "than",
    "and", "or", "but", "so", "if", "when", "while", "because", "as", "that", "not", "only", "then", "all", "both", "half", "is", "are", "was", "were", "be", "has", "have",
    "had", "will", "would", "should", "can", "could", "may", "might", "must", "do", "does", "did", "the", "a", "an", "it", "this", "what", "which", "who", "where", "how",
    "why", "near", "through", "against", "into", "onto", "behind", "up", "down", "off", "out", "maybe", "even", "still", "just", "once", "quite", "such", "again", "read",
    "found", "ran", "got", "gave", "went", "told", "took", "made", "came", "saw", "wrote", "felt", "left", "met", "sent", "slept", "spent", "bought", "brought", "thought",
    "kept", "began", "woke", "drove", "ate", "drank", "paid", "said", "sat", "stood", "held", "heard", "knew", "fell", "built", "broke", "chose", "lost", "won", "forgot",
    "dreamt", "hit", "let", "lets", "across", "around", "inside", "outside", "per", "despite", "unlike", "yes", "no",
];

/// What stands behind the verb of an instruction.
#[rustfmt::skip]
const OBJECTS: &[&str] = &[
    "the", "a", "an", "your", "it", "them", "each", "every", "all", "only", "one", "two", "no", "both", "what", "that", "this", "these", "those", "any", "at", "for", "away",
];

/// Openings that say when or where an instruction holds.
const SCOPES: &[&str] = &["in", "before", "after", "when", "for", "if", "at", "with", "during", "to", "once", "next"];

/// Whether a text begins with the verb of an instruction: one of the known ones with enough behind it,
/// or any word that could be a verb in its plain form with an object behind it.
fn commands(text: &str) -> bool {
    // "Decision: the copy" opens with a label.
    if text.split_whitespace().next().is_none_or(|w| w.ends_with(|c: char| !c.is_alphanumeric())) {
        return false;
    }
    let padded = padded(text);
    let mut words = padded.split_whitespace();
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let plain = !["ed", "ing", "ly"].iter().any(|end| first.ends_with(end))
        && (!first.ends_with('s') || first.ends_with("ss"))
        && first.len() > 2
        && !NO_VERBS.contains(&first);
    matches!(first, "dont" | "never" | "always") || plain && OBJECTS.contains(&second)
}

/// Whether a sentence is advice: an instruction, at times behind what says when it holds.
pub(super) fn advises(sentence: &str) -> bool {
    if padded(sentence).split_whitespace().count() < 5 || sentence.trim_end().ends_with('!') {
        return false;
    }
    commands(sentence) || scoped(sentence).is_some_and(commands)
}

/// Whether a sentence only asks for something to be done now: an instruction that sets no rule.
pub(super) fn asks(sentence: &str) -> bool {
    let padded = padded(sentence);
    let standing =
        ["always", "never", "dont", "every", "everything", "each", "whenever", "from now on", "in future", "any"];
    advises(sentence) && !standing.iter().any(|w| padded.contains(&format!(" {w} ")))
}

/// What follows "After a deploy, " or "To top up: ".
fn scoped(sentence: &str) -> Option<&str> {
    let (scope, rest) = sentence.split_once([',', ':'])?;
    let padded = padded(scope);
    let first = padded.split_whitespace().next()?;
    (SCOPES.contains(&first) && padded.split_whitespace().count() <= 9).then(|| rest.trim())
}

/// Whether a sentence says how something is done: two instructions or more, one behind the other.
pub(super) fn methods(sentence: &str) -> bool {
    let of = scoped(sentence).unwrap_or(sentence);
    let clauses = of.split([',', ';', ':']).flat_map(|c| c.split(" and ")).flat_map(|c| c.split(" then "));
    let actions = clauses
        .map(str::trim)
        .filter(|c| {
            let padded = padded(c);
            let mut words = padded.split_whitespace();
            let first = words.next().unwrap_or("");
            commands(c) || IMPERATIVES.contains(&first) && !NO_VERBS.contains(&first) && words.next().is_some()
        })
        .count();
    actions >= 2 && advises(sentence)
}

/// Whether an item reads like an instruction. Chinese items of a numbered list always may.
pub(super) fn is_instruction(item: &str) -> bool {
    let padded = padded(item);
    let first = padded.split_whitespace().next().unwrap_or("");
    IMPERATIVES.contains(&first) || item.chars().any(is_cjk)
}
