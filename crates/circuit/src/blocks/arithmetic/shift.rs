//! Shifts and rotations by a secret amount, and what finds the amount: OR-prefix, leading zeros, normalisation.
//!
//! A shifter handles the bits of the amount in groups, one layer a group. With e_j the one-hot code of a group, a bit
//! becomes `x ⊕ Σ e_j (x ⊕ x_j)`, where x_j lies j places away: 2^g − 1 ANDs for g bits of the amount. The size variant
//! has groups of one bit. The depth variant has groups of 1, then 2, then 3 bits, which are decoded while the layers
//! before them run: six bits in three layers.
//!
//! Two things cost nothing. In a rotation the differences along each cycle add up to zero, so their last product is
//! the sum of the others. And a prefix OR is a thermometer: neighbours differ at the leading one only, so its one-hot
//! code, every bit of its position and every group of a shifter are XORs of the prefix.

use crate::blocks::Goal;
use crate::blocks::logic::reduce::any;
use crate::builder::Builder;
use crate::graph::{Bit, Kind};
use crate::words::{UInt, Word};

/// A bit that calls for a shift, and by how many places; at most one of a list is set.
type Hot = (Bit, usize);

/// word · 2^amount mod 2^n; zero if the amount is n or more.
///
/// Size: n·log n ANDs, depth log n. Depth, up to n = 64: 1 + 3 + 7 ANDs a bit for 1 + 2 + 3 bits of the amount and a
/// layer each; 3 to 7 ANDs a bit in each layer after that. An amount of more than log n bits adds less than n ANDs to
/// the size variant: 0.5·n if n is a power of two.
pub fn shift_left<W: Word>(c: &mut Builder, word: &W, amount: &UInt, goal: Goal) -> W {
    W::from_bits(shift(c, word.bits(), amount, goal))
}

/// ⌊word / 2^amount⌋; costs what [`shift_left`] costs.
///
/// Integers in two's complement keep their sign. An amount of n or more leaves zero, or −1 of a negative number.
pub fn shift_right<W: Word>(c: &mut Builder, word: &W, amount: &UInt, goal: Goal) -> W {
    let sign = match (word.ty().kind, word.bits().last()) {
        (Kind::Int | Kind::Fixed { .. }, Some(&sign)) => sign,
        _ => Bit::FALSE,
    };
    let turned = xor_each(c, word.bits().iter().rev().copied(), sign);
    let shifted = shift(c, &turned, amount, goal);
    W::from_bits(xor_each(c, shifted.into_iter().rev(), sign))
}

/// The word with bit i moved to bit (i + amount) mod n; any amount is taken modulo n.
///
/// Size: n·m − Σ gcd(2^k, n) ANDs for the m bits k of the amount, depth m; that is n·log n − n + 1 for n a power of
/// two. Depth: as [`shift_left`].
pub fn rotate_left<W: Word>(c: &mut Builder, word: &W, amount: &UInt, goal: Goal) -> W {
    W::from_bits(rotate(c, word.bits(), amount, goal))
}

/// The word with bit i moved to bit (i − amount) mod n; any amount is taken modulo n. Costs what [`rotate_left`] costs.
pub fn rotate_right<W: Word>(c: &mut Builder, word: &W, amount: &UInt, goal: Goal) -> W {
    W::from_bits(reversed(&rotate(c, &reversed(word.bits()), amount, goal)))
}

/// Bit i is the OR of bits 0 to i.
///
/// Size: n − 1 ANDs, depth n − 1. Depth: Sklansky's tree, Σ ones(i) for i < n ANDs (about ½ n·log n), depth log n.
pub fn or_prefix(c: &mut Builder, bits: &[Bit], goal: Goal) -> Vec<Bit> {
    let mut prefix = bits.to_vec();
    match goal {
        Goal::Size => (1..bits.len()).for_each(|i| prefix[i] = c.or(prefix[i], prefix[i - 1])),
        Goal::Depth => {
            for level in 0..log(bits.len()) {
                for i in (0..bits.len()).filter(|i| i >> level & 1 == 1) {
                    prefix[i] = c.or(prefix[i], prefix[(i >> level << level) - 1]);
                }
            }
        }
    }
    prefix
}

/// How many zeros stand above the highest one, in ⌊log₂ n⌋ + 1 bits; n if the word is zero.
///
/// Costs what [`or_prefix`] costs: the count is a sum of its bits.
pub fn leading_zeros<W: Word>(c: &mut Builder, word: &W, goal: Goal) -> UInt {
    let seen = seen_from_above(c, word.bits(), goal);
    position(c, &seen)
}

/// How many zeros stand below the lowest one, in ⌊log₂ n⌋ + 1 bits; n if the word is zero. Costs what [`or_prefix`]
/// costs.
pub fn trailing_zeros<W: Word>(c: &mut Builder, word: &W, goal: Goal) -> UInt {
    let seen = or_prefix(c, word.bits(), goal);
    position(c, &seen)
}

/// The word shifted left until its highest bit is one, and by how many places, in ⌊log₂ n⌋ + 1 bits. A word of zeros
/// stays, and its count is n.
///
/// Size: n·L + 2^L − L − 1 ANDs where L = log n, depth L(L + 1)/2: for the places 2^k from above, shift if the 2^k
/// highest bits are zero. Depth: an OR-prefix and a shifter in groups of 1, 2, 3 bits that need no decoding; a layer
/// each, the first of them beside the last layer of the prefix (64 bits: depth 8 instead of 21).
pub fn normalise<W: Word>(c: &mut Builder, word: &W, goal: Goal) -> (W, UInt) {
    let (bits, count) = match goal {
        Goal::Size => normalise_stepwise(c, word.bits()),
        Goal::Depth => normalise_parallel(c, word.bits()),
    };
    (W::from_bits(bits), count)
}

fn normalise_stepwise(c: &mut Builder, word: &[Bit]) -> (Vec<Bit>, UInt) {
    let (n, levels) = (word.len(), log(word.len()));
    let mut bits = word.to_vec();
    let mut count = vec![Bit::FALSE; levels];
    for k in (0..levels).rev() {
        let some = any(c, &bits[n - (1 << k)..]);
        count[k] = !some;
        bits = shift_stage(c, &bits, &[(!some, 1 << k)]);
    }
    // A word of zeros was shifted at every step: its count becomes n.
    let zero = bits.last().map_or(Bit::FALSE, |&top| !top);
    count.resize(counter_bits(n), Bit::FALSE);
    for (k, bit) in count.iter_mut().enumerate() {
        let all = k < levels;
        if all != (n >> k & 1 == 1) {
            *bit = c.xor(*bit, zero);
        }
    }
    (bits, UInt(count))
}

fn normalise_parallel(c: &mut Builder, word: &[Bit]) -> (Vec<Bit>, UInt) {
    let seen = seen_from_above(c, word, Goal::Depth);
    (shift_by_leading_zeros(c, &seen, word), position(c, &seen))
}

/// Bit i tells whether one of the i + 1 highest bits of the word is set.
pub(crate) fn seen_from_above(c: &mut Builder, word: &[Bit], goal: Goal) -> Vec<Bit> {
    or_prefix(c, &reversed(word), goal)
}

/// A word shifted left by the leading zeros of the word that was seen; by anything if that is zero.
pub(crate) fn shift_by_leading_zeros(c: &mut Builder, seen: &[Bit], word: &[Bit]) -> Vec<Bit> {
    let mut bits = word.to_vec();
    let mut above = log(seen.len());
    // Nothing is asked of a word of zeros; so the first layer does not wait for the end of the prefix.
    let last = seen.len().saturating_sub(1);
    for group in groups(above, Goal::Depth) {
        above -= group;
        let places = (1..1 << group).map(|value| {
            let hot = where_first(c, seen, |i| i.min(last) >> above & ((1 << group) - 1) == value);
            (hot, value << above)
        });
        let hots: Vec<Hot> = places.collect();
        bits = shift_stage(c, &bits, &hots);
    }
    bits
}

/// The place of the first bit that is set in a thermometer; its length if none is.
fn position(c: &mut Builder, seen: &[Bit]) -> UInt {
    let bits = 0..counter_bits(seen.len());
    UInt(bits.map(|k| where_first(c, seen, |i| i >> k & 1 == 1)).collect())
}

/// Whether the first bit that is set in a thermometer stands at a place that counts; none set is the place behind it.
fn where_first(c: &mut Builder, seen: &[Bit], counts: impl Fn(usize) -> bool) -> Bit {
    let steps = (0..seen.len()).filter(|&i| counts(i) != counts(i + 1));
    let sum = c.xor_all(steps.map(|i| seen[i]));
    sum.flip(counts(seen.len()))
}

fn shift(c: &mut Builder, word: &[Bit], amount: &UInt, goal: Goal) -> Vec<Bit> {
    let (low, high) = amount.0.split_at(amount.0.len().min(log(word.len())));
    let too_far = any(c, high);
    let mut stages = stages(c, low, goal, |place| 1 << place);
    if stages.is_empty() {
        stages.push(Vec::new());
    }
    let last = stages.last_mut().expect("a stage");
    last.iter_mut().for_each(|(hot, _)| *hot = c.and(*hot, !too_far));
    last.push((too_far, word.len()));
    stages.iter().fold(word.to_vec(), |bits, hots| shift_stage(c, &bits, hots))
}

fn rotate(c: &mut Builder, word: &[Bit], amount: &UInt, goal: Goal) -> Vec<Bit> {
    let n = word.len().max(1);
    let stages = stages(c, &amount.0, goal, |place| (0..place).fold(1, |power, _| 2 * power % n));
    stages.iter().fold(word.to_vec(), |bits, hots| rotate_stage(c, &bits, hots))
}

/// The places that a group of bits of the amount asks for, group by group from the lowest bit up, if bit k of it asks
/// for `power(k)` places.
fn stages(c: &mut Builder, amount: &[Bit], goal: Goal, power: impl Fn(usize) -> usize) -> Vec<Vec<Hot>> {
    let mut below = 0;
    let groups = groups(amount.len(), goal);
    let stage = |group| {
        let hots = one_hot(c, &amount[below..below + group]);
        let unit = power(below);
        let places = hots.into_iter().enumerate().skip(1).map(|(value, hot)| (hot, value * unit)).collect();
        below += group;
        places
    };
    groups.into_iter().map(stage).collect()
}

/// Sizes of groups of `bits` bits: ones for size; for depth 1, then at most 2, then at most 3, as even as can be.
fn groups(bits: usize, goal: Goal) -> Vec<usize> {
    let layers = match goal {
        Goal::Size => bits,
        Goal::Depth if bits < 3 => bits,
        Goal::Depth => bits.div_ceil(3) + 1,
    };
    match layers {
        0 | 1 => vec![bits; layers],
        _ => std::iter::once(1).chain((0..layers - 1).map(|i| (bits - 1 + i) / (layers - 1))).collect(),
    }
}

/// Bit v is set if the number has the value v.
fn one_hot(c: &mut Builder, number: &[Bit]) -> Vec<Bit> {
    number.iter().fold(vec![Bit::TRUE], |hots, &bit| {
        // One of them is set, so the last product is what the others leave of the bit.
        let mut ones: Vec<Bit> = hots[1..].iter().map(|&hot| c.and(hot, bit)).collect();
        let first = c.xor_all(ones.iter().copied().chain([bit]));
        ones.insert(0, first);
        let zeros: Vec<Bit> = hots.iter().zip(&ones).map(|(&hot, &one)| c.xor(hot, one)).collect();
        [zeros, ones].concat()
    })
}

/// All places from which zeros come are one product.
fn shift_stage(c: &mut Builder, bits: &[Bit], hots: &[Hot]) -> Vec<Bit> {
    let moved = |(i, &bit): (usize, &Bit)| {
        let zeros = c.xor_all(hots.iter().filter(|hot| hot.1 > i).map(|hot| hot.0));
        let mut sum = c.and(bit, !zeros);
        for &(hot, places) in hots.iter().filter(|hot| hot.1 <= i) {
            let differ = c.xor(bit, bits[i - places]);
            let change = c.and(hot, differ);
            sum = c.xor(sum, change);
        }
        sum
    };
    bits.iter().enumerate().map(moved).collect()
}

fn rotate_stage(c: &mut Builder, bits: &[Bit], hots: &[Hot]) -> Vec<Bit> {
    let n = bits.len();
    let mut turned = bits.to_vec();
    for &(hot, places) in hots {
        let cycles = gcd(places % n, n);
        for start in 0..cycles {
            let mut others = Bit::FALSE;
            for i in (start + cycles..n).step_by(cycles) {
                let differ = c.xor(bits[i], bits[(i + n - places % n) % n]);
                let change = c.and(hot, differ);
                turned[i] = c.xor(turned[i], change);
                others = c.xor(others, change);
            }
            turned[start] = c.xor(turned[start], others);
        }
    }
    turned
}

fn xor_each(c: &mut Builder, bits: impl Iterator<Item = Bit>, with: Bit) -> Vec<Bit> {
    bits.map(|bit| c.xor(bit, with)).collect()
}

fn reversed(bits: &[Bit]) -> Vec<Bit> {
    bits.iter().rev().copied().collect()
}

/// ⌈log₂ n⌉.
fn log(n: usize) -> usize {
    n.max(1).next_power_of_two().ilog2() as usize
}

/// Bits of a count up to n.
fn counter_bits(n: usize) -> usize {
    (usize::BITS - n.leading_zeros()) as usize
}

fn gcd(a: usize, b: usize) -> usize {
    if a == 0 { b } else { gcd(b % a, a) }
}
