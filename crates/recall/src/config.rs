//! The settings of recall: every number of the ranking, with its reason.

use serde::{Deserialize, Serialize};

/// The weights and switches of recall; `[recall]` in `dormouse.toml`. docs/ranking.md has the
/// measurement behind each number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecallConfig {
    /// BM25's saturation of term counts, ≥ 0. Default 0.8: blocks are short, a second mention says
    /// little.
    pub k1: f64,
    /// BM25's length norm, 0..=1. Default 0: a block is one statement, long ones are cut into parts.
    pub b: f64,
    /// Weight of a term that stands in the block's heading path or its note's name, aliases,
    /// description, tags or date, against 1 in the block itself. Default 0.4.
    pub header_weight: f64,
    /// Share of a word that is found in its exact form as well as by its stem. Default 0.15.
    pub exact_share: f64,
    /// Weight of a query word that is the name of a speaker: such a name stands in half of the
    /// blocks. Default 0.25.
    pub name_weight: f64,
    /// Share of the score of the block before. Default 0.3.
    pub before_share: f64,
    /// Share of the score of the block after. Default 0.2.
    pub after_share: f64,
    /// Share of the scores of the blocks two before and two after. Default 0.25.
    pub near_share: f64,
    /// Share of the score of the block before where that one ends with a question mark: the reply
    /// to a question that matches. Default 0.6.
    pub reply_share: f64,
    /// Share of the note's own score, normalised. Default 0.5.
    pub note_share: f64,
    /// What a block that ends with a question mark loses: a question answers nothing. Default 0.25.
    pub question_penalty: f64,
    /// What a turn of a dialogue with three or more names, quoted titles or numbers gains. Default 0.45.
    pub entity_bonus: f64,
    /// What a block with a time word gains when the query asks when. Default 0.4.
    pub when_bonus: f64,
    /// What a block with a place gains when the query asks where. Default 0.4.
    pub where_bonus: f64,
    /// Factor 1 + this for a block that is spoken by the one person whom the query names. Default 0.8.
    pub speaker_bonus: f64,
    /// The same for the person whom the query is about, where it names others as well. Default 0.4.
    pub subject_bonus: f64,
    /// Factor 1 + this for the blocks of a conversation in which everybody speaks whom the query
    /// names. Default 0.5.
    pub cast_bonus: f64,
    /// What the blocks of a note gain whose stated date lies in a day, month or year that the query
    /// names. Default 0.8.
    pub date_bonus: f64,
    /// Weight of the words that frame a question and say little of what is asked: kind, type, many,
    /// 什么, 哪年. Default 0.1.
    pub frame_weight: f64,
    /// Weight of the everyday kind of things that a question asks for ("what pets" finds a dog),
    /// against 1 for a word. Default 0.5: it is no word of the question, and gains the same from 0.3
    /// to 0.6.
    pub kind_weight: f64,
    /// Weight of a single Chinese, Japanese or Korean character of a longer run, against 1 for a pair.
    /// Default 0.5.
    pub single_weight: f64,
    /// Share of a note's further good blocks in the note's score. Default 0.2.
    pub support_share: f64,
    /// Share of how like the query a block's vector is, against 1 for its words, when an embedder is
    /// set. Default 0.5.
    pub meaning_share: f64,
    /// Share of a digest block's score that goes to the source block that it cites, for the words that
    /// the source block lacks. Default 0.4.
    pub digest_share: f64,
    /// Weight of a cited source block's terms that come from the digest blocks that cite it, against
    /// 1 for its own, for words that it lacks. Default 0.1: with more of it the blocks that a digest cites
    /// rise above those that none cites, and questions whose evidence lies in several notes lose.
    pub expansion_weight: f64,
    /// Factor 1 + this for a note that all of the best hit's activation reaches along links; what
    /// links alone bring in has this share of the best score. Default 0.1.
    pub link_share: f64,
    /// How many of the best notes spread. Default 10.
    pub link_seeds: usize,
    /// How activation spreads along links. Default `steps`.
    pub spreading: Spreading,
    /// Factor of digest notes. Default 1.05: text decides, the layer between equals.
    pub digest_weight: f64,
    /// Factor of daily notes. Default 1.0.
    pub daily_weight: f64,
    /// Factor of resources. Default 0.98.
    pub resource_weight: f64,
    /// Factor of everything else. Default 0.96.
    pub other_weight: f64,
    /// α of the centrality factor `1 + α·ln(1 + inbound)`. Default 0.05.
    pub centrality_alpha: f64,
    /// What the centrality factor counts. Default `inbound`.
    pub centrality: Centrality,
    /// β, the factor of a digest that shares its community with one of the three best other
    /// digests. Default 1.05.
    pub community_beta: f64,
    /// The recency factor of a note whose freshness is 0; 1 at freshness 1. Default 0.85: old is
    /// quieter, never mute.
    pub recency_floor: f64,
    /// The same for dated notes outside the digest layer, whose freshness is `exp(-age / 60 days)`.
    /// Default 0.97: it decides between equals only.
    pub dated_floor: f64,
    /// After how many days a computed signal counts as stale and is left out. Default 45.
    pub stale_after_days: i64,
    /// The largest share of digest notes among the first results, 0..=1, as long as other notes
    /// answer too. Default 0.5: digests never crowd out the sources.
    pub digest_crowd: f64,
    /// Correct a query word that stands nowhere in the vault by one edit. Default true.
    pub correct_typos: bool,
    /// Whether archived notes are dropped unless asked for. Default true.
    pub drop_archived: bool,
    /// Whether returned and read notes are noted in the access spool. Default true.
    pub spool: bool,
    /// Whether a search first takes in what changed in the vault's snapshot. Default true; a server
    /// that syncs in the background sets it to false.
    pub sync_on_search: bool,
    /// How many of the best blocks bring their notes in, all of whose blocks are then scored, ≥ 1. More are
    /// taken when these give fewer notes than a request wants. Default 400.
    pub candidates: usize,
    /// How many of the blocks most like the query bring their notes among the candidates. Default 50.
    pub meaning_candidates: usize,
    /// Which model embeds; `[recall.embed]`.
    pub embed: EmbedSettings,
}

/// What makes a note central.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Centrality {
    /// The number of notes that link to it: `ln(1 + inbound)`.
    #[default]
    Inbound,
    /// Its PageRank in the whole link graph: `ln(rank / rank of a note that nobody links to)`. Computed
    /// anew when links have changed, in time that grows with the graph.
    PageRank,
}

/// How activation goes from the best notes along links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spreading {
    /// Two steps at most, a note gets the strongest of what reaches it.
    #[default]
    Steps,
    /// PageRank personalised to the best notes, over the notes within two steps of them: a note gets the
    /// sum of what reaches it, on any number of steps.
    PageRank,
}

/// `[recall.embed]`: which model embeds. The library looks at `deadline_ms` alone; who opens a vault
/// makes the embedder. An endpoint is named outside of the vault, since text is sent to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedSettings {
    /// The folder of a static model: `config.json`, `tokenizer.json`, `model.safetensors`. A relative
    /// one is meant from the vault's folder. Default none: no vectors.
    pub model: Option<String>,
    /// How long a query waits for its own vector, in milliseconds. Default 150. A static model that is
    /// loaded needs none of it.
    pub deadline_ms: u64,
}

impl Default for EmbedSettings {
    fn default() -> Self {
        Self { model: None, deadline_ms: 150 }
    }
}

impl Default for RecallConfig {
    fn default() -> Self {
        Self {
            k1: 0.8,
            b: 0.0,
            header_weight: 0.4,
            exact_share: 0.15,
            name_weight: 0.25,
            before_share: 0.3,
            after_share: 0.2,
            near_share: 0.25,
            reply_share: 0.6,
            note_share: 0.5,
            question_penalty: 0.25,
            entity_bonus: 0.45,
            when_bonus: 0.4,
            where_bonus: 0.4,
            speaker_bonus: 0.8,
            subject_bonus: 0.4,
            cast_bonus: 0.5,
            date_bonus: 0.8,
            frame_weight: 0.1,
            kind_weight: 0.5,
            single_weight: 0.5,
            support_share: 0.2,
            meaning_share: 0.5,
            digest_share: 0.4,
            expansion_weight: 0.1,
            link_share: 0.1,
            link_seeds: 10,
            spreading: Spreading::Steps,
            digest_weight: 1.05,
            daily_weight: 1.0,
            resource_weight: 0.98,
            other_weight: 0.96,
            centrality_alpha: 0.05,
            centrality: Centrality::Inbound,
            community_beta: 1.05,
            recency_floor: 0.85,
            dated_floor: 0.97,
            stale_after_days: 45,
            digest_crowd: 0.5,
            correct_typos: true,
            drop_archived: true,
            spool: true,
            sync_on_search: true,
            candidates: 400,
            meaning_candidates: 50,
            embed: EmbedSettings::default(),
        }
    }
}
