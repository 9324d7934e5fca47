//! Rows of bits packed without gaps, as they travel: row after row, least significant bit first.

use circuit::BitMatrix;

/// A packed run of bits.
#[derive(Default)]
pub(crate) struct Packed {
    pub words: Vec<u64>,
    pub len: usize,
}

/// The number of bytes that `bits` packed bits take in a message.
pub(crate) fn byte_len(bits: usize) -> usize {
    bits.div_ceil(8)
}

impl Packed {
    /// Appends the first `count` bits of a row; the row's padding is zero.
    pub fn push(&mut self, row: &[u64], count: usize) {
        let shift = self.len % 64;
        if shift == 0 {
            self.words.extend_from_slice(row);
        } else {
            self.push_shifted(row, shift);
        }
        self.len += count;
        self.words.truncate(self.len.div_ceil(64));
    }

    fn push_shifted(&mut self, row: &[u64], shift: usize) {
        for &word in row {
            *self.words.last_mut().expect("bits stand before a shifted row") |= word << shift;
            self.words.push(word >> (64 - shift));
        }
    }

    /// The bits as bytes, the last one padded with zeros.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..byte_len(self.len)]
    }

    /// Reads `len` bits from their bytes; what pads the last byte is ignored.
    pub fn read(bytes: &[u8], len: usize) -> Packed {
        let mut words = vec![0u64; len.div_ceil(64)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Packed { words, len }
    }

    /// XORs `bits` that came as bytes onto these.
    pub fn xor_bytes(&mut self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<8>();
        for (word, bytes) in self.words.iter_mut().zip(whole) {
            *word ^= u64::from_le_bytes(*bytes);
        }
        if let (Some(word), false) = (self.words.get_mut(whole.len()), rest.is_empty()) {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            *word ^= u64::from_le_bytes(last);
        }
    }
}

/// Word `i` of the row of `count` bits that begins at bit `from`; padding is zero.
#[inline(always)]
pub(crate) fn row_word(words: &[u64], from: usize, count: usize, i: usize) -> u64 {
    let (at, shift) = (from / 64 + i, from % 64);
    let low = words[at] >> shift;
    let high = match (shift, words.get(at + 1)) {
        (0, _) | (_, None) => 0,
        (shift, Some(next)) => next << (64 - shift),
    };
    let left = count - i * 64;
    if left >= 64 { low | high } else { (low | high) & ((1 << left) - 1) }
}

/// Copies out the row of `count` bits that begins at bit `from`.
pub(crate) fn copy_row(words: &[u64], from: usize, count: usize, to: &mut [u64]) {
    for (i, word) in to.iter_mut().enumerate() {
        *word = row_word(words, from, count, i);
    }
}

/// Packs a matrix for a message: row after row without gaps.
pub(crate) fn pack(matrix: &BitMatrix) -> Packed {
    let mut packed = Packed::default();
    (0..matrix.rows()).for_each(|row| packed.push(matrix.row(row), matrix.lanes()));
    packed
}

/// Unpacks a matrix from its bytes, whose number the caller has checked.
pub(crate) fn unpack(bytes: &[u8], rows: usize, lanes: usize) -> BitMatrix {
    let packed = Packed::read(bytes, rows * lanes);
    let mut matrix = BitMatrix::zeros(rows, lanes);
    for row in 0..rows {
        copy_row(&packed.words, row * lanes, lanes, matrix.row_mut(row));
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back(rows in prop::collection::vec(prop::collection::vec(any::<bool>(), 0..200), 0..12)) {
            let mut packed = Packed::default();
            for row in &rows {
                packed.push(&pack(row), row.len());
            }
            let bytes = packed.bytes();
            let all: Vec<bool> = rows.concat();
            prop_assert_eq!(bytes.len(), all.len().div_ceil(8));
            for (i, &bit) in all.iter().enumerate() {
                prop_assert_eq!(bytes[i / 8] >> (i % 8) & 1 == 1, bit);
            }
            let mut again = Packed::read(bytes, all.len());
            prop_assert_eq!(&again.words, &packed.words);
            let mut from = 0;
            for row in &rows {
                let mut came = vec![0; row.len().div_ceil(64)];
                copy_row(&again.words, from, row.len(), &mut came);
                prop_assert_eq!(came, pack(row));
                from += row.len();
            }
            again.xor_bytes(bytes);
            prop_assert!(again.words.iter().all(|&word| word == 0));
        }
    }

    fn pack(bits: &[bool]) -> Vec<u64> {
        bits.chunks(64).map(|word| word.iter().rev().fold(0, |w, &bit| w << 1 | bit as u64)).collect()
    }
}
