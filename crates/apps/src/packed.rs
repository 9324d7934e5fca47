//! Rows of bits one after the other, without gaps.

use duologue::{Error, Result};

/// Bits that will be sent.
#[derive(Default)]
pub struct BitWriter {
    words: Vec<u64>,
    len: usize,
}

impl BitWriter {
    /// Appends the first `lanes` bits of a row.
    pub fn row(&mut self, row: &[u64], lanes: usize) {
        for (i, &word) in row.iter().enumerate() {
            let count = (lanes - 64 * i).min(64);
            let (word, shift) = (word & u64::MAX >> (64 - count), self.len % 64);
            match self.words.last_mut() {
                Some(last) if shift > 0 => *last |= word << shift,
                _ => self.words.push(word),
            }
            if shift + count > 64 {
                self.words.push(word >> (64 - shift));
            }
            self.len += count;
        }
    }

    /// All bits, padded to a byte with zeros.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.len.div_ceil(8));
        bytes
    }
}

/// Bits that came.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Reads `bits` bits.
    ///
    /// # Errors
    /// [`Error::Peer`] if there are not as many, or the padding is not zero.
    pub fn new(bytes: &'a [u8], bits: u64) -> Result<Self> {
        let padding = bytes.last().map_or(0, |&last| u32::from(last) >> ((bits + 7) % 8 + 1));
        match bytes.len() as u64 == bits.div_ceil(8) && padding == 0 {
            true => Ok(BitReader { bytes, at: 0 }),
            false => Err(Error::peer(format!("its message does not have {bits} bits"))),
        }
    }

    /// The next `lanes` bits as a row.
    pub fn row(&mut self, lanes: usize) -> Vec<u64> {
        let row = (0..lanes.div_ceil(64)).map(|i| self.word(self.at + 64 * i, (lanes - 64 * i).min(64))).collect();
        self.at += lanes;
        row
    }

    fn word(&self, at: usize, count: usize) -> u64 {
        let mut window = [0; 16];
        let rest = &self.bytes[(at / 8).min(self.bytes.len())..];
        let len = rest.len().min(9);
        window[..len].copy_from_slice(&rest[..len]);
        (u128::from_le_bytes(window) >> (at % 8)) as u64 & u64::MAX >> (64 - count)
    }
}
