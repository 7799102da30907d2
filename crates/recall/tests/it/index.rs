//! The index port: one suite that every implementation runs, against each other.

use dormouse_recall::{BlockIndex, Field, IndexedNote, IndexedUnit, Marks, MemoryIndex, NoteKey, TantivyIndex, UnitId};
use dormouse_vault::Version;
use proptest::prelude::*;

fn note(key: u64, version: &str, units: &[(&[&str], &[&str])]) -> IndexedNote {
    let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let unit = |(at, (body, header)): (usize, &(&[&str], &[&str]))| IndexedUnit {
        block: u32::try_from(at).unwrap(),
        part: 0,
        marks: Marks(u16::try_from(at).unwrap()),
        body: words(body),
        header: words(header),
        speaker: Vec::new(),
    };
    IndexedNote {
        key: NoteKey(key),
        version: Version::of(version.as_bytes()),
        units: units.iter().enumerate().map(unit).collect(),
    }
}

/// What every index must do.
fn conforms(index: &dyn BlockIndex) {
    assert_eq!(index.unit_count().unwrap(), 0);
    assert!(index.versions().unwrap().is_empty());
    let mut add = vec![
        note(2, "a", &[(&["sea", "sea", "ship"], &["log"]), (&["ship"], &[])]),
        note(1, "b", &[(&["ship", "海"], &[])]),
    ]
    .into_iter();
    index.apply(&[], &mut add).unwrap();
    let places = |field, term| {
        let found = index.postings(field, term).unwrap();
        found.iter().map(|p| (p.note.0, p.unit.block, p.count, p.length)).collect::<Vec<_>>()
    };
    assert_eq!(places(Field::Body, "ship"), [(1, 0, 1, 2), (2, 0, 1, 3), (2, 1, 1, 1)]);
    assert_eq!(places(Field::Body, "sea"), [(2, 0, 2, 3)]);
    assert_eq!(places(Field::Body, "海"), [(1, 0, 1, 2)]);
    assert_eq!(places(Field::Header, "log"), [(2, 0, 1, 3)]);
    assert_eq!(places(Field::Header, "ship"), []);
    assert_eq!(index.similar("shop").unwrap(), [("ship".to_owned(), 3)]);
    let units = index.units(&[NoteKey(1), NoteKey(2), NoteKey(9)]).unwrap();
    assert_eq!(units.keys().collect::<Vec<_>>(), [&NoteKey(1), &NoteKey(2)]);
    assert_eq!(
        units[&NoteKey(2)],
        [(UnitId { block: 0, part: 0 }, Marks(0)), (UnitId { block: 1, part: 0 }, Marks(1))]
    );
    index.apply(&[NoteKey(1)], &mut vec![note(2, "c", &[(&["gone"], &[])])].into_iter()).unwrap();
    assert_eq!(places(Field::Body, "ship"), []);
    assert_eq!(index.versions().unwrap().into_iter().collect::<Vec<_>>(), [(NoteKey(2), Version::of(b"c"))]);
    assert_eq!(index.unit_count().unwrap(), 1);
    assert!(index.units(&[NoteKey(1)]).unwrap().is_empty());
    assert!(index.similar("shop").unwrap().is_empty());
}

#[test]
fn the_memory_index_conforms() {
    conforms(&MemoryIndex::new());
}

#[test]
fn the_embedded_index_conforms_in_memory_and_on_disk() {
    conforms(&TantivyIndex::in_memory("test").unwrap());
    let vault = dormouse_fixtures::temp_vault("");
    let folder = vault.path().join("index");
    conforms(&TantivyIndex::open(&folder, "test").unwrap().unwrap());
    let again = TantivyIndex::open(&folder, "test").unwrap().unwrap();
    assert_eq!(again.unit_count().unwrap(), 1);
    assert!(TantivyIndex::open(&folder, "another").unwrap().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_embedded_index_equals_brute_force(steps in proptest::collection::vec((0_u64..6, proptest::collection::vec("[ab]{1,2}", 0..6), any::<bool>()), 1..12)) {
        let embedded = TantivyIndex::in_memory("test").unwrap();
        let plain = MemoryIndex::new();
        for (at, (key, words, remove)) in steps.into_iter().enumerate() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let made = note(key, &at.to_string(), &[(&words, &words)]);
            for index in [&embedded as &dyn BlockIndex, &plain] {
                if remove {
                    index.apply(&[NoteKey(key)], &mut std::iter::empty()).unwrap();
                } else {
                    index.apply(&[], &mut std::iter::once(made.clone())).unwrap();
                }
            }
        }
        prop_assert_eq!(embedded.versions().unwrap(), plain.versions().unwrap());
        prop_assert_eq!(embedded.unit_count().unwrap(), plain.unit_count().unwrap());
        for term in ["a", "b", "aa", "ab", "ba", "bb"] {
            prop_assert_eq!(embedded.postings(Field::Body, term).unwrap(), plain.postings(Field::Body, term).unwrap());
            prop_assert_eq!(embedded.postings(Field::Header, term).unwrap(), plain.postings(Field::Header, term).unwrap());
            prop_assert_eq!(embedded.similar(term).unwrap(), plain.similar(term).unwrap());
        }
    }
}
