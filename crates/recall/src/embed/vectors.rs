//! The vectors of a vault in memory: which text has which row, and which block which texts.

use std::collections::HashMap;

use dormouse_vault::Version;

use super::rows::{Row, Rows};
use super::texts::TextKey;
use crate::index::NoteKey;

/// Parts of 1 in which likeness is summed.
const FINE: f64 = (1_u64 << 30) as f64;

/// Rows of a note by block, for the version that they were made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteRows {
    pub(crate) version: Version,
    /// Block and row, in order of blocks; a long block has several.
    pub(crate) blocks: Box<[(u32, u32)]>,
}

/// All of it. About 320 bytes a block at 256 numbers a vector.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    pub(crate) rows: Rows,
    by_text: HashMap<TextKey, u32>,
    pub(crate) notes: HashMap<NoteKey, NoteRows>,
}

impl Vectors {
    pub(crate) fn new(dimension: usize) -> Self {
        Self { rows: Rows::new(dimension), ..Self::default() }
    }

    /// The row of a text.
    pub(crate) fn row_of(&self, text: TextKey) -> Option<u32> {
        self.by_text.get(&text).copied()
    }

    /// Takes in the vector of a text; one that is there already stays.
    pub(crate) fn put(&mut self, text: TextKey, bytes: &[i8], scale: f32) {
        if !self.by_text.contains_key(&text)
            && let Some(row) = self.rows.push(bytes, scale)
        {
            self.by_text.insert(text, row);
        }
    }

    /// Whether the vectors of this version of a note are all there.
    pub(crate) fn has(&self, note: NoteKey, version: Version) -> bool {
        self.notes.get(&note).is_some_and(|have| have.version == version)
    }

    /// Notes the texts of a note by block. False when a text has no row: then nothing changes.
    pub(crate) fn place(&mut self, note: NoteKey, version: Version, texts: &[(u32, TextKey)]) -> bool {
        let rows = texts.iter().map(|(block, text)| Some((*block, self.row_of(*text)?)));
        let Some(blocks) = rows.collect::<Option<Box<[(u32, u32)]>>>() else {
            return false;
        };
        self.notes.insert(note, NoteRows { version, blocks });
        true
    }

    /// How alike each block of a note is to `query`: the best of its texts.
    pub(crate) fn of_note(&self, note: &NoteRows, query: &Row) -> Vec<(u32, f32)> {
        let mut out: Vec<(u32, f32)> = Vec::with_capacity(note.blocks.len());
        for (block, row) in &note.blocks {
            let cosine = self.rows.cosine(*row, query);
            match out.last_mut() {
                Some((have, best)) if have == block => *best = best.max(cosine),
                _ => out.push((*block, cosine)),
            }
        }
        out
    }

    /// The `limit` blocks most like `query`, best first, of the notes that `allowed` lets through:
    /// those that stand out, a third of the way from what is usual to the same. Linear in the blocks.
    pub(crate) fn nearest(
        &self,
        query: &Row,
        limit: usize,
        allowed: &dyn Fn(NoteKey, Version) -> bool,
    ) -> Vec<((NoteKey, u32), f32)> {
        let order = |a: &((NoteKey, u32), f32), b: &((NoteKey, u32), f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        let mut best: Vec<((NoteKey, u32), f32)> = Vec::new();
        let mut floor = f32::NEG_INFINITY;
        let room = limit.saturating_mul(2).max(64);
        // Whole numbers, since notes come in any order and a sum of floats depends on it.
        let (mut sum, mut count) = (0_i64, 0_i64);
        for (key, note) in self.notes.iter().filter(|(key, note)| allowed(**key, note.version)) {
            for (block, cosine) in self.of_note(note, query) {
                sum += (f64::from(cosine) * FINE) as i64;
                count += 1;
                if cosine >= floor {
                    best.push(((*key, block), cosine));
                }
            }
            if best.len() > room && limit > 0 {
                best.select_nth_unstable_by(limit - 1, order);
                best.truncate(limit);
                floor = best.last().map_or(floor, |(_, cosine)| *cosine);
            }
        }
        let usual = sum as f64 / FINE / count.max(1) as f64;
        let stands_out = usual + (1.0 - usual) / 3.0;
        best.retain(|(_, cosine)| f64::from(*cosine) >= stands_out);
        best.sort_by(order);
        best.truncate(limit);
        best
    }

    /// The texts and rows that the notes still have, in order.
    pub(crate) fn live(&self) -> Vec<(TextKey, u32)> {
        let mut used = vec![false; self.rows.len()];
        for (_, row) in self.notes.values().flat_map(|note| note.blocks.iter()) {
            usize::try_from(*row).ok().and_then(|row| used.get_mut(row)).into_iter().for_each(|used| *used = true);
        }
        let stands = |row: u32| usize::try_from(row).ok().and_then(|row| used.get(row)).copied().unwrap_or(false);
        let mut live: Vec<(TextKey, u32)> =
            self.by_text.iter().filter(|(_, row)| stands(**row)).map(|(text, row)| (*text, *row)).collect();
        live.sort_unstable_by_key(|(_, row)| *row);
        live
    }

    /// The same without the rows that no note has.
    pub(crate) fn compacted(&self, live: &[(TextKey, u32)]) -> Self {
        let mut out = Self::new(self.rows.dimension());
        let mut moved: HashMap<u32, u32> = HashMap::with_capacity(live.len());
        for (text, row) in live {
            if let Some((bytes, scale)) = self.rows.get(*row)
                && let Some(to) = out.rows.push(bytes, scale)
            {
                out.by_text.insert(*text, to);
                moved.insert(*row, to);
            }
        }
        for (key, note) in &self.notes {
            let blocks = note.blocks.iter().map(|(block, row)| Some((*block, *moved.get(row)?)));
            if let Some(blocks) = blocks.collect::<Option<Box<[_]>>>() {
                out.notes.insert(*key, NoteRows { version: note.version, blocks });
            }
        }
        out
    }

    /// The texts of a note by block; for those that are written down.
    pub(crate) fn texts_by_row(&self) -> Vec<TextKey> {
        let mut out = vec![TextKey(0); self.rows.len()];
        for (text, row) in &self.by_text {
            usize::try_from(*row).ok().and_then(|row| out.get_mut(row)).into_iter().for_each(|slot| *slot = *text);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version() -> Version {
        Version::of(b"seven")
    }

    fn vectors(of: &[(u64, &[[f32; 2]])]) -> Vectors {
        let mut out = Vectors::new(2);
        for (note, texts) in of {
            let mut placed = Vec::new();
            for (block, vector) in texts.iter().enumerate() {
                let text = TextKey(note * 1_000 + block as u64);
                let row = Row::of(vector);
                out.put(text, &row.bytes, row.scale);
                placed.push((u32::try_from(block).unwrap(), text));
            }
            assert!(out.place(NoteKey(*note), version(), &placed));
        }
        out
    }

    #[test]
    fn only_what_stands_out_is_near_and_ties_go_by_place() {
        let have = vectors(&[(2, &[[1.0, 0.0], [0.0, 1.0]]), (1, &[[1.0, 0.0], [0.1, 1.0]]), (3, &[[1.0, 0.5]])]);
        let query = Row::of(&[1.0, 0.0]);
        let places = |limit, allowed: &dyn Fn(NoteKey, Version) -> bool| {
            have.nearest(&query, limit, allowed).iter().map(|((note, block), _)| (note.0, *block)).collect::<Vec<_>>()
        };
        assert_eq!(places(9, &|_, _| true), [(1, 0), (2, 0), (3, 0)]);
        assert_eq!(places(1, &|_, _| true), [(1, 0)]);
        assert_eq!(places(9, &|note, _| note == NoteKey(2)), [(2, 0)]);
        assert!(places(0, &|_, _| true).is_empty());
        assert!(have.nearest(&Row::of(&[0.0, 0.0]), 9, &|_, _| true).is_empty());
    }

    #[test]
    fn compacting_keeps_every_note_and_drops_the_rest() {
        let mut have = vectors(&[(1, &[[1.0, 0.0], [0.0, 1.0]]), (2, &[[0.5, 1.0]])]);
        have.notes.remove(&NoteKey(1));
        let query = Row::of(&[1.0, 1.0]);
        let alike = |of: &Vectors| of.of_note(&of.notes[&NoteKey(2)], &query);
        let live = have.live();
        let compacted = have.compacted(&live);
        assert_eq!((have.rows.len(), compacted.rows.len()), (3, 1));
        assert_eq!((alike(&compacted), compacted.notes.len()), (alike(&have), 1));
        assert_eq!((compacted.row_of(TextKey(2_000)), compacted.row_of(TextKey(1_000))), (Some(0), None));
    }

    #[test]
    fn a_note_with_a_text_that_has_no_row_is_not_placed() {
        let mut have = vectors(&[]);
        assert!(!have.place(NoteKey(1), version(), &[(0, TextKey(1))]));
        assert!(!have.has(NoteKey(1), version()));
        assert!(have.place(NoteKey(1), version(), &[]) && have.has(NoteKey(1), version()));
    }
}
