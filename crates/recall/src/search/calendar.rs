//! The calendar as relative dates need it: whole weeks, months and years, seen from a day.

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

/// First and last day.
pub(crate) type Stretch = (NaiveDate, NaiveDate);

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    /// The whole day, week, month or year that lies `by` of them from today.
    pub(super) fn shifted(self, by: i32, today: NaiveDate) -> Option<Stretch> {
        let n = u64::from(by.unsigned_abs());
        let months = |months: u64| {
            let months = Months::new(u32::try_from(months).ok()?);
            if by < 0 { today.checked_sub_months(months) } else { today.checked_add_months(months) }
        };
        let days = |days: u64| {
            let days = Days::new(days);
            if by < 0 { today.checked_sub_days(days) } else { today.checked_add_days(days) }
        };
        match self {
            Self::Day => days(n).map(|day| (day, day)),
            Self::Week => week(days(n.checked_mul(7)?)?),
            Self::Month => month(months(n)?),
            Self::Year => year(months(n.checked_mul(12)?)?.year()),
        }
    }

    pub(super) fn ago(self, n: u32, today: NaiveDate) -> Option<Stretch> {
        self.shifted(i32::try_from(n).ok()?.checked_neg()?, today)
    }

    /// The time of `n` of them that ends today.
    pub(super) fn until(self, n: u32, today: NaiveDate) -> Option<Stretch> {
        let first = match self {
            Self::Day => today.checked_sub_days(Days::new(u64::from(n))),
            Self::Week => today.checked_sub_days(Days::new(u64::from(n) * 7)),
            Self::Month => today.checked_sub_months(Months::new(n)),
            Self::Year => today.checked_sub_months(Months::new(n.checked_mul(12)?)),
        };
        first.map(|first| (first, today))
    }
}

pub(super) fn week(day: NaiveDate) -> Option<Stretch> {
    let monday = day.checked_sub_days(Days::new(u64::from(day.weekday().num_days_from_monday())))?;
    Some((monday, monday.checked_add_days(Days::new(6))?))
}

pub(super) fn month(day: NaiveDate) -> Option<Stretch> {
    let first = day.with_day(1)?;
    Some((first, first.checked_add_months(Months::new(1))?.pred_opt()?))
}

pub(super) fn year(year: i32) -> Option<Stretch> {
    Some((NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?))
}

/// Saturday and Sunday of the week of a day.
pub(super) fn weekend(day: NaiveDate) -> Option<Stretch> {
    let (_, sunday) = week(day)?;
    Some((sunday.pred_opt()?, sunday))
}

/// The last weekend that has begun.
pub(super) fn latest_weekend(today: NaiveDate) -> Option<Stretch> {
    weekend(today).filter(|(saturday, _)| *saturday <= today).or_else(|| weekend(week_before(today)?))
}

pub(super) fn week_before(day: NaiveDate) -> Option<NaiveDate> {
    day.checked_sub_days(Days::new(7))
}

/// The last such weekday, today included or not.
pub(super) fn latest(weekday: Weekday, today: NaiveDate, included: bool) -> Option<Stretch> {
    let back = (7 + today.weekday().num_days_from_monday() - weekday.num_days_from_monday()) % 7;
    let back = if back == 0 && !included { 7 } else { back };
    let day = today.checked_sub_days(Days::new(u64::from(back)))?;
    Some((day, day))
}

pub(super) fn of_week(weekday: Weekday, day: NaiveDate) -> Option<Stretch> {
    let (monday, _) = week(day)?;
    let day = monday.checked_add_days(Days::new(u64::from(weekday.num_days_from_monday())))?;
    Some((day, day))
}

/// The part of a month; `None` for all of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    First,
    Middle,
    Last,
    Day(u32),
}

pub(super) fn part_of(days: Stretch, part: Option<Part>) -> Option<Stretch> {
    let (first, last) = days;
    match part {
        None => Some(days),
        Some(Part::First) => Some((first, first.with_day(10)?)),
        Some(Part::Middle) => Some((first.with_day(11)?, first.with_day(20)?)),
        Some(Part::Last) => Some((first.with_day(21)?, last)),
        Some(Part::Day(day)) => first.with_day(day).map(|day| (day, day)),
    }
}

/// What comes round every year, counted from a year: months and seasons.
#[derive(Debug, Clone, Copy)]
pub(super) enum Yearly {
    Month(u32, Option<Part>),
    /// By its first month.
    Season(u32),
}

impl Yearly {
    pub(super) fn of(self, year: i32) -> Option<Stretch> {
        match self {
            Self::Month(number, part) => part_of(month(NaiveDate::from_ymd_opt(year, number, 1)?)?, part),
            Self::Season(first) => {
                let first = NaiveDate::from_ymd_opt(year, first, 1)?;
                Some((first, first.checked_add_months(Months::new(3))?.pred_opt()?))
            }
        }
    }

    /// The last one for which `holds`.
    pub(super) fn last(self, today: NaiveDate, holds: impl Fn(Stretch) -> bool) -> Option<Stretch> {
        (0..3).find_map(|back| self.of(today.year().checked_sub(back)?).filter(|days| holds(*days)))
    }
}
