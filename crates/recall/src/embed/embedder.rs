//! The embedder port.

use super::error::EmbedError;

/// Makes vectors of texts, so that texts that mean alike point alike.
///
/// What every implementation keeps to: the same text gives the same vector, alone or in a batch;
/// all vectors have one length; any Unicode is legal, the empty text included. A vector without a
/// direction (all zeros) is legal and means nothing.
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Which model this is, with all that changes its vectors. Vectors of another id are never mixed
    /// with these.
    fn id(&self) -> String;

    /// The length of its vectors; `None` as long as it isn't known, at the latest until the first
    /// call of [`Embedder::embed`] has answered.
    fn dimension(&self) -> Option<usize>;

    /// One vector a text, in order. Blocks: it may load a model or wait for the network, within
    /// timeouts of its own. Recall calls it from threads that nobody waits for.
    ///
    /// # Errors
    /// [`EmbedError`]; the caller goes on without vectors and tries again later.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Whether [`Embedder::embed`] answers for one short text in less than a millisecond right now.
    /// Then a query calls it on its own thread. Default false.
    fn is_quick(&self) -> bool {
        false
    }
}
