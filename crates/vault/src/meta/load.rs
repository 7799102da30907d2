//! Reading an artefact: whatever lies there, a value or the reason why there is none.

use std::collections::BTreeMap;
use std::io;

use chrono::{DateTime, Duration, Utc};
use serde_json::error::Category;

use crate::layout::Layer;
use crate::meta::{AccessLog, Archived, Artefact, Communities, Cooldowns, Dismissed, DreamLedger, Recency, Topics};
use crate::problem::{Problem, ProblemKind};
use crate::vault::Vault;

/// What reading an artefact gave.
#[derive(Debug, Clone)]
pub struct Loaded<T> {
    /// The artefact, when it could be read.
    pub value: Option<T>,
    /// Why it could not; `None` when it is merely missing.
    pub problem: Option<Problem>,
}

impl<T: Artefact> Loaded<T> {
    /// Reads `bytes`; `None` for a file that is missing.
    #[must_use]
    pub fn from_bytes(bytes: Option<&[u8]>) -> Self {
        match bytes.map(parse::<T>) {
            None => Self { value: None, problem: None },
            Some(Ok(value)) => Self { value: Some(value), problem: None },
            Some(Err(fault)) => Self { value: None, problem: Some(fault.to_problem::<T>()) },
        }
    }

    /// The artefact, when it was computed at most `max_age` before `now`; one from the future is
    /// fresh, since clocks differ.
    #[must_use]
    pub fn fresh(&self, now: DateTime<Utc>, max_age: Duration) -> Option<&T> {
        self.value.as_ref().filter(|value| now.signed_duration_since(value.computed_at()) <= max_age)
    }
}

/// What every artefact has.
#[derive(serde::Deserialize)]
struct Head {
    version: u64,
}

/// Why bytes are no artefact.
enum Fault {
    Unreadable(io::Error),
    Empty,
    Zeroes,
    Cut,
    NotJson,
    OtherVersion(u64),
    NoVersion,
    Shape(serde_json::Error),
}

fn parse<T: Artefact>(bytes: &[u8]) -> Result<T, Fault> {
    // What is as it should be is read in one go; only what is not is looked at twice, to say why.
    let head = serde_json::from_slice::<Head>(bytes).ok();
    if head.is_some_and(|head| head.version == u64::from(T::VERSION))
        && let Ok(value) = serde_json::from_slice(bytes)
    {
        return Ok(value);
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Fault::Empty);
    }
    if bytes.iter().all(|b| *b == 0) {
        return Err(Fault::Zeroes);
    }
    let json: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Eof => Fault::Cut,
        _ => Fault::NotJson,
    })?;
    match json.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(T::VERSION) => T::deserialize(json).map_err(Fault::Shape),
        Some(version) => Err(Fault::OtherVersion(version)),
        None => Err(Fault::NoVersion),
    }
}

/// Whether `bytes` are what this build reads from `meta/<file>`; a file that is no artefact of ours
/// need only be JSON.
pub(crate) fn is_current(file: &str, bytes: &[u8]) -> bool {
    match file {
        Communities::FILE => parse::<Communities>(bytes).is_ok(),
        Recency::FILE => parse::<Recency>(bytes).is_ok(),
        Archived::FILE => parse::<Archived>(bytes).is_ok(),
        AccessLog::FILE => parse::<AccessLog>(bytes).is_ok(),
        DreamLedger::FILE => parse::<DreamLedger>(bytes).is_ok(),
        Cooldowns::FILE => parse::<Cooldowns>(bytes).is_ok(),
        Dismissed::FILE => parse::<Dismissed>(bytes).is_ok(),
        Topics::FILE => parse::<Topics>(bytes).is_ok(),
        _ => serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok(),
    }
}

impl Fault {
    fn to_problem<T: Artefact>(&self) -> Problem {
        let what = match self {
            Self::Unreadable(error) => format!("can't be read ({error})"),
            Self::Empty => "is empty".to_owned(),
            Self::Zeroes => "is filled with zeroes, as a crash leaves a file".to_owned(),
            Self::Cut => "ends too early".to_owned(),
            Self::NotJson => "is not JSON".to_owned(),
            Self::OtherVersion(version) if *version > u64::from(T::VERSION) => {
                let message = format!(
                    "{}: is of version {version}, newer than this build's {}; it is ignored, update Dormouse",
                    T::FILE,
                    T::VERSION
                );
                return Problem { kind: ProblemKind::Meta, line: None, message };
            }
            Self::OtherVersion(version) => format!("is of the old version {version}"),
            Self::NoVersion => "has no version".to_owned(),
            Self::Shape(error) => format!("has another shape ({error})"),
        };
        let message = format!("{}: {what}; {}", T::FILE, T::UNREAD);
        Problem { kind: ProblemKind::Meta, line: None, message }
    }
}

impl Vault {
    /// Reads a derived signal from `meta/`. Missing, corrupt or of another version: no value, and
    /// a problem that says so and what to do (none when it is merely missing).
    #[must_use]
    pub fn meta<T: Artefact>(&self) -> Loaded<T> {
        let file = self.root().join(self.layout().file(Layer::Meta, T::FILE).as_disk());
        match std::fs::read(file) {
            Ok(bytes) => Loaded::from_bytes(Some(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Loaded::from_bytes(None),
            Err(error) => Loaded { value: None, problem: Some(Fault::Unreadable(error).to_problem::<T>()) },
        }
    }
}

/// The JSON schemas of all artefacts, by file name below `meta/`.
#[must_use]
pub fn schemas() -> BTreeMap<&'static str, serde_json::Value> {
    fn of<T: Artefact>() -> (&'static str, serde_json::Value) {
        (T::FILE, schemars::schema_for!(T).to_value())
    }
    [
        of::<Communities>(),
        of::<Recency>(),
        of::<Archived>(),
        of::<AccessLog>(),
        of::<DreamLedger>(),
        of::<Cooldowns>(),
        of::<Dismissed>(),
        of::<Topics>(),
    ]
    .into()
}
