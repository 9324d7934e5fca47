//! Secret bits in rows, one row for each bit of a number and one column, a *lane*, for each number.
//!
//! A word of a row has 64 lanes, and whatever is computed is computed on whole words, so that no address and no branch
//! depends on a secret. Bits above the last lane may have any value: who reads them cuts them off.

use duologue::call::Zeroizing;
use duologue::circuit::BitMatrix;
use kernels::transpose::transpose_bits;

/// In a list of lanes: a lane of zeros.
pub const NONE: u32 = u32::MAX;

/// Rows of secret bits, erased when dropped.
#[derive(Clone)]
pub struct Rows {
    words: Zeroizing<Vec<u64>>,
    lanes: usize,
}

impl Rows {
    /// Zeros.
    pub fn zeros(rows: usize, lanes: usize) -> Rows {
        Rows { words: Zeroizing::new(vec![0; rows * lanes.div_ceil(64)]), lanes }
    }

    /// The rows of a matrix.
    pub fn of(matrix: &BitMatrix) -> Rows {
        Rows { words: Zeroizing::new(matrix.words().to_vec()), lanes: matrix.lanes() }
    }

    /// The lowest bits of numbers of so many words each, a lane for each number.
    pub fn of_numbers(rows: usize, words: &[u64], each: usize) -> Rows {
        let lanes = words.len() / each;
        let mut all = Zeroizing::new(transpose_bits(words, lanes, 64 * each));
        all.truncate(rows * lanes.div_ceil(64));
        Rows { words: all, lanes }
    }

    /// Rows of a function of the lane, of which row r is bit r.
    pub fn tabulate(rows: usize, lanes: usize, bits_of: impl Fn(usize) -> u64) -> Rows {
        let mut table = Rows::zeros(rows, lanes);
        let stride = table.stride();
        for lane in 0..lanes {
            let bits = bits_of(lane);
            (0..rows).for_each(|row| table.words[row * stride + lane / 64] |= (bits >> row & 1) << (lane % 64));
        }
        table
    }

    /// These rows as a matrix.
    pub fn to_matrix(&self) -> BitMatrix {
        let mut matrix = BitMatrix::zeros(self.rows(), self.lanes);
        matrix.words_mut().copy_from_slice(&self.words);
        matrix.clear_padding();
        matrix
    }

    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Words of a row.
    pub fn stride(&self) -> usize {
        self.lanes.div_ceil(64)
    }

    pub fn rows(&self) -> usize {
        self.words.len().checked_div(self.stride()).unwrap_or(0)
    }

    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.stride()..][..self.stride()]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [u64] {
        let stride = self.stride();
        &mut self.words[row * stride..][..stride]
    }

    /// Some of the rows.
    pub fn slice(&self, from: usize, count: usize) -> Rows {
        let stride = self.stride();
        Rows { words: Zeroizing::new(self.words[from * stride..][..count * stride].to_vec()), lanes: self.lanes }
    }

    /// These rows, then others of as many lanes.
    #[must_use]
    pub fn then(mut self, other: &Rows) -> Rows {
        self.append(other);
        self
    }

    /// Adds rows of as many lanes at the end. A vector that grows leaves what it held in freed memory, so that there is a
    /// new one, and the old one is erased.
    pub fn append(&mut self, other: &Rows) {
        let mut words = Zeroizing::new(Vec::with_capacity(self.words.len() + other.words.len()));
        words.extend_from_slice(&self.words);
        words.extend_from_slice(&other.words);
        self.words = words;
    }

    /// Lanes side by side, `lanes` of them from a multiple of 64 on.
    pub fn part(&self, from: usize, lanes: usize) -> Rows {
        let mut part = Rows::zeros(self.rows(), lanes);
        let stride = part.stride();
        (0..self.rows()).for_each(|row| part.row_mut(row).copy_from_slice(&self.row(row)[from / 64..][..stride]));
        part
    }

    /// Parts side by side; of all but the last the lanes are a multiple of 64.
    pub fn of_parts(parts: &[Rows]) -> Rows {
        let (rows, lanes) = (parts.first().map_or(0, Rows::rows), parts.iter().map(Rows::lanes).sum());
        let mut whole = Rows::zeros(rows, lanes);
        for row in 0..rows {
            let words = parts.iter().flat_map(|part| part.row(row));
            whole.row_mut(row).iter_mut().zip(words).for_each(|(to, from)| *to = *from);
        }
        whole
    }

    /// The lanes of this list, [`NONE`] for zeros.
    pub fn gather(&self, lanes: &[u32]) -> Rows {
        let mut gathered = Rows::zeros(self.rows(), lanes.len());
        for row in 0..self.rows() {
            let from = self.row(row);
            let bit = |&lane: &u32| if lane == NONE { 0 } else { from[lane as usize / 64] >> (lane % 64) & 1 };
            for (to, lanes) in gathered.row_mut(row).iter_mut().zip(lanes.chunks(64)) {
                *to = lanes.iter().enumerate().fold(0, |word, (place, lane)| word | bit(lane) << place);
            }
        }
        gathered
    }

    /// Adds bit by bit, row by row.
    pub fn xor(&mut self, other: &Rows) {
        self.words.iter_mut().zip(other.words.iter()).for_each(|(to, from)| *to ^= from);
    }

    /// The complement of all bits.
    pub fn complement(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
    }

    /// Keeps the lanes in which the bit of `mask` is one, and makes the others zero.
    pub fn keep(&mut self, mask: &[u64]) {
        let stride = self.stride().max(1);
        self.words.chunks_mut(stride).for_each(|row| row.iter_mut().zip(mask).for_each(|(to, mask)| *to &= mask));
    }

    /// Adds numbers modulo 2^rows.
    pub fn add(&mut self, other: &Rows) {
        self.carry_through(other, 0, 0);
    }

    /// Subtracts numbers modulo 2^rows.
    pub fn subtract(&mut self, other: &Rows) {
        self.carry_through(other, u64::MAX, u64::MAX);
    }

    /// Negates numbers modulo 2^rows in the lanes of a mask.
    pub fn negate(&mut self, mask: &[u64]) {
        let stride = self.stride().max(1);
        let mut carries = Zeroizing::new(mask.to_vec());
        for row in self.words.chunks_mut(stride) {
            for ((word, carry), mask) in row.iter_mut().zip(carries.iter_mut()).zip(mask) {
                let flipped = *word ^ mask;
                *word = flipped ^ *carry;
                *carry &= flipped;
            }
        }
    }

    /// Adds `other ^ flip` and the first carry, modulo 2^rows.
    fn carry_through(&mut self, other: &Rows, flip: u64, carry: u64) {
        let stride = self.stride().max(1);
        let mut carries = Zeroizing::new(vec![carry; stride]);
        for (row, other) in self.words.chunks_mut(stride).zip(other.words.chunks(stride)) {
            for ((word, other), carry) in row.iter_mut().zip(other).zip(carries.iter_mut()) {
                let (a, b) = (*word, other ^ flip);
                *word = a ^ b ^ *carry;
                *carry = a & b | *carry & (a ^ b);
            }
        }
    }
}
