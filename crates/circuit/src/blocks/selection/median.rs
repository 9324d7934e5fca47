//! The median, or the word of any other rank, among n words.
//!
//! No network sorts here. The size variant finds the result bit by bit from the top: a word that has left the common
//! prefix counts on its side for good, and the next bit is whether enough words are on the upper side. That is linear
//! in n, where a selection network of comparators, even without those that no output needs, is not: 9 words of 32 bits
//! cost 773 ANDs instead of 1,216 for the 19 comparators of the best network known. The depth variant compares each
//! word with each: the word is in its place if as many others as its rank precede it.

use crate::blocks::Goal;
use crate::blocks::arithmetic::compare::{equal, greater};
use crate::blocks::arithmetic::count::population_count;
use crate::blocks::arithmetic::sum::sum;
use crate::builder::Builder;
use crate::graph::{Bit, Kind};
use crate::words::{Bits, UInt, Word};

/// The word in the middle of n, the lower one of the two if n is even; cost as [`ranked`].
///
/// # Panics
/// If there is no word, or the widths differ.
pub fn median<W: Word>(c: &mut Builder, words: &[W], goal: Goal) -> W {
    assert!(!words.is_empty(), "the median of no words");
    ranked(c, words, (words.len() - 1) / 2, goal)
}

/// The word that a sorted list would have at place `rank`, the smallest word at 0. Integers in two's complement count
/// as signed.
///
/// For n words of w bits. Size: at most n·(3w − 2) + w·⌈log n⌉ ANDs, depth at most w·(⌈log n⌉ + 2). Depth: quadratic in
/// n: n(n − 1)/2 comparisons, n counts of n − 1 bits and (n − 1)·w ANDs, depth about log w + 2·log n + 4.
///
/// # Panics
/// If the rank is not below the number of words, or the widths differ.
pub fn ranked<W: Word>(c: &mut Builder, words: &[W], rank: usize, goal: Goal) -> W {
    assert!(rank < words.len(), "rank {rank} among {} words", words.len());
    assert!(words.iter().all(|word| word.width() == words[0].width()), "words of one width");
    let ordered: Vec<UInt> = words.iter().map(|word| UInt(turned(word))).collect();
    let found = match goal {
        Goal::Size => by_bits(c, &ordered, rank),
        Goal::Depth => by_comparisons(c, &ordered, rank),
    };
    W::from_bits(turned(&W::from_bits(found)))
}

/// The unsigned number that takes the same place, and back: two's complement with its sign turned.
fn turned<W: Word>(word: &W) -> Vec<Bit> {
    let mut bits = word.bits().to_vec();
    if let (Kind::Int | Kind::Fixed { .. }, Some(sign)) = (word.ty().kind, bits.last_mut()) {
        *sign = !*sign;
    }
    bits
}

/// A word among those that may still be the result, or the side on which it has left them.
struct Candidate {
    live: Bit,
    above: Bit,
}

fn by_bits(c: &mut Builder, words: &[UInt], rank: usize) -> Vec<Bit> {
    let mut candidates: Vec<_> = words.iter().map(|_| Candidate { live: Bit::TRUE, above: Bit::FALSE }).collect();
    let mut found = Vec::new();
    for bit in (0..words[0].width()).rev() {
        for (candidate, word) in candidates.iter_mut().zip(words) {
            candidate.above = c.mux(candidate.live, word.0[bit], candidate.above);
        }
        let ones: Vec<Bit> = candidates.iter().map(|candidate| candidate.above).collect();
        let most = at_least(c, &ones, words.len() - rank);
        for candidate in &mut candidates {
            let same = !c.xor(candidate.above, most);
            candidate.live = c.and(candidate.live, same);
        }
        found.push(most);
    }
    found.reverse();
    found
}

/// Whether at least `threshold` bits are one: a count that starts where it overflows at the threshold.
fn at_least(c: &mut Builder, ones: &[Bit], threshold: usize) -> Bit {
    let size = threshold.max(ones.len() - threshold + 1).next_power_of_two();
    let width = size.ilog2() + 1;
    let mut addends: Vec<UInt> = ones.iter().map(|&one| UInt(vec![one]).resized(width as usize)).collect();
    addends.push(UInt::constant((size - threshold) as u128, width));
    sum(c, &addends, Goal::Size).0[width as usize - 1]
}

fn by_comparisons(c: &mut Builder, words: &[UInt], rank: usize) -> Vec<Bit> {
    let mut preceding = vec![Vec::new(); words.len()];
    for (j, word) in words.iter().enumerate() {
        for i in 0..j {
            let after = greater(c, &words[i], word, Goal::Depth);
            preceding[i].push(after);
            preceding[j].push(!after);
        }
    }
    let mut found = words[0].0.clone();
    for (word, preceding) in words.iter().zip(preceding).skip(1) {
        let count = population_count(c, &Bits(preceding));
        let place = UInt::constant(rank as u128, count.0.len() as u32);
        let chosen = equal(c, &count, &place);
        for ((found, &bit), &first) in found.iter_mut().zip(&word.0).zip(&words[0].0) {
            let differ = c.xor(bit, first);
            let change = c.and(chosen, differ);
            *found = c.xor(*found, change);
        }
    }
    found
}
