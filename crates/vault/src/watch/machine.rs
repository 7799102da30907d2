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
/// A look at everything is followed by so many times its cost without another.
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
    /// End and cost of the last look at everything.
    rest_until: Duration,
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
        Some(if self.everything.is_some() { due.max(self.rest_until) } else { due })
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
            if halves && at < self.rest_until {
                self.ask_for_everything(at);
            } else {
                look.everything = self.everything.take().is_some() || halves;
            }
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
