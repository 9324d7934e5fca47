//! SHA-2 (FIPS 180-4): compression functions, and hashes of messages of fixed length.
//!
//! The two halves of the family differ in the width of a word, the number of rounds and the rotations; their constants
//! are fractions of roots of primes, so that those of the narrow half are the high bits of those of the wide one.
//!
//! Choose and majority are one AND a bit; sums of many words count columns, so constants and triples are cheap. For
//! size, every sum is carried out once. For depth, the words of a round stay in carry-save form up to one adder.
//!
//! Byte strings lie as in [`Kind::Bits`](crate::Kind); the standard's words are big-endian in them.

use num_bigint::BigUint;

use crate::blocks::Goal;
use crate::blocks::arithmetic::sum::{add, majority, sum};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Bits, UInt};

/// A hash of the family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sha2 {
    half: Half,
    /// The initial state: 64 bits of the square roots of eight primes, this many primes in.
    skipped: usize,
    /// The first of these bits that count.
    dropped: u32,
    /// Bytes of the digest.
    digest: usize,
}

/// SHA-224.
pub const SHA224: Sha2 = Sha2 { half: NARROW, skipped: 8, dropped: 32, digest: 28 };
/// SHA-256.
pub const SHA256: Sha2 = Sha2 { half: NARROW, skipped: 0, dropped: 0, digest: 32 };
/// SHA-384.
pub const SHA384: Sha2 = Sha2 { half: WIDE, skipped: 8, dropped: 0, digest: 48 };
/// SHA-512.
pub const SHA512: Sha2 = Sha2 { half: WIDE, skipped: 0, dropped: 0, digest: 64 };

/// The parameters that all hashes with words of one width share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Half {
    width: usize,
    rounds: usize,
    /// Rotations of the state: Σ₀ and Σ₁.
    turns: [[usize; 3]; 2],
    /// Two rotations and a shift of the schedule: σ₀ and σ₁.
    mixes: [([usize; 2], usize); 2],
}

const NARROW: Half =
    Half { width: 32, rounds: 64, turns: [[2, 13, 22], [6, 11, 25]], mixes: [([7, 18], 3), ([17, 19], 10)] };
const WIDE: Half =
    Half { width: 64, rounds: 80, turns: [[28, 34, 39], [14, 18, 41]], mixes: [([1, 8], 7), ([19, 61], 6)] };

impl Sha2 {
    /// Bits of a block.
    pub fn block_bits(&self) -> u32 {
        16 * self.half.width as u32
    }

    /// Bits of a state.
    pub fn state_bits(&self) -> u32 {
        8 * self.half.width as u32
    }

    /// The initial state: eight words.
    fn initial(&self) -> Bits {
        let words = roots(2).into_iter().skip(self.skipped).take(8);
        bytes(&words.map(|root| high(root << self.dropped, self.half.width)).collect::<Vec<_>>())
    }

    /// The constants of the rounds: cube roots.
    fn constants(&self) -> Vec<UInt> {
        roots(3).into_iter().take(self.half.rounds).map(|root| high(root, self.half.width)).collect()
    }
}

/// The new state after one block; both states are byte strings of eight big-endian words.
///
/// SHA-256: 22,271 ANDs of depth 1,607 (size) or 44,721 ANDs of depth 426 (depth). SHA-512: 57,572 ANDs of depth 3,303
/// or 127,926 ANDs of depth 626. Sums wrap, as the standard says.
///
/// # Panics
/// If the state does not have eight words or the block sixteen.
pub fn compress(c: &mut Builder, hash: &Sha2, state: &Bits, block: &Bits, goal: Goal) -> Bits {
    let lengths = (state.0.len() as u32, block.0.len() as u32);
    assert_eq!(lengths, (hash.state_bits(), hash.block_bits()), "bits of a SHA-2 state and block");
    let start: [UInt; 8] = words(state, hash.half.width).try_into().expect("eight words");
    let schedule = schedule(c, hash, block, goal);
    let mut now = start.clone();
    for (word, constant) in schedule.iter().zip(hash.constants()) {
        now = round(c, hash, now, word, constant, goal);
    }
    let ends = start.iter().zip(&now).map(|(start, end)| add(c, start, end, goal));
    bytes(&ends.collect::<Vec<_>>())
}

/// The hash of a message; the padding is part of the circuit, so the length is public.
///
/// At most the cost of [`compress`] a block of 16 words; the first block is cheaper, for its state is constant.
///
/// # Panics
/// If the message is not a whole number of bytes.
pub fn hash(c: &mut Builder, hash: &Sha2, message: &Bits, goal: Goal) -> Bits {
    let length = hash.block_bits() as usize;
    let padded = pad(message, length);
    let mut state = padded
        .chunks(length)
        .fold(hash.initial(), |state, block| compress(c, hash, &state, &Bits(block.to_vec()), goal));
    state.0.truncate(8 * hash.digest);
    state
}

/// The message, a one bit, zeros up to an eighth of a block before the end of one, the length in bits.
fn pad(message: &Bits, block: usize) -> Vec<Bit> {
    let length = message.0.len();
    assert!(length.is_multiple_of(8), "SHA-2 takes whole bytes, not {length} bits");
    let whole = (length + 8 + block / 8).next_multiple_of(block);
    let mut padded = message.0.clone();
    padded.extend(Bits::from_bytes(&[0x80]).0);
    padded.resize(whole - 64, Bit::FALSE);
    padded.extend(Bits::from_bytes(&(length as u64).to_be_bytes()).0);
    padded
}

fn schedule(c: &mut Builder, hash: &Sha2, block: &Bits, goal: Goal) -> Vec<UInt> {
    let mut w = words(block, hash.half.width);
    for t in 16..hash.half.rounds {
        let early = mix(c, &w[t - 15], hash.half.mixes[0]);
        let late = mix(c, &w[t - 2], hash.half.mixes[1]);
        let next = sum(c, &[w[t - 16].clone(), early, w[t - 7].clone(), late], goal);
        w.push(next);
    }
    w
}

fn round(c: &mut Builder, hash: &Sha2, state: [UInt; 8], word: &UInt, constant: UInt, goal: Goal) -> [UInt; 8] {
    let [a, b, cc, d, e, f, g, h] = state;
    let chosen = bitwise(c, [&e, &f, &g], Builder::mux);
    let most = bitwise(c, [&a, &b, &cc], majority);
    let [turned_a, turned_e] = [(&a, 0), (&e, 1)].map(|(word, k)| turns(c, word, hash.half.turns[k]));
    let first = [h, turned_e, chosen, word.clone(), constant];
    let second = [turned_a, most];
    let (new_a, new_e) = match goal {
        Goal::Size => {
            let first = sum(c, &first, goal);
            let new_a = sum(c, &[std::slice::from_ref(&first), &second].concat(), goal);
            (new_a, add(c, &d, &first, goal))
        }
        Goal::Depth => {
            let new_a = sum(c, &[first.as_slice(), &second].concat(), goal);
            (new_a, sum(c, &[first.as_slice(), &[d]].concat(), goal))
        }
    };
    [new_a, a, b, cc, new_e, e, f, g]
}

fn bitwise(c: &mut Builder, words: [&UInt; 3], gate: fn(&mut Builder, Bit, Bit, Bit) -> Bit) -> UInt {
    let [x, y, z] = words.map(|word| &word.0);
    UInt((0..x.len()).map(|i| gate(c, x[i], y[i], z[i])).collect())
}

/// The sum of three rotations to the right.
fn turns(c: &mut Builder, word: &UInt, by: [usize; 3]) -> UInt {
    let width = word.0.len();
    UInt((0..width).map(|i| c.xor_all(by.map(|by| word.0[(i + by) % width]))).collect())
}

/// Two rotations and a shift to the right.
fn mix(c: &mut Builder, word: &UInt, (by, shift): ([usize; 2], usize)) -> UInt {
    let width = word.0.len();
    let shifted = |i: usize| word.0.get(i + shift).copied().unwrap_or(Bit::FALSE);
    let turned = |by: usize, i: usize| word.0[(i + by) % width];
    UInt((0..width).map(|i| c.xor_all([turned(by[0], i), turned(by[1], i), shifted(i)])).collect())
}

/// The first 64 bits of the fractions of the `degree`-th roots of the first 80 primes.
fn roots(degree: u32) -> Vec<u64> {
    let prime = |n: &u32| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let root = |n: u32| (BigUint::from(n) << (64 * degree)).nth_root(degree);
    (2..).filter(prime).take(80).map(|n| root(n).iter_u64_digits().next().expect("not zero")).collect()
}

/// The high `width` bits of 64.
fn high(bits: u64, width: usize) -> UInt {
    UInt::constant(u128::from(bits >> (64 - width)), width as u32)
}

/// The big-endian words of a byte string.
fn words(bytes: &Bits, width: usize) -> Vec<UInt> {
    let word = |word: &[Bit]| UInt(word.chunks(8).rev().flatten().copied().collect());
    bytes.0.chunks(width).map(word).collect()
}

/// The byte string of these words, big-endian.
fn bytes(words: &[UInt]) -> Bits {
    Bits(words.iter().flat_map(|word| word.0.chunks(8).rev().flatten().copied()).collect())
}
