//! Numbers and byte strings as the lanes of a matrix, and back: squares of 64 × 64 bits are transposed, as many side by
//! side as fill a cache line of each row.

use super::{BitMatrix, WORD};
use crate::error::{Error, Result};
use kernels::transpose::transpose_64;

/// Squares that are transposed before their rows are written: a cache line of each.
const SIDE_BY_SIDE: usize = 8;

/// A number that is a lane: an unsigned one of 8 to 128 bits, or one in two's complement.
pub trait Number: sealed::Number {}

mod sealed {
    pub trait Number: Copy {
        const ZERO: Self;
        const BITS: usize;
        /// Bits 64`k` to 64`k` + 63, as if the number went on for ever.
        fn word(self, k: usize) -> u64;
        /// A mask of at least the bits that the number needs.
        fn needed(self) -> u128;
        /// Takes these bits as those from 64`k` on.
        fn add(&mut self, k: usize, word: u64);
        /// The number of which only the lowest `width` bits are there.
        fn extended(self, width: usize) -> Self;
    }
}

macro_rules! numbers {
    ($word:ident, $needed:ident, $($name:ty),*) => {$(
        impl Number for $name {}

        impl sealed::Number for $name {
            const ZERO: Self = 0;
            const BITS: usize = Self::BITS as usize;

            fn word(self, k: usize) -> u64 {
                $word(self.into(), k)
            }

            fn needed(self) -> u128 {
                $needed(self.into())
            }

            fn add(&mut self, k: usize, word: u64) {
                *self |= (u128::from(word) << (WORD * k)) as Self;
            }

            fn extended(self, width: usize) -> Self {
                let spare = <Self as sealed::Number>::BITS - width;
                // Without a sign there is nothing to extend.
                if Self::MIN == 0 || width == 0 { self } else { self << spare >> spare }
            }
        }
    )*};
}

numbers!(unsigned, all_of, u8, u16, u32, u64, u128);
numbers!(signed, all_but_the_sign, i8, i16, i32, i64, i128);

#[inline]
fn unsigned(number: u128, k: usize) -> u64 {
    if k < 2 { (number >> (WORD * k)) as u64 } else { 0 }
}

#[inline]
fn signed(number: i128, k: usize) -> u64 {
    (number >> (WORD * k).min(127)) as u64
}

#[inline]
fn all_of(number: u128) -> u128 {
    number
}

/// With room for the sign.
#[inline]
fn all_but_the_sign(number: i128) -> u128 {
    ((number ^ number >> 127) as u128) << 1 | u128::from(number < 0)
}

impl BitMatrix {
    /// Numbers as lanes of `width` bits. Wider lanes are filled with zeros, or with the sign.
    ///
    /// ```
    /// use circuit::BitMatrix;
    /// let lanes = BitMatrix::from_numbers(10, &[1000u16, 3])?;
    /// assert_eq!((lanes.rows(), lanes.lanes()), (10, 2));
    /// assert_eq!(lanes.to_numbers::<u32>()?, [1000, 3]);
    /// assert!(BitMatrix::from_numbers(9, &[1000u16]).is_err());
    /// # Ok::<(), circuit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the first lane whose number has more than `width` bits.
    pub fn from_numbers<N: Number>(width: usize, lanes: &[N]) -> Result<Self> {
        let mut matrix = BitMatrix::zeros(width, lanes.len());
        matrix.set_numbers(0, lanes)?;
        Ok(matrix)
    }

    /// Writes numbers over the lanes from `first` on, so that many can come in parts.
    ///
    /// ```
    /// use circuit::BitMatrix;
    /// let mut lanes = BitMatrix::zeros(10, 66);
    /// lanes.set_numbers(0, &[7u16; 64])?;
    /// lanes.set_numbers(64, &[1000u32, 3])?;
    /// assert_eq!(lanes.to_numbers::<u16>()?[63..], [7, 1000, 3]);
    /// # Ok::<(), circuit::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`], and nothing is written, if `first` is no multiple of 64, if the numbers neither reach the last
    /// lane nor are a multiple of 64, or if there is no room for them; as [`from_numbers`](Self::from_numbers) too.
    pub fn set_numbers<N: Number>(&mut self, first: usize, numbers: &[N]) -> Result<()> {
        let end = first.checked_add(numbers.len()).filter(|&end| end <= self.lanes);
        if !first.is_multiple_of(WORD) || end.is_none_or(|end| end != self.lanes && !end.is_multiple_of(WORD)) {
            let count = numbers.len();
            let why = format!("lanes from {first} on, {count} of them, are no whole words of {} lanes", self.lanes);
            return Err(Error::invalid("bit matrix", why));
        }
        let width = self.rows;
        let too_wide = |needed: u128| width < 128 && needed >> width != 0;
        if width < N::BITS && too_wide(numbers.iter().fold(0, |all, number| all | number.needed())) {
            let lane = numbers.iter().position(|number| too_wide(number.needed())).unwrap_or_default();
            let why = format!("its number does not fit into {width} bits");
            return Err(Error::invalid(format!("bit matrix, lane {}", first + lane), why));
        }
        self.fill(first / WORD, numbers.len(), |lane, k| numbers[lane].word(k));
        Ok(())
    }

    /// The lanes as numbers; a signed one takes the uppermost bit as its sign.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a lane has more bits than such a number.
    pub fn to_numbers<N: Number>(&self) -> Result<Vec<N>> {
        if self.rows > N::BITS {
            let why = format!("lanes of {} bits do not fit into numbers of {} bits", self.rows, N::BITS);
            return Err(Error::invalid("bit matrix", why));
        }
        let mut numbers = vec![N::ZERO; self.lanes];
        self.each_word(|lane, k, word| numbers[lane].add(k, word));
        numbers.iter_mut().for_each(|number| *number = number.extended(self.rows));
        Ok(numbers)
    }

    /// Byte strings, one after another, as lanes of `width` bits: each has ⌈`width`/8⌉ bytes, and bit `i` of byte `k` is
    /// in row 8`k` + `i`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the bytes are no whole number of lanes, or bits above the width are set.
    pub fn from_byte_rows(width: usize, bytes: &[u8]) -> Result<Self> {
        let length = width.div_ceil(8);
        if bytes.len().checked_rem(length).unwrap_or(bytes.len()) != 0 {
            let why = format!("{} bytes are no whole number of lanes of {length} bytes", bytes.len());
            return Err(Error::invalid("bit matrix", why));
        }
        let lanes = bytes.len().checked_div(length).unwrap_or(0);
        let last = |lane: usize| bytes[(lane + 1) * length - 1];
        if !width.is_multiple_of(8)
            && let Some(lane) = (0..lanes).find(|&lane| last(lane) >> (width % 8) != 0)
        {
            let why = format!("bits above the {width} of a lane are set");
            return Err(Error::invalid(format!("bit matrix, lane {lane}"), why));
        }
        let mut matrix = BitMatrix::zeros(width, lanes);
        matrix.fill(0, lanes, |lane, k| little_endian(&bytes[lane * length..][..length][8 * k..]));
        Ok(matrix)
    }

    /// The lanes as byte strings of ⌈rows/8⌉ bytes, one after another.
    pub fn to_byte_rows(&self) -> Vec<u8> {
        let length = self.rows.div_ceil(8);
        let mut bytes = vec![0; self.lanes * length];
        self.each_word(|lane, k, word| {
            let part = &mut bytes[lane * length..][..length][8 * k..];
            match part.first_chunk_mut() {
                Some(whole) => *whole = word.to_le_bytes(),
                None => part.copy_from_slice(&word.to_le_bytes()[..part.len()]),
            }
        });
        bytes
    }

    /// Writes `word(lane, k)` at bits 64`k` to 64`k` + 63 of so many lanes, counted from the word `start` of each row on.
    fn fill(&mut self, start: usize, lanes: usize, word: impl Fn(usize, usize) -> u64) {
        let (rows, stride) = (self.rows, lanes.div_ceil(WORD));
        let mut squares = [[0; WORD]; SIDE_BY_SIDE];
        for (first, k) in places(stride, rows) {
            let count = SIDE_BY_SIDE.min(stride - first);
            for (square, block) in squares[..count].iter_mut().zip(first..) {
                let from = block * WORD..lanes.min(block * WORD + WORD);
                square[from.len()..].fill(0);
                square.iter_mut().zip(from).for_each(|(to, lane)| *to = word(lane, k));
                transpose_64(square);
            }
            for (row, i) in (k * WORD..rows).zip(0..WORD) {
                let to = &mut self.row_mut(row)[start + first..][..count];
                to.iter_mut().zip(&squares).for_each(|(to, square)| *to = square[i]);
            }
        }
    }

    /// Hands over the bits 64`k` to 64`k` + 63 of every lane: lane, `k`, bits.
    fn each_word(&self, mut take: impl FnMut(usize, usize, u64)) {
        let mut squares = [[0; WORD]; SIDE_BY_SIDE];
        for (first, k) in places(self.stride, self.rows) {
            let count = SIDE_BY_SIDE.min(self.stride - first);
            squares.as_flattened_mut().fill(0);
            for (row, i) in (k * WORD..self.rows).zip(0..WORD) {
                let from = &self.row(row)[first..first + count];
                squares.iter_mut().zip(from).for_each(|(square, from)| square[i] = *from);
            }
            for (square, block) in squares[..count].iter_mut().zip(first..) {
                transpose_64(square);
                let lanes = block * WORD..self.lanes.min(block * WORD + WORD);
                lanes.zip(&*square).for_each(|(lane, word)| take(lane, k, *word));
            }
        }
    }
}

/// The first of the squares side by side, and which 64 rows they take.
fn places(stride: usize, rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..stride).step_by(SIDE_BY_SIDE).flat_map(move |first| (0..rows.div_ceil(WORD)).map(move |k| (first, k)))
}

/// The first eight bytes, or as many as there are.
fn little_endian(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}
