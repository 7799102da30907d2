//! Failures as a program and a person read them: a stable code, a message, what to do next.

use std::io::ErrorKind;

use dormouse_consolidate::ConsolidateError;
use dormouse_dream::DreamError;
use dormouse_recall::RecallError;
use dormouse_vault::edit::EditError;
use dormouse_vault::merge::MergeError;
use dormouse_vault::rename::RenameError;
use dormouse_vault::{CommitError, NotePath, VaultError, Version};
use serde::Serialize;

/// A failed command. With `--json` it is printed as `{"error": {code, message, hint}}`, a conflict
/// with what is there now.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    /// Stable, for programs.
    pub(crate) code: &'static str,
    /// For a person.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// What a conflict met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conflict: Option<Met>,
}

/// What a conflict met: the file as it is now, and the way from there to what was planned.
#[derive(Debug, Serialize)]
pub(crate) struct Met {
    /// The file.
    pub(crate) path: NotePath,
    /// The version that the plan was made from; none for a new file.
    pub(crate) expected: Option<Version>,
    /// The version that is there; none when nothing is.
    pub(crate) current: Option<Version>,
    /// A unified diff.
    pub(crate) diff: String,
}

/// A failure that a command states itself.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    /// The stable code.
    pub(crate) code: &'static str,
    /// For a person.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: String,
}

/// A refusal as an error.
pub(crate) fn refuse(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Refusal { code, message: message.into(), hint: hint.into() }.into()
}

impl Failure {
    /// A mistake in the command line.
    pub(crate) fn usage(message: String) -> Self {
        Self { code: "usage", message, hint: Some("`dormouse --help` lists the commands".to_owned()), conflict: None }
    }

    /// The failure that `error` stands for, found anywhere in its chain.
    pub(crate) fn from_error(error: &anyhow::Error) -> Self {
        let message = message(error);
        for cause in error.chain() {
            if let Some(refusal) = cause.downcast_ref::<Refusal>() {
                return Self { code: refusal.code, message, hint: Some(refusal.hint.clone()), conflict: None };
            }
            if let Some((code, hint)) = known(cause) {
                return Self { code, message, hint: hint.map(str::to_owned), conflict: met(cause) };
            }
        }
        Self { code: "failed", message, hint: None, conflict: None }
    }

    /// 1 failed, 2 usage, 3 not found, 4 conflict, 5 locked, 6 read-only, 7 refused by a rule.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.code {
            "usage" | "bad-path" | "same-name" | "ambiguous" => 2,
            "not-found" | "no-vault" => 3,
            "conflict" | "exists" => 4,
            "locked" => 5,
            "read-only" => 6,
            "denied" | "conservation" | "note-locked" | "malformed-frontmatter" | "not-utf8" => 7,
            "bad-name" | "unwritable" | "not-in-place" | "not-a-note" => 7,
            "interrupted" => 130,
            _ => 1,
        }
    }
}

/// The whole chain in one line; a cause that the message before it quotes is not said twice.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// The code and hint of an error of ours. The stages' errors show the vault's through, so that
/// those stand in no chain of their own.
fn known(cause: &(dyn std::error::Error + 'static)) -> Option<(&'static str, Option<&'static str>)> {
    let stage = match (
        cause.downcast_ref::<DreamError>(),
        cause.downcast_ref::<ConsolidateError>(),
        cause.downcast_ref::<RecallError>(),
    ) {
        (Some(DreamError::Commit(e)), ..) | (_, Some(ConsolidateError::Commit(e)), _) => Some(of_commit(e)),
        (Some(DreamError::Vault(e)), ..)
        | (_, Some(ConsolidateError::Vault(e)), _)
        | (_, _, Some(RecallError::Vault(e))) => Some(of_vault(e)),
        (_, _, Some(RecallError::BadCursor | RecallError::OtherCursor)) => Some(("usage", None)),
        (_, _, Some(RecallError::SeveralNotes { .. })) => Some(("ambiguous", None)),
        (_, _, Some(RecallError::NoSuchNote { .. })) => {
            Some(("not-found", Some("`dormouse list` shows what there is, `dormouse search WORDS` finds it")))
        }
        (Some(DreamError::NoSuchMaterial { .. }), ..) => {
            Some(("not-found", Some("`dormouse list --pending` shows material")))
        }
        (Some(DreamError::NoSuchTopic { .. }), ..) => {
            Some(("not-found", Some("`dormouse topics --all` lists them with their ids")))
        }
        _ => None,
    };
    stage
        .or_else(|| cause.downcast_ref::<CommitError>().map(of_commit))
        .or_else(|| cause.downcast_ref::<VaultError>().map(of_vault))
        .or_else(|| cause.downcast_ref::<RenameError>().map(of_rename))
        .or_else(|| cause.downcast_ref::<MergeError>().map(of_merge))
        .or_else(|| cause.downcast_ref::<EditError>().map(of_edit))
}

/// The conflict that an error is, if it is one.
fn met(cause: &(dyn std::error::Error + 'static)) -> Option<Met> {
    let commit = match cause.downcast_ref::<VaultError>() {
        Some(VaultError::Commit(commit)) => Some(commit),
        _ => cause.downcast_ref::<CommitError>(),
    };
    let Some(CommitError::Conflict(conflict)) = commit else {
        return None;
    };
    Some(Met {
        path: conflict.path.clone(),
        expected: conflict.expected,
        current: conflict.current.as_ref().map(|current| current.version),
        diff: conflict.diff.clone(),
    })
}

fn of_rename(error: &RenameError) -> (&'static str, Option<&'static str>) {
    match error {
        RenameError::NotFound { .. } => ("not-found", Some("`dormouse list` shows what there is")),
        RenameError::SameName { .. } => ("same-name", Some("name another one; nothing was changed")),
        RenameError::Exists { .. } => ("exists", Some("choose another name, or move that file away first")),
        RenameError::BadName { .. } => {
            ("bad-name", Some("choose a name that every link can write and every disk can hold"))
        }
        RenameError::OtherKind { .. } => ("bad-name", Some("name a note `….md`, and another file otherwise")),
        RenameError::IntoItself { .. } => ("bad-name", Some("name a folder outside of it")),
        RenameError::Denied { .. } => (
            "denied",
            Some("digests and your own notes move among each other, daily events and resources within their folder"),
        ),
        RenameError::Unwritable { .. } => ("unwritable", Some("nothing was changed")),
        RenameError::Vault(error) => of_vault(error),
        _ => ("failed", None),
    }
}

fn of_merge(error: &MergeError) -> (&'static str, Option<&'static str>) {
    match error {
        MergeError::NotFound { .. } => ("not-found", Some("`dormouse list` shows what there is")),
        MergeError::SameNote { .. } => ("usage", Some("name two notes")),
        MergeError::Denied { .. } => ("denied", Some("daily events and resources stay as they came")),
        MergeError::NotUtf8 { .. } => ("not-utf8", Some("save the file as UTF-8 first")),
        MergeError::Properties { source: EditError::MalformedFrontmatter { .. }, .. } => {
            ("malformed-frontmatter", Some("mend the YAML by hand first"))
        }
        MergeError::SameLabel { .. } | MergeError::Open { .. } | MergeError::Properties { .. } => {
            ("not-in-place", Some("nothing was changed"))
        }
        MergeError::Links { .. } | MergeError::TrashFull { .. } => ("denied", Some("nothing was changed")),
        MergeError::Unwritable { .. } => ("unwritable", Some("nothing was changed")),
        MergeError::Vault(error) => of_vault(error),
        _ => ("failed", None),
    }
}

fn of_edit(error: &EditError) -> (&'static str, Option<&'static str>) {
    match error {
        EditError::NoSuchProperty | EditError::NoSuchHeading | EditError::NoSuchBlock => {
            ("not-found", Some("`dormouse read NOTE` shows what there is"))
        }
        EditError::AmbiguousHeading { .. } | EditError::AmbiguousBlock { .. } => (
            "ambiguous",
            Some("`--occurrence N` says which one, from 1; a heading can be named with the one above, `A#B`"),
        ),
        EditError::NoSuchOccurrence { .. } => ("not-found", Some("`--occurrence` counts from 1")),
        EditError::MalformedFrontmatter { .. } => ("malformed-frontmatter", Some("mend the YAML by hand first")),
        EditError::OutOfBounds { .. } | EditError::Overlap { .. } => {
            ("usage", Some("`dormouse read --json` has the text"))
        }
        EditError::NotANote { .. } => {
            ("not-a-note", Some("`edit` changes Markdown notes; change this file in the program that it belongs to"))
        }
        EditError::BadYaml => ("usage", Some("a property is one line of YAML, as in `--set status=final`")),
        _ => ("not-in-place", Some("change it by hand; nothing was written")),
    }
}

fn of_vault(error: &VaultError) -> (&'static str, Option<&'static str>) {
    match error {
        VaultError::Commit(commit) => of_commit(commit),
        VaultError::NotAFolder { .. } => {
            ("no-vault", Some("name an existing folder with --vault, or run `dormouse init DIR`"))
        }
        VaultError::Path { .. } => {
            ("bad-path", Some("name a note by its path inside the vault, as `digest/wiki/x.md`"))
        }
        VaultError::NotFound { .. } => {
            ("not-found", Some("`dormouse list` shows what there is, `dormouse search WORDS` finds it"))
        }
        _ => ("io", Some("check that the folder can be read, and try again")),
    }
}

fn of_commit(error: &CommitError) -> (&'static str, Option<&'static str>) {
    match error {
        CommitError::Conflict(_) => {
            ("conflict", Some("read the note again and repeat the change on its current version"))
        }
        CommitError::Denied { .. } => {
            let hint =
                "you edit digests and your own notes; `remember` writes daily events, `consolidate` what is computed";
            ("denied", Some(hint))
        }
        CommitError::Conservation(_) => {
            ("conservation", Some("nothing was written; keep the links and blocks that are named"))
        }
        CommitError::MalformedFrontmatter { .. } => ("malformed-frontmatter", Some("mend the YAML by hand first")),
        CommitError::NoteLocked { .. } => ("note-locked", Some("only a person writes a note with `locked: true`")),
        CommitError::NotUtf8 { .. } => ("not-utf8", Some("save the file as UTF-8 first")),
        CommitError::Locked { .. } => ("locked", Some("wait for the other process, or end it")),
        CommitError::Io { source, .. } if source.kind() == ErrorKind::PermissionDenied => (
            "read-only",
            Some("nothing was written; take the write protection off the file or its folder, and try again"),
        ),
        CommitError::ReadOnly { .. } => {
            ("read-only", Some("reading works; to write, open the vault where it may be written"))
        }
        _ => ("io", Some("check the disk's space and permissions, and try again")),
    }
}
