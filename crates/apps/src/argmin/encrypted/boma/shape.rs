//! How many numbers of which widths travel: functions of public terms.

use super::super::Job;
use super::super::ciphertexts::{bytes_of_ciphertext, own};
use duologue::Result;
use he::KeySize;
use he::packing::Stream;

/// What is public of a run.
#[derive(Clone)]
pub struct Shape {
    /// How many values there are.
    pub values: usize,
    /// l, the bits of a value.
    pub bits: u32,
    /// The bits of an argument or of an index.
    pub second: u32,
    /// σ.
    statistical: u32,
    size: KeySize,
    /// Bytes of a ciphertext.
    each: usize,
}

impl Shape {
    /// # Errors
    /// If a blinded number does not fit a plaintext of the key.
    pub fn of(job: &Job) -> Result<Shape> {
        let terms = &job.terms;
        // Whether keys that can be broken are taken is decided where keys are.
        let size = KeySize::even_if_it_can_be_broken(terms.key_bits).map_err(own)?;
        let (second, statistical, each) = (job.second_bits(), terms.statistical, bytes_of_ciphertext(terms));
        let shape = Shape { values: job.values, bits: terms.bits, second, statistical, size, each };
        shape.asked(1)?;
        shape.offered()?;
        Ok(shape)
    }

    /// Bits of what blinds a value, and of r₁ and r₂.
    pub fn mask(&self) -> u32 {
        self.bits + self.statistical
    }

    /// Bits of what blinds an argument.
    pub fn second_mask(&self) -> u32 {
        self.second + self.statistical
    }

    /// The bit above the size of a blinded difference.
    pub fn sign(&self) -> u32 {
        2 * self.bits + self.statistical
    }

    /// The pairs of each level; a value that is left over goes on as it is.
    pub fn levels(&self) -> Vec<usize> {
        let halves = std::iter::successors(Some(self.values), |&values| (values > 1).then_some(values.div_ceil(2)));
        halves.map(|values| values / 2).filter(|&pairs| pairs > 0).collect()
    }

    /// Bits of the slots of a pair, the lowest first: a blinded and lifted difference, and both values blinded.
    pub fn slots(&self) -> [u32; 3] {
        [self.sign() + 1, self.mask() + 1, self.mask() + 2]
    }

    /// What the server sends of a level.
    pub fn asked(&self, pairs: usize) -> Result<Stream> {
        let slots = self.slots();
        Stream::new((0..3 * pairs).map(|slot| slots[slot % 3]), self.size).map_err(own)
    }

    /// Pairs of a plaintext, if they fill plaintexts so that none is cut in two.
    pub fn whole_pairs(&self) -> Option<usize> {
        let (capacity, slots) = (self.size.bits() - 1, self.slots());
        let pair = slots.iter().sum::<u32>();
        (capacity >= pair && capacity % pair < slots[0]).then_some((capacity / pair) as usize)
    }

    /// The bit at which a value begins when a level does: after the first level, with pairs that are not cut, the bit of the
    /// plaintext where the pair begins that it is of, so that it has not to be doubled to there. A value that is left over waits
    /// at the bit of its next pair.
    pub fn bit_of(&self, level: usize, value: usize) -> u32 {
        let (levels, pair) = (self.levels(), self.slots().iter().sum::<u32>());
        let Some(each) = self.whole_pairs().filter(|_| level > 0) else { return 0 };
        let mut value = value;
        for &pairs in levels.get(level..).unwrap_or_default() {
            if value < 2 * pairs {
                return (value / 2 % each) as u32 * pair;
            }
            value = pairs;
        }
        0
    }

    /// What the server sends of the arguments: each blinded twice.
    pub fn offered(&self) -> Result<Stream> {
        Stream::new((0..self.values).map(|_| self.second_mask() + 2), self.size).map_err(own)
    }

    /// Ciphertexts of the server that need randomness: what it sends, and both results.
    pub fn sent(&self) -> Result<usize> {
        let asked: Result<Vec<usize>> = self.levels().into_iter().map(|pairs| Ok(self.asked(pairs)?.len())).collect();
        Ok(asked?.iter().sum::<usize>() + self.offered()?.len() + 2)
    }

    /// Random OTs, one for each bit of a place.
    pub fn ots(&self) -> usize {
        super::super::super::layout::bits_of(self.values)
    }

    /// Bytes of a place.
    pub fn place(&self) -> usize {
        self.ots().div_ceil(8)
    }

    /// Bytes of the messages, the server's first; nothing travels for one value.
    pub fn messages(&self) -> Result<Vec<usize>> {
        let mut messages = Vec::new();
        for pairs in self.levels() {
            messages.extend([self.asked(pairs)?.len() * self.each, 2 * pairs * self.each]);
        }
        if let Some(last) = messages.last_mut() {
            *last += self.place();
            messages.extend([self.offered()?.len() * self.each, self.each]);
        }
        Ok(messages)
    }
}
