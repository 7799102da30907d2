//! When which task is due: a pure function of the clock, the last activity and the last runs.

use std::collections::BTreeMap;

use chrono::{DateTime, Duration, FixedOffset, Utc};
use dormouse_vault::Vault;
use dormouse_vault::meta::{Artefact, Communities, Recency};
use serde::{Deserialize, Serialize};

use crate::config::ScheduleConfig;
use crate::report::Task;
use crate::state::State;

/// When each task last ended well.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LastRuns {
    runs: BTreeMap<Task, DateTime<Utc>>,
}

impl LastRuns {
    /// What the vault knows: `computed_at` of the derived files and `.dormouse/consolidate.json`,
    /// whichever is later. Deleting either only makes a task due again.
    #[must_use]
    pub fn load(vault: &Vault) -> Self {
        let mut runs = State::load(vault).last_runs;
        if let Some(communities) = usable::<Communities>(vault) {
            runs.record(Task::Communities, communities.computed_at);
        }
        if let Some(recency) = usable::<Recency>(vault) {
            runs.record(Task::Time, recency.computed_at);
        }
        runs
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

    /// Notes that `task` ended well at `at`, also when a clock that was wrong has said later.
    pub(crate) fn set(&mut self, task: Task, at: DateTime<Utc>) {
        self.runs.insert(task, at);
    }
}

fn usable<T: Artefact>(vault: &Vault) -> Option<T> {
    vault.meta::<T>().value
}

/// Decides when the tasks are due. It holds no state: the caller's loop asks it about once a
/// minute and runs what it names, passing a `cancel` that is true once the foreground wakes.
#[derive(Debug, Clone, Default)]
pub struct Scheduler {
    config: ScheduleConfig,
}

impl Scheduler {
    /// A scheduler with these settings.
    #[must_use]
    pub fn new(config: ScheduleConfig) -> Self {
        Self { config }
    }

    /// The tasks that are due at `now`, in running order: none before there has been quiet since
    /// `last_activity` for long enough; then time and health daily, communities, duplicates and
    /// the split sweep weekly. A task that was missed while the machine slept is due at once, and
    /// so is one whose last run lies in the future of `now` (the clock was wrong).
    #[must_use]
    pub fn due(&self, now: DateTime<FixedOffset>, last_activity: DateTime<FixedOffset>, last: &LastRuns) -> Vec<Task> {
        let quiet = Duration::minutes(i64::from(self.config.quiet_minutes));
        let idle = now.signed_duration_since(last_activity);
        // An activity in the future is a clock that jumped back: it must not silence us for years.
        if idle < quiet && idle > -Duration::days(1) {
            return Vec::new();
        }
        Task::ALL.into_iter().filter(|&task| self.is_due(task, now.to_utc(), last)).collect()
    }

    /// The first moment at which a task will be due, when nothing happens after `last_activity`.
    #[must_use]
    pub fn next_due(&self, last_activity: DateTime<FixedOffset>, last: &LastRuns) -> DateTime<Utc> {
        let quiet = last_activity.to_utc() + Duration::minutes(i64::from(self.config.quiet_minutes));
        let first = Task::ALL.into_iter().map(|task| last.get(task).map_or(quiet, |at| at + self.interval(task))).min();
        first.map_or(quiet, |first| first.max(quiet))
    }

    fn is_due(&self, task: Task, now: DateTime<Utc>, last: &LastRuns) -> bool {
        last.get(task).is_none_or(|at| at > now || now.signed_duration_since(at) >= self.interval(task))
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
    fn the_next_moment_is_the_later_of_quiet_and_the_first_interval() {
        let mut last = LastRuns::default();
        for (task, moment) in ALL_FRESH {
            last.record(task, at(moment).to_utc());
        }
        let next = Scheduler::default().next_due(at("2026-11-30T10:00:00+08:00"), &last);
        assert_eq!(next.to_rfc3339(), "2026-11-30T19:00:00+00:00");
    }
}
