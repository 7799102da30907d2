//! Text for ranking: the one analyzer that reads notes and queries alike.

mod edit;

pub(crate) use edit::one_edit_apart;
