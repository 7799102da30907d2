//! Vectors in memory: one signed byte a number, and products of them by the million.
//!
//! A vector is scaled to length one and then to bytes by its largest number, so that a row is its
//! bytes and one scale; 256 numbers take 260 bytes. Products of bytes are whole numbers, which every
//! machine adds up alike.

/// Rows of a chunk: growing never moves what is there.
const CHUNK: usize = 4_096;

/// A vector as bytes: its direction is `bytes · scale`, of length one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) bytes: Vec<i8>,
    /// 0 for a vector without a direction.
    pub(crate) scale: f32,
}

impl Row {
    /// The direction of `vector`. Numbers that are none count as 0.
    pub(crate) fn of(vector: &[f32]) -> Self {
        let finite = || vector.iter().map(|x| if x.is_finite() { f64::from(*x) } else { 0.0 });
        let length = finite().map(|x| x * x).sum::<f64>().sqrt();
        let largest = finite().map(f64::abs).fold(0.0, f64::max);
        if !(length > 0.0 && largest > 0.0 && length.is_finite()) {
            return Self { bytes: vec![0; vector.len()], scale: 0.0 };
        }
        // In -127..=127, by the definition of `largest`.
        let bytes = finite().map(|x| (x / largest * 127.0).round() as i8).collect();
        Self { bytes, scale: (largest / length / 127.0) as f32 }
    }
}

/// Rows of one length, by number.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    dimension: usize,
    chunks: Vec<Chunk>,
}

#[derive(Debug, Default)]
struct Chunk {
    bytes: Vec<i8>,
    scales: Vec<f32>,
}

impl Rows {
    pub(crate) fn new(dimension: usize) -> Self {
        Self { dimension, chunks: Vec::new() }
    }

    /// The length of a row.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        let whole = self.chunks.len().saturating_sub(1) * CHUNK;
        self.chunks.last().map_or(0, |chunk| whole + chunk.scales.len())
    }

    /// Puts a row at the end and says its number; `None` for one of another length.
    pub(crate) fn push(&mut self, bytes: &[i8], scale: f32) -> Option<u32> {
        let number = u32::try_from(self.len()).ok().filter(|_| bytes.len() == self.dimension)?;
        if self.chunks.last().is_none_or(|chunk| chunk.scales.len() >= CHUNK) {
            self.chunks.push(Chunk::default());
        }
        let chunk = self.chunks.last_mut()?;
        chunk.bytes.extend_from_slice(bytes);
        chunk.scales.push(scale);
        Some(number)
    }

    /// A row by number.
    pub(crate) fn get(&self, row: u32) -> Option<(&[i8], f32)> {
        let row = usize::try_from(row).ok()?;
        let (chunk, at) = (self.chunks.get(row / CHUNK)?, row % CHUNK);
        let bytes = chunk.bytes.get(at * self.dimension..(at + 1) * self.dimension)?;
        Some((bytes, chunk.scales.get(at).copied()?))
    }

    /// The cosine of a row and `query`, -1..=1; 0 where one has no direction.
    pub(crate) fn cosine(&self, row: u32, query: &Row) -> f32 {
        self.get(row).map_or(0.0, |(bytes, scale)| dot(bytes, &query.bytes) as f32 * scale * query.scale)
    }
}

/// The sum of products. Whole numbers, so that the compiler may do many at once.
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(a: &[f32], b: &[f32]) -> f32 {
        let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() / (length(a) * length(b))
    }

    #[test]
    fn cosines_of_bytes_are_those_of_numbers_to_a_hundredth() {
        let mut seed = 7_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        };
        let vectors: Vec<Vec<f32>> = (0..40).map(|_| (0..256).map(|_| next()).collect()).collect();
        let mut rows = Rows::new(256);
        for vector in &vectors {
            let row = Row::of(vector);
            rows.push(&row.bytes, row.scale).unwrap();
        }
        for (a, query) in vectors.iter().enumerate() {
            for (b, vector) in vectors.iter().enumerate() {
                let got = rows.cosine(u32::try_from(b).unwrap(), &Row::of(query));
                assert!((got - exact(query, vector)).abs() < 0.01, "{a} {b}: {got}");
            }
        }
    }

    #[test]
    fn a_vector_without_a_direction_is_like_nothing() {
        for odd in [vec![0.0; 4], vec![f32::NAN; 4], vec![f32::INFINITY, 0.0, 0.0, 0.0]] {
            let mut rows = Rows::new(4);
            let row = Row::of(&odd);
            rows.push(&row.bytes, row.scale).unwrap();
            assert_eq!(rows.cosine(0, &Row::of(&[1.0, 0.0, 0.0, 0.0])), 0.0);
        }
    }

    #[test]
    fn rows_keep_their_number_over_many_chunks_and_another_length_is_refused() {
        let mut rows = Rows::new(2);
        for n in 0..(2 * CHUNK + 5) {
            assert_eq!(rows.push(&[i8::try_from(n % 100).unwrap(), 1], 1.0), u32::try_from(n).ok());
        }
        assert_eq!(rows.len(), 2 * CHUNK + 5);
        assert_eq!(rows.get(4_099).unwrap().0, [99, 1]);
        assert_eq!(rows.push(&[1], 1.0), None);
        assert!(rows.get(u32::MAX).is_none());
    }
}
