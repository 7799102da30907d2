//! What the measurement is asked to do.

use std::path::PathBuf;

use dormouse_dream::DreamConfig;

use crate::sim::Plan;

/// What `--help` prints.
pub(crate) const HELP: &str = "cargo xtask bench erosion
  --seeds N      so many years, each with a seed of its own (default 10)
  --seed N       the first seed (default 1)
  --days N       days of a year (default 365)
  --budget N     estimated tokens that a digest may have (default: `dream.subject_tokens`)
  --offline      judged by rules, without a model
  --json FILE    the figures";

/// The options of a run.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) seeds: u64,
    pub(crate) seed: u64,
    pub(crate) days: u64,
    pub(crate) config: DreamConfig,
    pub(crate) offline: bool,
    pub(crate) json: Option<PathBuf>,
}

impl Options {
    /// Reads them; `None` when help is wanted.
    pub(crate) fn read(mut args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut out =
            Self { seeds: 10, seed: 1, days: 365, config: DreamConfig::default(), offline: false, json: None };
        while let Some(arg) = args.next() {
            let mut number = || -> Result<u64, String> {
                let text = args.next().ok_or(format!("{arg} needs a number"))?;
                text.parse().map_err(|_| format!("{arg} {text}: not a number"))
            };
            match arg.as_str() {
                "--seeds" => out.seeds = number()?,
                "--seed" => out.seed = number()?,
                "--days" => out.days = number()?,
                "--budget" => out.config.subject_tokens = usize::try_from(number()?).map_err(|e| e.to_string())?,
                "--offline" => out.offline = true,
                "--json" => {
                    let file = PathBuf::from(args.next().ok_or("--json needs a file")?);
                    let from = std::env::var_os("BENCH_CWD").map(PathBuf::from).unwrap_or_default();
                    out.json = Some(from.join(file));
                }
                "--help" | "-h" => return Ok(None),
                // What cargo passes to every bench.
                "--bench" => {}
                other => return Err(format!("{other}: no such option")),
            }
        }
        Ok(Some(out))
    }

    /// The plan of one year.
    pub(crate) fn plan(&self, seed: u64) -> Plan {
        Plan { seed, days: self.days, offline: self.offline, config: self.config.clone() }
    }
}
