//! The body of a daily note: blocks with an id each, so that a digest can cite one.

/// How a block carries its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A heading, or a rule: none.
    Bare,
    /// At the end of its own text.
    Text,
    /// A list item: the same, but no blank line to the item before it.
    Item,
    /// Alone on a line, after a blank one: code, table, quote, formula, HTML.
    Whole,
}

/// The blocks under each other, each with its id; empty for none.
pub(super) fn with_ids(blocks: &[String]) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut last = Shape::Bare;
    for block in blocks.iter().flat_map(|block| cut(block)) {
        let shape = shape(&block);
        if !(shape == Shape::Item && last == Shape::Item) {
            out.push('\n');
        }
        last = shape;
        if shape != Shape::Bare {
            count += 1;
        }
        match shape {
            Shape::Bare => out.push_str(&block),
            Shape::Whole => out.push_str(&format!("{block}\n\n^b{count}")),
            Shape::Text | Shape::Item => {
                let (own, nested) = block.split_at(own_text(&block));
                out.push_str(&format!("{own} ^b{count}{nested}"));
            }
        }
        out.push('\n');
    }
    out
}

/// A text cut at its blank lines and before each list item, but not inside code, a formula or a
/// comment. One that is left open is closed.
fn cut(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    let mut open: Option<&str> = None;
    let mut flush = |current: &mut Vec<&str>| {
        if !current.is_empty() {
            blocks.push(current.join("\n"));
            current.clear();
        }
    };
    for line in text.lines().map(str::trim_end) {
        let first = current.first().copied().unwrap_or("");
        let opening = fence_of(line).or_else(|| span_of(line));
        if let Some(fence) = open {
            current.push(line);
            if closes(line, fence) {
                open = None;
                if !is_item(first) {
                    flush(&mut current);
                }
            }
        } else if opening.is_some() {
            if !is_item(first) {
                flush(&mut current);
            }
            open = opening;
            current.push(line);
        } else if line.is_empty() {
            flush(&mut current);
        } else if is_heading(line) {
            flush(&mut current);
            current.push(line);
            flush(&mut current);
        } else {
            if is_item(line) && (is_item(first) || (shape(first) == Shape::Text && is_bullet(line))) {
                flush(&mut current);
            }
            current.push(line);
        }
    }
    current.extend(open);
    flush(&mut current);
    blocks
}

fn shape(block: &str) -> Shape {
    let first = block.lines().next().unwrap_or("");
    let second = block.lines().nth(1).unwrap_or("");
    let start = first.trim_start();
    if is_heading(first) || is_rule(block) {
        Shape::Bare
    } else if is_item(first) {
        Shape::Item
    } else if fence_of(first).is_some()
        || start.starts_with(['>', '|', '<'])
        || start.starts_with("$$")
        || start.starts_with("%%")
        || is_delimiter_row(second)
        || first.starts_with("    ")
    {
        Shape::Whole
    } else {
        Shape::Text
    }
}

/// Where the block's own text ends: before the first fence of a list item.
fn own_text(block: &str) -> usize {
    let mut end = 0;
    for (n, line) in block.split_inclusive('\n').enumerate() {
        if n > 0 && (fence_of(line).is_some() || span_of(line).is_some()) {
            return end;
        }
        if n > 0 {
            end += 1;
        }
        end += line.trim_end_matches('\n').len();
    }
    end
}

fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.len() - line.trim_start_matches(mark).len();
    let (fence, info) = line.split_at(run);
    (run >= 3 && !(mark == '`' && info.contains('`'))).then_some(fence)
}

/// `$$` or `%%` that opens on this line and does not close on it.
fn span_of(line: &str) -> Option<&str> {
    let start = line.trim_start().get(..2)?;
    (matches!(start, "$$" | "%%") && line.matches(start).count() == 1).then_some(start)
}

fn closes(line: &str, fence: &str) -> bool {
    match fence {
        "$$" | "%%" => line.ends_with(fence),
        _ => fence_of(line).is_some_and(|closing| closing.starts_with(fence) && line.trim_start() == closing),
    }
}

fn is_heading(line: &str) -> bool {
    let hashes = line.len() - line.trim_start_matches('#').len();
    (1..=6).contains(&hashes) && line.get(hashes..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn is_rule(line: &str) -> bool {
    let marks: String = line.split_whitespace().collect();
    marks.len() >= 3 && ["-", "*", "_"].iter().any(|mark| marks.replace(mark, "").is_empty())
}

fn is_delimiter_row(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = (1..=9).contains(&digits)
        && line
            .get(digits..)
            .and_then(|rest| rest.strip_prefix(['.', ')']))
            .is_some_and(|rest| rest.starts_with([' ', '\t']));
    numbered || is_bullet(line)
}

fn is_bullet(line: &str) -> bool {
    let line = line.trim_start();
    line.strip_prefix(['-', '*', '+']).is_some_and(|rest| rest.starts_with([' ', '\t'])) && !is_rule(line)
}
