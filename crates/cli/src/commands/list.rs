//! `dormouse list`: notes by their state.

use std::collections::BTreeMap;

use anyhow::Result;
use dormouse_recall::{Filters, ListReply, ListRequest, SortBy};
use dormouse_vault::{Bucket, Layer};

use super::{Scene, counted, find_note, warn_lines};
use crate::args::{BucketArg, LayerArg, ListArgs, SortArg};
use crate::failure::refuse;
use crate::output::{Output, dim};

pub(crate) fn run(scene: &Scene, args: &ListArgs, out: &mut Output) -> Result<u8> {
    let vault = scene.open()?;
    let find = |name: &Option<String>| name.as_deref().map(|n| find_note(&vault, n)).transpose();
    let request = ListRequest {
        query: args.conditions.join(" "),
        filters: Filters {
            folder: args.folder.clone(),
            layers: args.layer.map(layer).into_iter().collect(),
            buckets: args.bucket.map(bucket).into_iter().collect(),
            tags: args.tag.iter().map(|t| t.trim_start_matches('#').to_owned()).collect(),
            properties: properties(&args.property)?,
            from: args.since,
            until: args.until,
            links_to: find(&args.links_to)?,
            linked_from: find(&args.linked_from)?,
            ..Filters::default()
        },
        archived: args.archived.then_some(true),
        pending: args.pending.then_some(true),
        sort: sort(args.sort),
        cursor: args.cursor.clone(),
        limit: args.limit as usize,
        ..ListRequest::default()
    };
    let recall = scene.recall_unsynced(&vault)?;
    let reply = recall.list(&request)?;
    if !out.is_json() {
        warn_lines(&reply.warnings);
        warn_lines(&reply.notices);
    }
    out.emit(&reply, |w| page(w, &reply))?;
    Ok(0)
}

fn page(w: &mut dyn std::io::Write, reply: &ListReply) -> std::io::Result<()> {
    let width = reply.notes.iter().map(|n| n.path.as_str().chars().count()).max().unwrap_or(0).min(60);
    for note in &reply.notes {
        let date = note.date.map_or_else(|| " ".repeat(10), |d| d.to_string());
        let mut marks = Vec::new();
        if note.archived {
            marks.push("archived");
        }
        if note.pending {
            marks.push("pending");
        }
        let marks = if marks.is_empty() { String::new() } else { format!(" [{}]", marks.join(", ")) };
        writeln!(w, "{date}  {:<width$}  {}{}", note.path.as_str(), note.name, dim(marks))?;
    }
    let total = counted(reply.total, "note");
    match &reply.cursor {
        Some(cursor) => {
            let shown = reply.notes.len();
            writeln!(w, "{}", dim(format!("{shown} of {total}; more with --limit, or --cursor {cursor}")))
        }
        None => writeln!(w, "{}", dim(total)),
    }
}

fn sort(arg: SortArg) -> SortBy {
    match arg {
        SortArg::Path => SortBy::Path,
        SortArg::Name => SortBy::Name,
        SortArg::Newest => SortBy::Newest,
        SortArg::Oldest => SortBy::Oldest,
        SortArg::Inbound => SortBy::Inbound,
    }
}

fn properties(given: &[String]) -> Result<BTreeMap<String, String>> {
    given
        .iter()
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
            _ => {
                Err(refuse("usage", format!("--where {pair}: no value"), "write KEY=VALUE, as `--where source=commit`"))
            }
        })
        .collect()
}

pub(super) fn layer(arg: LayerArg) -> Layer {
    match arg {
        LayerArg::Daily => Layer::Daily,
        LayerArg::Resource => Layer::Resource,
        LayerArg::Digest => Layer::Digest,
        LayerArg::Other => Layer::Other,
    }
}

fn bucket(arg: BucketArg) -> Bucket {
    match arg {
        BucketArg::Procedure => Bucket::Procedure,
        BucketArg::Personal => Bucket::Personal,
        BucketArg::Wiki => Bucket::Wiki,
    }
}
