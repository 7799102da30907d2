//! What the engine is held against on the same questions: grep, and tantivy as it comes.

use std::collections::BTreeSet;
use std::time::Instant;

use dormouse_vault::text::content_words;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, TantivyDocument, Term};

use crate::Outcome;
use crate::ask::Bench;
use crate::data::{Place, Question};
use crate::figures::{Answered, Covering};
use crate::options::Scope;

/// Blocks that a rival returns.
const BLOCKS: usize = 200;

/// A block as the rivals read it.
struct Block {
    place: Place,
    conversation: String,
    text: String,
}

/// All rivals.
pub(crate) fn arms(bench: &Bench, questions: &[Question], scope: Scope) -> Outcome<Vec<(&'static str, Vec<Answered>)>> {
    let blocks = blocks(bench)?;
    Ok(vec![("grep", grep(&blocks, questions, scope)), ("tantivy as it comes", tantivy(&blocks, questions, scope)?)])
}

fn blocks(bench: &Bench) -> Outcome<Vec<Block>> {
    let mut out = Vec::new();
    for note in bench.vault.snapshot().notes() {
        let text = bench.vault.read(&note.path)?.text;
        let conversation = note.doc().frontmatter.text("conv").unwrap_or_default().to_owned();
        for block in &note.doc().blocks {
            out.push(Block {
                place: (note.path.to_string(), block.id.clone()),
                conversation: conversation.clone(),
                text: text.get(block.span.clone()).unwrap_or_default().to_owned(),
            });
        }
    }
    Ok(out)
}

fn in_scope(block: &Block, question: &Question, scope: Scope) -> bool {
    scope == Scope::Vault || question.conversation.as_deref().is_none_or(|own| own == block.conversation)
}

/// What an agent with grep gets: the blocks that hold most of the question's words, in file order.
fn grep(blocks: &[Block], questions: &[Question], scope: Scope) -> Vec<Answered> {
    let lower: Vec<String> = blocks.iter().map(|block| block.text.to_lowercase()).collect();
    let ask = |question: &Question| {
        let started = Instant::now();
        let words = content_words(&question.query);
        let mut found: Vec<(usize, &Block)> = blocks
            .iter()
            .zip(&lower)
            .filter(|(block, _)| in_scope(block, question, scope))
            .map(|(block, lower)| (words.iter().filter(|word| lower.contains::<&str>(word)).count(), block))
            .filter(|(count, _)| *count > 0)
            .collect();
        found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let ranked = found.into_iter().take(BLOCKS).map(|(_, block)| block);
        answered(question, ranked, started)
    };
    questions.iter().map(ask).collect()
}

/// Tantivy's own BM25 over the blocks, with its own analyzer.
fn tantivy(blocks: &[Block], questions: &[Question], scope: Scope) -> Outcome<Vec<Answered>> {
    let mut builder = Schema::builder();
    let text = builder.add_text_field("text", TEXT);
    let conversation = builder.add_text_field("conv", STRING);
    let number = builder.add_u64_field("number", STORED);
    let index = Index::create_in_ram(builder.build());
    let mut writer = index.writer_with_num_threads(1, 50_000_000)?;
    for (at, block) in blocks.iter().enumerate() {
        let mut doc = TantivyDocument::default();
        doc.add_text(text, &block.text);
        doc.add_text(conversation, &block.conversation);
        doc.add_u64(number, at as u64);
        writer.add_document(doc)?;
    }
    writer.commit()?;
    let searcher = index.reader()?.searcher();
    let mut analyzer = index.tokenizer_for_field(text)?;
    let term = |field, text: &str| -> Box<dyn Query> {
        Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::WithFreqs))
    };
    let mut out = Vec::new();
    for question in questions {
        let started = Instant::now();
        let mut words: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        analyzer
            .token_stream(&question.query)
            .process(&mut |token| words.push((Occur::Should, term(text, &token.text))));
        let mut query: Box<dyn Query> = Box::new(BooleanQuery::new(words));
        if let (Scope::Conversation, Some(own)) = (scope, &question.conversation) {
            query = Box::new(BooleanQuery::new(vec![(Occur::Must, query), (Occur::Must, term(conversation, own))]));
        }
        let mut ranked = Vec::new();
        for (_, address) in searcher.search(&query, &TopDocs::with_limit(BLOCKS).order_by_score())? {
            let doc: TantivyDocument = searcher.doc(address)?;
            let at = doc.get_first(number).and_then(|value| value.as_u64()).unwrap_or(u64::MAX);
            ranked.extend(usize::try_from(at).ok().and_then(|at| blocks.get(at)));
        }
        out.push(answered(question, ranked.into_iter(), started));
    }
    Ok(out)
}

fn answered<'a>(question: &Question, ranked: impl Iterator<Item = &'a Block>, started: Instant) -> Answered {
    let ranked: Vec<(Place, usize)> = ranked.map(|b| (b.place.clone(), b.text.chars().count())).collect();
    let milliseconds = started.elapsed().as_secs_f64() * 1_000.0;
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let notes = ranked.iter().map(|((note, _), _)| note).filter(|note| seen.insert(note));
    let notes: Vec<Covering> = notes.map(|note| Covering { notes: vec![note.clone()], cited: Vec::new() }).collect();
    Answered::of(&question.id, &question.category, &question.evidence, &ranked, &notes, milliseconds)
}
