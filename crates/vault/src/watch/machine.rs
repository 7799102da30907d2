//! The machine: hints and moments come in, what to do comes out. It has no clock, no file and no
//! thread, and its memory is bounded.
//!
//! A path is looked at when all has been quiet for a while, so that a save in several steps is one
//! change; under a steady stream those paths are taken that have settled, or have waited long
//! enough. Too many paths become one look at everything. Such looks keep a distance that grows with
//! their cost. A sweep looks at everything without having been told to; when it finds what no event
//! spoke of, the ears are deaf, and the sweeps come closer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::hint::Hint;
use super::{POLL_SHARE, WatchOptions};
use crate::path::NotePath;

/// Paths that are remembered one by one.
pub(crate) const MOST_PATHS: usize = 4096;
/// A steady stream is interrupted after so many times the quiet.
const PATIENCE: u32 = 10;
/// How often the vault's folder and the clocks are looked at.
pub(crate) const PULSE: Duration = Duration::from_secs(30);
/// How far the clocks may drift apart, or a wake may be late, until something was missed.
const DRIFT: Duration = Duration::from_secs(5);
/// A look is followed by so many times its cost without another that an event asks for.
const REST: u32 = 4;

/// A moment by two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Since the watch began; never jumps, and stands still while the computer sleeps on some systems.
    pub(crate) steady: Duration,
    /// Since the epoch, as people set it.
    pub(crate) wall: Duration,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// These may be new folders: hear them at once.
    Cover(BTreeSet<NotePath>),
    /// Look.
    Look(Look),
}

/// Where to look.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// At everything.
    pub(crate) everything: bool,
    /// Nobody asked for it.
    pub(crate) sweep: bool,
    /// Listen anew before, since what was heard can't be trusted.
    pub(crate) anew: bool,
    /// At these.
    pub(crate) paths: BTreeSet<NotePath>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    first: Duration,
    last: Duration,
}

impl Span {
    fn with(span: Option<Self>, at: Duration) -> Self {
        Self { first: span.map_or(at, |span| span.first), last: at }
    }
}

/// The state of a watch.
#[derive(Debug)]
pub(crate) struct Machine {
    options: WatchOptions,
    touched: BTreeMap<NotePath, Span>,
    /// Files in the making, with the moment to look at them after all.
    passing: BTreeMap<NotePath, Duration>,
    arrived: BTreeSet<NotePath>,
    everything: Option<Span>,
    anew: bool,
    root: Option<Span>,
    left: BTreeSet<usize>,
    came: BTreeSet<usize>,
    heard_at: Duration,
    rest_until: Duration,
    /// What the last look at everything cost.
    cost: Duration,
    interval: Duration,
    sweep_at: Duration,
    pulse_at: Duration,
    /// What a sweep found and no event has spoken of.
    unexplained: BTreeSet<NotePath>,
    judge_at: Option<Duration>,
    polling: bool,
    absent: bool,
    before: Option<Moment>,
}

impl Machine {
    /// A machine that begins by listening and looking at everything.
    pub(crate) fn new(options: WatchOptions) -> Self {
        let zero = Duration::ZERO;
        Self {
            options,
            touched: BTreeMap::new(),
            passing: BTreeMap::new(),
            arrived: BTreeSet::new(),
            everything: Some(Span { first: zero, last: zero }),
            anew: true,
            root: None,
            left: BTreeSet::new(),
            came: BTreeSet::new(),
            heard_at: zero,
            rest_until: zero,
            cost: zero,
            interval: options.rescan,
            sweep_at: options.rescan,
            pulse_at: PULSE,
            unexplained: BTreeSet::new(),
            judge_at: None,
            polling: false,
            absent: false,
            before: None,
        }
    }

    /// Takes a hint in, and says whether whoever waits for [`Machine::wake_at`] must ask again.
    /// Logarithmic in the number of pending paths.
    pub(crate) fn heard(&mut self, hint: Hint, at: Duration) -> bool {
        let before = self.pending();
        self.heard_at = match &hint {
            Hint::Passing(_) => self.heard_at,
            _ => self.heard_at.max(at),
        };
        match hint {
            Hint::Passing(path) => self.let_pass(path, at),
            Hint::Touched(path) => self.touch(path, at),
            Hint::Arrived(path) => {
                self.arrived.insert(path.clone());
                self.touch(path, at);
            }
            Hint::Left(half) => pair(half, &mut self.came, &mut self.left),
            Hint::Came(half) => pair(half, &mut self.left, &mut self.came),
            Hint::Root => self.root = Some(Span::with(self.root, at)),
            Hint::Unclear => self.ask_for_everything(at),
            Hint::Lost => {
                self.anew = true;
                self.ask_for_everything(at);
            }
        }
        if self.left.len().max(self.came.len()) > MOST_PATHS {
            self.left.clear();
            self.came.clear();
            self.ask_for_everything(at);
        }
        before != self.pending()
    }

    /// What there is to do, by kind.
    fn pending(&self) -> [bool; 4] {
        let asked = !self.touched.is_empty() || self.everything.is_some() || self.root.is_some();
        [asked, !self.arrived.is_empty(), !self.passing.is_empty(), self.everything.is_some()]
    }

    fn let_pass(&mut self, path: NotePath, at: Duration) {
        self.unexplained.remove(&path);
        if self.passing.len() < MOST_PATHS || self.passing.contains_key(&path) {
            self.passing.insert(path, at + self.patience());
        } else {
            self.ask_for_everything(at);
        }
    }

    fn touch(&mut self, path: NotePath, at: Duration) {
        self.unexplained.remove(&path);
        let span = Span::with(self.touched.get(&path).copied(), at);
        self.touched.insert(path, span);
        if self.touched.len() > MOST_PATHS {
            self.anew = true;
            self.ask_for_everything(at);
        }
        if self.anew {
            // Everything is going to be heard anew and looked at: no path says more.
            self.arrived.clear();
            self.touched.clear();
            self.ask_for_everything(at);
        }
    }

    fn ask_for_everything(&mut self, at: Duration) {
        self.everything = Some(Span::with(self.everything, at));
        self.heard_at = self.heard_at.max(at);
    }

    fn patience(&self) -> Duration {
        self.options.quiet * PATIENCE
    }

    /// When what was heard has to be looked at.
    fn due(&self) -> Option<Duration> {
        let spans = self.touched.values().chain(&self.everything).chain(&self.root);
        let first = spans.map(|span| span.first).min()?;
        let due = (self.heard_at + self.options.quiet).min(first + self.patience());
        Some(due.max(self.rest_until))
    }

    /// When [`Machine::next`] has something to do, if nothing more is heard. Linear in the number
    /// of pending paths.
    pub(crate) fn wake_at(&self) -> Duration {
        if !self.arrived.is_empty() || self.before.is_none() {
            return Duration::ZERO;
        }
        let passing = self.passing.values().min().copied();
        let times = [self.due(), passing, self.judge_at].into_iter().flatten();
        times.fold(self.sweep_at.min(self.pulse_at), Duration::min)
    }

    /// What to do at this moment.
    pub(crate) fn next(&mut self, now: Moment) -> Option<Task> {
        let at = now.steady;
        let late = self.before.is_some_and(|before| at.saturating_sub(before.steady) > PULSE + DRIFT);
        self.compare_clocks(now, late);
        if !self.arrived.is_empty() {
            return Some(Task::Cover(std::mem::take(&mut self.arrived)));
        }
        self.judge(at);
        let is_due = self.due().is_some_and(|due| due <= at) || (self.is_first() && self.everything.is_some());
        let settled = at >= self.heard_at + self.options.quiet;
        let mut look = Look { paths: self.take_passing(at), ..Look::default() };
        if is_due {
            self.root = None;
            look.paths.extend(self.take_touched(at, settled));
            let halves = !std::mem::take(&mut self.left).is_empty();
            self.came.clear();
            look.everything = self.everything.take().is_some() || halves;
        }
        if self.sweep_at <= at && !look.everything {
            look.everything = true;
            look.sweep = true;
        }
        look.anew = look.everything && std::mem::take(&mut self.anew);
        if look.everything {
            self.sweep_at = at + self.interval;
        }
        let pulse = self.pulse_at <= at;
        if pulse || look.everything {
            self.pulse_at = at + if self.absent { self.options.poll.min(PULSE) } else { PULSE };
        }
        (is_due || pulse || look.everything || !look.paths.is_empty()).then_some(Task::Look(look))
    }

    /// Whether nothing was looked at yet: that is not put off.
    fn is_first(&self) -> bool {
        self.cost.is_zero()
    }

    fn take_passing(&mut self, at: Duration) -> BTreeSet<NotePath> {
        let due: BTreeSet<NotePath> =
            self.passing.iter().filter(|(_, due)| **due <= at).map(|(path, _)| path.clone()).collect();
        self.passing.retain(|_, due| *due > at);
        due
    }

    /// The paths that nothing has happened to for a while, or that have waited long enough.
    fn take_touched(&mut self, at: Duration, settled: bool) -> BTreeSet<NotePath> {
        if settled {
            return std::mem::take(&mut self.touched).into_keys().collect();
        }
        let (quiet, patience) = (self.options.quiet, self.patience());
        let is_ripe = |span: &Span| span.last + quiet <= at || span.first + patience <= at;
        let ripe = self.touched.iter().filter(|(_, span)| is_ripe(span)).map(|(path, _)| path.clone()).collect();
        self.touched.retain(|_, span| !is_ripe(span));
        ripe
    }

    /// A sleeping computer, a stopped process and a clock that was set: something may be missed.
    fn compare_clocks(&mut self, now: Moment, late: bool) {
        if let Some(before) = self.before {
            let steady = now.steady.saturating_sub(before.steady);
            let wall = now.wall.abs_diff(before.wall);
            let set_back = now.wall + DRIFT < before.wall;
            if late || set_back || wall.abs_diff(steady) > DRIFT {
                tracing::debug!("the clocks say that something may have been missed");
                self.ask_for_everything(now.steady);
            }
        }
        self.before = Some(now);
    }

    /// What a sweep found and nobody has spoken of since: the ears are deaf.
    fn judge(&mut self, at: Duration) {
        if self.judge_at.is_none_or(|judge_at| judge_at > at) {
            return;
        }
        self.judge_at = None;
        if !std::mem::take(&mut self.unexplained).is_empty() {
            let was_trusted = self.interval > self.poll();
            self.interval = self.poll();
            self.sweep_at = self.sweep_at.min(at + self.interval);
            if was_trusted {
                tracing::info!("files changed and no event said so; the vault is looked at more often");
                self.anew = true;
                self.ask_for_everything(at);
            }
        }
    }

    /// The interval of sweeps where events can't be had.
    fn poll(&self) -> Duration {
        self.options.poll.max(self.cost * POLL_SHARE).min(self.options.rescan.max(self.options.poll))
    }

    /// A task is over, whatever came of it.
    pub(crate) fn ended(&mut self, now: Moment) {
        self.compare_clocks(now, false);
    }

    /// A look at some files is over: what it cost, and when it ended.
    pub(crate) fn glanced(&mut self, cost: Duration, at: Duration) {
        self.rest_until = self.rest_until.max(at + (cost * REST).min(self.patience()));
    }

    /// A look at everything is over: what it found that was not known, what it cost, and when it
    /// ended.
    pub(crate) fn looked(&mut self, sweep: bool, found: &BTreeSet<NotePath>, cost: Duration, at: Duration) {
        self.cost = cost.max(Duration::from_nanos(1));
        self.rest_until = at + self.cost * REST;
        if sweep && !self.polling {
            let known = |path: &NotePath| self.passing.contains_key(path) || self.touched.contains_key(path);
            self.unexplained = found.iter().filter(|path| !known(path)).take(MOST_PATHS).cloned().collect();
            if found.is_empty() {
                self.interval = (self.interval * 2).min(self.options.rescan);
            } else {
                self.judge_at = Some(at + self.options.quiet * 2);
            }
        }
        if self.polling {
            self.interval = self.poll();
        }
        self.sweep_at = at + self.interval;
    }

    /// Whether events can be had: without them the vault is polled.
    pub(crate) fn set_polling(&mut self, polling: bool) {
        if polling != self.polling {
            self.polling = polling;
            self.interval = if polling { self.poll() } else { self.options.rescan };
            self.sweep_at = self.before.map_or(self.interval, |before| before.steady + self.interval);
        }
    }

    /// The vault's folder is not there, or another folder stands in its place.
    pub(crate) fn set_root(&mut self, absent: bool, replaced: bool, at: Duration) {
        if absent {
            self.pulse_at = self.pulse_at.min(at + self.options.poll.min(PULSE));
        } else if self.absent || replaced {
            self.anew = true;
            self.ask_for_everything(at);
        }
        self.absent = absent;
    }
}

/// Strikes a half out with its other half, or keeps it until that comes.
fn pair(half: usize, others: &mut BTreeSet<usize>, own: &mut BTreeSet<usize>) {
    if !others.remove(&half) {
        own.insert(half);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const OPTIONS: WatchOptions = WatchOptions {
        quiet: Duration::from_millis(200),
        rescan: Duration::from_secs(600),
        poll: Duration::from_secs(5),
    };

    /// A machine with a time of its own.
    struct Play {
        machine: Machine,
        at: Duration,
        /// How far the wall clock runs ahead.
        ahead: i64,
        cost: Duration,
        /// What a look at files costs.
        glance: Duration,
        /// What the next look at everything finds.
        found: BTreeSet<NotePath>,
        log: Vec<String>,
    }

    impl Play {
        /// After the first look.
        fn begun() -> Self {
            let mut play = Self {
                machine: Machine::new(OPTIONS),
                at: Duration::ZERO,
                ahead: 0,
                cost: Duration::from_millis(10),
                glance: Duration::ZERO,
                found: BTreeSet::new(),
                log: Vec::new(),
            };
            play.until(Duration::from_millis(1));
            assert_eq!(play.log, ["0.000 look at everything, heard anew"]);
            play.log.clear();
            play
        }

        fn now(&self) -> Moment {
            let wall = i64::try_from(self.at.as_millis()).unwrap() + 1_000_000_000_000 + self.ahead;
            Moment { steady: self.at, wall: Duration::from_millis(wall.unsigned_abs()) }
        }

        fn until(&mut self, end: Duration) {
            loop {
                let mut tasks = 0;
                while let Some(task) = self.machine.next(self.now()) {
                    tasks += 1;
                    assert!(tasks < 10, "it spins: {:?}", self.log);
                    self.perform(task);
                }
                let wake = self.machine.wake_at();
                if wake > end {
                    break;
                }
                self.at = self.at.max(wake);
            }
            self.at = end;
        }

        fn perform(&mut self, task: Task) {
            let at = format!("{:.3}", self.at.as_secs_f64());
            let list = |paths: &BTreeSet<NotePath>| {
                let paths: Vec<_> = paths.iter().map(NotePath::as_str).collect();
                if paths.len() > 6 { format!("{} paths", paths.len()) } else { paths.join(" ") }
            };
            let line = match &task {
                Task::Cover(paths) => format!("hear {}", list(paths)),
                Task::Look(look) if look.everything => {
                    let found = std::mem::take(&mut self.found);
                    self.machine.looked(look.sweep, &found, self.cost, self.at);
                    let how = if look.sweep { ", a sweep" } else { "" };
                    format!("look at everything{}{how}", if look.anew { ", heard anew" } else { "" })
                }
                Task::Look(look) if look.paths.is_empty() => "look at the folder".to_owned(),
                Task::Look(look) => {
                    self.machine.glanced(self.glance, self.at);
                    format!("look at {}", list(&look.paths))
                }
            };
            self.log.push(format!("{at} {line}"));
            self.machine.ended(self.now());
        }

        /// `ms what path`, one a line.
        fn script(&mut self, script: &str) {
            for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
                let mut words = line.split(' ');
                let at = Duration::from_millis(words.next().unwrap().parse().unwrap());
                self.until(at);
                let what = words.next().unwrap();
                let rest = words.next().unwrap_or_default();
                let path = || NotePath::new(rest).unwrap();
                let hint = match what {
                    "touched" => Hint::Touched(path()),
                    "arrived" => Hint::Arrived(path()),
                    "passing" => Hint::Passing(path()),
                    "left" => Hint::Left(rest.parse().unwrap()),
                    "came" => Hint::Came(rest.parse().unwrap()),
                    "root" => Hint::Root,
                    "unclear" => Hint::Unclear,
                    "lost" => Hint::Lost,
                    other => panic!("{other}"),
                };
                self.machine.heard(hint, at);
            }
        }
    }

    #[track_caller]
    fn check(script: &str, until_ms: u64, expected: Expect) {
        let mut play = Play::begun();
        play.script(script);
        play.until(Duration::from_millis(until_ms));
        expected.assert_eq(&play.log.join("\n"));
    }

    fn path(path: &str) -> NotePath {
        NotePath::new(path).unwrap()
    }

    /// Rule 31, vector 40: vim (backup, new file, probe), then delete and create in either order.
    #[test]
    fn a_save_in_several_steps_is_one_look_when_all_is_quiet() {
        let vim = "
            100 passing 4913
            101 touched n.md
            101 left 1
            101 passing n.md~
            101 came 1
            102 arrived n.md
            110 touched n.md
            111 passing n.md~
        ";
        check(
            vim,
            3000,
            expect![[r#"
                0.102 hear n.md
                0.310 look at n.md
                2.100 look at 4913
                2.111 look at n.md~"#]],
        );
        let twice = "
            100 touched n.md
            250 touched n.md
            400 arrived m.md
        ";
        check(
            twice,
            1000,
            expect![[r#"
                0.400 hear m.md
                0.600 look at m.md n.md"#]],
        );
    }

    #[test]
    fn the_halves_of_a_rename_may_come_apart_and_interleaved() {
        let interleaved = "
            100 touched a.md
            100 left 1
            101 touched b.md
            101 left 2
            150 arrived c.md
            150 came 2
            160 arrived d.md
            160 came 1
        ";
        check(
            interleaved,
            1000,
            expect![[r#"
                0.150 hear c.md
                0.160 hear d.md
                0.360 look at a.md b.md c.md d.md"#]],
        );
        check("100 touched d.md\n100 came 9\n120 touched a.md\n120 left 9", 1000, expect!["0.320 look at a.md d.md"]);
    }

    #[test]
    fn a_name_that_left_and_came_nowhere_is_looked_for_everywhere() {
        check("100 touched a.md\n100 left 1", 1000, expect!["0.300 look at everything"]);
        check(
            "100 arrived a.md\n100 came 1",
            1000,
            expect![[r#"
                0.100 hear a.md
                0.300 look at a.md"#]],
        );
    }

    #[test]
    fn a_steady_stream_holds_up_nothing_that_has_settled() {
        let mut script = String::from("50 touched once.md\n");
        for n in 1..=40 {
            script += &format!("{} touched busy.md\n", n * 100);
        }
        check(
            &script,
            6000,
            expect![[r#"
                2.050 look at once.md
                2.100 look at busy.md
                4.100 look at busy.md"#]],
        );
    }

    /// VLT-36.
    #[test]
    fn a_storm_becomes_one_look_at_everything_and_takes_no_memory() {
        let mut play = Play::begun();
        for n in 0..100_000_u64 {
            play.machine.heard(Hint::Touched(path(&format!("bulk/{n}.md"))), Duration::from_micros(2000 + n));
            assert!(play.machine.touched.len() <= MOST_PATHS);
        }
        for _ in 0..15 {
            play.machine.heard(Hint::Lost, Duration::from_millis(103));
        }
        play.until(Duration::from_secs(20));
        assert_eq!(play.log, ["0.303 look at everything, heard anew"]);
    }

    #[test]
    fn looks_at_everything_keep_a_distance_that_grows_with_their_cost() {
        let mut play = Play::begun();
        play.cost = Duration::from_secs(2);
        for n in 0..300 {
            play.script(&format!("{} unclear", 100 + n * 100));
        }
        play.until(Duration::from_secs(60));
        assert_eq!(play.log.iter().filter(|line| line.contains("everything")).count(), 5, "{:?}", play.log);
    }

    #[test]
    fn looks_at_files_that_cost_much_are_fewer() {
        let mut play = Play::begun();
        play.glance = Duration::from_millis(400);
        for n in 0..100 {
            play.script(&format!("{} touched n.md", 100 + n * 300));
        }
        play.until(Duration::from_secs(60));
        play.log.retain(|line| line.contains("n.md"));
        assert!((12..=22).contains(&play.log.len()), "{:?}", play.log);
    }

    #[test]
    fn a_new_folder_is_heard_at_once() {
        let mut play = Play::begun();
        assert!(play.machine.heard(Hint::Arrived(path("new")), Duration::from_millis(10)), "it wakes the driver");
        assert_eq!(play.machine.wake_at(), Duration::ZERO);
        play.until(Duration::from_millis(500));
        assert_eq!(play.log, ["0.001 hear new", "0.210 look at new"]);
    }

    #[test]
    fn more_of_the_same_wakes_nobody() {
        let mut play = Play::begun();
        let at = Duration::from_millis(10);
        assert!(play.machine.heard(Hint::Touched(path("a.md")), at));
        assert!(!play.machine.heard(Hint::Touched(path("a.md")), at));
        assert!(!play.machine.heard(Hint::Touched(path("b.md")), at));
    }

    /// VLT-34: nothing is looked at while nothing happens, but for the sweep.
    #[test]
    fn an_idle_hour_costs_a_glance_at_the_folder_and_a_few_sweeps() {
        let mut play = Play::begun();
        play.until(Duration::from_secs(3600));
        let sweeps = play.log.iter().filter(|line| line.contains("everything")).count();
        assert_eq!((sweeps, play.log.len()), (6, 120), "{:?}", play.log);
    }

    #[test]
    fn a_sweep_that_finds_what_no_event_spoke_of_brings_sweeps_closer_until_they_find_nothing() {
        let mut play = Play::begun();
        play.found.insert(path("quiet.md"));
        play.until(Duration::from_secs(700));
        play.log.retain(|line| line.contains("everything"));
        expect![[r#"
            600.000 look at everything, a sweep
            600.600 look at everything, heard anew
            605.600 look at everything, a sweep
            615.600 look at everything, a sweep
            635.600 look at everything, a sweep
            675.600 look at everything, a sweep"#]]
        .assert_eq(&play.log.join("\n"));
    }

    #[test]
    fn what_an_event_speaks_of_right_after_the_sweep_is_no_sign_of_deafness() {
        let mut play = Play::begun();
        play.found.insert(path("n.md"));
        play.script("600050 touched n.md");
        play.until(Duration::from_secs(700));
        play.log.retain(|line| !line.contains("folder"));
        expect![[r#"
            600.000 look at everything, a sweep
            600.250 look at n.md"#]]
        .assert_eq(&play.log.join("\n"));
    }

    #[test]
    fn sleep_a_clock_that_was_set_and_a_stopped_process_lead_to_a_look() {
        let jumps: [fn(&mut Play); 3] = [
            |play| play.ahead += 3_600_000,
            |play| play.ahead -= 86_400_000,
            |play| play.at += Duration::from_secs(50),
        ];
        for jump in jumps {
            let mut play = Play::begun();
            play.until(Duration::from_secs(40));
            play.log.clear();
            jump(&mut play);
            play.until(Duration::from_secs(120));
            let looks = play.log.iter().filter(|line| line.ends_with("everything")).count();
            assert_eq!(looks, 1, "{:?}", play.log);
        }
    }

    #[test]
    fn without_events_the_vault_is_polled_and_looking_takes_a_twentieth_of_the_time() {
        let mut play = Play::begun();
        play.machine.set_polling(true);
        play.until(Duration::from_secs(21));
        assert_eq!(play.log.iter().filter(|line| line.contains("everything")).count(), 4, "{:?}", play.log);
        play.cost = Duration::from_secs(1);
        play.until(Duration::from_secs(121));
        play.log.retain(|line| line.contains("everything"));
        assert_eq!(play.log.len(), 4 + 5, "{:?}", play.log);
        play.machine.set_polling(false);
        play.log.clear();
        play.until(Duration::from_secs(600));
        play.log.retain(|line| line.contains("everything"));
        assert_eq!(play.log, [""; 0]);
    }

    #[test]
    fn a_folder_that_is_gone_is_looked_for_often_and_heard_anew_when_it_is_back() {
        let mut play = Play::begun();
        play.script("100 root");
        play.until(Duration::from_millis(300));
        play.machine.set_root(true, false, play.at);
        play.until(Duration::from_secs(12));
        play.machine.set_root(false, false, play.at);
        play.until(Duration::from_secs(20));
        expect![[r#"
            0.300 look at the folder
            5.300 look at the folder
            10.300 look at the folder
            12.200 look at everything, heard anew"#]]
        .assert_eq(&play.log.join("\n"));
    }
}
