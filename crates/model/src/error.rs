//! What can go wrong with a model.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no reply. No variant carries a key, a header or a prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Nobody answered.
    #[error("the model server can't be reached; is it running, and is the base URL right?")]
    Unreachable,
    /// No answer in time.
    #[error("the model did not answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// HTTP 401 or 403.
    #[error("the model server refused the key (HTTP {status}); check the key's environment variable")]
    Unauthorized {
        /// HTTP status.
        status: u16,
    },
    /// HTTP 429.
    #[error("the model server asks for patience")]
    RateLimited {
        /// What `Retry-After` said.
        retry_after: Option<Duration>,
    },
    /// Any other HTTP status.
    #[error("the model server answered HTTP {status}")]
    Status {
        /// HTTP status.
        status: u16,
    },
    /// The request does not fit the window.
    #[error("the request is larger than the model's window")]
    ContextOverflow,
    /// The answer could not be read.
    #[error("the model server's answer could not be read")]
    Malformed,
    /// The caller gave up before there was an answer.
    #[error("the question to the model was cancelled")]
    Cancelled,
    /// A scripted or recorded double has no reply for this request.
    #[error("no reply is scripted for this request")]
    NoScript,
    /// The environment variable that should hold the key is not set.
    #[error("the environment variable {variable} is not set; put the model's key into it")]
    NoKey {
        /// The variable's name.
        variable: String,
    },
    /// A file of recorded replies can't be read or written.
    #[error("{}: the recording can't be used ({kind})", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        kind: io::ErrorKind,
    },
    /// The model is not configured.
    #[error("no model is configured under this name")]
    NotConfigured,
}

impl ModelError {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable | Self::Timeout(_) | Self::RateLimited { .. } => true,
            Self::Status { status } => *status >= 500,
            _ => false,
        }
    }
}
