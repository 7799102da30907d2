//! `dormouse context`: what is known about a question, packed for a model.

use anyhow::Result;

use super::{Scene, warn_lines};
use crate::args::ContextArgs;
use crate::output::Output;

pub(crate) fn run(scene: &Scene, args: &ContextArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let recall = scene.recall(&vault)?;
    let block = recall.context(&args.query.join(" "), args.budget as usize)?;
    if !out.is_json() {
        warn_lines(&block.warnings);
        warn_lines(&block.notices);
    }
    out.emit(&block, |w| {
        if block.markdown.is_empty() {
            writeln!(w, "Nothing is known about this.")
        } else {
            writeln!(w, "{}", block.markdown.trim_end())
        }
    })?;
    Ok(0)
}
