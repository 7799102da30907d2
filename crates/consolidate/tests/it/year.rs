//! A simulated year, day by day, compared with the formula computed anew from what happened.
//! The table that it prints stands in docs/consolidate.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use chrono::{DateTime, Days, FixedOffset, NaiveDate};
use dormouse_consolidate::{ConsolidateConfig, DEFAULT_SEED, RunContext, Silent, Task, TaskState, run};
use dormouse_fixtures::{TempVault, temp_vault};
use dormouse_vault::meta::{AccessKind, AccessLog, Archived, Recency};
use dormouse_vault::{AccessHit, FixedClock, Vault};
use expect_test::expect_file;

/// 2019, so that the files of the test lie after every day of it: an mtime is never evidence here.
const VAULT: &str = "=== digest/wiki/daily-use.md\n---\ncreated: 2018-01-01\n---\nRead each day. [[lent-on]]\n\
    === digest/wiki/monthly-edit.md\n---\ncreated: 2018-01-01\n---\nEdited on the fifteenth.\n\
    === digest/wiki/until-may.md\n---\ncreated: 2018-06-01\n---\nRead each Monday until May.\n\
    === digest/wiki/untouched.md\n---\ncreated: 2019-01-01\n---\nNobody comes. [[lent-by-one]]\n\
    === digest/wiki/lent-by-one.md\n---\ncreated: 2019-01-01\n---\nOne note links here, which sleeps itself one day.\n\
    === digest/wiki/lent-on.md\n---\ncreated: 2016-01-01\n---\nA living note links here.\n\
    === digest/wiki/sourced.md\n---\ncreated: 2018-01-01\n---\nderived_from:: [[daily/2019-02-20/e]]\n\
    === daily/2019-02-20/e.md\nsomething happened\n\
    === digest/wiki/woken.md\n---\ncreated: 2017-01-01\n---\nAsked for once, in September.\n\
    === digest/wiki/pinned.md\n---\ncreated: 2010-01-01\npinned: true\n---\nStays.\n\
    === digest/procedure/rule.md\n---\ncreated: 2010-01-01\n---\nNever deploy on a Friday.\n\
    === digest/wiki/ahead.md\n---\ncreated: 2018-12-01\nupdated: 2031-01-01\n---\nA day that has not come says nothing.\n";

const NOTES: [&str; 11] = [
    "daily-use",
    "monthly-edit",
    "until-may",
    "untouched",
    "lent-by-one",
    "lent-on",
    "sourced",
    "woken",
    "pinned",
    "rule",
    "ahead",
];

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn path(note: &str) -> String {
    format!("digest/{}/{note}.md", if note == "rule" { "procedure" } else { "wiki" })
}

/// Where the person is: Shanghai, from March on Berlin, with its summer time.
fn offset(day: NaiveDate) -> &'static str {
    let until = [("2019-03-09", "+08:00"), ("2019-03-30", "+01:00"), ("2019-10-26", "+02:00")];
    let day = day.to_string();
    until.into_iter().find(|(last, _)| day.as_str() <= *last).map_or("+01:00", |(_, offset)| offset)
}

/// What happened to each note, by day: all that the formula needs.
#[derive(Default)]
struct Happened {
    active: BTreeMap<&'static str, BTreeSet<NaiveDate>>,
    hits: BTreeMap<&'static str, BTreeSet<NaiveDate>>,
}

impl Happened {
    /// DESIGN §5.4, written down a second time: with nothing of the crate.
    fn score(&self, note: &str, today: NaiveDate, inbound: f64) -> Option<f64> {
        let tomorrow = today + Days::new(1);
        let days = |of: &BTreeMap<&'static str, BTreeSet<NaiveDate>>| of.get(note).cloned().unwrap_or_default();
        let hits = days(&self.hits);
        let last = days(&self.active).union(&hits).copied().filter(|d| *d <= tomorrow).max()?.min(today);
        let age = (today - last).num_days() as f64;
        let recent = hits.iter().filter(|d| **d <= tomorrow && (today - **d).num_days() < 30).count() as f64;
        Some(((-age / 60.0).exp() * (1.0 + (1.0 + recent).ln()) * (1.0 + (1.0 + inbound).ln() / 10.0)).min(1.0))
    }
}

struct Year {
    vault: TempVault,
    open: Vault,
    clock: FixedClock,
    happened: Happened,
    asleep: BTreeMap<&'static str, NaiveDate>,
    table: String,
}

impl Year {
    fn hit(&mut self, note: &'static str, at: DateTime<FixedOffset>) {
        let hit = AccessHit { path: path(note).parse().unwrap(), at, kind: AccessKind::Read };
        self.open.spool().append(&[hit]).unwrap();
        self.happened.hits.entry(note).or_default().insert(at.date_naive());
    }

    fn edit(&mut self, note: &'static str, at: DateTime<FixedOffset>) {
        let text = self.vault.read(&path(note)) + &format!("Seen {at}.\n");
        self.vault.write(&path(note), text);
        self.happened.active.entry(note).or_default().insert(at.date_naive());
    }

    /// Runs at `at` and compares every note with the formula.
    fn night(&mut self, at: DateTime<FixedOffset>) {
        self.clock.set(at);
        let config = ConsolidateConfig::default();
        let context = RunContext {
            vault: &self.open,
            clock: &self.clock,
            config: &config,
            seed: DEFAULT_SEED,
            progress: &Silent,
            cancel: &|| false,
        };
        let report = run(context, &[Task::Time]).unwrap();
        assert_eq!(report.state(Task::Time), Some(&TaskState::Done), "{report:?}");
        let today = at.date_naive();
        let recency = self.open.meta::<Recency>().value.unwrap();
        let archived = self.open.meta::<Archived>().value.unwrap();
        for note in NOTES {
            let inbound = if matches!(note, "lent-on" | "lent-by-one") { 1.0 } else { 0.0 };
            let key = path(note);
            let key = key.as_str();
            let stored = &recency.notes[key];
            let Some(score) = self.happened.score(note, today, inbound) else {
                assert_eq!(archived.notes.contains_key(key), self.asleep.contains_key(note), "{note} stays as it was");
                continue;
            };
            assert!((stored.score - score).abs() < 1e-6, "{note} on {today}: {} is not {score}", stored.score);
            let kept = match note {
                "pinned" | "rule" => true,
                "lent-on" => recency.notes[path("daily-use").as_str()].score >= 0.15,
                "lent-by-one" => recency.notes[path("untouched").as_str()].score >= 0.15,
                _ => false,
            };
            let sleeps = score < 0.15 && !kept;
            let before = self.asleep.get(note).copied();
            let expected = sleeps.then(|| before.map_or(today, |since| since.min(today)));
            assert_eq!(archived.notes.get(key).map(|a| a.since), expected, "{note} on {today}");
            match (before, expected) {
                (None, Some(since)) => {
                    self.asleep.insert(note, since);
                    writeln!(self.table, "{today}  {note} falls asleep at {score:.3}").unwrap();
                }
                (Some(since), None) => {
                    self.asleep.remove(note);
                    writeln!(self.table, "{today}  {note} wakes at {score:.3}, asleep since {since}").unwrap();
                }
                (Some(_), Some(since)) => {
                    self.asleep.insert(note, since);
                }
                (None, None) => {}
            }
        }
    }

    fn row(&mut self, at: &str) {
        let recency = self.open.meta::<Recency>().value.unwrap();
        let row: Vec<String> = NOTES
            .iter()
            .map(|note| {
                let sleeps = if self.asleep.contains_key(note) { "z" } else { " " };
                let shown = format!("{:.3}{sleeps}", recency.notes[path(note).as_str()].score);
                format!("{shown:<width$}", width = note.len())
            })
            .collect();
        writeln!(self.table, "{at}  {}", row.join("  ").trim_end()).unwrap();
    }

    fn say(&mut self, what: &str) {
        writeln!(self.table, "            — {what}").unwrap();
    }
}

fn moment(day: NaiveDate, time: &str, offset: &str) -> DateTime<FixedOffset> {
    format!("{day}T{time}{offset}").parse().unwrap()
}

#[test]
fn a_simulated_year_ages_as_the_formula_says_and_its_table_is_in_the_docs() {
    let vault = temp_vault(VAULT);
    let open = Vault::open(vault.path()).unwrap();
    let clock = FixedClock::new(moment(day("2019-01-01"), "03:30:00", "+08:00"));
    let mut happened = Happened::default();
    for (note, date) in [
        ("daily-use", "2018-01-01"),
        ("monthly-edit", "2018-01-01"),
        ("until-may", "2018-06-01"),
        ("untouched", "2019-01-01"),
        ("lent-by-one", "2019-01-01"),
        ("lent-on", "2016-01-01"),
        ("sourced", "2018-01-01"),
        ("sourced", "2019-02-20"),
        ("woken", "2017-01-01"),
        ("pinned", "2010-01-01"),
        ("rule", "2010-01-01"),
        ("ahead", "2018-12-01"),
        ("ahead", "2031-01-01"),
    ] {
        happened.active.entry(note).or_default().insert(day(date));
    }
    let mut year = Year { vault, open, clock, happened, asleep: BTreeMap::new(), table: String::new() };
    let notes = year.vault.dump_if(|p| p.starts_with("digest/wiki/untouched"));
    writeln!(year.table, "            {}", NOTES.join("  ")).unwrap();

    let mut today = day("2019-01-01");
    while today <= day("2020-01-31") {
        let text = today.to_string();
        let zone = offset(today);
        match text.as_str() {
            "2019-03-10" => year.say("the person moves from Shanghai (+08:00) to Berlin (+01:00)"),
            "2019-03-31" => year.say("summer time begins"),
            "2019-07-01" => year.say("the machine is asleep for two months"),
            "2019-09-01" => year.say("it wakes, and what was missed is caught up in one run"),
            "2019-10-27" => year.say("summer time ends"),
            _ => {}
        }
        if ("2019-07-01".."2019-09-01").contains(&text.as_str()) {
            today = today + Days::new(1);
            continue;
        }
        // Early and late hits, around midnight of other zones.
        let late = moment(today, "23:50:00", zone);
        year.hit("daily-use", late);
        let monday = today.format("%u").to_string() == "1";
        if monday && today < day("2019-05-01") {
            year.hit("until-may", moment(today, "00:10:00", zone));
        }
        if text.ends_with("-15") {
            year.edit("monthly-edit", late);
        }
        if text == "2019-09-20" {
            year.hit("woken", late);
        }
        year.night(moment(today, "23:55:00", zone));
        if text == "2019-10-10" {
            year.say("the clock is set back to 2000 for a run, then to September, then right again");
            let before = year.asleep.clone();
            let log = |year: &Year| year.open.meta::<AccessLog>().value.unwrap().notes;
            let logged = log(&year);
            year.night(moment(day("2000-01-01"), "00:05:00", zone));
            assert_eq!(year.asleep, before, "a clock that knows no day changes nothing");
            year.night(moment(day("2019-09-25"), "12:00:00", zone));
            assert_eq!(log(&year), logged, "no use is forgotten");
            year.night(moment(today, "23:57:00", zone));
        }
        if text == "2019-11-20" {
            year.say("the clock is set ahead to 2031 for a run, with an edit and a hit, then right again");
            year.edit("monthly-edit", moment(day("2031-06-01"), "12:00:00", zone));
            year.hit("until-may", moment(day("2031-06-01"), "12:00:00", zone));
            year.night(moment(day("2031-06-01"), "12:00:00", zone));
            year.night(moment(today, "23:57:00", zone));
        }
        let tomorrow = today + Days::new(1);
        if tomorrow.format("%d").to_string() == "01" {
            year.row(&text);
        }
        today = tomorrow;
    }
    assert_eq!(year.vault.dump_if(|p| p.starts_with("digest/wiki/untouched")), notes);

    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/consolidate.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let (head, rest) = text.split_once("<!-- year -->\n```text\n").expect("the mark of the table");
    let (_, tail) = rest.split_once("```\n").expect("its end");
    expect_file![docs].assert_eq(&format!("{head}<!-- year -->\n```text\n{}```\n{tail}", year.table));
}
