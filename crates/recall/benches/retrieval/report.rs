//! The figures as a table for a person and as JSON for a program.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::bootstrap::interval;
use crate::figures::{Answered, BUDGETS, Figures, by_category, counted, mean_answer_words};
use crate::options::Unit;

/// The figures of one setting.
pub(crate) fn json(asked: &[Answered]) -> Value {
    let unit = |of: fn(&Answered) -> &Figures| {
        let categories: Map<String, Value> = by_category(asked)
            .into_iter()
            .map(|(name, group)| (name.to_owned(), named(Figures::mean(group.into_iter().map(of)))))
            .collect();
        json!({"overall": named(Figures::mean(counted(asked).map(of))), "by_category": categories})
    };
    let within: Map<String, Value> =
        BUDGETS.iter().zip(mean_within(asked)).map(|(budget, share)| (budget.to_string(), json!(share))).collect();
    let [p50, p95, p99] = [0.50, 0.95, 0.99].map(|share| percentile(asked, share));
    let mut out = json!({
        "block": unit(|one| &one.block),
        "note": unit(|one| &one.note),
        "within_chars": within,
        "ms_per_query": {"p50": p50, "p95": p95, "p99": p99},
        "questions": asked.len(),
    });
    if let Some(overall) = mean_answer_words(counted(asked)) {
        let categories: BTreeMap<&str, Option<f64>> =
            by_category(asked).into_iter().map(|(name, group)| (name, mean_answer_words(group.into_iter()))).collect();
        out["answer_words_in_context"] = json!({"overall": overall, "by_category": categories});
    }
    out
}

fn named(figures: Figures) -> Value {
    Value::Object(Figures::NAMES.iter().zip(figures.values()).map(|(name, v)| ((*name).to_owned(), json!(v))).collect())
}

fn mean_within(asked: &[Answered]) -> [f64; BUDGETS.len()] {
    let mut sums = [0.0; BUDGETS.len()];
    let mut count = 0.0_f64;
    for one in counted(asked) {
        sums.iter_mut().zip(one.within).for_each(|(sum, share)| *sum += share);
        count += 1.0;
    }
    sums.map(|sum| sum / count.max(1.0))
}

fn percentile(asked: &[Answered], share: f64) -> f64 {
    let mut times: Vec<f64> = asked.iter().map(|one| one.milliseconds).collect();
    times.sort_by(f64::total_cmp);
    let last = times.len().saturating_sub(1) as f64;
    times.get((share * last).round() as usize).copied().unwrap_or(0.0)
}

fn of(unit: Unit) -> fn(&Answered) -> &Figures {
    match unit {
        Unit::Block => |one| &one.block,
        Unit::Note => |one| &one.note,
    }
}

/// Prints a table, in percent.
pub(crate) fn print(asked: &[Answered], unit: Unit) {
    for unit in [unit, if unit == Unit::Block { Unit::Note } else { Unit::Block }] {
        let title = if unit == Unit::Block { "blocks" } else { "notes" };
        println!(
            "{title:<18} {:>5} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
            "n", "R@1", "R@5", "R@10", "R@20", "MRR", "nDCG@10"
        );
        let row = |name: &str, group: &[&Answered]| {
            let figures = Figures::mean(group.iter().map(|one| of(unit)(one)));
            print!("{name:<18} {:>5}", group.len());
            figures.values().iter().for_each(|value| print!(" {:>7.1}", 100.0 * value));
            println!();
        };
        row("overall", &counted(asked).collect::<Vec<_>>());
        by_category(asked).iter().for_each(|(name, group)| row(name, group));
        println!();
    }
    let within: Vec<String> = BUDGETS
        .iter()
        .zip(mean_within(asked))
        .map(|(budget, share)| format!("{budget}: {:.1}", 100.0 * share))
        .collect();
    println!("evidence within characters   {}", within.join("   "));
    if let Some(share) = mean_answer_words(counted(asked)) {
        print!("words of the answer in a context   {:.1}", 100.0 * share);
        for (name, group) in by_category(asked) {
            let share = mean_answer_words(group.into_iter()).unwrap_or_default();
            print!("   {name}: {:.1}", 100.0 * share);
        }
        println!();
    }
    let [p50, p95, p99] = [0.50, 0.95, 0.99].map(|share| percentile(asked, share));
    println!("milliseconds per query   p50 {p50:.2}   p95 {p95:.2}   p99 {p99:.2}");
}

/// Prints and notes what another setting gains over the first, question by question.
pub(crate) fn compare(name: &str, base: &[Answered], other: &[Answered], unit: Unit, json: &mut Value) {
    let pick = of(unit);
    let pairs: Vec<(&Answered, &Answered)> = counted(base).zip(counted(other)).collect();
    let figures = Figures::mean(pairs.iter().map(|(_, b)| pick(b)));
    let multi = Figures::mean(other.iter().filter(|one| one.category == "multi-hop").map(pick));
    let gain = |value: fn(&Figures) -> f64| {
        interval(&pairs.iter().map(|(a, b)| value(pick(b)) - value(pick(a))).collect::<Vec<_>>())
    };
    let shown =
        |(mean, low, high): (f64, f64, f64)| format!("{:+.1} [{:+.1} {:+.1}]", 100.0 * mean, 100.0 * low, 100.0 * high);
    let gains = [gain(|f| f.recall_5), gain(|f| f.recall_10), gain(|f| f.ndcg_10)];
    println!(
        "{name:<22} R@1 {:>5.1}  R@5 {:>5.1}  R@10 {:>5.1} {:<20} nDCG {:>5.1} {:<20} multi-hop R@10 {:>5.1}  within 2k {:>5.1}",
        100.0 * figures.recall_1,
        100.0 * figures.recall_5,
        100.0 * figures.recall_10,
        shown(gains[1]),
        100.0 * figures.ndcg_10,
        shown(gains[2]),
        100.0 * multi.recall_10,
        100.0 * mean_within(other)[1],
    );
    let mut categories = Map::new();
    for (category, _) in by_category(base) {
        let of = |value: fn(&Figures) -> f64| {
            let pairs = base.iter().zip(other).filter(|(a, _)| a.category == category);
            interval(&pairs.map(|(a, b)| value(pick(b)) - value(pick(a))).collect::<Vec<_>>())
        };
        let mut named = Map::new();
        for (metric, gain) in [
            ("recall@5", of(|f| f.recall_5)),
            ("recall@10", of(|f| f.recall_10)),
            ("ndcg@10", of(|f| f.ndcg_10)),
            ("mrr", of(|f| f.mrr)),
        ] {
            if gain.1 > 0.0 || gain.2 < 0.0 {
                println!("    {category}: {metric} {}", shown(gain));
            }
            named.insert(metric.to_owned(), interval_json(gain));
        }
        categories.insert(category.to_owned(), Value::Object(named));
    }
    if let Some((figure, gain)) = answer_words_gain(&pairs) {
        println!("    words of the answer in a context: {:.1} {}", 100.0 * figure, shown(gain));
    }
    let gains: Map<String, Value> = ["recall@5", "recall@10", "ndcg@10"]
        .iter()
        .zip(gains)
        .map(|(metric, gain)| ((*metric).to_owned(), interval_json(gain)))
        .collect();
    let mut entry = self::json(other);
    entry["gain"] = Value::Object(gains);
    entry["gain_by_category"] = Value::Object(categories);
    if let Some((_, gain)) = answer_words_gain(&pairs) {
        entry["gain"]["answer_words_in_context"] = interval_json(gain);
    }
    json["against"][name] = entry;
}

fn interval_json((mean, low, high): (f64, f64, f64)) -> Value {
    json!({"mean": mean, "low": low, "high": high})
}

/// The mean share of the answers' words in the second's contexts, and what that gains over the first's.
fn answer_words_gain(pairs: &[(&Answered, &Answered)]) -> Option<(f64, (f64, f64, f64))> {
    let figure = mean_answer_words(pairs.iter().map(|(_, other)| *other))?;
    let gains = pairs.iter().filter_map(|(a, b)| Some(b.answer_words? - a.answer_words?));
    Some((figure, interval(&gains.collect::<Vec<_>>())))
}

/// Writes one line per question.
pub(crate) fn lines(asked: &[Answered], file: &Path) -> Outcome<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    for one in asked {
        let line = json!({
            "id": one.id, "category": one.category, "block": named(one.block), "note": named(one.note),
            "milliseconds": one.milliseconds,
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
