//! The `list` tool's arguments as recall's filters: typed, and refused by name where they say nothing.

use chrono::NaiveDate;
use dormouse_recall::{Filters, ListRequest, SortBy};
use dormouse_vault::text::truncate_chars;
use dormouse_vault::{Bucket, Layer};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::AgentError;

/// Characters of a wrong value that its error repeats.
const SHOWN_CHARS: usize = 60;
/// Notes that are listed when the call does not say.
const DEFAULT_LIMIT: usize = 50;

/// The schema's properties.
pub(super) fn properties() -> Value {
    let date = |which: &str| json!({"type": "string", "description": format!("{which}: a year, month or day such as 2026, 2026-11 or 2026-11-03")});
    json!({
        "layer": {
            "type": "string",
            "enum": ["daily", "resource", "digest", "other"],
            "description": "daily: what happened; resource: source material; digest: abstractions; other: the user's own notes",
        },
        "bucket": {
            "type": "string",
            "enum": ["procedure", "personal", "wiki"],
            "description": "of digests: how to do it; who they are and what they prefer; what it is and why",
        },
        "folder": {"type": "string", "minLength": 1, "description": "in this folder or deeper, such as Areas/House"},
        "tag": {"type": "string", "minLength": 1, "description": "with this tag or one below it"},
        "since": date("dated then or later"),
        "until": date("dated then or earlier"),
        "sort": {"type": "string", "enum": ["path", "name", "newest", "oldest", "inbound"]},
        "limit": {"type": "integer", "minimum": 1, "maximum": 200},
    })
}

/// What the model may ask for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListArguments {
    layer: Option<Layer>,
    bucket: Option<Bucket>,
    folder: Option<String>,
    tag: Option<String>,
    since: Option<String>,
    until: Option<String>,
    sort: SortBy,
    limit: Option<usize>,
}

impl ListArguments {
    /// The request, or which argument can't be used.
    pub(super) fn request(self) -> Result<ListRequest, AgentError> {
        let from = self.since.as_deref().map(|text| Ok::<_, AgentError>(span("since", text)?.0)).transpose()?;
        let until = self.until.as_deref().map(|text| Ok::<_, AgentError>(span("until", text)?.1)).transpose()?;
        if let (Some(from), Some(until)) = (from, until)
            && from > until
        {
            return Err(refused("until", self.until.as_deref().unwrap_or_default(), "no earlier than `since`"));
        }
        Ok(ListRequest {
            filters: Filters {
                layers: self.layer.into_iter().collect(),
                buckets: self.bucket.into_iter().collect(),
                folder: self.folder,
                tags: self.tag.into_iter().collect(),
                from,
                until,
                ..Filters::default()
            },
            limit: self.limit.unwrap_or(DEFAULT_LIMIT),
            sort: self.sort,
            ..ListRequest::default()
        })
    }
}

/// An argument that can't be used.
pub(super) fn refused(argument: &'static str, value: &str, expected: &'static str) -> AgentError {
    AgentError::Argument { argument, value: truncate_chars(value, SHOWN_CHARS).into(), expected }
}

/// First and last day of a year, a month or a day.
fn span(argument: &'static str, text: &str) -> Result<(NaiveDate, NaiveDate), AgentError> {
    days(text.trim())
        .ok_or_else(|| refused(argument, text, "a year, month or day that exists, such as 2026, 2026-11 or 2026-11-03"))
}

fn days(text: &str) -> Option<(NaiveDate, NaiveDate)> {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize| {
        (part.len() == digits && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<u32>().ok()).flatten()
    };
    let year = i32::try_from(number(parts.first()?, 4)?).ok()?;
    let month = match parts.get(1) {
        Some(part) => Some(number(part, 2)?),
        None => None,
    };
    let day = match parts.get(2) {
        Some(part) => Some(number(part, 2)?),
        None => None,
    };
    let first = NaiveDate::from_ymd_opt(year, month.unwrap_or(1), day.unwrap_or(1))?;
    let next = match (month, day, parts.len()) {
        (_, _, 4..) => return None,
        (_, Some(_), _) => return Some((first, first)),
        (Some(12) | None, _, _) => NaiveDate::from_ymd_opt(year + 1, 1, 1)?,
        (Some(month), _, _) => NaiveDate::from_ymd_opt(year, month + 1, 1)?,
    };
    Some((first, next.pred_opt()?))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    use super::{ListArguments, days};

    #[test]
    fn a_year_a_month_and_a_day_have_a_first_and_a_last_day() {
        let check = |text: &str| days(text).map(|(first, last)| format!("{first}..{last}"));
        for (text, expected) in [
            ("2026", Some("2026-01-01..2026-12-31")),
            ("2026-11", Some("2026-11-01..2026-11-30")),
            ("2026-12", Some("2026-12-01..2026-12-31")),
            ("2028-02", Some("2028-02-01..2028-02-29")),
            ("2026-11-03", Some("2026-11-03..2026-11-03")),
            ("9999", Some("9999-01-01..9999-12-31")),
            ("2026-13", None),
            ("2026-02-30", None),
            ("2026-1", None),
            ("2026-11-03-04", None),
            ("26", None),
            ("", None),
            ("2026-", None),
            ("+026", None),
            ("２０２６", None),
            ("last week", None),
        ] {
            assert_eq!(check(text).as_deref(), expected, "{text:?}");
        }
    }

    fn check(arguments: Value, expected: Expect) {
        let request = serde_json::from_value::<ListArguments>(arguments).map_err(|e| e.to_string());
        expected.assert_eq(&match request.and_then(|a| a.request().map_err(|e| e.to_string())) {
            Ok(request) => serde_json::to_string(&request.filters).unwrap(),
            Err(error) => error,
        });
    }

    #[test]
    fn arguments_become_filters() {
        check(
            json!({"layer": "digest", "bucket": "wiki", "tag": "a/b", "folder": "x", "since": "2026-11", "until": "2026-11"}),
            expect![[
                r#"{"layers":["digest"],"buckets":["wiki"],"folder":"x","tags":["a/b"],"properties":{},"from":"2026-11-01","until":"2026-11-30","links_to":null,"linked_from":null}"#
            ]],
        );
        check(
            json!({"since": "2026-11"}),
            expect![[
                r#"{"layers":[],"buckets":[],"folder":null,"tags":[],"properties":{},"from":"2026-11-01","until":null,"links_to":null,"linked_from":null}"#
            ]],
        );
        check(
            json!({"until": "2026-11-05"}),
            expect![[
                r#"{"layers":[],"buckets":[],"folder":null,"tags":[],"properties":{},"from":null,"until":"2026-11-05","links_to":null,"linked_from":null}"#
            ]],
        );
    }

    #[test]
    fn what_says_nothing_is_refused_by_name() {
        check(
            json!({"since": "yesterday"}),
            expect![[
                r#"`since` is "yesterday"; expected a year, month or day that exists, such as 2026, 2026-11 or 2026-11-03"#
            ]],
        );
        check(
            json!({"until": "2026-02-30"}),
            expect![[
                r#"`until` is "2026-02-30"; expected a year, month or day that exists, such as 2026, 2026-11 or 2026-11-03"#
            ]],
        );
        check(
            json!({"since": "2026-12", "until": "2026-11"}),
            expect![[r#"`until` is "2026-11"; expected no earlier than `since`"#]],
        );
        check(
            json!({"filter": "in:digest"}),
            expect![
                "unknown field `filter`, expected one of `layer`, `bucket`, `folder`, `tag`, `since`, `until`, `sort`, `limit`"
            ],
        );
    }
}
