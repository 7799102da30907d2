//! Which model, as plain data: settings that can be read without any provider compiled in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The dialect that a server speaks. Taken from settings, never guessed from a model's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Adapter {
    /// Chat completions, as most servers speak them.
    #[default]
    Openai,
    /// The Responses dialect.
    OpenaiResponses,
    /// Messages.
    Anthropic,
    /// Generate content.
    Gemini,
    /// A local Ollama server.
    Ollama,
    /// DeepSeek.
    Deepseek,
    /// Groq.
    Groq,
    /// Mistral.
    Mistral,
    /// OpenRouter.
    Openrouter,
    /// xAI.
    Xai,
}

impl Adapter {
    /// All adapters with the words that name them in settings.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Openai, "openai"),
        (Self::OpenaiResponses, "openai-responses"),
        (Self::Anthropic, "anthropic"),
        (Self::Gemini, "gemini"),
        (Self::Ollama, "ollama"),
        (Self::Deepseek, "deepseek"),
        (Self::Groq, "groq"),
        (Self::Mistral, "mistral"),
        (Self::Openrouter, "openrouter"),
        (Self::Xai, "xai"),
    ];

    /// The word that names it in settings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(a, _)| *a == self).map_or("openai", |(_, word)| word)
    }
}

/// A configured model. `[models.NAME]` in the user's configuration, or one line: `adapter:NAME` or
/// `adapter:NAME@URL`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// The dialect; default `openai`.
    #[serde(default)]
    pub adapter: Adapter,
    /// The model's name as the server knows it.
    pub model: String,
    /// The server, with its path (`http://127.0.0.1:18081/v1/`); the adapter's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key. Absent: the adapter's usual one, but no key at
    /// all when `base_url` is set, so that a key never goes to a server that it was not meant for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The window in tokens, input and output together; default 8,192.
    #[serde(default = "default_context")]
    pub context_tokens: usize,
    /// Whether the model takes tools natively; default true.
    #[serde(default = "yes")]
    pub native_tools: bool,
}

fn default_context() -> usize {
    8_192
}

fn yes() -> bool {
    true
}

impl ModelSettings {
    /// A model of `adapter` at its usual server.
    #[must_use]
    pub fn new(adapter: Adapter, model: impl Into<String>) -> Self {
        Self {
            adapter,
            model: model.into(),
            base_url: None,
            api_key_env: None,
            context_tokens: default_context(),
            native_tools: true,
        }
    }

    /// The base URL with the slash at its end that keeps its last segment; `None` when not set.
    #[must_use]
    pub fn base_url_with_slash(&self) -> Option<String> {
        self.base_url.as_ref().map(|url| if url.ends_with('/') { url.clone() } else { format!("{url}/") })
    }
}

/// Why a line does not name a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No `adapter:` in front.
    #[error("write `adapter:NAME` or `adapter:NAME@URL`, such as `openai:qwen@http://127.0.0.1:18081/v1/`")]
    NoAdapter,
    /// A word that is no adapter.
    #[error(
        "no such adapter; known are openai, openai-responses, anthropic, gemini, ollama, deepseek, groq, mistral, openrouter, xai"
    )]
    UnknownAdapter,
    /// Nothing after the colon.
    #[error("the model's name is missing after the adapter")]
    NoModel,
    /// Not an `http` or `https` address.
    #[error("the server must be an http or https address")]
    BadUrl,
}

impl FromStr for ModelSettings {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<Self, SpecError> {
        let (word, rest) = spec.trim().split_once(':').ok_or(SpecError::NoAdapter)?;
        let adapter = Adapter::ALL
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(word))
            .map(|(adapter, _)| *adapter)
            .ok_or(SpecError::UnknownAdapter)?;
        let (model, url) = match rest.find("@http://").or_else(|| rest.find("@https://")) {
            Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at + 1..)),
            None if rest.contains("://") => return Err(SpecError::BadUrl),
            None => (rest, None),
        };
        if model.is_empty() {
            return Err(SpecError::NoModel);
        }
        if url.is_some_and(|u| u.chars().any(char::is_whitespace) || u.ends_with("://")) {
            return Err(SpecError::BadUrl);
        }
        Ok(Self { base_url: url.map(str::to_owned), ..Self::new(adapter, model) })
    }
}

impl fmt::Display for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.adapter.as_str(), self.model)?;
        self.base_url.as_ref().map_or(Ok(()), |url| write!(f, "@{url}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_names_a_model_and_prints_back() {
        for spec in [
            "openai:qwen@http://127.0.0.1:18081/v1/",
            "ollama:qwen2.5:0.5b",
            "anthropic:some@name",
            "gemini:g@https://example.org/x",
        ] {
            assert_eq!(spec.parse::<ModelSettings>().unwrap().to_string(), spec);
        }
        let local: ModelSettings = "OpenAI:qwen@http://127.0.0.1:1/v1".parse().unwrap();
        assert_eq!(local.base_url_with_slash().as_deref(), Some("http://127.0.0.1:1/v1/"));
        assert_eq!(local.adapter, Adapter::Openai);
    }

    #[test]
    fn a_line_that_names_no_model_says_why() {
        let error = |spec: &str| spec.parse::<ModelSettings>().unwrap_err();
        assert_eq!(error("gpt-x"), SpecError::NoAdapter);
        assert_eq!(error("gpt:x"), SpecError::UnknownAdapter);
        assert_eq!(error("openai:@http://127.0.0.1/"), SpecError::NoModel);
        assert_eq!(error("openai:x@ftp://host/"), SpecError::BadUrl);
        assert_eq!(error("openai:x@http://"), SpecError::BadUrl);
    }

    #[test]
    fn settings_read_with_defaults_and_refuse_what_they_do_not_know() {
        let settings: ModelSettings = serde_json::from_str(r#"{"model": "m", "adapter": "ollama"}"#).unwrap();
        assert_eq!(settings, ModelSettings::new(Adapter::Ollama, "m"));
        assert!(serde_json::from_str::<ModelSettings>(r#"{"model": "m", "api_key": "x"}"#).is_err());
    }
}
