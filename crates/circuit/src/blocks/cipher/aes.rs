//! AES with keys of 128, 192 and 256 bits (FIPS 197), encryption and decryption.
//!
//! All that is not linear is the [S-box](sbox()): 16 a round, and 4 a step of the key schedule. Keys are expanded
//! apart from blocks, so that many blocks share one schedule.
//!
//! | key | S-boxes a block | in the schedule | rounds | steps of the schedule |
//! |---|---|---|---|---|
//! | 128 | 160 | 40 | 10 | 10 |
//! | 192 | 192 | 32 | 12 | 8 |
//! | 256 | 224 | 52 | 14 | 13 |
//!
//! For size an S-box is 32 ANDs and a round or step has depth 6; for depth it is 34 ANDs and depth 4.
//!
//! Bytes lie as in [`Kind::Bits`](crate::Kind): byte k at bits 8k to 8k+7, least significant bit first; byte k of a
//! block is row k mod 4 and column k / 4 of the state.

use crate::blocks::Goal;
use crate::blocks::logic::sbox::Byte;
pub use crate::blocks::logic::sbox::{inverse_sbox, sbox};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Bits;

/// A column of the state or a word of the key schedule.
type Column = [Byte; 4];
/// A state or a round key.
type State = [Byte; 16];

/// The round keys of one key: expand once, encrypt and decrypt many blocks.
pub struct RoundKeys(Vec<State>);

impl RoundKeys {
    /// Round keys that were expanded elsewhere, one after the other.
    ///
    /// # Panics
    /// If they are not 11, 13 or 15 keys of 128 bits.
    pub fn from_bits(bits: &Bits) -> Self {
        let keys: Vec<State> = bits.0.chunks(128).map(state).collect();
        assert!([11, 13, 15].contains(&keys.len()), "{} AES round keys", keys.len());
        RoundKeys(keys)
    }

    /// The round keys one after the other: 1408, 1664 or 1920 bits.
    pub fn to_bits(&self) -> Bits {
        Bits(self.0.iter().flatten().flatten().copied().collect())
    }
}

/// The key schedule. AES-128: 1280 ANDs, depth 60 (size); 1360 ANDs, depth 40 (depth). AES-192: 1024 ANDs, depth 48;
/// 1088 ANDs, depth 32. AES-256: 1664 ANDs, depth 78; 1768 ANDs, depth 52.
///
/// # Panics
/// If the key does not have 128, 192 or 256 bits.
pub fn expand_key(c: &mut Builder, key: &Bits, goal: Goal) -> RoundKeys {
    assert!([128, 192, 256].contains(&key.0.len()), "bits of an AES key");
    let mut words: Vec<Column> = key.0.chunks(32).map(bytes).collect();
    let length = words.len();
    let mut constant = 1u8;
    for i in length..4 * (length + 7) {
        let mut word = words[i - 1];
        if i % length == 0 {
            word = add_constant(std::array::from_fn(|k| word[(k + 1) % 4]).map(|byte| sbox(c, byte, goal)), constant);
            constant = (constant << 1) ^ ((constant >> 7) * 0x1b);
        } else if length > 6 && i % length == 4 {
            word = word.map(|byte| sbox(c, byte, goal));
        }
        words.push(xor_bytes(c, &words[i - length], &word));
    }
    RoundKeys(words.chunks(4).map(|columns| std::array::from_fn(|k| columns[k / 4][k % 4])).collect())
}

/// One block. AES-128: 5120 ANDs, depth 60 (size); 5440 ANDs, depth 40 (depth). AES-192: 6144 ANDs, depth 72; 6528
/// ANDs, depth 48. AES-256: 7168 ANDs, depth 84; 7616 ANDs, depth 56.
///
/// Round keys of [`expand_key`] arrive in time, so key schedule and block together have the same depth.
///
/// # Panics
/// If the block does not have 128 bits.
pub fn encrypt(c: &mut Builder, keys: &RoundKeys, block: &Bits, goal: Goal) -> Bits {
    let last = keys.0.len() - 1;
    let mut text = xor_bytes(c, &state(&block.0), &keys.0[0]);
    for (round, key) in keys.0.iter().enumerate().skip(1) {
        text = shift_rows(&text.map(|byte| sbox(c, byte, goal)), 1);
        if round < last {
            text = mix_columns(c, &text);
        }
        text = xor_bytes(c, &text, key);
    }
    Bits(text.into_iter().flatten().collect())
}

/// The block of which [`encrypt`] makes this one; costs what it costs.
///
/// The last round key comes first, so the depths of [`expand_key`] and of the block add up.
///
/// # Panics
/// If the block does not have 128 bits.
pub fn decrypt(c: &mut Builder, keys: &RoundKeys, block: &Bits, goal: Goal) -> Bits {
    let last = keys.0.len() - 1;
    let mut text = xor_bytes(c, &state(&block.0), &keys.0[last]);
    for (round, key) in keys.0.iter().enumerate().rev().skip(1) {
        text = shift_rows(&text, 3).map(|byte| inverse_sbox(c, byte, goal));
        text = xor_bytes(c, &text, key);
        if round > 0 {
            text = unmix_columns(c, &text);
        }
    }
    Bits(text.into_iter().flatten().collect())
}

fn state(bits: &[Bit]) -> State {
    assert_eq!(bits.len(), 128, "bits of an AES block or round key");
    bytes(bits)
}

fn bytes<const N: usize>(bits: &[Bit]) -> [Byte; N] {
    std::array::from_fn(|k| std::array::from_fn(|i| bits[8 * k + i]))
}

fn xor_bytes<const N: usize>(c: &mut Builder, a: &[Byte; N], b: &[Byte; N]) -> [Byte; N] {
    std::array::from_fn(|k| xor(c, a[k], b[k]))
}

fn xor(c: &mut Builder, a: Byte, b: Byte) -> Byte {
    std::array::from_fn(|i| c.xor(a[i], b[i]))
}

fn add_constant(mut word: Column, constant: u8) -> Column {
    word[0] = std::array::from_fn(|i| word[0][i].flip(constant >> i & 1 == 1));
    word
}

/// Row r moves r · `by` columns to the left; one and three undo each other.
fn shift_rows(text: &State, by: usize) -> State {
    std::array::from_fn(|k| text[(k + 4 * by * (k % 4)) % 16])
}

/// Each byte of a column becomes 2·itself + 3·the next + the two after.
fn mix_columns(c: &mut Builder, text: &State) -> State {
    std::array::from_fn(|k| {
        let row = |r: usize| text[k / 4 * 4 + (k + r) % 4];
        let pair = xor(c, row(0), row(1));
        let doubled = double(c, pair);
        let rest = xor(c, row(2), row(3));
        let sum = xor(c, doubled, row(1));
        xor(c, sum, rest)
    })
}

/// The inverse of [`mix_columns`], which is itself after 4·(each byte + the one two rows on) is added to each byte.
fn unmix_columns(c: &mut Builder, text: &State) -> State {
    let evened = std::array::from_fn(|k| {
        let pair = xor(c, text[k], text[k / 4 * 4 + (k + 2) % 4]);
        let doubled = double(c, pair);
        let fourfold = double(c, doubled);
        xor(c, text[k], fourfold)
    });
    mix_columns(c, &evened)
}

/// 2·byte modulo x^8 + x^4 + x^3 + x + 1.
fn double(c: &mut Builder, byte: Byte) -> Byte {
    let top = byte[7];
    std::array::from_fn(|i| match i {
        0 => top,
        1 | 3 | 4 => c.xor(byte[i - 1], top),
        _ => byte[i - 1],
    })
}
