//! Selection: of one word among two or many, and the decoder behind it.
//!
//! A decoder of k bits costs 2^k − k − 1 ANDs in ⌈log k⌉ layers, and every function of these bits is then an XOR of its
//! outputs. Both figures are the least possible: modulo affine functions the outputs span a space of dimension
//! 2^k − k − 1, to which an AND adds at most one; and they have degree k.
//!
//! Indices of n words have ⌈log n⌉ bits. An index of n or more drops its top bit: it selects among the words that
//! exist, in every circuit here the same one.

use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Word;

/// `then` if `select`, else `otherwise`. n ANDs, depth 1.
///
/// # Panics
/// If the widths differ.
pub fn mux<W: Word>(c: &mut Builder, select: Bit, then: &W, otherwise: &W) -> W {
    assert_eq!(then.width(), otherwise.width(), "operands of one width");
    let pairs = then.bits().iter().zip(otherwise.bits());
    W::from_bits(pairs.map(|(&then, &otherwise)| c.mux(select, then, otherwise)).collect())
}

/// (b, a) if `swap`, else (a, b). n ANDs, depth 1: both words change in the same bits.
///
/// # Panics
/// If the widths differ.
pub fn conditional_swap<W: Word>(c: &mut Builder, swap: Bit, a: &W, b: &W) -> (W, W) {
    assert_eq!(a.width(), b.width(), "operands of one width");
    let pairs = a.bits().iter().zip(b.bits()).map(|(&a, &b)| {
        let differ = c.xor(a, b);
        let change = c.and(swap, differ);
        (c.xor(a, change), c.xor(b, change))
    });
    let (first, second): (Vec<_>, Vec<_>) = pairs.unzip();
    (W::from_bits(first), W::from_bits(second))
}

/// Output i of 2^k is one exactly if the k bits of the index, least significant first, are the number i.
///
/// 2^k − k − 1 ANDs, depth ⌈log k⌉; no circuit has less of either. The halves of the index are decoded apart; in the
/// table of all products, the last row and column follow from the others, for each half has exactly one one.
///
/// # Panics
/// If the index has more than 30 bits.
pub fn one_hot(c: &mut Builder, index: &[Bit]) -> Vec<Bit> {
    assert!(index.len() <= 30, "an index of {} bits has too many values", index.len());
    match *index {
        [] => vec![Bit::TRUE],
        [bit] => vec![!bit, bit],
        _ => {
            let (low, high) = index.split_at(index.len().div_ceil(2));
            let (low, high) = (one_hot(c, low), one_hot(c, high));
            products(c, &low, &high)
        }
    }
}

/// Output i of n is one exactly if the index is i, or if it is i when an index of n or more drops its top bit.
///
/// Size: n − ⌈log n⌉ ANDs (one less if n is a power of two), depth 1 + ⌈log(k − 1)⌉ for an index of k bits.
/// Depth: 2^k − k − 1 ANDs, depth ⌈log k⌉.
///
/// # Panics
/// If the index does not have ⌈log n⌉ bits, or more than 30.
pub fn one_hot_below(c: &mut Builder, index: &[Bit], n: usize, goal: Goal) -> Vec<Bit> {
    check_index(index, n);
    let half = n.next_power_of_two() / 2;
    match (index, goal) {
        (&[ref low @ .., top], Goal::Size) if !n.is_power_of_two() => {
            let mut hot = one_hot(c, low);
            for i in 0..n - half {
                let above = c.and(top, hot[i]);
                hot[i] = c.xor(hot[i], above);
                hot.push(above);
            }
            hot
        }
        _ => {
            let mut hot = one_hot(c, index);
            for (i, beyond) in hot.split_off(n).into_iter().enumerate() {
                hot[n - half + i] = c.xor(hot[n - half + i], beyond);
            }
            hot
        }
    }
}

/// The word of this index; an index of n or more drops its top bit.
///
/// For n words of w bits. Size: (n − 1)·w ANDs, depth ⌈log n⌉. Depth: (n − 1)·w + 2^k − k − 1 ANDs, depth ⌈log k⌉ + 1
/// for an index of k bits.
///
/// # Panics
/// If there is no word, the widths differ, or the index does not have ⌈log n⌉ bits.
pub fn multiplexer<W: Word + Clone>(c: &mut Builder, index: &[Bit], words: &[W], goal: Goal) -> W {
    check_index(index, words.len());
    match goal {
        Goal::Size => multiplex_by_tree(c, index, words),
        Goal::Depth => multiplex_by_decoder(c, index, words),
    }
}

/// From the top bit down, which is the one that an incomplete tree can do without.
fn multiplex_by_tree<W: Word + Clone>(c: &mut Builder, index: &[Bit], words: &[W]) -> W {
    let mut words = words.to_vec();
    for (level, &bit) in index.iter().enumerate().rev() {
        let above = words.split_off(1 << level);
        for (below, above) in words.iter_mut().zip(&above) {
            *below = mux(c, bit, above, below);
        }
    }
    words.swap_remove(0)
}

/// The first word, and what the one selected differs from it.
fn multiplex_by_decoder<W: Word>(c: &mut Builder, index: &[Bit], words: &[W]) -> W {
    let hot = one_hot_below(c, index, words.len(), Goal::Depth);
    let mut chosen = words[0].bits().to_vec();
    for (&hot, word) in hot.iter().zip(words).skip(1) {
        assert_eq!(word.width(), chosen.len(), "operands of one width");
        for ((chosen, &first), &bit) in chosen.iter_mut().zip(words[0].bits()).zip(word.bits()) {
            let differ = c.xor(first, bit);
            let change = c.and(hot, differ);
            *chosen = c.xor(*chosen, change);
        }
    }
    W::from_bits(chosen)
}

/// The products of two vectors with exactly one one each, those with the first of `high` first.
fn products(c: &mut Builder, low: &[Bit], high: &[Bit]) -> Vec<Bit> {
    let mut table = Vec::with_capacity(low.len() * high.len());
    for &row in &high[..high.len() - 1] {
        let start = table.len();
        for &column in &low[..low.len() - 1] {
            let product = c.and(row, column);
            table.push(product);
        }
        let rest = c.xor_all([row].into_iter().chain(table[start..].iter().copied()));
        table.push(rest);
    }
    for column in 0..low.len() {
        let others = table[column..].iter().step_by(low.len()).copied();
        let rest = c.xor_all([low[column]].into_iter().chain(others).collect::<Vec<_>>());
        table.push(rest);
    }
    table
}

fn check_index(index: &[Bit], n: usize) {
    assert!(n > 0, "a selection among no words");
    let bits = n.next_power_of_two().ilog2() as usize;
    assert_eq!(index.len(), bits, "bits of an index below {n}");
}
