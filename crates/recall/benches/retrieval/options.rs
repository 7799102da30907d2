//! What the measurement is asked to do.

use std::path::PathBuf;

use chrono::{DateTime, FixedOffset};
use dormouse_recall::{RecallConfig, SignalSwitches};
use serde_json::Value;

use crate::Outcome;

/// What `--help` prints.
pub(crate) const HELP: &str = "cargo xtask bench retrieval --data DIR|LONGMEMEVAL.json
  --scope conversation|vault   a question searches its own conversation, or everything (default)
  --unit block|note            what the tables count (default block; the JSON has both)
  --embed PATH                 a static embedding model, where this build has embeddings
  --json FILE                  the figures
  --vault DIR                  the vault, where it is not DIR/vault
  --questions FILE             the questions, where they are not DIR/queries.jsonl
  --control FOLDER,FOLDER      the same vault without these folders, compared pair by pair
  --arm NAME=DIR               another vault with the same notes, compared pair by pair, repeatable
  --context N                  also: the share of the answer's words in a context of N characters
  --now TIME                   the moment that freshness is seen from
  --lines FILE                 one line of JSON per question
  --limit N                    N questions, spread evenly
  --set NAME=VALUE             a setting of recall, repeatable; SIGNAL=false switches a signal off
  --against NAME=VALUE         a second setting, compared pair by pair, repeatable
  --ablate                     each part of the score taken out
  --arms                       grep, plain tantivy, and the engine's bare text score
  --typo                       one slip in one word of each question";

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Block,
    Note,
}

/// What a question searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Conversation,
    Vault,
}

/// The options of a run.
pub(crate) struct Options {
    pub(crate) data: PathBuf,
    vault: Option<PathBuf>,
    questions: Option<PathBuf>,
    /// Folders that the control lacks.
    pub(crate) control: Vec<String>,
    /// Other vaults, each with its name.
    pub(crate) others: Vec<(String, PathBuf)>,
    /// Characters of the context that is searched for the answer's words.
    pub(crate) context: Option<usize>,
    pub(crate) now: Option<DateTime<FixedOffset>>,
    pub(crate) scope: Scope,
    pub(crate) unit: Unit,
    pub(crate) json: Option<PathBuf>,
    pub(crate) lines: Option<PathBuf>,
    pub(crate) limit: Option<usize>,
    pub(crate) embed: Option<PathBuf>,
    pub(crate) config: RecallConfig,
    pub(crate) signals: SignalSwitches,
    pub(crate) against: Option<RecallConfig>,
    pub(crate) ablate: bool,
    pub(crate) arms: bool,
    pub(crate) typo: bool,
}

impl Options {
    /// Reads them; `None` when help is wanted.
    pub(crate) fn read(args: impl Iterator<Item = String>) -> Outcome<Option<Self>> {
        let mut out = Self {
            data: PathBuf::new(),
            vault: None,
            questions: None,
            control: Vec::new(),
            others: Vec::new(),
            context: None,
            now: None,
            scope: Scope::Vault,
            unit: Unit::Block,
            json: None,
            lines: None,
            limit: None,
            embed: None,
            config: RecallConfig { spool: false, ..RecallConfig::default() },
            signals: SignalSwitches::ALL,
            against: None,
            ablate: false,
            arms: false,
            typo: false,
        };
        let mut against = Vec::new();
        let mut args = args.filter(|arg| arg != "--bench");
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--help" | "-h" => return Ok(None),
                "--ablate" => out.ablate = true,
                "--arms" => out.arms = true,
                "--typo" => out.typo = true,
                _ => {
                    let value = args.next().ok_or_else(|| format!("{arg} needs a value, or is no option"))?;
                    match arg.as_str() {
                        "--data" => out.data = from_caller(&value),
                        "--vault" => out.vault = Some(from_caller(&value)),
                        "--questions" => out.questions = Some(from_caller(&value)),
                        "--control" => out.control = value.split(',').map(str::to_owned).collect(),
                        "--arm" => {
                            let (name, folder) = value.split_once('=').ok_or("an arm is NAME=DIR")?;
                            out.others.push((name.to_owned(), from_caller(folder)));
                        }
                        "--context" => out.context = Some(value.parse()?),
                        "--now" => out.now = Some(value.parse()?),
                        "--json" => out.json = Some(from_caller(&value)),
                        "--lines" => out.lines = Some(from_caller(&value)),
                        "--limit" => out.limit = Some(value.parse()?),
                        "--scope" if value == "conversation" => out.scope = Scope::Conversation,
                        "--scope" if value == "vault" => out.scope = Scope::Vault,
                        "--unit" if value == "block" => out.unit = Unit::Block,
                        "--unit" if value == "note" => out.unit = Unit::Note,
                        "--set" => out.set(&value)?,
                        "--against" => against.push(value),
                        "--embed" => out.embed = Some(from_caller(&value)),
                        _ => return Err(format!("unknown option {arg} {value}").into()),
                    }
                }
            }
        }
        if out.data.as_os_str().is_empty() && (out.vault.is_none() || out.questions.is_none()) {
            return Err("--data is needed, or --vault and --questions; --help lists the options".into());
        }
        if !against.is_empty() {
            let mut other = out.config.clone();
            for setting in &against {
                other = with(&other, setting)?;
            }
            out.against = Some(other);
        }
        Ok(Some(out))
    }

    /// The vault that is measured.
    pub(crate) fn vault(&self) -> PathBuf {
        self.vault.clone().unwrap_or_else(|| self.data.join("vault"))
    }

    /// The questions that are asked.
    pub(crate) fn questions(&self) -> PathBuf {
        self.questions.clone().unwrap_or_else(|| self.data.join("queries.jsonl"))
    }

    fn set(&mut self, setting: &str) -> Outcome<()> {
        match setting.split_once('=') {
            Some(("all", "false")) => self.signals = SignalSwitches::NONE,
            Some((name, "false")) if SignalSwitches::NAMES.contains(&name) => self.signals = self.signals.without(name),
            _ => self.config = with(&self.config, setting)?,
        }
        Ok(())
    }
}

/// A path as the caller meant it.
fn from_caller(path: &str) -> PathBuf {
    std::env::var_os("BENCH_CWD").map_or_else(PathBuf::new, PathBuf::from).join(path)
}

/// `config` with one setting changed, `NAME=VALUE`.
pub(crate) fn with(config: &RecallConfig, setting: &str) -> Outcome<RecallConfig> {
    let (name, value) = setting.split_once('=').ok_or("a setting is NAME=VALUE")?;
    let mut fields = serde_json::to_value(config)?;
    let value: Value = serde_json::from_str(value)?;
    match fields.get_mut(name) {
        Some(field) => *field = value,
        None => return Err(format!("recall has no setting {name:?}").into()),
    }
    Ok(serde_json::from_value(fields)?)
}

/// Every part of the score, with what takes it out.
pub(crate) fn ablations(
    config: &RecallConfig,
    signals: SignalSwitches,
) -> Outcome<Vec<(String, RecallConfig, SignalSwitches)>> {
    let mut out = Vec::new();
    for name in SignalSwitches::NAMES {
        out.push((name.to_owned(), config.clone(), signals.without(name)));
    }
    let fields = serde_json::to_value(config)?;
    let part =
        |name: &&String| ["_share", "_bonus", "_penalty", "_weight", "_alpha"].iter().any(|end| name.ends_with(end));
    let layers = ["digest_weight", "daily_weight", "resource_weight", "other_weight"];
    for name in fields.as_object().into_iter().flat_map(serde_json::Map::keys).filter(part) {
        if layers.contains(&name.as_str()) {
            continue;
        }
        // A name weighs as any other word, when it is not weighed apart.
        let neutral = if name == "name_weight" { "1.0" } else { "0.0" };
        out.push((name.clone(), with(config, &format!("{name}={neutral}"))?, signals));
    }
    for neutral in ["b=0.75", "k1=1.2", "irregular_forms=false"] {
        if let Ok(config) = with(config, neutral) {
            out.push((neutral.to_owned(), config, signals));
        }
    }
    Ok(out)
}
