//! A year of dreams, in which nothing may erode.
//! `cargo xtask bench erosion [--seeds N] [--seed N] [--days N] [--budget N] [--offline] [--json FILE]`.
//!
//! Events of every day repeat, make precise and contradict earlier ones, in English and Chinese. A
//! scripted model judges them, rightly most of the time: it also truncates, drops links, loses and
//! changes numbers, invents names, sources and targets, calls unrelated notes the same, and at times
//! does not answer at all. A person edits digests by hand, also while a dream runs. After every day
//! all digests are read and compared with everything that was ever in them and with their sources.
//! The exit code is 1 when anything certified is lost, anything invented got in, a note is over its
//! budget, or a person's line is gone.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement prints, and writes its figures")]

mod options;
mod report;
mod sim;

use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use options::{HELP, Options};
use sim::Year;

/// Years that are lived side by side: most of one is waiting for the disk.
const ABREAST: u64 = 4;

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(what) => {
            println!("{what}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    report::head(&options);
    let years = live(&options);
    let holds = years.iter().all(|(_, year, _)| year.holds());
    report::summary(&years);
    if let Some(file) = &options.json
        && let Err(error) = std::fs::write(file, report::json(&options, &years))
    {
        println!("{}: {error}", file.display());
        return ExitCode::from(2);
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The years of all seeds in their order, each printed as soon as those before it are.
fn live(options: &Options) -> Vec<(u64, Year, Duration)> {
    let (sender, lived) = mpsc::channel();
    let mut waiting: Vec<(u64, Year, Duration)> = Vec::new();
    let mut years = Vec::new();
    thread::scope(|scope| {
        for first in options.seed..options.seed + options.seeds.min(ABREAST) {
            let sender = sender.clone();
            scope.spawn(move || {
                let step = usize::try_from(ABREAST).unwrap_or(1);
                for seed in (first..options.seed + options.seeds).step_by(step) {
                    let begun = Instant::now();
                    let year = sim::live(&options.plan(seed));
                    if sender.send((seed, year, begun.elapsed())).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for year in lived {
            waiting.push(year);
            waiting.sort_by_key(|(seed, _, _)| std::cmp::Reverse(*seed));
            let next = |years: &Vec<_>| options.seed + u64::try_from(years.len()).unwrap_or(0);
            while let Some((seed, year, took)) = waiting.pop_if(|(seed, _, _)| *seed == next(&years)) {
                report::line(seed, &year, took);
                years.push((seed, year, took));
            }
        }
    });
    years
}
