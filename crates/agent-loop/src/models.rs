//! Which model a name means: an entry of the user's own configuration, or a spec of one line.
//!
//! The configuration lies outside every vault, so that nothing inside a vault can send text anywhere.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_model::{
    GenaiModel, LanguageModel, ModelError, ModelSettings, RetryPolicy, Retrying, SpecError, TokioPause,
};
use serde::Deserialize;

/// Why a name leads to no model. Each message says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelLookupError {
    /// No entry of the configuration, and no spec either.
    #[error(
        "no model is called {name:?} (known: {}); add [models.NAME] to {}, or write `adapter:NAME` or `adapter:NAME@URL`",
        listed(known),
        shown(file.as_deref())
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names that the configuration holds, sorted.
        known: Vec<String>,
        /// Where the configuration lies, or would lie; `None` when no place for it is known.
        file: Option<PathBuf>,
    },
    /// Something with a colon, as a spec has, that is none.
    #[error("{spec:?} names no model: {problem}")]
    Spec {
        /// What was asked for.
        spec: String,
        /// What is wrong with it.
        problem: SpecError,
    },
    /// The configuration is there and can't be read.
    #[error(
        "{}: the configuration can't be read ({kind}); make it readable, or let DORMOUSE_CONFIG name another file",
        path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        kind: io::ErrorKind,
    },
    /// The configuration is no valid TOML, or holds settings that no model has.
    #[error(
        "{}{}: not a valid configuration: {reason}; mend the file by hand",
        path.display(),
        line.map(|line| format!(", line {line}")).unwrap_or_default()
    )]
    Config {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where known.
        line: Option<usize>,
        /// What was expected there. A text that stands in its place is not repeated: it may be a key.
        reason: Box<str>,
    },
    /// The settings were read and no client can be made of them.
    #[error("the model {name:?} can't be set up: {problem}; check its `model` and `base_url`")]
    Setup {
        /// What was asked for.
        name: String,
        /// Why.
        problem: ModelError,
    },
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

fn shown(file: Option<&Path>) -> String {
    file.map_or_else(|| "the file that DORMOUSE_CONFIG names".to_owned(), |file| file.display().to_string())
}

/// The model that `name` means: `[models.NAME]` of the user's configuration, else `name` itself as a
/// spec (`openai:qwen@http://127.0.0.1:18081/v1/`). It tries again after transient errors, by the
/// default [`RetryPolicy`], on tokio's clock. Nothing is sent and no key is read yet.
///
/// The configuration is the file that `DORMOUSE_CONFIG` names, else
/// `$XDG_CONFIG_HOME/dormouse/config.toml`, else `~/.config/dormouse/config.toml`. Where there is no
/// such file there are no names.
///
/// # Errors
/// [`ModelLookupError`]: an unknown name, a faulty spec, a configuration that can't be read or is
/// not valid, or settings that make no client.
pub fn named_model(name: &str) -> Result<Arc<dyn LanguageModel>, ModelLookupError> {
    let settings = settings(name, config_file(|variable| std::env::var_os(variable)))?;
    let model =
        GenaiModel::new(settings).map_err(|problem| ModelLookupError::Setup { name: name.to_owned(), problem })?;
    Ok(Arc::new(Retrying::new(model, RetryPolicy::default(), TokioPause)))
}

#[derive(Debug, Default, Deserialize)]
struct Config {
    #[serde(default)]
    models: BTreeMap<String, ModelSettings>,
}

fn settings(name: &str, file: Option<PathBuf>) -> Result<ModelSettings, ModelLookupError> {
    let mut config = file.as_deref().map(read).transpose()?.unwrap_or_default();
    if let Some(settings) = config.models.remove(name) {
        return Ok(settings);
    }
    name.parse::<ModelSettings>().map_err(|problem| match problem {
        SpecError::NoAdapter | SpecError::UnknownAdapter if !name.contains("@http") => {
            ModelLookupError::Unknown { name: name.to_owned(), known: config.models.into_keys().collect(), file }
        }
        problem => ModelLookupError::Spec { spec: name.to_owned(), problem },
    })
}

fn read(file: &Path) -> Result<Config, ModelLookupError> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(ModelLookupError::Read { path: file.to_owned(), kind: error.kind() }),
    };
    toml::from_str(&text).map_err(|error| ModelLookupError::Config {
        path: file.to_owned(),
        line: error.span().map(|at| text.bytes().take(at.start).filter(|byte| *byte == b'\n').count() + 1),
        reason: expected(error.message()).into(),
    })
}

/// The reader's message without the value that it met.
fn expected(message: &str) -> &str {
    let names_a_value = message.starts_with("invalid type") || message.starts_with("invalid value");
    match message.rfind("expected ") {
        Some(at) if names_a_value => message.get(at..).unwrap_or(message),
        _ => message,
    }
}

/// Where the configuration lies in the environment `variable`; an empty variable is none.
fn config_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = set("DORMOUSE_CONFIG") {
        return Some(file);
    }
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(folder.join("dormouse/config.toml"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use dormouse_fixtures::temp_vault;
    use expect_test::{Expect, expect};

    use super::{config_file, settings};

    fn check(config: &str, name: &str, expected: Expect) {
        let dir = temp_vault("=== other.md\nx\n");
        let file = dir.path().join("config.toml");
        if !config.is_empty() {
            dir.write("config.toml", config);
        }
        let found = match settings(name, Some(file)) {
            Ok(settings) => settings.to_string(),
            Err(error) => error.to_string().replace(&dir.path().display().to_string(), "~"),
        };
        expected.assert_eq(&found);
    }

    const ONE: &str = "[models.local]\nmodel = \"qwen\"\nbase_url = \"http://127.0.0.1:1/v1/\"\n";

    #[test]
    fn a_name_is_looked_up_and_a_spec_needs_no_configuration() {
        check(ONE, "local", expect!["openai:qwen@http://127.0.0.1:1/v1/"]);
        check(ONE, "ollama:small", expect!["ollama:small"]);
        check("", "ollama:small", expect!["ollama:small"]);
    }

    #[test]
    fn what_leads_nowhere_says_what_to_do() {
        check(
            ONE,
            "locl",
            expect![[
                r#"no model is called "locl" (known: local); add [models.NAME] to ~/config.toml, or write `adapter:NAME` or `adapter:NAME@URL`"#
            ]],
        );
        check(
            "",
            "nobody",
            expect![[
                r#"no model is called "nobody" (known: none); add [models.NAME] to ~/config.toml, or write `adapter:NAME` or `adapter:NAME@URL`"#
            ]],
        );
        check(
            ONE,
            "gpt:x@http://127.0.0.1/",
            expect![[
                r#""gpt:x@http://127.0.0.1/" names no model: no such adapter; known are openai, openai-responses, anthropic, gemini, ollama, deepseek, groq, mistral, openrouter, xai"#
            ]],
        );
        check(ONE, "openai:", expect![[r#""openai:" names no model: the model's name is missing after the adapter"#]]);
    }

    #[test]
    fn a_faulty_configuration_is_reported_and_never_passed_over() {
        check(
            "[models.local\n",
            "ollama:small",
            expect![
                "~/config.toml, line 1: not a valid configuration: unclosed table, expected `]`; mend the file by hand"
            ],
        );
        check(
            "[models.local]\nmodel = \"m\"\napi_key = \"k-123\"\n",
            "local",
            expect![
                "~/config.toml, line 3: not a valid configuration: unknown field `api_key`, expected one of `adapter`, `model`, `base_url`, `api_key_env`, `context_tokens`, `native_tools`; mend the file by hand"
            ],
        );
        check(
            "[models]\nlocal = \"k-123\"\n",
            "local",
            expect![
                "~/config.toml, line 2: not a valid configuration: expected struct ModelSettings; mend the file by hand"
            ],
        );
    }

    #[test]
    fn a_configuration_that_can_t_be_read_is_an_error_too() {
        let dir = temp_vault("=== config.toml/x.md\nx\n");
        let error = settings("ollama:small", Some(dir.path().join("config.toml"))).unwrap_err();
        assert!(error.to_string().contains("config.toml: the configuration can't be read"), "{error}");
    }

    #[test]
    fn the_environment_says_where_the_configuration_lies() {
        let with = |set: &[(&str, &str)]| {
            config_file(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value)))
        };
        let home = ("HOME", "/home/a");
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[home]).as_deref(), Some(Path::new("/home/a/.config/dormouse/config.toml")));
        assert_eq!(with(&[home, ("XDG_CONFIG_HOME", "/c")]).as_deref(), Some(Path::new("/c/dormouse/config.toml")));
        assert_eq!(with(&[home, ("DORMOUSE_CONFIG", "/d.toml")]).as_deref(), Some(Path::new("/d.toml")));
        assert_eq!(with(&[home, ("DORMOUSE_CONFIG", "")]), with(&[home]));
    }
}
