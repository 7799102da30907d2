//! Bare tantivy: the same blocks and terms, and nothing else.

use std::path::Path;

use dormouse_recall::index_terms;
use dormouse_vault::Vault;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, Searcher, TantivyDocument, Term};

/// Indexes the blocks of all notes; gives their number.
pub(crate) fn index(vault: &Vault, folder: &Path) -> usize {
    std::fs::create_dir_all(folder).unwrap();
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqs);
    let body = builder.add_text_field("body", TextOptions::default().set_indexing_options(indexing));
    let number = builder.add_u64_field("number", FAST);
    let index = Index::create_in_dir(folder, builder.build()).unwrap();
    let mut writer = index.writer_with_num_threads(1, 48_000_000).unwrap();
    let mut blocks = 0;
    for note in vault.snapshot().notes() {
        let text = vault.read(&note.path).unwrap().text;
        for block in &note.doc().blocks {
            let mut doc = TantivyDocument::default();
            doc.add_text(body, index_terms(&text[block.span.clone()]).join(" "));
            doc.add_u64(number, blocks as u64);
            writer.add_document(doc).unwrap();
            blocks += 1;
        }
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
    blocks
}

/// The product's own index, opened as any tantivy index.
pub(crate) fn open(vault: &Vault) -> Searcher {
    Index::open_in_dir(vault.cache_dir().join("index")).unwrap().reader().unwrap().searcher()
}

/// The first ten units by tantivy's own score.
pub(crate) fn first_ten(searcher: &Searcher, query: &str) -> usize {
    let body = searcher.schema().get_field("body").unwrap();
    let term = |text: &String| -> (Occur, Box<dyn Query>) {
        (Occur::Should, Box::new(TermQuery::new(Term::from_field_text(body, text), IndexRecordOption::WithFreqs)))
    };
    let query = BooleanQuery::new(index_terms(query).iter().map(term).collect());
    searcher.search(&query, &TopDocs::with_limit(10).order_by_score()).unwrap().len()
}
