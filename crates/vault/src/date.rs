//! A note's date: what it says of itself, then its path, then the file.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};

use crate::frontmatter::Frontmatter;
use crate::note::{DateSource, NoteDate};
use crate::path::NotePath;

/// The properties that may hold the date, most telling first.
const KEYS: [&str; 3] = ["date", "created", "updated"];

/// The date of a note: the first of `date`, `created` and `updated` that can be read, else the
/// date in its path, else `mtime_ns` (nanoseconds since the epoch, read as UTC; negative is before
/// it, 0 is unknown).
///
/// A property may be a date (`2026-11-30`), a local date and time (`2026-11-30 14:05`, `T` between
/// them and seconds allowed; it states no moment, since its zone is not known) or RFC 3339.
pub(crate) fn note_date(frontmatter: &Frontmatter, path: &NotePath, mtime_ns: i128) -> Option<NoteDate> {
    let stated = KEYS.iter().find_map(|key| read(frontmatter.text(key)?));
    if let Some((day, moment)) = stated {
        return Some(NoteDate { day, moment, source: DateSource::Frontmatter });
    }
    if let Some(day) = path.date() {
        return Some(NoteDate { day, moment: None, source: DateSource::Path });
    }
    let seconds = i64::try_from(mtime_ns.div_euclid(1_000_000_000)).ok().filter(|_| mtime_ns != 0)?;
    let nanos = u32::try_from(mtime_ns.rem_euclid(1_000_000_000)).ok()?;
    let moment = DateTime::from_timestamp(seconds, nanos)?;
    Some(NoteDate { day: moment.date_naive(), moment: Some(moment.fixed_offset()), source: DateSource::Mtime })
}

fn read(text: &str) -> Option<(NaiveDate, Option<DateTime<FixedOffset>>)> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some((moment.date_naive(), Some(moment)));
    }
    let text = text.strip_prefix("[[").and_then(|t| t.strip_suffix("]]")).unwrap_or(text);
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some((day, None));
    }
    let (day, time) = text.split_once(['T', ' '])?;
    let time = time.trim();
    let timed = ["%H:%M:%S%.f", "%H:%M"].iter().any(|form| NaiveTime::parse_from_str(time, form).is_ok());
    let zoned = || NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S %z").is_ok();
    (timed || zoned()).then(|| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()).flatten().map(|day| (day, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Document;

    #[track_caller]
    fn check(properties: &str, path: &str, mtime_ns: i128, expected: &str) {
        let doc = Document::parse(&format!("---\n{properties}\n---\n"));
        let found = note_date(&doc.frontmatter, &NotePath::new(path).unwrap(), mtime_ns);
        let shown = found.map_or("none".to_owned(), |d| {
            let moment = d.moment.map_or(String::new(), |m| format!(" at {}", m.to_rfc3339()));
            format!("{}{moment} from {:?}", d.day, d.source)
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_frontmatter_wins_over_the_path_and_the_path_over_the_file() {
        check("date: 2026-11-30", "daily/2026-11-01.md", 1, "2026-11-30 from Frontmatter");
        check("name: x", "daily/2026-11-01/walk.md", 1, "2026-11-01 from Path");
        check("name: x", "walk.md", 86_400_000_000_000, "1970-01-02 at 1970-01-02T00:00:00+00:00 from Mtime");
        check("name: x", "walk.md", 0, "none");
    }

    #[test]
    fn dates_local_times_and_moments_are_read() {
        check("created: 2026-11-30T14:05", "a.md", 0, "2026-11-30 from Frontmatter");
        check("created: 2026-11-30 14:05:09", "a.md", 0, "2026-11-30 from Frontmatter");
        let moment = "2026-11-30 at 2026-11-30T23:05:00+08:00 from Frontmatter";
        check("updated: 2026-11-30T23:05:00+08:00", "a.md", 0, moment);
        check("date: \"[[2026-11-30]]\"", "a.md", 0, "2026-11-30 from Frontmatter");
    }

    #[test]
    fn a_date_that_cannot_be_read_is_passed_over() {
        check("date: someday\ncreated: 2026-11-30", "a.md", 0, "2026-11-30 from Frontmatter");
        check("date: 2026-13-45", "a.md", 0, "none");
    }
}
