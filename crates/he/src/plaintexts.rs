//! Batches of numbers to be encrypted, or that were decrypted.

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::number::{self, Words};
use crate::packing::shifted_up;

/// A batch of numbers that are not negative, erased when dropped. It has no `Debug`.
#[derive(Clone)]
pub struct Plaintexts {
    words: Words,
    /// Words of each number.
    each: usize,
}

impl Plaintexts {
    /// Numbers of `each` little-endian words.
    ///
    /// # Panics
    /// If the words are no whole number of numbers.
    pub fn from_words(words: &[u64], each: usize) -> Self {
        assert!(each > 0 && words.len().is_multiple_of(each), "numbers of {each} words");
        Plaintexts { words: number::words(words), each }
    }

    /// Numbers of 128 bits.
    pub fn new(values: &[u128]) -> Self {
        let words: Words = Zeroizing::new(values.iter().flat_map(|&x| [x as u64, (x >> 64) as u64]).collect());
        Plaintexts { words, each: 2 }
    }

    pub(crate) fn zeros(count: usize, each: usize) -> Self {
        Plaintexts { words: Zeroizing::new(vec![0; count * each]), each }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len() / self.each
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words of one of them, the lowest first.
    pub fn get(&self, at: usize) -> &[u64] {
        &self.words[at * self.each..(at + 1) * self.each]
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.words[at * self.each..(at + 1) * self.each]
    }

    /// The words of each of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.words.chunks_exact(self.each)
    }

    /// Each number times 2^times, where `times` has a public number for each.
    ///
    /// # Panics
    /// If it has not as many.
    pub fn doubled(&self, times: &[u32]) -> Plaintexts {
        assert_eq!(times.len(), self.len(), "as many numbers of doublings as numbers");
        let more = times.iter().max().map_or(0, |&times| times.div_ceil(64)) as usize;
        let mut out = Plaintexts::zeros(self.len(), self.each + more);
        for (at, (number, &times)) in self.iter().zip(times).enumerate() {
            out.get_mut(at).copy_from_slice(&shifted_up(number, times, self.each + more));
        }
        out
    }

    /// The numbers if each has 128 bits at most.
    pub fn to_u128s(&self) -> Option<Zeroizing<Vec<u128>>> {
        let fits = self.iter().fold(0, |all, x| x.iter().skip(2).fold(all, |all, word| all | word)) == 0;
        let word = |x: &[u64], i: usize| u128::from(x.get(i).copied().unwrap_or(0));
        fits.then(|| Zeroizing::new(self.iter().map(|x| word(x, 0) | word(x, 1) << 64).collect()))
    }

    /// The same numbers, each with the words of n and less than n.
    pub(crate) fn below(&self, n: &[u64]) -> Result<Plaintexts> {
        let mut out = Plaintexts::zeros(self.len(), n.len());
        for (index, x) in self.iter().enumerate() {
            if !number::is_less(x, n) {
                return Err(Error::PlaintextTooLarge { index });
            }
            out.get_mut(index).copy_from_slice(&number::resized(x, n.len()));
        }
        Ok(out)
    }

    pub(crate) fn flat(&self) -> &[u64] {
        &self.words
    }
}
