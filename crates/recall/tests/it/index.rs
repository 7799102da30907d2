//! The index port: one suite that every implementation runs, against each other.

use std::collections::BTreeMap;

use dormouse_fixtures::temp_vault;
use dormouse_recall::{
    Asked, BlockIndex, Field, Found, IndexView, IndexedNote, IndexedUnit, Marks, MemoryIndex, NoteKey, NoteTerms,
    Sought, TantivyIndex, UnitId,
};
use dormouse_vault::Version;
use proptest::prelude::*;

/// A note with a header unit and one unit for each list of words.
fn note(key: u64, version: &str, day: u16, units: &[(&[&str], &[&str])]) -> IndexedNote {
    let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let unit = |(at, (body, header)): (usize, &(&[&str], &[&str]))| IndexedUnit {
        block: u32::try_from(at).unwrap(),
        marks: Marks(u16::try_from(at).unwrap()),
        body: words(body),
        header: words(header),
        speaker: words(if at == 1 { &["ann"] } else { &[] }),
        ..IndexedUnit::default()
    };
    let header = IndexedUnit { block: UnitId::HEADER, ..IndexedUnit::default() };
    let units = units.iter().enumerate().map(unit).chain([header]).collect();
    IndexedNote { key: NoteKey(key), version: Version::of(version.as_bytes()), day, units }
}

/// What stands where: the units as `block:marks:length`, the places as `field term@unit×count`.
fn told(notes: &[NoteTerms]) -> Vec<String> {
    let tell = |note: &NoteTerms| {
        let units = note.units.iter().map(|u| match u.id.block {
            UnitId::HEADER => "#".to_owned(),
            block => format!("{block}:{}:{}", u.marks.0, u.length),
        });
        let standing = note.standing.iter().map(|s| format!("{:?} {}@{}×{}", s.field, s.term, s.unit, s.count));
        format!("{} [{}] {}", note.note.0, units.collect::<Vec<_>>().join(" "), standing.collect::<Vec<_>>().join(", "))
    };
    notes.iter().map(tell).collect()
}

fn best(view: &dyn IndexView, terms: &[&str], limit: usize, keep: &[u64]) -> (Vec<u64>, bool) {
    let sought: Vec<Sought<'_>> = terms.iter().map(|term| Sought { field: Field::Body, term, weight: 1.0 }).collect();
    let best = view.best(&sought, limit, &mut |note| keep.contains(&note.0)).unwrap();
    (best.notes.iter().map(|found| found.note.0).collect(), best.complete)
}

fn add(index: &dyn BlockIndex, remove: &[u64], notes: Vec<IndexedNote>) {
    let remove: Vec<NoteKey> = remove.iter().map(|key| NoteKey(*key)).collect();
    index.apply(&remove, &mut notes.into_iter()).unwrap();
}

/// What every index must do.
fn conforms(index: &dyn BlockIndex) {
    let empty = index.view().unwrap();
    assert_eq!(empty.unit_count().unwrap(), 0);
    assert!(empty.versions().unwrap().is_empty());
    assert_eq!(best(empty.as_ref(), &["ship"], 3, &[1, 2]), (vec![], true));
    let first = vec![
        note(2, "a", 9, &[(&["sea", "sea", "ship"], &["log"]), (&["ship"], &[])]),
        note(1, "b", 0, &[(&["ship", "海"], &[])]),
    ];
    add(index, &[], first);
    let view = index.view().unwrap();
    assert_eq!(empty.unit_count().unwrap(), 0, "a view never changes");
    assert_eq!(view.unit_count().unwrap(), 5);
    let frequency = |field, term| view.frequency(field, term).unwrap();
    assert_eq!(frequency(Field::Body, "ship"), 3);
    assert_eq!(frequency(Field::Header, "log"), 1);
    assert_eq!(frequency(Field::Header, "ship"), 0);
    let found = [NoteKey(9), NoteKey(2), NoteKey(1)].map(Found::elsewhere);
    let asked = Asked { terms: &["ship", "sea", "log", "海"], speakers: &["ann"] };
    let all = [
        "1 [0:0:2 #] Body 0@0×1, Body 3@0×1",
        "2 [0:0:3 1:1:1 #] Body 0@0×1, Body 1@0×2, Header 2@0×1, Body 0@1×1, Speaker 0@1×1",
    ];
    assert_eq!(told(&view.gather(&found, asked).unwrap()), all);
    assert_eq!(best(view.as_ref(), &["ship", "sea"], 3, &[1, 2]).0[0], 2);
    assert_eq!(best(view.as_ref(), &["ship"], 1, &[1, 2]), (vec![2], false), "of two as good ones the newer");
    assert_eq!(best(view.as_ref(), &["ship"], 1, &[2]), (vec![2], false), "kept before it is cut");
    assert!(best(view.as_ref(), &["ship"], 4, &[1, 2]).1);
    let sought = Sought { field: Field::Body, term: "ship", weight: 1.0 };
    let by_engine = view.best(&[sought], 4, &mut |_| true).unwrap().notes;
    assert_eq!(told(&view.gather(&by_engine, asked).unwrap()), all, "as it found them itself");
    assert_eq!(view.first(Field::Body, "ship", 2).unwrap().len(), 2);
    assert_eq!(view.holders("log").unwrap().into_iter().collect::<Vec<_>>(), [NoteKey(2)]);
    assert_eq!(view.similar("shop").unwrap(), [("ship".to_owned(), 3)]);
    add(index, &[1], vec![note(2, "c", 0, &[(&["gone"], &[])])]);
    let later = index.view().unwrap();
    assert_eq!(later.frequency(Field::Body, "ship").unwrap(), 0);
    assert_eq!(later.versions().unwrap(), BTreeMap::from([(NoteKey(2), Version::of(b"c"))]));
    assert_eq!(later.unit_count().unwrap(), 2);
    assert_eq!(told(&later.gather(&found, asked).unwrap()), ["2 [0:0:1 #] "]);
    assert!(later.similar("shop").unwrap().is_empty());
    assert_eq!(told(&view.gather(&found, asked).unwrap()), all, "a view never changes");
}

#[test]
fn the_memory_index_conforms() {
    conforms(&MemoryIndex::new());
}

#[test]
fn the_embedded_index_conforms_in_memory_and_on_disk() {
    conforms(&TantivyIndex::in_memory("test").unwrap());
    let vault = temp_vault("");
    let folder = vault.path().join("index");
    conforms(&TantivyIndex::open(&folder, "test").unwrap().unwrap());
    let again = TantivyIndex::open(&folder, "test").unwrap().unwrap();
    assert_eq!(again.view().unwrap().unit_count().unwrap(), 2);
    assert!(TantivyIndex::open(&folder, "another").unwrap().is_none());
    let unwritten = TantivyIndex::open_unwritten(&folder, "test").unwrap().unwrap();
    assert_eq!(unwritten.view().unwrap().unit_count().unwrap(), 2);
    assert!(unwritten.apply(&[NoteKey(2)], &mut std::iter::empty()).is_err());
}

#[test]
fn two_openings_of_one_folder_see_each_others_notes() {
    let vault = temp_vault("");
    let folder = vault.path().join("index");
    let open = || TantivyIndex::open(&folder, "test").unwrap().unwrap();
    let (one, other) = (open(), open());
    for round in 0..20 {
        let index = if round % 2 == 0 { &one } else { &other };
        add(index, &[], vec![note(round, "a", 0, &[(&["ship"], &[])])]);
        let seen = [&one, &other].map(|index| index.view().unwrap().frequency(Field::Body, "ship").unwrap());
        assert_eq!(seen, [round + 1; 2]);
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    add(&one, &(0..20).collect::<Vec<_>>(), Vec::new());
    add(&other, &[], Vec::new());
    assert!(std::fs::read_dir(&folder).unwrap().count() < files, "what is dead is tidied away");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_embedded_index_equals_brute_force(steps in proptest::collection::vec((0_u64..6, proptest::collection::vec("[ab]{1,2}", 0..6), any::<bool>()), 1..12)) {
        let embedded = TantivyIndex::in_memory("test").unwrap();
        let plain = MemoryIndex::new();
        for (at, (key, words, remove)) in steps.into_iter().enumerate() {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let made = note(key, &at.to_string(), 0, &[(&words, &words)]);
            for index in [&embedded as &dyn BlockIndex, &plain] {
                if remove {
                    index.apply(&[NoteKey(key)], &mut std::iter::empty()).unwrap();
                } else {
                    index.apply(&[], &mut std::iter::once(made.clone())).unwrap();
                }
            }
        }
        let (embedded, plain) = (embedded.view().unwrap(), plain.view().unwrap());
        prop_assert_eq!(embedded.versions().unwrap(), plain.versions().unwrap());
        prop_assert_eq!(embedded.unit_count().unwrap(), plain.unit_count().unwrap());
        let terms = ["a", "b", "aa", "ab", "ba", "bb"];
        for term in terms {
            for field in [Field::Body, Field::Header] {
                prop_assert_eq!(embedded.frequency(field, term).unwrap(), plain.frequency(field, term).unwrap());
            }
            prop_assert_eq!(embedded.holders(term).unwrap(), plain.holders(term).unwrap());
            prop_assert_eq!(embedded.similar(term).unwrap(), plain.similar(term).unwrap());
        }
        let all = (0..6).map(|key| Found::elsewhere(NoteKey(key))).collect::<Vec<_>>();
        let asked = Asked { terms: &terms, speakers: &[] };
        prop_assert_eq!(embedded.gather(&all, asked).unwrap(), plain.gather(&all, asked).unwrap());
        let found = |view: &dyn IndexView| {
            let (mut notes, complete) = best(view, &terms, 100, &[0, 1, 2, 4]);
            notes.sort_unstable();
            (notes, complete)
        };
        prop_assert_eq!(found(embedded.as_ref()), found(plain.as_ref()));
    }
}
