//! Planted duplicates in a large vault: recall, precision, and how the cost grows.
//! `cargo xtask bench duplicates [--notes N] [--seed N] [--maker zipf|grammar|tiny] [--growth]`.
//!
//! Three makers write notes in different ways, in English and Chinese: words by Zipf's law around a
//! subject, sentences of a small grammar of real words, and a vocabulary of three hundred words. In
//! each vault one note of twenty has a copy that shares 60 to 100 % of its sentences, in another
//! order, some of them edited, the rest replaced or left out. Around them stand what must not be
//! reported: notes of one subject, notes that share a quarter of their sentences, filled-in forms,
//! and records of days.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints, and stops when something is broken"
)]

mod makers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use dormouse_consolidate::{ConsolidateConfig, RunContext, Silent, Task, run};
use dormouse_fixtures::SplitMix64;
use dormouse_vault::{FixedClock, Vault};
use makers::{Grammar, Maker, Random, Sentence, Tiny, Zipf};

fn written(sentence: &Sentence, chinese: bool) -> String {
    if chinese {
        return format!("{}。", sentence.concat());
    }
    let text = sentence.join(" ");
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| format!("{}{}. ", first.to_uppercase(), chars.as_str()))
}

fn page(sentences: &[Sentence], chinese: bool) -> String {
    let mut out = String::new();
    for (at, sentence) in sentences.iter().enumerate() {
        out.push_str(&written(sentence, chinese));
        if at % 4 == 3 {
            out.push_str("\n\n");
        }
    }
    out + "\n"
}

struct Planted {
    /// Stems to share in percent and language.
    pairs: BTreeMap<(String, String), (usize, bool)>,
    notes: usize,
}

/// One word of a sentence replaced, dropped or misspelt.
fn edited(sentence: &Sentence, random: &mut Random, maker: &dyn Maker, chinese: bool, subject: usize) -> Sentence {
    let mut out = sentence.clone();
    let at = random.below(out.len());
    match random.below(3) {
        0 => out[at] = maker.word(random, chinese, subject),
        1 if out.len() > 5 => drop(out.remove(at)),
        _ => out.insert(at, maker.word(random, chinese, subject)),
    }
    out
}

fn write(folder: &Path, notes: usize, seed: u64, maker: &dyn Maker) -> Planted {
    let mut random = Random(SplitMix64(seed));
    let mut planted = Planted { pairs: BTreeMap::new(), notes: 0 };
    let mut stems: Vec<usize> = (0..notes * 2).collect();
    random.shuffle(&mut stems);
    let wiki = folder.join("digest/wiki");
    std::fs::create_dir_all(&wiki).unwrap();
    let mut put = |planted: &mut Planted, text: &str| {
        let stem = format!("note-{:06}", stems.pop().unwrap());
        std::fs::write(wiki.join(format!("{stem}.md")), text).unwrap();
        planted.notes += 1;
        stem
    };
    let forms: Vec<Vec<Sentence>> =
        (0..20).map(|i| (0..5).map(|_| maker.sentence(&mut random, i % 2 == 1, i)).collect()).collect();
    while planted.notes + 1 < notes {
        let kind = random.below(100);
        let (chinese, subject) = (random.chance(40), random.below(150));
        let len = 4 + random.below(16);
        let body: Vec<Sentence> = (0..len).map(|_| maker.sentence(&mut random, chinese, subject)).collect();
        match kind {
            // A note and its copy.
            0..10 => {
                let percent = 60 + random.below(41);
                let kept = (len * percent).div_ceil(100);
                let mut copy = body.clone();
                random.shuffle(&mut copy);
                copy.truncate(kept);
                let edits = [0, 20, 40][random.below(3)];
                for sentence in &mut copy {
                    if random.chance(edits) {
                        *sentence = edited(sentence, &mut random, maker, chinese, subject);
                    }
                }
                if random.chance(60) {
                    while copy.len() < len {
                        copy.push(maker.sentence(&mut random, chinese, subject));
                    }
                }
                random.shuffle(&mut copy);
                let a = put(&mut planted, &page(&body, chinese));
                let b = put(&mut planted, &page(&copy, chinese));
                planted.pairs.insert((a.clone().min(b.clone()), a.max(b)), (percent, chinese));
            }
            // Two notes that share a quarter of their sentences.
            10..14 => {
                let mut other: Vec<Sentence> = body.iter().take(len / 4).cloned().collect();
                while other.len() < len {
                    other.push(maker.sentence(&mut random, chinese, subject));
                }
                put(&mut planted, &page(&body, chinese));
                put(&mut planted, &page(&other, chinese));
            }
            // A form: five sentences that all its notes have, two of which are filled in, and a few of its own.
            14..22 => {
                let at = random.below(forms.len());
                let mut text = forms[at].clone();
                for (line, word) in [(1, 2), (3, 1)] {
                    text[line][word] = maker.word(&mut random, at % 2 == 1, subject);
                    let last = text[line].len() - 1;
                    text[line][last] = maker.word(&mut random, at % 2 == 1, subject + 1);
                }
                if random.chance(60) {
                    text.extend((0..1 + random.below(3)).map(|_| maker.sentence(&mut random, at % 2 == 1, subject)));
                }
                put(&mut planted, &page(&text, at % 2 == 1));
            }
            // A record of a day.
            22..27 => {
                let day = format!("2026-{:02}-{:02}", 1 + random.below(12), 1 + random.below(28));
                let (load, count) = (random.below(900), random.below(90));
                let text = if chinese {
                    format!(
                        "{day} 的巡检记录。水泵压力为 {load} 千帕，一切正常。当天共有 {count} 位访客，没有收到投诉。下一次巡检由北方公司负责，请提前准备好工具和图纸。\n"
                    )
                } else {
                    format!(
                        "Inspection of {day}. The pump ran at {load} kPa and everything was in order. There were {count} visitors that day and no complaints. The next inspection is done by the northern company, which wants tools and drawings ready.\n"
                    )
                };
                put(&mut planted, &text);
            }
            _ => drop(put(&mut planted, &page(&body, chinese))),
        }
    }
    planted
}

/// Processor time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|i| fields.get(*i)?.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn search(folder: &Path) -> (Duration, Duration, Vec<(String, String, String)>) {
    let start = cpu();
    let vault = Vault::open(folder).unwrap();
    let opened = cpu();
    let clock = FixedClock::new("2026-11-30T12:00:00+08:00".parse().unwrap());
    let config = ConsolidateConfig::default();
    let context =
        RunContext { vault: &vault, clock: &clock, config: &config, seed: 0, progress: &Silent, cancel: &|| false };
    let report = run(context, &[Task::Duplicates]).unwrap();
    let pairs = report.duplicates.into_iter().map(|p| {
        let (a, b) = (p.keep.stem().to_owned(), p.other.stem().to_owned());
        (a.clone().min(b.clone()), a.max(b), serde_json::to_string(&p.reason).unwrap())
    });
    (opened - start, cpu() - opened, pairs.collect())
}

fn measure(name: &str, maker: &dyn Maker, notes: usize, seed: u64, verbose: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let planted = write(folder.path(), notes, seed, maker);
    let (_, time, found) = search(folder.path());
    let keys: BTreeSet<(String, String)> = found.iter().map(|(a, b, _)| (a.clone(), b.clone())).collect();
    let hits = planted.pairs.keys().filter(|pair| keys.contains(pair)).count();
    let wrong: Vec<_> = found.iter().filter(|(a, b, _)| !planted.pairs.contains_key(&(a.clone(), b.clone()))).collect();
    let recall = hits as f64 / planted.pairs.len() as f64;
    let precision = (found.len() - wrong.len()) as f64 / found.len().max(1) as f64;
    let good = recall >= 0.95 && precision >= 0.90;
    println!(
        "{name:8} {:6} notes  {:5} planted  recall {:5.1} %  precision {:5.1} %  {:6.2} s CPU  {}",
        planted.notes,
        planted.pairs.len(),
        100.0 * recall,
        100.0 * precision,
        time.as_secs_f64(),
        if good { "passed" } else { "FAILED" }
    );
    for (language, chinese) in [("English", false), ("Chinese", true)] {
        let of = |from: usize| {
            let all: Vec<_> =
                planted.pairs.iter().filter(|(_, (p, c))| *c == chinese && (from..from + 10).contains(p)).collect();
            let hits = all.iter().filter(|(pair, _)| keys.contains(pair)).count();
            format!("{from}+: {:5.1} % of {}", 100.0 * hits as f64 / all.len().max(1) as f64, all.len())
        };
        println!("         recall, {language}, by share of sentences   {}", [60, 70, 80, 90].map(of).join("   "));
    }
    if verbose {
        wrong.iter().take(8).for_each(|(a, b, why)| println!("         wrong: {a} {b} {why}"));
        let missed = planted.pairs.iter().filter(|(pair, _)| !keys.contains(*pair)).take(8);
        missed.for_each(|((a, b), (share, _))| println!("         missed: {a} {b} {share} %"));
        let keep = folder.keep();
        println!("         {}", keep.display());
    }
    good
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.iter().any(|arg| arg == "--help") {
        println!("--notes N (20000)  --seed N (1)  --maker zipf|grammar|tiny (all)  --growth  --verbose");
        return;
    }
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|at| args.get(at + 1)).cloned();
    let notes = value("--notes").map_or(20_000, |n| n.parse().expect("a number behind --notes"));
    let seed = value("--seed").map_or(1, |n| n.parse().expect("a number behind --seed"));
    let verbose = args.iter().any(|arg| arg == "--verbose");
    let (zipf, tiny) = (Zipf::new(12_000), Tiny(Zipf::new(1_000)));
    let makers: [(&str, &dyn Maker); 3] = [("zipf", &zipf), ("grammar", &Grammar), ("tiny", &tiny)];
    let mut good = true;
    for (name, maker) in makers.iter().filter(|(name, _)| value("--maker").is_none_or(|wanted| wanted == *name)) {
        good &= measure(name, *maker, notes, seed, verbose);
    }
    if args.iter().any(|arg| arg == "--growth") || value("--maker").is_none() {
        let mut first = None;
        for notes in [5_000, 10_000, 20_000, 40_000] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), notes, seed, &zipf);
            let (open, time, _) = search(folder.path());
            let each = time.as_secs_f64() / f64::from(notes as u32);
            let ratio = each / *first.get_or_insert(each);
            good &= ratio < 2.0;
            println!(
                "growth   {notes:6} notes  {:6.2} s CPU for the search, {:5.1} µs a note ({ratio:.2} of the first), opening {:.2} s",
                time.as_secs_f64(),
                1e6 * each,
                open.as_secs_f64()
            );
        }
    }
    println!("{}", if good { "passed" } else { "FAILED" });
    std::process::exit(i32::from(!good));
}
