//! An editor and the door write one note at once, and processes are killed in the middle of commits:
//! no byte that either side was told is saved is lost, and everything is old or everything is new.
//!
//! `cargo xtask bench races [--races N] [--style all|truncate|rename|append|held] [--seed N]` runs N
//! races in each style; `--kills N` kills N processes instead. Ends with 1 on any loss.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement plays other programs on the same files, prints, and stops when something is broken"
)]

#[path = "races/editor.rs"]
mod editor;
#[path = "races/kills.rs"]
mod kills;
#[path = "races/race.rs"]
mod race;

use std::process::ExitCode;
use std::time::Instant;

use dormouse_fixtures::SplitMix64;

use editor::{STYLES, Style};

const HELP: &str = "options: --races N (10000)  --style all|truncate|rename|append|held  --seed N (1)  --kills N";

struct Options {
    races: usize,
    styles: Vec<Style>,
    seed: u64,
    kills: usize,
}

fn options() -> Result<Options, String> {
    let mut options = Options { races: 10_000, styles: STYLES.to_vec(), seed: 1, kills: 0 };
    let mut given = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(name) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{name}: a value is missing\n{HELP}"));
        let number = |text: String| text.parse().map_err(|_| format!("{text}: not a number\n{HELP}"));
        match name.as_str() {
            "--races" => options.races = number(value()?)?,
            "--kills" => options.kills = number(value()?)?,
            "--seed" => options.seed = number(value()?)? as u64,
            "--style" => {
                let wanted = value()?;
                options.styles.retain(|style| wanted == "all" || wanted == style.name());
                if options.styles.is_empty() {
                    return Err(format!("{wanted}: no such style\n{HELP}"));
                }
            }
            _ => return Err(HELP.to_owned()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    if kills::is_child() {
        kills::child();
        return ExitCode::SUCCESS;
    }
    let options = match options() {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    let is_well = if options.kills > 0 { killed(&options) } else { raced(&options) };
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn raced(options: &Options) -> bool {
    println!(
        "{:<9}{:>8}{:>9}{:>11}{:>10}{:>7}{:>9}",
        "style", "races", "commits", "conflicts", "set aside", "lost", "seconds"
    );
    let mut lost = 0;
    for style in &options.styles {
        let start = Instant::now();
        let sum = race::run(*style, options.races, options.seed);
        println!(
            "{:<9}{:>8}{:>9}{:>11}{:>10}{:>7}{:>9.1}",
            style.name(),
            options.races,
            sum.commits,
            sum.conflicts,
            sum.set_aside,
            sum.losses.len(),
            start.elapsed().as_secs_f64()
        );
        for loss in sum.losses.iter().take(5) {
            eprintln!("  lost: {loss}");
        }
        lost += sum.losses.len();
    }
    lost == 0
}

fn killed(options: &Options) -> bool {
    let start = Instant::now();
    let mut dice = editor::Dice(SplitMix64(options.seed));
    let sum = kills::run(options.kills, &[], |n| dice.below(n));
    println!(
        "{:>7}{:>18}{:>20}{:>9}{:>9}{:>8}{:>9}\n{:>7}{:>18}{:>20}{:>9}{:>9}{:>8}{:>9.1}",
        "kills",
        "inside a commit",
        "inside a recovery",
        "all old",
        "all new",
        "broken",
        "seconds",
        options.kills,
        sum.inside,
        sum.recoveries,
        sum.old,
        sum.new,
        sum.broken.len(),
        start.elapsed().as_secs_f64()
    );
    for broken in sum.broken.iter().take(5) {
        eprintln!("  broken: {broken}");
    }
    sum.broken.is_empty()
}
