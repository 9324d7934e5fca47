//! Distances between points of unsigned coordinates (§B of the paper).
//!
//! |u| + |v| has the sign s of u in common with u ± v, where v is added if it has that sign too and subtracted if not. So
//! the shallow circuit in two dimensions finds both u + v and u − v while it compares, and selects at the end. Each is
//! the sum of four words by two carry-save adders; and as −w = ¬(w − 1), the sign enters as the carry into an adder whose
//! trees are finished by then, and as an XOR behind it.

use super::adder::{Adder, carries_with, majority, sum_bits};
use super::columns::Columns;
use super::compare::greater;
use super::factor::{Factor, Product};
use super::multiply::products_into;
use crate::blocks::Goal;
use crate::blocks::logic::select::mux;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{UInt, Word};

/// |a − b|.
///
/// Size: 2n − 1 ANDs, depth 2n − 1. Depth: 5n to 6n ANDs, depth 2·log n − 1 from 5 bits on:
/// 79 ANDs of depth 7 for 16 bits, 152 of depth 9 for 32, 297 of depth 11 for 64.
///
/// # Panics
/// If the widths differ.
pub fn absolute_difference(c: &mut Builder, a: &UInt, b: &UInt, goal: Goal) -> UInt {
    match goal {
        Goal::Size => {
            let (size, negative) = one_less_if_negative(c, a, b, goal);
            let mut columns = Columns::new(a.width());
            columns.add_word(0, &size);
            columns.add_bit(0, negative);
            UInt(columns.sum(c, goal))
        }
        Goal::Depth => {
            let negative = greater(c, b, a, goal);
            let complement: Vec<Bit> = b.0.iter().map(|&bit| !bit).collect();
            UInt(turned_sum(c, &a.0, &complement, negative)).resized(a.width())
        }
    }
}

/// The sum of |pᵢ − qᵢ| over the dimensions, in as many bits as its largest value needs.
///
/// In two dimensions, size: 4n ANDs, depth 2n. Depth: 240 ANDs of depth 9 for 16 bits, 494 of depth 11 for 32, 1,004 of
/// depth 13 for 64; 16n ANDs in general. In k dimensions, size: about 2kn ANDs, depth 2n + log k; depth: k
/// subtractions side by side, then a carry-save tree.
///
/// # Panics
/// If the points have no or not as many dimensions, or the widths differ.
pub fn manhattan_distance(c: &mut Builder, p: &[UInt], q: &[UInt], goal: Goal) -> UInt {
    let width = width(p, q);
    match (p, q, goal) {
        ([a], [b], _) => absolute_difference(c, a, b, goal),
        ([a, x], [b, y], Goal::Depth) => manhattan_plane(c, [a, b], [x, y]),
        _ => {
            let mut columns = Columns::new(width + log(p.len()));
            for (a, b) in p.iter().zip(q) {
                let (size, negative) = one_less_if_negative(c, a, b, goal);
                columns.add_word(0, &size);
                columns.add_bit(0, negative);
            }
            UInt(columns.sum(c, goal))
        }
    }
}

/// The sum of (pᵢ − qᵢ)² over the dimensions, the square of the Euclidean distance, in 2n + log k bits for k dimensions.
///
/// Size: about k(½ n² + 3n) ANDs, depth 3n; where Karatsuba's method pays for squares, fewer. Depth: k subtractions side
/// by side, one carry-save tree for all squares, one adder.
///
/// # Panics
/// If the points have no or not as many dimensions, or the widths differ.
pub fn squared_distance(c: &mut Builder, p: &[UInt], q: &[UInt], goal: Goal) -> UInt {
    let width = width(p, q);
    let square = |(a, b): (&UInt, &UInt)| Product::square(Factor::signed(&difference(c, a, b, goal)));
    let squares: Vec<Product> = p.iter().zip(q).map(square).collect();
    let mut columns = Columns::new(2 * width + log(p.len()));
    products_into(c, &mut columns, 0, &squares, goal);
    UInt(columns.sum(c, goal))
}

/// |a − b| + |x − y|: the sums for equal and for different signs, and the choice.
fn manhattan_plane(c: &mut Builder, [a, b]: [&UInt; 2], [x, y]: [&UInt; 2]) -> UInt {
    let (negative, other) = (greater(c, b, a, Goal::Depth), greater(c, y, x, Goal::Depth));
    let [same, differ] = [false, true].map(|turn| {
        let (first, second) = sum_of_differences(c, [&a.0, &b.0], [&x.0, &y.0], turn);
        UInt(turned_sum(c, &first, &second, negative))
    });
    let unlike = c.xor(negative, other);
    mux(c, unlike, &differ, &same).resized(a.width() + 1)
}

/// Two words with the sum a − b ± (x − y) − 1 in two's complement: a + ¬b + x + ¬y + 1, or with x and y complemented.
/// 2n ANDs, n of them the same for both, depth 2.
fn sum_of_differences(c: &mut Builder, [a, b]: [&[Bit]; 2], [x, y]: [&[Bit]; 2], turn: bool) -> (Vec<Bit>, Vec<Bit>) {
    let (mut first, mut second) = (Vec::new(), vec![Bit::FALSE]);
    let mut carry = Bit::TRUE;
    for i in 0..a.len() {
        let (x, y) = (x[i].flip(turn), !y[i].flip(turn));
        let sum = c.xor_all([a[i], !b[i], x]);
        first.push(c.xor_all([sum, y, carry]));
        second.push(majority(c, sum, y, carry));
        carry = majority(c, a[i], !b[i], x);
    }
    // The complements count 2^(n+1) too much: that is beyond the width.
    first.push(carry);
    (first, second)
}

/// w + 1 for the sum w of two words, or ¬w if `negative`: |w + 1| if that tells its sign.
///
/// The sum bits follow the sign; the trees before them know spans of 2^(log n − 3) bits.
fn turned_sum(c: &mut Builder, first: &[Bit], second: &[Bit], negative: Bit) -> Vec<Bit> {
    let low = first.len() - 1;
    let adder = Adder::sparse(log(low).saturating_sub(3) as u32);
    let carries = carries_with(c, &first[..low], &second[..low], !negative, adder);
    let sum = sum_bits(c, first, second, &carries);
    sum.into_iter().map(|bit| c.xor(bit, negative)).collect()
}

/// |a − b|, less one if a < b, and whether that is so.
fn one_less_if_negative(c: &mut Builder, a: &UInt, b: &UInt, goal: Goal) -> (Vec<Bit>, Bit) {
    let mut difference = difference(c, a, b, goal);
    let negative = difference.pop().expect("a sign");
    (difference.into_iter().map(|bit| c.xor(bit, negative)).collect(), negative)
}

/// a − b in two's complement, one bit more.
fn difference(c: &mut Builder, a: &UInt, b: &UInt, goal: Goal) -> Vec<Bit> {
    let complement: Vec<Bit> = b.0.iter().map(|&bit| !bit).collect();
    let carries = carries_with(c, &a.0, &complement, Bit::TRUE, goal.into());
    let mut difference = sum_bits(c, &a.0, &complement, &carries);
    difference.push(!carries[a.width()]);
    difference
}

/// The width of the coordinates.
fn width(p: &[UInt], q: &[UInt]) -> usize {
    assert_eq!(p.len(), q.len(), "points of as many dimensions");
    let width = p.first().expect("a dimension or more").width();
    assert!(p.iter().chain(q).all(|coordinate| coordinate.width() == width), "coordinates of one width");
    width
}

/// ⌈log₂ n⌉.
fn log(n: usize) -> usize {
    n.next_power_of_two().ilog2() as usize
}
