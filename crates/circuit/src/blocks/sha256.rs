//! SHA-256 (FIPS 180-4): the compression function, and the hash of a message of fixed length.
//!
//! Choose and majority are one AND a bit; sums of many words count columns ([`sum`]), so constants and triples are cheap.
//! One block costs 22,271 ANDs of depth 1,607 for size: every sum is carried out once. It costs 44,721 ANDs of depth
//! 426 for depth: the words of a round stay in carry-save form up to one prefix adder.
//!
//! Byte strings lie as in [`Kind::Bits`](crate::Kind); the standard's words are big-endian in them.

use super::Goal;
use super::arithmetic::{add, majority, sum};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Bits, UInt};

/// The initial state: the fractions of the square roots of the first eight primes.
pub const INITIAL: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// The round constants: the fractions of the cube roots of the first 64 primes.
const ROUND: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

/// The new state after one 64-byte block; both states are byte strings of eight big-endian words.
///
/// 22,271 ANDs of depth 1,607 (size) or 44,721 ANDs of depth 426 (depth). Sums are modulo 2^32, as the standard says.
///
/// # Panics
/// If the state does not have 256 bits or the block 512.
pub fn compress(c: &mut Builder, state: &Bits, block: &Bits, goal: Goal) -> Bits {
    assert_eq!((state.0.len(), block.0.len()), (256, 512), "bits of a SHA-256 state and block");
    let start: [UInt; 8] = words(state).try_into().expect("eight words");
    let schedule = schedule(c, block, goal);
    let mut now = start.clone();
    for (word, constant) in schedule.iter().zip(ROUND) {
        now = round(c, now, word, constant, goal);
    }
    let ends = start.iter().zip(&now).map(|(start, end)| add(c, start, end, goal));
    bytes(&ends.collect::<Vec<_>>())
}

/// The hash of a message; the padding is part of the circuit, so the length is public.
///
/// At most the cost of [`compress`] a block of 64 bytes; the first block is cheaper, for its state is constant.
///
/// # Panics
/// If the message is not a whole number of bytes.
pub fn hash(c: &mut Builder, message: &Bits, goal: Goal) -> Bits {
    let padded = pad(message);
    let initial = Bits::from_bytes(&INITIAL.map(u32::to_be_bytes).concat());
    padded.chunks(512).fold(initial, |state, block| compress(c, &state, &Bits(block.to_vec()), goal))
}

/// The message, a one bit, zeros up to 8 bytes before the end of a block, the length in bits.
fn pad(message: &Bits) -> Vec<Bit> {
    let length = message.0.len();
    assert!(length.is_multiple_of(8), "SHA-256 takes whole bytes, not {length} bits");
    let zeros = (119 - length / 8 % 64) % 64;
    let mut tail = vec![0x80];
    tail.resize(1 + zeros, 0);
    tail.extend((length as u64).to_be_bytes());
    [message.0.as_slice(), &Bits::from_bytes(&tail).0].concat()
}

fn schedule(c: &mut Builder, block: &Bits, goal: Goal) -> Vec<UInt> {
    let mut w = words(block);
    for t in 16..64 {
        let early = mix(c, &w[t - 15], [7, 18], 3);
        let late = mix(c, &w[t - 2], [17, 19], 10);
        let next = sum(c, &[w[t - 16].clone(), early, w[t - 7].clone(), late], goal);
        w.push(next);
    }
    w
}

fn round(c: &mut Builder, state: [UInt; 8], word: &UInt, constant: u32, goal: Goal) -> [UInt; 8] {
    let [a, b, cc, d, e, f, g, h] = state;
    let chosen = bitwise(c, [&e, &f, &g], Builder::mux);
    let most = bitwise(c, [&a, &b, &cc], majority);
    let constant = UInt::constant(constant.into(), 32);
    let first = [h, rotations(c, &e, [6, 11, 25]), chosen, word.clone(), constant];
    let second = [rotations(c, &a, [2, 13, 22]), most];
    let (new_a, new_e) = match goal {
        Goal::Size => {
            let first = sum(c, &first, goal);
            let [turned, most] = second;
            (sum(c, &[first.clone(), turned, most], goal), add(c, &d, &first, goal))
        }
        Goal::Depth => {
            let new_e = [first.as_slice(), std::slice::from_ref(&d)].concat();
            (sum(c, &[first.as_slice(), &second].concat(), goal), sum(c, &new_e, goal))
        }
    };
    [new_a, a, b, cc, new_e, e, f, g]
}

fn bitwise(c: &mut Builder, words: [&UInt; 3], gate: fn(&mut Builder, Bit, Bit, Bit) -> Bit) -> UInt {
    let [x, y, z] = words.map(|word| &word.0);
    UInt((0..x.len()).map(|i| gate(c, x[i], y[i], z[i])).collect())
}

fn rotations(c: &mut Builder, word: &UInt, by: [usize; 3]) -> UInt {
    UInt((0..32).map(|i| c.xor_all(by.map(|by| word.0[(i + by) % 32]))).collect())
}

/// Two rotations and a shift to the right.
fn mix(c: &mut Builder, word: &UInt, by: [usize; 2], shift: usize) -> UInt {
    let shifted = word.0[shift..].iter().copied().chain(std::iter::repeat(Bit::FALSE));
    let turned = |by: usize, i: usize| word.0[(i + by) % 32];
    let bits = shifted.take(32).enumerate();
    UInt(bits.map(|(i, bit)| c.xor_all([turned(by[0], i), turned(by[1], i), bit])).collect())
}

/// The big-endian words of a byte string.
fn words(bytes: &Bits) -> Vec<UInt> {
    let word = |word: &[Bit]| UInt(word.chunks(8).rev().flatten().copied().collect());
    bytes.0.chunks(32).map(word).collect()
}

/// The byte string of these words, big-endian.
fn bytes(words: &[UInt]) -> Bits {
    Bits(words.iter().flat_map(|word| word.0.chunks(8).rev().flatten().copied()).collect())
}
