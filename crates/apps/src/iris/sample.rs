//! Iris codes for trials, the same in every run: their distances are as Daugman measured those of irises ("How iris
//! recognition works", IEEE Transactions on Circuits and Systems for Video Technology 14(1), 2004).
//!
//! Neighbouring bits of a code mostly agree: a bit is not its predecessor with probability 15/256, so that two codes of
//! 2,048 bits differ like 254 fair coins do (Daugman counts 249). Another picture of the same eye has each bit turned
//! over with probability 31/256, so 12 %. Masks leave 80 % of the bits, in runs of 64 on average.

use duologue::Result;
use duologue::circuit::BitMatrix;

/// Codes and their masks, a lane each.
pub struct Sample {
    /// The bits of irises.
    pub codes: BitMatrix,
    /// 1 where a bit can be used.
    pub masks: BitMatrix,
}

/// Chances of 256.
const CHANGE: u8 = 15;
const NOISE: u8 = 31;
const HIDDEN: u8 = 4;
const SEEN_AGAIN: u8 = 16;

/// People from number 1 on, with codes of `width` bits.
///
/// # Errors
/// If `width` is zero.
pub fn gallery(people: u64, width: u32) -> Result<Sample> {
    lanes(width, (1..=people).map(|person| [code(person, width), mask(&mut dice("mask", person), width)]))
}

/// Another picture of a person's eye.
///
/// # Errors
/// If `width` is zero.
pub fn query(person: u64, width: u32) -> Result<Sample> {
    let mut dice = dice("query", person);
    let code = code(person, width).into_iter().map(|bit| bit ^ dice.falls_below(NOISE)).collect();
    lanes(width, [[code, mask(&mut dice, width)]].into_iter())
}

fn lanes(width: u32, people: impl Iterator<Item = [Vec<bool>; 2]>) -> Result<Sample> {
    let mut bytes = [Vec::new(), Vec::new()];
    for person in people {
        for (bits, bytes) in person.iter().zip(&mut bytes) {
            bytes.extend(bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))));
        }
    }
    let [codes, masks] = bytes.map(|bytes| BitMatrix::from_byte_rows(width as usize, &bytes));
    Ok(Sample { codes: codes?, masks: masks? })
}

fn code(person: u64, width: u32) -> Vec<bool> {
    let mut dice = dice("code", person);
    let mut bit = dice.falls_below(128);
    let mut next = || {
        bit ^= dice.falls_below(CHANGE);
        bit
    };
    (0..width).map(|_| next()).collect()
}

fn mask(dice: &mut Dice, width: u32) -> Vec<bool> {
    let mut seen = !dice.falls_below(51);
    let mut next = || {
        seen ^= dice.falls_below(if seen { HIDDEN } else { SEEN_AGAIN });
        seen
    };
    (0..width).map(|_| next()).collect()
}

/// Bytes that a name and a number give.
struct Dice {
    stream: blake3::OutputReader,
    buffer: [u8; 1024],
    used: usize,
}

fn dice(what: &str, number: u64) -> Dice {
    let mut hasher = blake3::Hasher::new_derive_key("duologue iris codes for trials");
    let stream = hasher.update(what.as_bytes()).update(&number.to_le_bytes()).finalize_xof();
    Dice { stream, buffer: [0; 1024], used: 1024 }
}

impl Dice {
    fn falls_below(&mut self, chances: u8) -> bool {
        if self.used == self.buffer.len() {
            self.stream.fill(&mut self.buffer);
            self.used = 0;
        }
        self.used += 1;
        self.buffer[self.used - 1] < chances
    }
}
