//! What is printed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::options::Options;
use crate::sim::Year;

type Lived = (u64, Year, Duration);

/// How many findings of a kind are quoted for each seed.
const QUOTED: usize = 5;

pub(crate) fn head(options: &Options) {
    let who = if options.offline { "by rules" } else { "by a model that errs" };
    println!("{} days, {who}; a digest holds at most {} tokens\n", options.days, options.config.subject_tokens);
    println!(
        "seed  events  requests  faults  edits  down  notes  largest   kept  facts   edges  lost  invented  over  erased  twice  duplicates       s"
    );
}

pub(crate) fn line(seed: u64, year: &Year, took: Duration) {
    let faults: usize = year.faults.values().sum();
    let knowable = year.duplicates.iter().filter(|d| d.knowable).count();
    let kept = 100.0 * year.kept as f64 / year.stated.max(1) as f64;
    let found = &year.findings;
    println!(
        "{seed:>4}  {:>6}  {:>8}  {faults:>6}  {:>5}  {:>4}  {:>5}  {:>7}  {kept:>4.1}%  {:>5}  {:>6}  {:>4}  {:>8}  {:>4}  {:>6}  {:>5}  {:>4} ({knowable:>2})  {:>6.1}",
        year.events,
        year.requests,
        year.hand_edits,
        year.failed_runs,
        year.notes,
        year.largest,
        year.facts,
        year.edges,
        found.lost.len(),
        found.invented.len(),
        found.over.len(),
        found.erased.len(),
        year.twice,
        year.duplicates.len(),
        took.as_secs_f64(),
    );
    for kind in [&found.lost, &found.invented, &found.over, &found.erased] {
        kind.iter().take(QUOTED).for_each(|finding| println!("      {finding}"));
    }
    if year.asked_again > 0 || year.pending > 0 {
        println!("      {} requests about what had not changed, {} materials pending", year.asked_again, year.pending);
    }
}

pub(crate) fn summary(years: &[Lived]) {
    let mut faults: BTreeMap<&str, usize> = BTreeMap::new();
    for (kind, n) in years.iter().flat_map(|(_, year, _)| &year.faults) {
        *faults.entry(kind).or_default() += n;
    }
    if !faults.is_empty() {
        let list: Vec<String> = faults.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        println!("\nfaults: {}", list.join(", "));
    }
    for (seed, year, _) in years {
        let mut notes: Vec<(&str, &[String], bool)> =
            year.duplicates.iter().map(|d| (d.subject, d.notes.as_slice(), d.knowable)).collect();
        notes.dedup_by_key(|(subject, _, _)| *subject);
        for (subject, notes, _) in notes {
            println!("seed {seed}, several notes about {subject}: {}", notes.join(", "));
        }
    }
    let sum = |of: fn(&Year) -> usize| years.iter().map(|(_, year, _)| of(year)).sum::<usize>();
    let took: f64 = years.iter().map(|(_, _, took)| took.as_secs_f64()).sum();
    println!(
        "\n{} years: {} events, {} facts and {} edges certified; {} lost, {} invented, {} over budget, {} of a person's lines gone; {} duplicates, {} of them under one name; {took:.0} s",
        years.len(),
        sum(|y| y.events),
        sum(|y| y.facts),
        sum(|y| y.edges),
        sum(|y| y.findings.lost.len()),
        sum(|y| y.findings.invented.len()),
        sum(|y| y.findings.over.len()),
        sum(|y| y.findings.erased.len()),
        sum(|y| y.duplicates.len()),
        sum(|y| y.duplicates.iter().filter(|d| d.knowable).count()),
    );
}

pub(crate) fn json(options: &Options, years: &[Lived]) -> String {
    let of = |(seed, year, took): &Lived| -> Value {
        json!({
            "seed": seed, "events": year.events, "requests": year.requests, "faults": year.faults,
            "hand_edits": year.hand_edits, "failed_runs": year.failed_runs, "notes": year.notes,
            "largest": year.largest, "stated": year.stated, "kept": year.kept, "facts": year.facts,
            "edges": year.edges, "lost": year.findings.lost, "invented": year.findings.invented,
            "over": year.findings.over, "erased": year.findings.erased, "twice": year.twice,
            "pending": year.pending, "asked_again": year.asked_again,
            "duplicates": year.duplicates.iter().map(|d| json!({
                "subject": d.subject, "knowable": d.knowable, "notes": d.notes
            })).collect::<Vec<_>>(),
            "seconds": took.as_secs_f64(),
        })
    };
    let all: Vec<Value> = years.iter().map(of).collect();
    let value = json!({
        "days": options.days, "offline": options.offline, "budget": options.config.subject_tokens, "years": all
    });
    format!("{value:#}\n")
}
