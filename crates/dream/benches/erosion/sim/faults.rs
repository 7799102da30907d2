//! What the model does wrong, and how often.

/// A way to answer wrongly, or rightly in a form that is hard to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// Right, but between prose, in a code fence, or behind reasoning.
    Wrapped,
    /// Cut in the middle.
    Truncated,
    /// Cut, and the provider says so.
    CutByLength,
    /// Nothing, or only reasoning that never ends.
    Empty,
    /// It would rather not.
    Refusal,
    /// No reply at all.
    Timeout,
    /// Keys that stand twice in an object.
    RepeatedKeys,
    /// A bucket, relation or change that does not exist, or another operation.
    WrongEnum,
    /// A number that is on no list.
    UnknownTarget,
    /// Nothing is found worth it.
    DropsAll,
    /// A bucket that exists, and is not the right one.
    OtherBucket,
    /// Evidence that is not in the material.
    FalseEvidence,
    /// A number in a fact is another one.
    NumberChanged,
    /// A number in a fact is gone.
    NumberLost,
    /// A changed number in full-width digits.
    NumberWide,
    /// A changed number in words.
    NumberSpelled,
    /// Another person.
    NameChanged,
    /// The number of another fact of the same note.
    Swapped,
    /// A source that does not exist.
    InventedSource,
    /// Another note as the source.
    StolenSource,
    /// A claim inside of what looks like a source.
    HiddenClaim,
    /// A link to a note that does not exist.
    InventedLink,
    /// A fact that nobody stated, with the evidence of another.
    InventedFact,
    /// A summary with what nobody stated.
    InventedSummary,
    /// A name with what nobody stated.
    InventedName,
    /// The note that is the same is not named.
    DropsSame,
    /// Related notes are not named.
    DropsLinks,
    /// A sentence for a link with what nobody stated.
    InventedSentence,
    /// A note about something else is called the same.
    SameUnrelated,
    /// Called a contradiction where there is none.
    FalseCorrect,
    /// A fact is put behind a block about something else.
    WrongPair,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Units,
    Verdicts,
    Changes,
}

/// How many of a thousand replies go wrong in each way.
pub(crate) fn rates(asked: Asked) -> &'static [(Fault, usize)] {
    match asked {
        Asked::Units => &[
            (Fault::Wrapped, 50),
            (Fault::Truncated, 30),
            (Fault::CutByLength, 10),
            (Fault::Empty, 10),
            (Fault::Refusal, 10),
            (Fault::Timeout, 15),
            (Fault::RepeatedKeys, 10),
            (Fault::WrongEnum, 15),
            (Fault::DropsAll, 15),
            (Fault::OtherBucket, 5),
            (Fault::FalseEvidence, 25),
            (Fault::NumberChanged, 30),
            (Fault::NumberLost, 25),
            (Fault::NumberWide, 10),
            (Fault::NumberSpelled, 10),
            (Fault::NameChanged, 20),
            (Fault::Swapped, 10),
            (Fault::InventedSource, 20),
            (Fault::StolenSource, 20),
            (Fault::HiddenClaim, 10),
            (Fault::InventedLink, 15),
            (Fault::InventedFact, 20),
            (Fault::InventedSummary, 20),
            (Fault::InventedName, 15),
        ],
        Asked::Verdicts => &[
            (Fault::Wrapped, 40),
            (Fault::Truncated, 30),
            (Fault::CutByLength, 10),
            (Fault::Empty, 10),
            (Fault::Refusal, 10),
            (Fault::Timeout, 15),
            (Fault::RepeatedKeys, 10),
            (Fault::WrongEnum, 20),
            (Fault::UnknownTarget, 25),
            (Fault::DropsSame, 25),
            (Fault::DropsLinks, 40),
            (Fault::InventedLink, 20),
            (Fault::InventedSentence, 25),
            (Fault::SameUnrelated, 20),
            (Fault::FalseCorrect, 25),
        ],
        Asked::Changes => &[
            (Fault::Wrapped, 40),
            (Fault::Truncated, 25),
            (Fault::Empty, 10),
            (Fault::Refusal, 10),
            (Fault::Timeout, 15),
            (Fault::UnknownTarget, 25),
            (Fault::DropsAll, 30),
            (Fault::WrongPair, 40),
        ],
    }
}
