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
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let error: toml::de::Error = error;
                let line = error.span().map(|span| line_of(text, span.start));
                return (Self::default(), vec![problem(line, error.message())]);
            }
        };
        let mut settings = Self { layout: Layout::default(), table };
        let (layout, mut problems) = settings.section::<Layout>("layout");
        match layout.checked() {
            Ok(layout) => settings.layout = layout,
            Err(error) => problems.push(problem(None, &format!("[layout]: {error}"))),
        }
        (settings, problems)
    }

    /// One section as a typed config, its default when it is absent or wrong.
    #[must_use]
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> (T, Vec<Problem>) {
        let Some(value) = self.table.get(name) else { return (T::default(), Vec::new()) };
        match value.clone().try_into::<T>() {
            Ok(section) => (section, Vec::new()),
            Err(error) => (T::default(), vec![problem(None, &format!("[{name}]: {}", error.message()))]),
        }
    }
}

fn line_of(text: &str, at: usize) -> u32 {
    let before = text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    u32::try_from(before + 1).unwrap_or(u32::MAX)
}

fn problem(line: Option<u32>, what: &str) -> Problem {
    let what = what.trim_end().replace('\n', ", ");
    Problem { kind: ProblemKind::Settings, line, message: format!("dormouse.toml: {what}; the defaults are used") }
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let (settings, problems) = Settings::parse(text);
        let layout = &settings.layout;
        let folders = [&layout.daily, &layout.resource, &layout.digest, &layout.meta, &layout.audit];
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        expected.assert_eq(&format!("{folders:?}\n{}", problems.join("\n")));
    }

    #[test]
    fn an_empty_file_has_the_defaults() {
        check("", expect![[]]);
    }

    #[test]
    fn folders_can_be_renamed_and_nested() {
        check("[layout]\ndaily = \"Journal/\"\ndigest = \"Memory/Digest\"\n[recall]\nlimit = 3\n", expect![[]]);
    }

    #[test]
    fn a_mistake_is_a_problem_and_the_defaults_hold() {
        check("[layout]\ndaily = ", expect![[]]);
        check("[layout]\ndaly = \"x\"\n", expect![[]]);
        check("[layout]\ndaily = \"../outside\"\n", expect![[]]);
        check("[layout]\nmeta = \".dormouse\"\n", expect![[]]);
        check("[layout]\nmeta = \"Digest\"\n", expect![[]]);
        check("layout = 3\n", expect![[]]);
    }
}
