//! The static model, on one that the test writes itself.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dormouse_fixtures::temp_vault;
use dormouse_recall::{EmbedError, Embedder, StaticEmbedder};

use super::{PATIENCE, cinema, conforms, open};
use crate::{paths, search};

const WORDS: [(&str, [f32; 4]); 6] = [
    ("[UNK]", [0.0, 0.0, 0.0, 0.0]),
    ("otter", [1.0, 0.0, 0.0, 0.0]),
    ("sleeps", [0.0, 1.0, 0.0, 0.0]),
    ("movie", [0.0, 0.0, 1.0, 0.1]),
    ("film", [0.0, 0.0, 1.0, 0.2]),
    ("dog", [0.0, 1.0, 0.0, 1.0]),
];

/// Writes a model of `rows` of the words into `folder`.
fn write_model(folder: &Path, rows: usize) {
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        WORDS.iter().enumerate().map(|(id, (word, _))| ((*word).to_owned(), id.into())).collect();
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    let data: Vec<u8> = WORDS.iter().take(rows).flat_map(|(_, v)| v.iter().flat_map(|x| x.to_le_bytes())).collect();
    let header = serde_json::json!({
        "embeddings": {"dtype": "F32", "shape": [rows, 4], "data_offsets": [0, data.len()]}
    })
    .to_string();
    let mut tensors = (header.len() as u64).to_le_bytes().to_vec();
    tensors.extend_from_slice(header.as_bytes());
    tensors.extend(data);
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(folder.join("model.safetensors"), tensors).unwrap();
    fs::write(folder.join("config.json"), "{\"normalize\": true}").unwrap();
}

#[test]
fn a_static_model_conforms_and_loads_at_its_first_call() {
    let folder = temp_vault("");
    write_model(folder.path(), WORDS.len());
    let model = StaticEmbedder::new(folder.path()).unwrap();
    assert_eq!((model.dimension(), model.is_quick()), (None, false));
    conforms(&model);
    assert_eq!((model.dimension(), model.is_quick()), (Some(4), true));
    assert_eq!(model.embed(&["Otter"]).unwrap(), [[1.0, 0.0, 0.0, 0.0]]);
    assert_eq!(StaticEmbedder::new(folder.path()).unwrap().id(), model.id());
}

#[test]
fn a_static_model_finds_what_shares_no_word() {
    let folder = temp_vault("");
    write_model(folder.path(), WORDS.len());
    let vault = cinema();
    let recall = open(&vault, Arc::new(StaticEmbedder::new(folder.path()).unwrap()));
    assert!(recall.wait_for_meaning(PATIENCE));
    assert_eq!(paths(&search(&recall, "film")), ["a.md"]);
}

#[test]
fn a_hub_id_and_an_empty_folder_are_no_model_and_the_error_says_how_to_get_one() {
    for name in ["someone/some-model", "/"] {
        let error = StaticEmbedder::new(name).unwrap_err();
        assert!(matches!(error, EmbedError::NoModel { .. }));
        assert!(error.to_string().contains("hf download"), "{error}");
    }
}

#[test]
fn a_broken_model_is_an_error_and_never_a_panic() {
    for broken in ["tokenizer.json", "model.safetensors", "config.json"] {
        let folder = temp_vault("");
        write_model(folder.path(), WORDS.len());
        fs::write(folder.path().join(broken), "{").unwrap();
        let model = StaticEmbedder::new(folder.path()).unwrap();
        assert!(matches!(model.embed(&["otter"]), Err(EmbedError::BadModel { .. })), "{broken}");
    }
    // A word without a row.
    let folder = temp_vault("");
    write_model(folder.path(), 2);
    let model = StaticEmbedder::new(folder.path()).unwrap();
    assert!(matches!(model.embed(&["dog"]), Err(EmbedError::Failed)));
    assert_eq!(model.embed(&["otter"]).unwrap().len(), 1);
}
