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
        let (layout, mut problems) = settings.section("layout");
        settings.layout = layout;
        let (settings, found) = settings.checked();
        problems.extend(found);
        (settings, problems)
    }

    /// The settings with a layout that can be used, the default one if theirs can't.
    pub(crate) fn checked(self) -> (Self, Vec<Problem>) {
        match self.layout.checked() {
            Ok(layout) => (Self { layout, ..self }, Vec::new()),
            Err(error) => {
                let problems = vec![problem(None, &format!("[layout]: {error}"))];
                (Self { layout: Layout::default(), ..self }, problems)
            }
        }
    }

    /// One section as a typed config, its default when it is absent or wrong.
    #[must_use]
    pub fn section<T: DeserializeOwned + Default>(&self, name: &str) -> (T, Vec<Problem>) {
        let Some(value) = self.table.get(name) else {
            return (T::default(), Vec::new());
        };
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
        check(
            "",
            expect![[r#"
            ["daily", "resource", "digest", "meta", "audit"]
        "#]],
        );
    }

    #[test]
    fn folders_can_be_renamed_and_nested() {
        check(
            "[layout]\ndaily = \"Journal/\"\ndigest = \"Memory/Digest\"\n[recall]\nlimit = 3\n",
            expect![[r#"
            ["Journal", "resource", "Memory/Digest", "meta", "audit"]
        "#]],
        );
    }

    #[test]
    fn a_mistake_is_a_problem_and_the_defaults_hold() {
        check(
            "[layout]\ndaily = ",
            expect![[r#"
            ["daily", "resource", "digest", "meta", "audit"]
            line 2: dormouse.toml: string values must be quoted, expected literal string; the defaults are used"#]],
        );
        check(
            "[layout]\ndaly = \"x\"\n",
            expect![[r#"
            ["daily", "resource", "digest", "meta", "audit"]
            dormouse.toml: [layout]: unknown field `daly`, expected one of `daily`, `resource`, `digest`, `meta`, `audit`; the defaults are used"#]],
        );
        check(
            "[layout]\ndaily = \"../outside\"\n",
            expect![[r#"
            ["daily", "resource", "digest", "meta", "audit"]
            dormouse.toml: [layout]: daily: the path has a `.` or `..` segment; the defaults are used"#]],
        );
        check(
            "[layout]\nmeta = \".dormouse\"\n",
            expect![[r#"
            ["daily", "resource", "digest", "meta", "audit"]
            dormouse.toml: [layout]: meta: a name that starts with a dot is never read; the defaults are used"#]],
        );
        check(
            "[layout]\nmeta = \"Digest\"\n",
            expect![[r#"
            ["daily", "resource", "digest", "meta", "audit"]
            dormouse.toml: [layout]: digest and meta have the same folder; the defaults are used"#]],
        );
        check(
            "layout = 3\n",
            expect![[r#"
            ["daily", "resource", "digest", "meta", "audit"]
            dormouse.toml: [layout]: invalid type: integer `3`, expected struct Layout; the defaults are used"#]],
        );
    }
}
