//! The gate's second half: evidence is checked against the material, whoever claims it.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_vault::Bucket;
use dormouse_vault::text::{content_words, is_cjk, slug};
use unicode_normalization::UnicodeNormalization;

use crate::config::DreamConfig;
use crate::founded::{DAY, Grounds, NAME, NUMBER, doubles_number, is_vaguer, stem};
use crate::markdown::{clip, fact_text, folded, forged_source, name_text, one_line, plain, without_forged_sources};
use crate::material::Material;
use crate::report::DroppedUnit;
use crate::withheld::{is_order, is_secret, poses_as_system};

/// Something worth keeping, as an abstractor claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Short and descriptive.
    pub name: String,
    /// Which kind of abstraction.
    pub bucket: Bucket,
    /// One sentence.
    pub summary: String,
    /// What it consists of, each one thing.
    pub facts: Vec<Fact>,
}

/// One thing, with references resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The statement, one line of Markdown.
    pub text: String,
    /// Verbatim spans of the material that support it.
    pub evidence: Vec<String>,
    /// Whether it is a step of a procedure, to be numbered.
    pub step: bool,
}

/// A unit whose evidence was found in the material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroundedUnit {
    /// Short and descriptive.
    pub name: String,
    /// Which kind of abstraction.
    pub bucket: Bucket,
    /// One sentence.
    pub summary: String,
    /// Facts with evidence, at least one.
    pub facts: Vec<GroundedFact>,
}

/// A fact whose evidence was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroundedFact {
    /// The statement, one line of Markdown.
    pub text: String,
    /// Indices of the material's passages that hold the evidence, ascending, at least one.
    pub passages: Vec<usize>,
    /// Whether it is a step.
    pub step: bool,
}

impl GroundedUnit {
    /// Everything that it says, for a search.
    #[must_use]
    pub fn query(&self) -> String {
        let mut out = format!("{}\n{}", self.name, self.summary);
        for fact in &self.facts {
            out.push('\n');
            out.push_str(&plain(&fact.text));
        }
        out
    }
}

/// The material's text in comparable form, with the passage that each byte belongs to.
struct Haystack {
    text: String,
    /// Start offset of each passage in `text`.
    starts: Vec<usize>,
}

impl Haystack {
    fn new(material: &Material) -> Self {
        let mut text = String::new();
        let mut starts = Vec::new();
        for passage in &material.passages {
            if !text.is_empty() {
                text.push(' ');
            }
            starts.push(text.len());
            text.push_str(&folded(&plain(&passage.text)));
        }
        Self { text, starts }
    }

    /// The passages that hold `span`, first occurrence.
    fn find(&self, span: &str) -> Option<(usize, usize)> {
        let needle = folded(&plain(span));
        let weight: usize = needle.chars().map(|c| if is_cjk(c) { 2 } else { usize::from(c.is_alphanumeric()) }).sum();
        let needle =
            needle.trim_matches(|c: char| c == '"' || c == '\'' || c == ' ' || c == '…').trim_end_matches("...");
        if needle.is_empty() {
            return None;
        }
        let at = self.text.find(needle)?;
        let first = self.starts.partition_point(|s| *s <= at).checked_sub(1)?;
        let last = self.starts.partition_point(|s| *s < at + needle.len()).checked_sub(1)?;
        // A scrap proves nothing, unless it is a whole passage.
        let whole = self.starts.get(first) == Some(&at) && self.passage_end(first) == at + needle.len();
        (weight >= 8 || whole).then_some((first, last))
    }

    fn passage_end(&self, index: usize) -> usize {
        self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1)
    }
}

/// Checks every claim: names and texts made safe, evidence found, content supported. Units of one
/// name and bucket become one. What is dropped is named with its reason.
pub(crate) fn ground(
    material: &Material,
    units: Vec<Unit>,
    config: &DreamConfig,
) -> (Vec<GroundedUnit>, Vec<DroppedUnit>) {
    let haystack = Haystack::new(material);
    let grounds = Grounds::of(material);
    let mut dropped = Vec::new();
    let mut kept: Vec<GroundedUnit> = Vec::new();
    let mut by_key: BTreeMap<(Bucket, String), usize> = BTreeMap::new();
    for mut unit in units {
        withhold(&mut unit, material);
        let name = name_text(&unit.name);
        let name = grounds.title(&name).unwrap_or_else(|| name_text(&material.name));
        let count = unit.facts.len();
        let drop_unit =
            |reason: &str| DroppedUnit { name: name.clone(), reason: reason.to_owned(), whole: true, facts: count };
        if name.is_empty() {
            dropped.push(drop_unit("it has no name"));
            continue;
        }
        let mut facts: Vec<GroundedFact> = Vec::new();
        let mut reasons = Vec::new();
        // The summary may come from the very sentence that is not kept.
        let mut withheld = false;
        for fact in unit.facts {
            if let Some(forged) = forged_source(&fact.text) {
                let reason = format!("a source of its own making, “{}”", clip(&one_line(forged), 80));
                dropped.push(DroppedUnit { name: name.clone(), reason, whole: false, facts: 0 });
            }
            match ground_fact(material, &haystack, &grounds, &fact, config) {
                Ok(fact) => facts.push(fact),
                Err(reason @ (SECRET | ORDER)) => {
                    withheld = true;
                    reasons.push(reason.to_owned());
                }
                Err(reason) => reasons.push(format!("“{}”: {reason}", clip(&one_line(&fact.text), 80))),
            }
        }
        let summary = one_line(&plain(&unit.summary));
        if withheld || is_secret(&unit.summary) || is_order(&unit.summary) || !grounds.found(&summary) {
            unit.summary = facts.first().map(|f| plain(&f.text)).unwrap_or_default();
        }
        if facts.is_empty() {
            let why = if reasons.is_empty() { "it has no facts".to_owned() } else { joined(&reasons) };
            dropped.push(drop_unit(&why));
            continue;
        }
        dropped.extend(reasons.into_iter().map(|reason| DroppedUnit {
            name: name.clone(),
            reason,
            whole: false,
            facts: 1,
        }));
        let key = (unit.bucket, same_name(&name));
        let full = kept.len() >= config.max_units;
        if let Some(have) = by_key.get(&key).and_then(|at| kept.get_mut(*at)) {
            have.facts.extend(facts);
        } else if full {
            dropped.push(drop_unit("more units than `dream.max_units`"));
        } else {
            by_key.insert(key, kept.len());
            kept.push(GroundedUnit { name, bucket: unit.bucket, summary: one_line(&plain(&unit.summary)), facts });
        }
    }
    for unit in &mut kept {
        let mut seen = BTreeSet::new();
        unit.facts.retain(|f| seen.insert(folded(&plain(&f.text))));
        if unit.facts.len() > config.max_facts {
            let facts = unit.facts.split_off(config.max_facts).len();
            let reason = format!("{facts} fact(s) more than `dream.max_facts`");
            dropped.push(DroppedUnit { name: unit.name.clone(), reason, whole: false, facts });
        }
    }
    (kept, dropped)
}

const SECRET: &str = "looks like a secret";
const ORDER: &str = "an order to the assistant, not a memory";

/// A name may come from the very sentence that is not kept.
fn withhold(unit: &mut Unit, material: &Material) {
    if is_secret(&unit.name) || is_order(&unit.name) {
        let other = !is_secret(&material.name) && !is_order(&material.name);
        unit.name = if other { material.name.clone() } else { "Name withheld".to_owned() };
    }
}

/// A few of the reasons, and how many more there are.
fn joined(reasons: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut out = reasons.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    if reasons.len() > SHOWN {
        out.push_str(&format!("; and {} more", reasons.len() - SHOWN));
    }
    out
}

/// Two names that differ only in case, blanks or width are one; punctuation and words are not.
fn same_name(name: &str) -> String {
    let folded = folded(name);
    if folded.is_empty() { slug(name) } else { folded }
}

fn ground_fact(
    material: &Material,
    haystack: &Haystack,
    grounds: &Grounds,
    fact: &Fact,
    config: &DreamConfig,
) -> Result<GroundedFact, &'static str> {
    let mut text = fact_text(&without_forged_sources(&fact.text));
    let mut said = plain(&text);
    if !said.chars().any(char::is_alphanumeric) {
        return Err("it says nothing");
    }
    if is_secret(&text) {
        return Err(SECRET);
    }
    if if fact.step { poses_as_system(&said) } else { is_order(&said) } {
        return Err(ORDER);
    }
    if text.chars().count() > config.max_fact_chars {
        return Err("longer than `dream.max_fact_chars`");
    }
    if fact.evidence.iter().all(|e| e.trim().is_empty()) {
        return Err("no evidence");
    }
    let mut passages = BTreeSet::new();
    for span in &fact.evidence {
        if let Some((first, last)) = haystack.find(span) {
            passages.extend(first..=last);
            // The words of the material say it better than ones that leave its number open.
            let verbatim = fact_text(&without_forged_sources(span));
            if is_vaguer(&said, &plain(span))
                && verbatim.chars().count() <= config.max_fact_chars
                && !is_order(&verbatim)
                && !is_secret(&verbatim)
            {
                said = plain(&verbatim);
                text = verbatim;
            }
        }
    }
    if passages.is_empty() {
        return Err("the evidence does not stand in the material");
    }
    let cited: String =
        passages.iter().filter_map(|i| material.passages.get(*i)).map(|p| format!("{} ", plain(&p.text))).collect();
    if support(&said, &format!("{cited} {}", material.name)) < config.min_support {
        return Err("too few of its words stand in the evidence");
    }
    let evidence = Grounds::cited(material, &passages);
    if grounds.lacks_number(&said) || evidence.swaps_count(&said, &cited) {
        return Err(NUMBER);
    }
    if doubles_number(&said, &cited) {
        return Err("a number in the place of another");
    }
    if evidence.lacks_number(&said) {
        return Err("a number that its evidence does not have");
    }
    if grounds.lacks_day(&said, &cited) {
        return Err(DAY);
    }
    if grounds.lacks_name(&said) {
        return Err(NAME);
    }
    Ok(GroundedFact { text, passages: passages.into_iter().collect(), step: fact.step })
}

/// The share of the content words of `text` that stand in `source`, 0..=1; 1 when there are none.
fn support(text: &str, source: &str) -> f64 {
    let words: BTreeSet<String> = content_words(text).iter().map(|word| stem(word)).collect();
    let source: BTreeSet<String> = content_words(source).iter().map(|word| stem(word)).collect();
    if words.is_empty() {
        return 1.0;
    }
    words.intersection(&source).count() as f64 / words.len() as f64
}

/// Numbers of a text that a summary may not make up: thousands separators dropped; small counts and
/// parts of ISO dates left out.
pub(crate) fn numbers(text: &str) -> BTreeSet<String> {
    figures(text)
        .into_iter()
        .filter(|number| number.parse::<u32>().is_ok_and(|n| n > 12) || number.contains('.'))
        .collect()
}

/// All numbers of a text, small ones too; thousands separators dropped, parts of ISO dates and of
/// names left out.
pub(crate) fn figures(text: &str) -> BTreeSet<String> {
    figures_in_order(text).into_iter().collect()
}

/// [`figures`] as often as they stand, in order.
pub(crate) fn figures_in_order(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let wide = text.chars().any(|c| matches!(c, '０'..='９'));
    let chars: Vec<char> = if wide { text.nfkc().collect() } else { text.chars().collect() };
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if !c.is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let glued = start
            .checked_sub(1)
            .and_then(|i| chars.get(i))
            .is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '^'));
        let mut number = String::new();
        while let Some(&c) = chars.get(at) {
            let digit_next = chars.get(at + 1).is_some_and(char::is_ascii_digit);
            match c {
                '0'..='9' => number.push(c),
                '.' if digit_next => number.push('.'),
                ',' if digit_next => {}
                _ => break,
            }
            at += 1;
        }
        let dated = matches!(chars.get(at), Some('-')) && number.len() == 4
            || start.checked_sub(1).and_then(|i| chars.get(i)) == Some(&'-') && number.len() == 2;
        let number =
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_owned() } else { number };
        if !glued && !dated {
            out.push(number);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Language, Marker, Origin, Passage};
    use dormouse_vault::{NotePath, Version};

    fn material(passages: &[&str]) -> Material {
        Material {
            path: NotePath::new("daily/2026-11-09/alpha.md").unwrap(),
            version: Version::of(b""),
            name: "Alpha lowered".into(),
            description: None,
            date: None,
            origin: Origin::Experience,
            language: Language::English,
            passages: passages
                .iter()
                .map(|t| Passage { text: (*t).to_owned(), heading: vec![], marker: Marker::Plain, id: None })
                .collect(),
            links: vec![],
        }
    }

    fn check(passages: &[&str], text: &str, evidence: &[&str]) -> Result<Vec<usize>, String> {
        let fact =
            Fact { text: text.into(), evidence: evidence.iter().map(|e| (*e).to_owned()).collect(), step: false };
        let unit = Unit { name: "Alpha".into(), bucket: Bucket::Wiki, summary: String::new(), facts: vec![fact] };
        let (kept, dropped) = ground(&material(passages), vec![unit], &DreamConfig::default());
        match kept.into_iter().next() {
            Some(unit) => Ok(unit.facts.into_iter().flat_map(|f| f.passages).collect()),
            None => Err(dropped.into_iter().map(|d| d.reason).collect()),
        }
    }

    #[test]
    fn evidence_is_found_in_its_passage_whatever_its_blanks_and_quotes() {
        let passages = ["It rained.", "Alpha is  0.15 from today; “0.3” is superseded."];
        assert_eq!(check(&passages, "Alpha is 0.15.", &["alpha is 0.15 from\ntoday"]), Ok(vec![1]));
        assert_eq!(check(&passages, "Alpha: 0.3 is superseded.", &["\"0.3\" is superseded"]), Ok(vec![1]));
        assert_eq!(check(&["中文按单字和二元组建索引。"], "按单字和二元组索引", &["按单字和二元组"]), Ok(vec![0]));
    }

    #[test]
    fn claims_without_real_evidence_are_dropped() {
        let passages = ["Alpha is 0.15 from today."];
        assert!(check(&passages, "Alpha is 0.15.", &[]).unwrap_err().contains("no evidence"));
        assert!(check(&passages, "Alpha is 0.15.", &["Alpha was measured"]).unwrap_err().contains("does not stand"));
        assert!(check(&passages, "Alpha is 0.15.", &["is"]).unwrap_err().contains("does not stand"));
        assert!(check(&passages, "Alpha is 0.35.", &["Alpha is 0.15"]).unwrap_err().contains("number"));
        let far = "Zebras migrate across rivers every summer in herds.";
        assert!(check(&passages, far, &["Alpha is 0.15"]).unwrap_err().contains("too few"));
    }

    #[test]
    fn units_of_one_name_are_one_and_names_that_differ_stay_apart() {
        let unit = |name: &str, text: &str| Unit {
            name: name.into(),
            bucket: Bucket::Wiki,
            summary: String::new(),
            facts: vec![Fact { text: text.into(), evidence: vec![text.into()], step: false }],
        };
        let m = material(&["Alpha is 0.15 from today.", "Beta stays at 1.20 for now."]);
        let units = vec![unit("Weights", "Alpha is 0.15 from today."), unit("weights ", "Beta stays at 1.20 for now.")];
        let (kept, _) = ground(&m, units, &DreamConfig::default());
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].facts.len(), 2);
        let units =
            vec![unit("Week 9 plan", "Alpha is 0.15 from today."), unit("Week-9 plan!", "Beta stays at 1.20 for now.")];
        assert_eq!(ground(&m, units, &DreamConfig::default()).0.len(), 2);
    }

    #[test]
    fn numbers_ignore_separators_dates_and_small_counts() {
        let got = numbers("18,000 texts, 0.150 of 3, on 2026-11-30, R@5 96.5% b12");
        assert_eq!(got.into_iter().collect::<Vec<_>>(), ["0.15", "18000", "96.5"]);
    }
}
