//! `dormouse remember`: something that happened becomes a daily event.

use std::io::Read;

use anyhow::{Context, Result};
use chrono::{DateTime, FixedOffset};
use dormouse_vault::daily::{DailyEvent, plan_event};
use dormouse_vault::text::{sentences, truncate_chars};
use dormouse_vault::{FileDiff, NotePath};
use serde::Serialize;

use super::Scene;
use crate::args::RememberArgs;
use crate::failure::refuse;
use crate::output::Output;

/// The longest name that is taken from the text itself, in characters.
const NAME_CHARS: usize = 60;

/// The largest text that is one event, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Serialize)]
struct Reply {
    path: NotePath,
    name: String,
    written: bool,
    diff: Vec<FileDiff>,
}

pub(crate) fn run(scene: &Scene, args: &RememberArgs, out: &mut Output) -> Result<u8> {
    let text = match &args.text {
        Some(text) => text.clone(),
        None => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("standard input is no UTF-8 text")?;
            text
        }
    };
    if text.len() > MAX_BYTES {
        return Err(refuse(
            "usage",
            format!("{} bytes are no event; {MAX_BYTES} at the most", text.len()),
            "put the file into `resource/`, and remember in a few words what it is",
        ));
    }
    let Some(event) = event(text, args.title.clone(), scene.clock().now()) else {
        return Err(refuse(
            "usage",
            "there is nothing to remember",
            "give the text as an argument or on standard input",
        ));
    };
    let vault = scene.open()?;
    let (path, diff) = if args.dry_run {
        let (path, plan) = plan_event(&event, &vault.snapshot());
        (path, vault.preview(&plan)?)
    } else {
        (vault.write_event(&event)?.0, Vec::new())
    };
    let reply = Reply { path, name: event.name, written: !args.dry_run, diff };
    out.emit(&reply, |w| {
        if reply.written {
            writeln!(w, "Remembered “{}” in {}", reply.name, reply.path)
        } else {
            reply.diff.iter().try_for_each(|d| writeln!(w, "{}", d.diff))
        }
    })?;
    Ok(0)
}

/// What `text` tells of; `None` when it is blank. The daily writer cuts it into blocks.
fn event(text: String, title: Option<String>, at: DateTime<FixedOffset>) -> Option<DailyEvent> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    let sentence = sentences(&text).into_iter().next().and_then(|range| text.get(range)).unwrap_or(trimmed);
    let name =
        title.unwrap_or_else(|| truncate_chars(sentence.trim_end_matches(['.', '。']), NAME_CHARS).trim().to_owned());
    Some(DailyEvent {
        at,
        name,
        description: truncate_chars(sentence, 200).to_owned(),
        properties: vec![("source".into(), "remember".into())],
        blocks: vec![text],
    })
}

#[cfg(test)]
mod tests {
    use dormouse_fixtures::temp_vault;
    use dormouse_vault::Vault;
    use dormouse_vault::daily::plan_event;
    use expect_test::expect;

    use super::event;

    const NOW: &str = "2026-11-30T10:00:00+01:00";

    #[test]
    fn blank_lines_cut_paragraphs_but_not_fences() {
        let dir = temp_vault("=== a.md\nx\n");
        let vault = Vault::open(dir.path()).unwrap();
        let text = "one\ntwo\n\n```\na\n\nb\n```\n\nlast\n";
        let event = event(text.into(), None, NOW.parse().unwrap()).unwrap();
        let (path, plan) = plan_event(&event, &vault.snapshot());
        vault.commit(&plan).unwrap();
        expect![[r#"
            ---
            name: "one"
            description: "one"
            date: 2026-11-30T10:00:00+01:00
            source: "remember"
            ---

            # one

            one
            two ^b1

            ```
            a

            b
            ```

            ^b2

            last ^b3
        "#]]
        .assert_eq(&dir.read(path.as_str()));
    }

    #[test]
    fn a_blank_text_tells_of_nothing() {
        assert_eq!(event(" \n\n".into(), Some("Title".into()), NOW.parse().unwrap()), None);
    }
}
