//! An embedder for tests: vectors from words, no model, and failures on order.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::embedder::Embedder;
use super::error::EmbedError;

/// A double: each text is the sum of fixed vectors of its words. Words that a line of its
/// script names together are one word to it, so that a test can say what means alike.
#[derive(Debug)]
pub struct ScriptedEmbedder {
    groups: Vec<Vec<String>>,
    dimension: usize,
    delay: Duration,
    refused: Option<String>,
    broken: AtomicBool,
    texts: AtomicUsize,
}

impl ScriptedEmbedder {
    /// A double whose vectors have `dimension` numbers, at least one. Each line of `script` lists words that mean
    /// the same, in lower case.
    #[must_use]
    pub fn new(dimension: usize, script: &str) -> Self {
        let groups = script.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect();
        Self {
            groups,
            dimension: dimension.max(1),
            delay: Duration::ZERO,
            refused: None,
            broken: AtomicBool::new(false),
            texts: AtomicUsize::new(0),
        }
    }

    /// A double that takes its time for every call.
    #[must_use]
    pub fn slow(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// A double that fails on every call with a text that has this in it.
    #[must_use]
    pub fn refusing(mut self, part: &str) -> Self {
        self.refused = Some(part.to_owned());
        self
    }

    /// From now on every call fails, or answers again.
    pub fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
    }

    /// How many texts it has embedded.
    pub fn texts(&self) -> usize {
        self.texts.load(Ordering::SeqCst)
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut out = vec![0.0; self.dimension];
        let folded = text.to_lowercase();
        for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let group = self.groups.iter().find(|group| group.iter().any(|have| have == word));
            let meant = group.and_then(|group| group.first()).map_or(word, String::as_str);
            let hash = blake3::hash(meant.as_bytes());
            for (at, number) in out.iter_mut().enumerate() {
                let byte = hash.as_bytes().get(at % 32).copied().unwrap_or(0);
                *number += f32::from(byte.wrapping_add((at / 32) as u8)) - 127.5;
            }
        }
        out
    }
}

impl Embedder for ScriptedEmbedder {
    fn id(&self) -> String {
        format!("scripted {} {:?}", self.dimension, self.groups)
    }

    fn dimension(&self) -> Option<usize> {
        Some(self.dimension)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if !self.delay.is_zero() {
            std::thread::sleep(self.delay);
        }
        let refused = |text: &&str| self.refused.as_ref().is_some_and(|part| text.contains(part));
        if self.broken.load(Ordering::SeqCst) || texts.iter().any(refused) {
            return Err(EmbedError::Failed);
        }
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    fn is_quick(&self) -> bool {
        self.delay.is_zero()
    }
}
