//! `dormouse.toml`: settings, optional, forgiving.

use serde::de::DeserializeOwned;

use crate::layout::Layout;
use crate::problem::{Problem, ProblemKind};

/// The vault's settings. Each stage reads its own section into its own `Config`.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `[layout]`.
    pub layout: Layout,
    /// The whole file.
    pub table: toml::Table,
}

impl Settings {
    /// Reads settings; what can't be read becomes a problem and the defaults hold.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<Problem>) {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let error: toml::de::Error = error;
                return (Self::default(), vec![problem(&error)]);
            }
        };
        let mut settings = Self { layout: Layout::default(), table };
        let (layout, problems) = settings.section("layout");
        settings.layout = layout;
        (settings, problems)
    }

    /// One section as a typed config, its default when it is absent or wrong.
    #[must_use]
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> (T, Vec<Problem>) {
        match self.table.get(name) {
            None => (T::default(), Vec::new()),
            Some(value) => match value.clone().try_into() {
                Ok(section) => (section, Vec::new()),
                Err(error) => {
                    let error: toml::de::Error = error;
                    let mut problem = problem(&error);
                    problem.message = format!("[{name}]: {}", problem.message);
                    (T::default(), vec![problem])
                }
            },
        }
    }
}

fn problem(error: &toml::de::Error) -> Problem {
    Problem {
        kind: ProblemKind::Settings,
        line: None,
        message: format!("dormouse.toml: {}; the defaults are used", error.message()),
    }
}
