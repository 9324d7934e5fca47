//! Packed bits of many lanes, wire by wire.
//!
//! A row is a wire, a column a lane; the lanes of a row are packed into words, lane 0 in the least significant bit of
//! the first word. XOR of two wires is then one instruction for 64 lanes. The padding above the last lane is zero.

mod numbers;

use crate::error::{Error, Result};
use std::fmt;
use zeroize::Zeroize;

pub use numbers::Number;

const WORD: usize = 64;

/// Rows of packed bits: wires by lanes. It holds secrets: its `Debug` shows the shape alone.
#[derive(Clone, PartialEq, Eq)]
pub struct BitMatrix {
    rows: usize,
    lanes: usize,
    stride: usize,
    words: Vec<u64>,
}

#[doc(hidden)]
impl Zeroize for BitMatrix {
    /// All bits are 0 then; the shape stays.
    fn zeroize(&mut self) {
        self.words.as_mut_slice().zeroize();
    }
}

impl fmt::Debug for BitMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitMatrix({} bits × {} lanes)", self.rows, self.lanes)
    }
}

impl BitMatrix {
    /// All bits zero.
    ///
    /// # Panics
    /// If so many bits cannot be addressed.
    pub fn zeros(rows: usize, lanes: usize) -> Self {
        let stride = lanes.div_ceil(WORD);
        let size = rows.checked_mul(stride).expect("a matrix fits the address space");
        BitMatrix { rows, lanes, stride, words: vec![0; size] }
    }

    /// The matrix of these words, row by row: `rows` times ⌈`lanes`/64⌉ of them, with zero padding.
    pub fn from_words(rows: usize, lanes: usize, words: Vec<u64>) -> Result<Self> {
        let stride = lanes.div_ceil(WORD);
        if rows.checked_mul(stride) != Some(words.len()) {
            let why = format!("{rows} rows of {lanes} lanes do not have {} words", words.len());
            return Err(Error::invalid("bit matrix", why));
        }
        let matrix = BitMatrix { rows, lanes, stride, words };
        match (0..rows).find(|&row| matrix.row(row).last().is_some_and(|&last| last & !matrix.last_mask() != 0)) {
            Some(row) => Err(Error::invalid(format!("bit matrix, row {row}"), "bits above the last lane are set")),
            None => Ok(matrix),
        }
    }

    /// The matrix whose columns are these lanes.
    ///
    /// # Panics
    /// If a lane does not have `rows` bits.
    pub fn from_lanes(rows: usize, lanes: &[Vec<bool>]) -> Self {
        let mut matrix = BitMatrix::zeros(rows, lanes.len());
        for (index, lane) in lanes.iter().enumerate() {
            assert_eq!(lane.len(), rows, "bits of lane {index}");
            for (row, &bit) in lane.iter().enumerate() {
                matrix.set(row, index, bit);
            }
        }
        matrix
    }

    /// The columns.
    pub fn to_lanes(&self) -> Vec<Vec<bool>> {
        (0..self.lanes).map(|lane| self.lane(lane)).collect()
    }

    /// One column.
    pub fn lane(&self, lane: usize) -> Vec<bool> {
        (0..self.rows).map(|row| self.get(row, lane)).collect()
    }

    /// Wires.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Lanes.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Words of a row: ⌈lanes/64⌉.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All words, row after row.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, row after row. Whoever sets padding calls [`clear_padding`](Self::clear_padding) after.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The words of one row.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.stride..][..self.stride]
    }

    /// The words of one row. Whoever sets padding calls [`clear_padding`](Self::clear_padding) after.
    pub fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.words[row * self.stride..][..self.stride]
    }

    /// One bit.
    ///
    /// # Panics
    /// If there is no such row or lane.
    pub fn get(&self, row: usize, lane: usize) -> bool {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        self.row(row)[lane / WORD] >> (lane % WORD) & 1 == 1
    }

    /// Sets one bit.
    ///
    /// # Panics
    /// If there is no such row or lane.
    pub fn set(&mut self, row: usize, lane: usize, bit: bool) {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        let word = &mut self.row_mut(row)[lane / WORD];
        *word = *word & !(1 << (lane % WORD)) | u64::from(bit) << (lane % WORD);
    }

    /// The XOR of two matrices of one shape.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn xor(&self, other: &BitMatrix) -> BitMatrix {
        assert_eq!((self.rows, self.lanes), (other.rows, other.lanes), "matrices of two shapes");
        let mut sum = self.clone();
        sum.words.iter_mut().zip(&other.words).for_each(|(to, from)| *to ^= from);
        sum
    }

    /// The lanes that the last word of a row holds.
    pub fn last_mask(&self) -> u64 {
        low_mask(self.lanes.wrapping_sub(1) % WORD + 1)
    }

    /// Zeroes the bits above the last lane.
    pub fn clear_padding(&mut self) {
        let mask = self.last_mask();
        if self.stride > 0 {
            self.words.chunks_exact_mut(self.stride).for_each(|row| row[self.stride - 1] &= mask);
        }
    }

    /// Copies `count` bits within rows: bit `lane + i` of `row` becomes bit `from_lane + i * step` of `from_row`.
    ///
    /// # Panics
    /// If a row or lane does not exist.
    #[allow(clippy::too_many_arguments)] // two places, a step and a count
    pub fn copy_bits(
        &mut self,
        row: usize,
        lane: usize,
        from: &BitMatrix,
        from_row: usize,
        from_lane: usize,
        step: usize,
        count: usize,
    ) {
        if count == 0 {
            return;
        }
        assert!(lane + count <= self.lanes, "lanes {lane} to {} of {}", lane + count, self.lanes);
        let last = from_lane + (count - 1) * step;
        assert!(last < from.lanes, "lane {last} of {}", from.lanes);
        let (target, source) = (self.row_mut(row), from.row(from_row));
        if step == 1 && lane.is_multiple_of(WORD) && from_lane.is_multiple_of(WORD) {
            copy_aligned(&mut target[lane / WORD..], &source[from_lane / WORD..], count);
        } else {
            copy_shifted(target, lane, source, from_lane, step, count);
        }
    }
}

fn low_mask(count: usize) -> u64 {
    u64::MAX >> (WORD - count)
}

fn copy_aligned(target: &mut [u64], source: &[u64], count: usize) {
    let (whole, rest) = (count / WORD, count % WORD);
    target[..whole].copy_from_slice(&source[..whole]);
    if rest > 0 {
        merge(&mut target[whole], source[whole], low_mask(rest));
    }
}

/// Fills the target a word at a time.
fn copy_shifted(target: &mut [u64], lane: usize, source: &[u64], from: usize, step: usize, count: usize) {
    let mut done = 0;
    while done < count {
        let place = lane + done;
        let (word, shift) = (place / WORD, place % WORD);
        let part = (WORD - shift).min(count - done);
        let bits = match step {
            1 => load(source, from + done, part),
            2 => load_even(source, from + 2 * done, part),
            _ => load_strided(source, from + done * step, step, part),
        };
        merge(&mut target[word], bits << shift, low_mask(part) << shift);
        done += part;
    }
}

fn merge(word: &mut u64, bits: u64, mask: u64) {
    *word = *word & !mask | bits & mask;
}

/// `count` (1 to 64) bits from bit `from` on; what lies above them is arbitrary.
fn load(words: &[u64], from: usize, count: usize) -> u64 {
    let (word, shift) = (from / WORD, from % WORD);
    let low = words[word] >> shift;
    if shift + count <= WORD { low } else { low | words[word + 1] << (WORD - shift) }
}

/// Every second one of the bits from `from` on: the halves of neighbouring lanes that a reduction pairs.
fn load_even(words: &[u64], from: usize, count: usize) -> u64 {
    let low = squeeze(load(words, from, (2 * count - 1).min(WORD)));
    if count <= 32 { low } else { low | squeeze(load(words, from + WORD, 2 * count - 1 - WORD)) << 32 }
}

/// The even bits of a word, moved together.
fn squeeze(word: u64) -> u64 {
    let word = word & 0x5555_5555_5555_5555;
    let word = (word | word >> 1) & 0x3333_3333_3333_3333;
    let word = (word | word >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    let word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
    let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (word | word >> 16) & 0x0000_0000_ffff_ffff
}

fn load_strided(words: &[u64], from: usize, step: usize, count: usize) -> u64 {
    (0..count).fold(0, |bits, i| {
        let place = from + i * step;
        bits | (words[place / WORD] >> (place % WORD) & 1) << i
    })
}
