//! A code that compresses 16m blocks to 8m in linear time: two recursive convolutions with a permutation after each,
//! and then a block code.
//!
//! The transposed generator matrix of a serially concatenated code, outer code first: an extended quadratic residue code
//! of length 48, permutation, convolution, permutation, convolution. It is the block-accumulate code of libOTe
//! (`BlkAccCode`, depth 3) with another block code and, in place of accumulators 1/(1 + D), convolutions
//! 1/(1 + D⁶ + D⁸ + D¹¹ + D¹²), whose inverse has five ones and not two (`docs/ot/lpn.md` says why). Of vectors in 16
//! *segments* of m:
//!
//! ```text
//! convolution   x_i = e_i ⊕ x_{i−6} ⊕ x_{i−8} ⊕ x_{i−11} ⊕ x_{i−12}, every segment from zeros
//! permutation   of elements 64g … 64g + 63, number 16j + l goes to segment l ⊕ f_g, place 4g + j;
//!               every segment is then permuted by itself: its place π(k) becomes k
//! block code    output 96q + 4r + l is s_r ⊕ Σ_c B_{r,c}·p_c, where s_r is element 96q + 4r + l of the first half of the
//!               vector, and p_c element 96q + 4c + l of the second
//! ```
//!
//! Row r of B is the remainder of X^{46−r} by X²³ + X¹⁹ + X¹⁸ + X¹⁴ + X¹³ + X¹² + X¹⁰ + X⁹ + X⁷ + X⁶ + X⁵ + X³ + X² + X + 1,
//! with the coefficient of X^c in column c, and in column 23 the parity of the others and one.
//!
//! f and π are public. Stream number z is AES-128 under the seed of the numbers z·2⁶⁴, z·2⁶⁴ + 1, … (little-endian). π
//! of segment b at level ℓ (0 or 1) is the identity, of which for i = m − 1 … 1 places i and ⌊w_i·(i + 1)/2³²⌋ are
//! exchanged, w_i the 32-bit word number i of stream 16ℓ + b. f_g at level ℓ is the lowest four bits of byte g of stream
//! 32 + ℓ.

mod portable;
mod wide;

use crate::Block;
use crate::backend::{Backend, Cpu};
use crate::cipher::aes::Aes128;
use wide::{Gather, Spread};

/// Segments of a vector.
pub const SEGMENTS: usize = 16;
/// Elements of a step of the convolution.
pub const STEP: usize = 64;
/// Elements that a convolution remembers.
pub(crate) const MEMORY: usize = 12;
/// The rows and columns of B.
pub(crate) const SIDE: usize = 24;
/// Outputs of a step: four blocks of the block code, side by side.
pub const GROUP: usize = 4 * SIDE;

/// B in rows, bit c for column c.
pub(crate) const PARITIES: [u32; SIDE] = parities();
/// B as indices into six tables, each of all sums of four columns.
pub(crate) const NIBBLES: [[u8; 6]; SIDE] = nibbles();

/// The code of one public seed.
pub struct SyndromeCode {
    cpu: Option<Cpu>,
    len: usize,
    /// Of each segment its π at level 0.
    places: Vec<u32>,
    /// Of each element that the block code takes the place in the vector, at level 1.
    last: Vec<u32>,
    /// f at both levels.
    flips: [Vec<u8>; 2],
}

/// The last elements of a convolution, from which it goes on.
#[derive(Clone)]
pub struct Convolution {
    level: usize,
    /// The element that is next, in its segment.
    at: usize,
    memory: [Block; MEMORY],
}

impl SyndromeCode {
    /// The code with this seed, which both parties know, for segments of `len`.
    ///
    /// # Panics
    /// If `len` is no multiple of 192, or zero, or 2²⁶ or more: places are numbers of 32 bits.
    pub fn new(seed: Block, len: usize) -> Self {
        Self::with_backend(seed, len, Backend::detect())
    }

    /// The code on one backend.
    ///
    /// # Panics
    /// If the processor does not have it, or `len` is none that [`new`](Self::new) takes.
    pub fn with_backend(seed: Block, len: usize, backend: Backend) -> Self {
        assert!(len > 0 && len.is_multiple_of(192) && len < 1 << 26, "segments of {len}");
        let streams = Streams(Aes128::with_backend(seed, backend));
        let places = (0..SEGMENTS).flat_map(|b| streams.permutation(b, len)).collect();
        let last = (0..SEGMENTS).flat_map(|b| {
            let permutation = streams.permutation(SEGMENTS + b, len);
            permutation.into_iter().map(move |place| address(len, b, place as usize) as u32)
        });
        let flips = [0, 1].map(|level| streams.flips(2 * SEGMENTS + level, SEGMENTS * len / STEP));
        SyndromeCode { cpu: backend.cpu(), len, places, last: last.collect(), flips }
    }

    /// The number of elements of a segment.
    pub fn segment(&self) -> usize {
        self.len
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        SEGMENTS / 2 * self.len
    }

    /// The rows in which a segment's first convolution is spread: part `segment` of each segment of `vector`.
    pub fn rows<'a>(&self, vector: &'a mut [Block]) -> Vec<[&'a mut [Block]; SEGMENTS]> {
        assert_eq!(vector.len(), SEGMENTS * self.len, "a vector of another length");
        let mut parts: Vec<_> = vector.chunks_mut(self.len).map(|b| b.chunks_mut(self.len / SEGMENTS)).collect();
        let mut part = |b: usize| parts[b].next().unwrap_or_default();
        (0..SEGMENTS).map(|_| std::array::from_fn(&mut part)).collect()
    }

    /// The first convolution of a segment, of which nothing is there yet.
    pub fn first(&self) -> Convolution {
        Convolution { level: 0, at: 0, memory: [Block::ZERO; MEMORY] }
    }

    /// Convolves the next elements of `segment`, a multiple of 64, and spreads them over its [`rows`](Self::rows).
    ///
    /// # Panics
    /// If there are too many, or not a multiple of 64.
    pub fn spread(
        &self,
        convolution: &mut Convolution,
        segment: usize,
        elements: &[Block],
        rows: &mut [&mut [Block]; SEGMENTS],
    ) {
        let Convolution { level, at, memory } = convolution;
        assert!(elements.len().is_multiple_of(STEP) && *at + elements.len() <= self.len, "elements of a segment");
        let first = segment * self.len + *at;
        let flips = &self.flips[*level][first / STEP..(first + elements.len()) / STEP];
        let from = *at / SEGMENTS;
        *at += elements.len();
        match self.cpu {
            Some(cpu) => cpu.run(Spread { flips, memory, elements, rows, from }),
            None => portable::spread(flips, memory, elements, rows, from),
        }
    }

    /// Permutes segment `segment` of the vector, convolves it again and spreads it over itself. `memory` is for a copy.
    ///
    /// # Panics
    /// If there is not a segment, or less memory.
    pub fn second(&self, segment: usize, elements: &mut [Block], memory: &mut [Block]) {
        assert_eq!(elements.len(), self.len, "a segment of another length");
        let copy = &mut memory[..self.len];
        copy.copy_from_slice(elements);
        let mut rows = elements.chunks_mut(self.len / SEGMENTS);
        let mut rows: [_; SEGMENTS] = std::array::from_fn(|_| rows.next().unwrap_or_default());
        let mut convolution = Convolution { level: 1, ..self.first() };
        let mut gathered = [Block::ZERO; 8 * STEP];
        for places in self.places[segment * self.len..][..self.len].chunks(gathered.len()) {
            let gathered = &mut gathered[..places.len()];
            places.iter().zip(&mut *gathered).for_each(|(&place, to)| *to = copy[place as usize]);
            self.spread(&mut convolution, segment, gathered, &mut rows);
        }
    }

    /// Outputs `from`, `from + 1`, … of a vector that has been convolved twice.
    ///
    /// # Panics
    /// If `from` or their number is no multiple of 96, or there are fewer outputs.
    pub fn outputs_from(&self, from: usize, vector: &[Block], out: &mut [Block]) {
        assert_eq!(vector.len(), SEGMENTS * self.len, "a vector of another length");
        assert!(from.is_multiple_of(GROUP) && out.len().is_multiple_of(GROUP), "outputs are made in groups");
        let [systematic, parity] = [from, from + self.outputs()].map(|at| &self.last[at..][..out.len()]);
        match self.cpu {
            Some(cpu) => cpu.run(Gather { systematic, parity, vector, out }),
            None => portable::gather(systematic, parity, vector, out),
        }
    }
}

/// The place in the vector of place `place` of segment `b` after the second spreading, which each segment does within
/// itself.
fn address(len: usize, b: usize, place: usize) -> usize {
    let part = len / SEGMENTS;
    place / part * len + b * part + place % part
}

struct Streams(Aes128);

impl Streams {
    fn blocks(&self, stream: usize, len: usize) -> Vec<Block> {
        let mut blocks: Vec<Block> = (0..len as u128).map(|i| Block::new((stream as u128) << 64 | i)).collect();
        self.0.encrypt(&mut blocks);
        blocks
    }

    fn permutation(&self, stream: usize, len: usize) -> Vec<u32> {
        let stream = self.blocks(stream, len.div_ceil(4));
        let word = |i: usize| (stream[i / 4].get() >> (32 * (i % 4))) as u32;
        let mut permutation: Vec<u32> = (0..len as u32).collect();
        for i in (1..len).rev() {
            permutation.swap(i, ((u64::from(word(i)) * (i as u64 + 1)) >> 32) as usize);
        }
        permutation
    }

    fn flips(&self, stream: usize, len: usize) -> Vec<u8> {
        let bytes = self.blocks(stream, len.div_ceil(16)).into_iter().flat_map(Block::to_bytes);
        bytes.take(len).map(|byte| byte % SEGMENTS as u8).collect()
    }
}

const fn parities() -> [u32; SIDE] {
    const POLYNOMIAL: u32 = 0b1000_1100_0111_0110_1110_1111;
    let mut rows = [0; SIDE];
    // X²³, …, X⁴⁶ by the polynomial.
    let mut remainder: u32 = 1 << 22;
    let mut r = SIDE;
    while r > 0 {
        r -= 1;
        remainder <<= 1;
        if remainder >> 23 == 1 {
            remainder ^= POLYNOMIAL;
        }
        rows[r] = remainder | ((remainder.count_ones() + 1) % 2) << 23;
    }
    rows
}

const fn nibbles() -> [[u8; 6]; SIDE] {
    let mut all = [[0; 6]; SIDE];
    let mut i = 0;
    while i < 6 * SIDE {
        all[i / 6][i % 6] = (PARITIES[i / 6] >> (4 * (i % 6)) & 15) as u8;
        i += 1;
    }
    all
}

#[cfg(test)]
mod tests;
