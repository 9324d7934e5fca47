//! The block function of ChaCha20 (RFC 8439).
//!
//! 320 additions modulo 2^32 in twenty rounds and 16 at the end; all else is XOR and rotation.

use crate::blocks::Goal;
use crate::blocks::arithmetic::sum::add;
use crate::builder::Builder;
use crate::words::{Bits, UInt};

/// "expand 32-byte k".
const CONSTANT: &[u8; 16] = b"expand 32-byte k";

/// 64 bytes of the key stream.
///
/// 10,400 ANDs of depth 1,730 (size) or 45,969 ANDs of depth 386 (depth).
///
/// Sums wrap, and so does the counter of whoever counts: it is an input of 32 bits like any other.
///
/// # Panics
/// If the key does not have 256 bits, the counter 32 and the nonce 96.
pub fn chacha20_block(c: &mut Builder, key: &Bits, counter: &UInt, nonce: &Bits, goal: Goal) -> Bits {
    let lengths = (key.0.len(), counter.0.len(), nonce.0.len());
    assert_eq!(lengths, (256, 32, 96), "bits of a ChaCha20 key, counter and nonce");
    let start = [&Bits::from_bytes(CONSTANT).0, &key.0, &counter.0, &nonce.0].map(Vec::as_slice).concat();
    let start: Vec<UInt> = start.chunks(32).map(|word| UInt(word.to_vec())).collect();
    let mut words = start.clone();
    for round in 0..20 {
        for column in 0..4 {
            quarter_round(c, &mut words, std::array::from_fn(|row| 4 * row + (column + round % 2 * row) % 4), goal);
        }
    }
    Bits(start.iter().zip(&words).flat_map(|(start, end)| add(c, start, end, goal).0).collect())
}

fn quarter_round(c: &mut Builder, words: &mut [UInt], [i, j, k, l]: [usize; 4], goal: Goal) {
    for (to, from, turned, by) in [(i, j, l, 16), (k, l, j, 12), (i, j, l, 8), (k, l, j, 7)] {
        words[to] = add(c, &words[to], &words[from], goal);
        let mixed = words[turned].0.iter().zip(&words[to].0).map(|(&a, &b)| c.xor(a, b));
        let mut mixed: Vec<_> = mixed.collect();
        mixed.rotate_right(by);
        words[turned] = UInt(mixed);
    }
}
