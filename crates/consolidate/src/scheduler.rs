//! When which task is due: a pure function of the clock, the last activity and the last runs.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

use chrono::{DateTime, Duration, FixedOffset, Utc};
use dormouse_vault::Vault;
use dormouse_vault::meta::{Artefact, Communities, Recency};
use serde::{Deserialize, Serialize};

use crate::config::ScheduleConfig;
use crate::report::Task;
use crate::state::State;

/// When each task last ended well, and when it failed since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastRuns {
    runs: BTreeMap<Task, DateTime<Utc>>,
    failed: BTreeMap<Task, DateTime<Utc>>,
}

impl LastRuns {
    /// What the vault knows: `computed_at` of the derived files and `.dormouse/consolidate.json`,
    /// whichever is later. Deleting either only makes a task due again.
    #[must_use]
    pub fn load(vault: &Vault) -> Self {
        let mut runs = State::load(vault).last_runs;
        runs.meet::<Communities>(vault, Task::Communities);
        runs.meet::<Recency>(vault, Task::Time);
        runs
    }

    /// Takes in what a derived file says of its task. A task that is known to have run costs a look
    /// at the file's first bytes alone.
    fn meet<T: Artefact>(&mut self, vault: &Vault, task: Task) {
        let at = match self.get(task) {
            Some(_) => head::<T>(vault),
            None => vault.meta::<T>().value.map(|value| value.computed_at()),
        };
        at.into_iter().for_each(|at| self.record(task, at));
    }

    /// When `task` last ended well.
    #[must_use]
    pub fn get(&self, task: Task) -> Option<DateTime<Utc>> {
        self.runs.get(&task).copied()
    }

    /// Notes that `task` ended well at `at`; an earlier moment than the known one is ignored.
    pub fn record(&mut self, task: Task, at: DateTime<Utc>) {
        let last = self.runs.entry(task).or_insert(at);
        *last = (*last).max(at);
    }

    /// When `task` last failed, when it has not ended well since.
    #[must_use]
    pub fn failed(&self, task: Task) -> Option<DateTime<Utc>> {
        self.failed.get(&task).copied()
    }

    /// Notes that `task` ended well at `at`, also when a clock that was wrong has said later.
    pub(crate) fn set(&mut self, task: Task, at: DateTime<Utc>) {
        self.runs.insert(task, at);
        self.failed.remove(&task);
    }

    /// Notes that `task` failed at `at`.
    pub fn fail(&mut self, task: Task, at: DateTime<Utc>) {
        self.failed.insert(task, at);
    }
}

/// `computed_at` of a derived file, from its first bytes; `None` for a file that does not begin as
/// ours do.
fn head<T: Artefact>(vault: &Vault) -> Option<DateTime<Utc>> {
    let file = vault.root().join(&vault.layout().meta).join(T::FILE);
    let mut start = Vec::new();
    fs::File::open(file).ok()?.take(160).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let rest = start.split_once("\"computed_at\"")?.1.trim_start().strip_prefix(':')?.trim_start();
    rest.strip_prefix('"')?.split_once('"')?.0.parse().ok()
}

/// An activity further ahead than this was stamped by a clock that was wrong.
const CLOCK_SLACK: Duration = Duration::hours(1);

/// `at` and `by`, or the end of time.
fn later(at: DateTime<Utc>, by: Duration) -> DateTime<Utc> {
    at.checked_add_signed(by).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// Decides when the tasks are due. It holds no state: the caller's loop asks it about once a
/// minute and runs what it names, passing a `cancel` that is true once the foreground wakes.
#[derive(Debug, Clone, Default)]
pub struct Scheduler {
    config: ScheduleConfig,
    quiet: Option<Duration>,
}

impl Scheduler {
    /// A scheduler with these settings.
    #[must_use]
    pub fn new(config: ScheduleConfig) -> Self {
        Self { config, quiet: None }
    }

    /// The same, but for `quiet` in place of the settings' minutes.
    #[must_use]
    pub fn with_quiet(self, quiet: Duration) -> Self {
        Self { quiet: Some(quiet), ..self }
    }

    /// The tasks that are due at `now`, in running order: none before there has been quiet since
    /// `last_activity` for long enough; then time and health daily, communities, duplicates and
    /// the split sweep weekly. A task that was missed while the machine slept is due at once, and
    /// so is one whose last run lies in the future of `now` (the clock was wrong). A task that failed is
    /// left alone for a while, so that the loop does not try it every minute.
    #[must_use]
    pub fn due(&self, now: DateTime<FixedOffset>, last_activity: DateTime<FixedOffset>, last: &LastRuns) -> Vec<Task> {
        let quiet = self.quiet();
        let idle = now.signed_duration_since(last_activity);
        // An activity in the future is a clock that jumped back: it must not silence us for years.
        if idle < quiet && idle > -CLOCK_SLACK {
            return Vec::new();
        }
        Task::ALL.into_iter().filter(|&task| self.is_due(task, now.to_utc(), last)).collect()
    }

    /// The first moment at which a task will be due, when nothing happens after `last_activity`.
    #[must_use]
    pub fn next_due(&self, last_activity: DateTime<FixedOffset>, last: &LastRuns) -> DateTime<Utc> {
        let quiet = later(last_activity.to_utc(), self.quiet());
        let due = |task| {
            let again = last.get(task).map(|at| later(at, self.interval(task)));
            let retry = last.failed(task).map(|at| later(at, self.retry()));
            again.max(retry).unwrap_or(quiet)
        };
        let first = Task::ALL.into_iter().map(due).min();
        first.map_or(quiet, |first| first.max(quiet))
    }

    /// How long there must have been quiet.
    #[must_use]
    pub fn quiet(&self) -> Duration {
        self.quiet.unwrap_or_else(|| Duration::minutes(i64::from(self.config.quiet_minutes)))
    }

    fn is_due(&self, task: Task, now: DateTime<Utc>, last: &LastRuns) -> bool {
        let over = |at: DateTime<Utc>, wait: Duration| at > now || now.signed_duration_since(at) >= wait;
        last.get(task).is_none_or(|at| over(at, self.interval(task)))
            && last.failed(task).is_none_or(|at| over(at, self.retry()))
    }

    /// How long a task that failed is left alone.
    fn retry(&self) -> Duration {
        Duration::minutes(i64::from(self.config.retry_minutes))
    }

    fn interval(&self, task: Task) -> Duration {
        Duration::hours(i64::from(match task {
            Task::Time | Task::Health => self.config.daily_hours,
            Task::Split | Task::Communities | Task::Duplicates => self.config.weekly_hours,
        }))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn at(text: &str) -> DateTime<FixedOffset> {
        DateTime::parse_from_rfc3339(text).unwrap()
    }

    fn check(now: &str, activity: &str, runs: &[(Task, &str)], expected: Expect) {
        let mut last = LastRuns::default();
        for (task, moment) in runs {
            last.record(*task, at(moment).to_utc());
        }
        let due: Vec<_> =
            Scheduler::default().due(at(now), at(activity), &last).into_iter().map(Task::as_str).collect();
        expected.assert_eq(&due.join(" "));
    }

    const ALL_FRESH: [(Task, &str); 5] = [
        (Task::Split, "2026-11-30T03:00:00+08:00"),
        (Task::Communities, "2026-11-30T03:00:00+08:00"),
        (Task::Time, "2026-11-30T03:00:00+08:00"),
        (Task::Duplicates, "2026-11-30T03:00:00+08:00"),
        (Task::Health, "2026-11-30T03:00:00+08:00"),
    ];

    #[test]
    fn nothing_is_due_before_ten_minutes_of_quiet() {
        check("2026-11-30T10:09:59+08:00", "2026-11-30T10:00:00+08:00", &[], expect![""]);
        check(
            "2026-11-30T10:10:00+08:00",
            "2026-11-30T10:00:00+08:00",
            &[],
            expect!["split communities time duplicates health"],
        );
    }

    #[test]
    fn time_and_health_are_daily_and_the_rest_is_weekly() {
        let quiet = "2026-11-29T00:00:00+08:00";
        check("2026-12-01T02:59:59+08:00", quiet, &ALL_FRESH, expect![""]);
        check("2026-12-01T03:00:00+08:00", quiet, &ALL_FRESH, expect!["time health"]);
        check("2026-12-07T03:00:00+08:00", quiet, &ALL_FRESH, expect!["split communities time duplicates health"]);
    }

    #[test]
    fn what_was_missed_in_sleep_is_caught_up_once() {
        check(
            "2027-01-30T03:00:00+08:00",
            "2026-11-30T03:00:00+08:00",
            &ALL_FRESH,
            expect!["split communities time duplicates health"],
        );
    }

    #[test]
    fn a_clock_that_was_wrong_does_not_silence_the_scheduler() {
        check(
            "2026-11-30T12:00:00+08:00",
            "2026-11-30T10:00:00+08:00",
            &[(Task::Time, "2031-01-01T00:00:00+08:00")],
            expect!["split communities time duplicates health"],
        );
        check(
            "2026-11-30T12:00:00+08:00",
            "2031-11-30T10:00:00+08:00",
            &[],
            expect!["split communities time duplicates health"],
        );
    }

    #[test]
    fn a_task_that_failed_is_left_alone_for_an_hour_and_the_others_are_not() {
        let mut last = LastRuns::default();
        last.fail(Task::Communities, at("2026-11-30T10:00:00+08:00").to_utc());
        let due = |now: &str| {
            let due = Scheduler::default().due(at(now), at("2026-11-30T09:00:00+08:00"), &last);
            due.into_iter().map(Task::as_str).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(due("2026-11-30T10:59:59+08:00"), "split time duplicates health");
        assert_eq!(due("2026-11-30T11:00:00+08:00"), "split communities time duplicates health");
        // A failure that a wrong clock stamped does not silence it.
        assert_eq!(due("2026-11-30T09:30:00+08:00"), "split communities time duplicates health");
        let mut ran = last.clone();
        ran.set(Task::Communities, at("2026-11-30T11:00:00+08:00").to_utc());
        assert_eq!(ran.failed(Task::Communities), None);
    }

    #[test]
    fn the_next_moment_is_the_later_of_quiet_and_the_first_interval() {
        let mut last = LastRuns::default();
        for (task, moment) in ALL_FRESH {
            last.record(task, at(moment).to_utc());
        }
        let next = Scheduler::default().next_due(at("2026-11-30T10:00:00+08:00"), &last);
        assert_eq!(next.to_rfc3339(), "2026-11-30T19:00:00+00:00");
    }
}
