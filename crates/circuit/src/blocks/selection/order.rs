//! Least and greatest of two or many words, with the place where it stands.
//!
//! Many words meet in a tournament. In round k the index of a winner has k − 1 low bits, which are selected with the
//! word; its bit k is the outcome itself, so k words cost about k ANDs for the index instead of k·log k. For depth the
//! last rounds are one: all pairs of the few words left are compared side by side. Integers in two's complement
//! compare as signed; of equal words the first one wins.

use crate::blocks::Goal;
use crate::blocks::arithmetic::compare::greater;
use crate::blocks::logic::reduce::all;
use crate::blocks::logic::select::mux;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{UInt, Word};

/// The lesser of two words.
///
/// Size: 2n ANDs, depth n + 1. Depth: n ANDs and one layer more than [`greater`].
///
/// # Panics
/// If the widths differ.
pub fn min<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> W {
    let other = Seek::Least.beaten(c, a, b, goal);
    mux(c, other, b, a)
}

/// The greater of two words; costs what [`min`] costs.
///
/// # Panics
/// If the widths differ.
pub fn max<W: Word>(c: &mut Builder, a: &W, b: &W, goal: Goal) -> W {
    let other = Seek::Greatest.beaten(c, a, b, goal);
    mux(c, other, b, a)
}

/// The least of k words.
///
/// Size: 2n(k − 1) ANDs, depth (n + 1)·log k. Depth: from some 16 words on the last 4, from some 110 on the last 8 and so
/// on are compared in pairs; ANDs and depth stay at or below (k − 1)(G + n) and (D + 1)·log k, where G = 3n − log n − 2 and
/// D = log n + 1 are those of Table 7 for a comparison.
///
/// # Panics
/// If there is no word or the widths differ.
pub fn minimum<W: Word + Clone>(c: &mut Builder, words: &[W], goal: Goal) -> W {
    tournament(c, words, Seek::Least, goal).0
}

/// The greatest of k words; costs what [`minimum`] costs.
///
/// # Panics
/// If there is no word or the widths differ.
pub fn maximum<W: Word + Clone>(c: &mut Builder, words: &[W], goal: Goal) -> W {
    tournament(c, words, Seek::Greatest, goal).0
}

/// The least of k words and its index, in ⌈log₂ k⌉ bits; the lowest index if several are least.
///
/// Costs what [`minimum`] costs and at most 2^L − L − 1 ANDs for the index, where L = log k; Table 7 has (k − 1)·L.
///
/// # Panics
/// If there is no word or the widths differ.
pub fn min_index<W: Word + Clone>(c: &mut Builder, words: &[W], goal: Goal) -> (W, UInt) {
    tournament(c, words, Seek::Least, goal)
}

/// The greatest of k words and its index, in ⌈log₂ k⌉ bits; the lowest index if several are greatest. Costs what
/// [`min_index`] costs.
///
/// # Panics
/// If there is no word or the widths differ.
pub fn max_index<W: Word + Clone>(c: &mut Builder, words: &[W], goal: Goal) -> (W, UInt) {
    tournament(c, words, Seek::Greatest, goal)
}

/// Which end of the order is sought.
#[derive(Clone, Copy)]
enum Seek {
    Least,
    Greatest,
}

impl Seek {
    /// Whether `a` loses against `b`, which comes later and so has to be better.
    fn beaten<W: Word>(self, c: &mut Builder, a: &W, b: &W, goal: Goal) -> Bit {
        match self {
            Seek::Least => greater(c, a, b, goal),
            Seek::Greatest => greater(c, b, a, goal),
        }
    }
}

/// A word that is still in, and the low bits of its index.
#[derive(Clone)]
struct Entry<W> {
    word: W,
    index: Vec<Bit>,
}

fn tournament<W: Word + Clone>(c: &mut Builder, words: &[W], seek: Seek, goal: Goal) -> (W, UInt) {
    let entries = words.iter().map(|word| Entry { word: word.clone(), index: Vec::new() }).collect();
    let Entry { word, mut index } = meet(c, entries, seek, goal);
    index.truncate(words.len().next_power_of_two().ilog2() as usize);
    (word, UInt(index))
}

/// The least of k words, or the greatest, and the bits that stand beside it: `kept` has as many for each word. Of equal words
/// the first one wins. For bits that are the index of each word, this is [`min_index`].
///
/// # Panics
/// If there is no word, or the widths or the numbers of kept bits differ.
#[doc(hidden)]
pub fn best_with<W: Word + Clone>(
    c: &mut Builder,
    words: &[W],
    kept: &[Vec<Bit>],
    least: bool,
    goal: Goal,
) -> (W, Vec<Bit>) {
    assert!(
        kept.iter().all(|bits| bits.len() == kept[0].len()) && kept.len() == words.len(),
        "as many bits for each word"
    );
    let entries =
        words.iter().zip(kept).map(|(word, kept)| Entry { word: word.clone(), index: kept.clone() }).collect();
    let Entry { word, mut index } = meet(c, entries, if least { Seek::Least } else { Seek::Greatest }, goal);
    index.truncate(kept[0].len());
    (word, index)
}

fn meet<W: Word + Clone>(c: &mut Builder, mut entries: Vec<Entry<W>>, seek: Seek, goal: Goal) -> Entry<W> {
    assert!(!entries.is_empty(), "a word or more to choose from");
    let pairs_from = match goal {
        Goal::Size => 1,
        Goal::Depth => all_pairs_from(entries.len(), entries[0].word.width()),
    };
    while entries.len() > pairs_from {
        entries = entries.chunks(2).map(|pair| play(c, pair, seek, goal)).collect();
    }
    play_all(c, entries, seek, goal)
}

/// How many of k words of n bits are compared in pairs at the end: for no more than the rounds before them save against
/// Table 7, about n/2 ANDs each. A game beyond the usual ones costs 5n/2, and r words have r² results to join.
fn all_pairs_from(k: usize, n: usize) -> usize {
    let extra = |r: usize| 5 * n * (r * (r - 1) / 2 - (r - 1)) + 2 * r * (r - 2);
    (1..).map(|level| 1 << level).take_while(|&r| extra(r) < n / 2 * 2 * k).last().unwrap_or(1)
}

fn play<W: Word + Clone>(c: &mut Builder, pair: &[Entry<W>], seek: Seek, goal: Goal) -> Entry<W> {
    let [first, second] = pair else {
        return Entry { word: pair[0].word.clone(), index: [pair[0].index.as_slice(), &[Bit::FALSE]].concat() };
    };
    let other = seek.beaten(c, &first.word, &second.word, goal);
    let places = second.index.iter().zip(&first.index);
    let mut index: Vec<Bit> = places.map(|(&second, &first)| c.mux(other, second, first)).collect();
    index.push(other);
    Entry { word: mux(c, other, &second.word, &first.word), index }
}

/// The winner among a few by comparing all pairs; one layer for the choice, and log layers for who won every game.
fn play_all<W: Word + Clone>(c: &mut Builder, entries: Vec<Entry<W>>, seek: Seek, goal: Goal) -> Entry<W> {
    let won = winners(c, &entries, seek, goal);
    let mut last = entries[0].clone();
    for (entry, &won) in entries.iter().zip(&won).skip(1) {
        last.word = W::from_bits(add_if(c, won, entry.word.bits(), entries[0].word.bits(), last.word.bits()));
        last.index = add_if(c, won, &entry.index, &entries[0].index, &last.index);
    }
    for k in 0..entries.len().next_power_of_two().ilog2() {
        let set = won.iter().enumerate().filter(|(i, _)| i >> k & 1 == 1);
        last.index.push(c.xor_all(set.map(|(_, &won)| won)));
    }
    last
}

/// One bit for each entry: set for the only one that wins against all others.
fn winners<W: Word>(c: &mut Builder, entries: &[Entry<W>], seek: Seek, goal: Goal) -> Vec<Bit> {
    let mut games = vec![Vec::with_capacity(entries.len()); entries.len()];
    for j in 0..entries.len() {
        for i in 0..j {
            let other = seek.beaten(c, &entries[i].word, &entries[j].word, goal);
            games[i].push(!other);
            games[j].push(other);
        }
    }
    let mut won: Vec<Bit> = games[1..].iter().map(|games| all(c, games)).collect();
    let none = !c.xor_all(won.iter().copied());
    won.insert(0, none);
    won
}

/// sum ⊕ on·(word ⊕ base).
fn add_if(c: &mut Builder, on: Bit, word: &[Bit], base: &[Bit], sum: &[Bit]) -> Vec<Bit> {
    let bit = |((&word, &base), &sum): ((&Bit, &Bit), &Bit)| {
        let differ = c.xor(word, base);
        let change = c.and(on, differ);
        c.xor(sum, change)
    };
    word.iter().zip(base).zip(sum).map(bit).collect()
}
