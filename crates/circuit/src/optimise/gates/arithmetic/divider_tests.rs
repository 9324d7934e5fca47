//! Dividers and square roots of rows that compare and subtract, in several styles of gates.

use super::super::check::agree;
use super::rebuild;
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::{Bit, Circuit};
use crate::words::Bits;

/// How rows are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// The borrow of the difference says which is larger.
    Borrow,
    /// A comparison from the top says it.
    Compare,
    /// As `Borrow`, of ANDs alone.
    Ands,
}

const STYLES: [Style; 3] = [Style::Borrow, Style::Compare, Style::Ands];

struct Rows {
    c: Builder,
    style: Style,
    /// Which bit of which row forgets to borrow.
    broken: Option<(usize, usize)>,
    row: usize,
}

impl Rows {
    fn new(style: Style, broken: Option<(usize, usize)>) -> Self {
        Rows { c: Builder::new("rows"), style, broken, row: 0 }
    }

    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        if self.style != Style::Ands {
            return self.c.xor(a, b);
        }
        let [left, right] = [(a, !b), (!a, b)].map(|(a, b)| self.c.and(a, b));
        !self.c.and(!left, !right)
    }

    /// Whether x ≥ y, and what is left of x.
    fn row(&mut self, x: &[Bit], y: &[Bit]) -> (Bit, Vec<Bit>) {
        let at = |word: &[Bit], i: usize| word.get(i).copied().unwrap_or(Bit::FALSE);
        let (mut borrow, mut difference) = (Bit::FALSE, Vec::new());
        for i in 0..x.len().max(y.len()) {
            let (x, y) = (at(x, i), at(y, i));
            let apart = self.xor(x, y);
            difference.push(self.xor(apart, borrow));
            let (less, same) = (self.c.and(!x, y), self.c.and(!apart, borrow));
            borrow = if self.broken == Some((self.row, i)) { less } else { self.c.or(less, same) };
        }
        let digit = if self.style == Style::Compare { self.compare(x, y) } else { !borrow };
        let left = x.iter().zip(difference).map(|(&x, difference)| {
            let (new, old) = (self.c.and(digit, difference), self.c.and(!digit, x));
            self.c.or(new, old)
        });
        let left = left.collect();
        self.row += 1;
        (digit, left)
    }

    fn compare(&mut self, x: &[Bit], y: &[Bit]) -> Bit {
        let at = |word: &[Bit], i: usize| word.get(i).copied().unwrap_or(Bit::FALSE);
        let (mut less, mut same) = (Bit::FALSE, Bit::TRUE);
        for i in (0..x.len().max(y.len())).rev() {
            let here = self.c.and(!at(x, i), at(y, i));
            let here = self.c.and(same, here);
            less = self.c.or(less, here);
            let apart = self.c.xor(at(x, i), at(y, i));
            same = self.c.and(same, !apart);
        }
        !less
    }

    fn divide(&mut self, number: &[Bit], divisor: &[Bit], most: usize) -> (Vec<Bit>, Vec<Bit>) {
        let (mut digits, mut left) = (Vec::new(), Vec::new());
        for &bit in number.iter().rev() {
            left.insert(0, bit);
            let (digit, after) = self.row(&left, divisor);
            digits.insert(0, digit);
            left = after;
            left.truncate(most);
        }
        (digits, left)
    }

    fn root(&mut self, number: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
        let (mut root, mut left) = (Vec::new(), Vec::new());
        for pair in number.chunks(2).rev() {
            left.splice(0..0, pair.iter().copied());
            let by = [&[Bit::TRUE, Bit::FALSE], &root[..]].concat();
            let (digit, after) = self.row(&left, &by);
            root.insert(0, digit);
            left = after;
            left.truncate(root.len() + 1);
        }
        (root, left)
    }

    /// The word, or its negative.
    fn negated(&mut self, word: &[Bit], negative: Bit) -> Vec<Bit> {
        let mut carry = negative;
        let mut negated = Vec::new();
        for &bit in word {
            let bit = self.xor(bit, negative);
            negated.push(self.xor(bit, carry));
            carry = self.c.and(bit, carry);
        }
        negated
    }

    fn finish(mut self, words: (Vec<Bit>, Vec<Bit>)) -> Circuit {
        self.c.output("digits", &Bits(words.0));
        self.c.output("left", &Bits(words.1));
        self.c.finish()
    }
}

/// A divider of numbers of so many bits by others, in which remainders have at most so many.
fn divider(style: Style, [number, divisor]: [u32; 2], most: usize, broken: Option<(usize, usize)>) -> Circuit {
    let mut rows = Rows::new(style, broken);
    let [number, divisor] = [("a", number), ("b", divisor)].map(|(name, width)| rows.c.bits(name, width).0);
    let words = rows.divide(&number, &divisor, most);
    rows.finish(words)
}

fn root(style: Style, width: u32, broken: Option<(usize, usize)>) -> Circuit {
    let mut rows = Rows::new(style, broken);
    let number = rows.c.bits("a", width).0;
    let words = rows.root(&number);
    rows.finish(words)
}

fn rebuilt(circuit: &Circuit) -> Circuit {
    rebuild(circuit, Goal::Size).expect("no circle")
}

/// The two words that a circuit gives.
fn values(circuit: &Circuit, widths: &[u32], words: &[u64]) -> [u64; 2] {
    let of = |(&word, &width): (&u64, &u32)| (0..width).map(move |i| word >> i & 1 == 1).collect::<Vec<_>>();
    let bits: Vec<bool> = words.iter().zip(widths).flat_map(of).collect();
    let outputs = circuit.evaluate(&bits);
    let (digits, left) = outputs.split_at(circuit.outputs()[0].ty.width as usize);
    [digits, left].map(|bits| bits.iter().rev().fold(0, |value, &bit| value << 1 | u64::from(bit)))
}

fn numbers(width: u32) -> impl Iterator<Item = u64> {
    (0..40u64).map(move |i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7 & ((1 << (u64::from(width) - i % 3)) - 1))
}

fn check_division(circuit: &Circuit, widths: [u32; 2]) {
    for (a, b) in numbers(widths[0]).zip(numbers(widths[1] + 2)).map(|(a, b)| (a, b >> 2)).chain([(1, 0), (5, 0)]) {
        let ones = (1 << widths[0]) - 1;
        let quotient = a.checked_div(b).unwrap_or(ones);
        let of = values(circuit, &widths, &[a, b]);
        assert_eq!(of[0], quotient, "{a} / {b}");
        assert_eq!(of[1], a.checked_rem(b).unwrap_or(a), "{a} mod {b}");
    }
}

#[test]
fn dividers_become_our_block() {
    for (style, (width, ands)) in STYLES.into_iter().flat_map(|style| [(8, 76), (16, 252)].map(|of| (style, of))) {
        let circuit = divider(style, [width; 2], usize::MAX, None);
        let made = rebuilt(&circuit);
        check_division(&circuit, [width; 2]);
        check_division(&made, [width; 2]);
        assert_eq!(made.and_count(), ands, "{style:?}, {width} bits");
    }
}

#[test]
fn operands_may_have_different_widths() {
    for (style, widths) in STYLES.into_iter().flat_map(|style| [[13, 5], [6, 11], [21, 9]].map(|of| (style, of))) {
        for most in [usize::MAX, widths[1] as usize] {
            let circuit = divider(style, widths, most, None);
            let made = rebuilt(&circuit);
            assert!(2 * made.and_count() < circuit.and_count(), "{style:?}, {widths:?}, {most}: {}", made.and_count());
            assert!(agree(&circuit, &made), "{style:?}, {widths:?}, {most}");
        }
    }
}

/// The absolute values are divided, which are no inputs.
#[test]
fn signed_dividers_are_found() {
    for width in [8, 10, 11, 12] {
        let mut rows = Rows::new(Style::Borrow, None);
        let [a, b] = ["a", "b"].map(|name| rows.c.bits(name, width).0);
        let [x, y] = [&a, &b].map(|word| rows.negated(word, word[word.len() - 1]));
        let (digits, left) = rows.divide(&x, &y, width as usize);
        let signs = [&a, &b].map(|word| word[word.len() - 1]);
        let sign = rows.c.xor(signs[0], signs[1]);
        let words = (rows.negated(&digits, sign), rows.negated(&left, signs[0]));
        let circuit = rows.finish(words);
        let made = rebuilt(&circuit);
        // The block takes 3n²/4 + 4n − 4, and four words are negated.
        let most = u64::from(3 * width * width / 4 + 4 * width + 4 * width);
        assert!(made.and_count() <= most, "{width} bits: {}", made.and_count());
        assert!(agree(&circuit, &made));
    }
}

/// As EPFL's div: the quotient comes from one divider and the remainder from another of other gates.
#[test]
fn two_dividers_become_one() {
    let mut rows = Rows::new(Style::Compare, None);
    let [a, b] = ["a", "b"].map(|name| rows.c.bits(name, 16).0);
    let digits = rows.divide(&a, &b, usize::MAX).0;
    rows.style = Style::Ands;
    let left = rows.divide(&a, &b, usize::MAX).1;
    let made = rebuilt(&rows.finish((digits, left)));
    check_division(&made, [16; 2]);
    assert_eq!(made.and_count(), 252);
}

#[test]
fn square_roots_become_our_block() {
    for (style, (width, ands)) in STYLES.into_iter().flat_map(|style| [(16, 51), (32, 167)].map(|of| (style, of))) {
        let made = rebuilt(&root(style, width, None));
        for a in numbers(width).chain([0, 1, (1 << width) - 1]) {
            let of = a.isqrt();
            assert_eq!(values(&made, &[width], &[a]), [of, a - of * of], "root of {a}");
        }
        assert_eq!(made.and_count(), ands, "{style:?}, {width} bits");
    }
}

/// A row that forgets to borrow: all inputs give what they gave.
#[test]
fn broken_rows_stay_as_they_are() {
    for (style, row, bit) in
        STYLES.into_iter().flat_map(|style| (0..5).flat_map(move |row| (0..5).map(move |bit| (style, row, bit))))
    {
        let (whole, broken) = (divider(style, [5; 2], 5, None), divider(style, [5; 2], 5, Some((row, bit))));
        assert!(agree(&broken, &rebuilt(&broken)), "{style:?}, row {row}, bit {bit}");
        assert_eq!(agree(&whole, &broken), agree(&whole, &rebuilt(&broken)), "{style:?}, row {row}, bit {bit}");
        let broken = root(style, 10, Some((row, bit)));
        assert!(agree(&broken, &rebuilt(&broken)), "root, {style:?}, row {row}, bit {bit}");
    }
}

/// A digit that is wrong for one of 2^24 inputs, of which samples know nothing: it is not taken for the quotient's.
#[test]
fn samples_are_no_proof() {
    let mut rows = Rows::new(Style::Borrow, None);
    let [a, b] = ["a", "b"].map(|name| rows.c.bits(name, 12).0);
    let (mut digits, left) = rows.divide(&a, &b, usize::MAX);
    let words = [a, b].concat();
    let rare = words.iter().enumerate().fold(Bit::TRUE, |all, (i, &bit)| rows.c.and(all, bit.flip(i % 2 == 1)));
    digits[0] = rows.c.xor(digits[0], rare);
    let circuit = rows.finish((digits, left));
    let made = rebuilt(&circuit);
    assert!(made.and_count() < circuit.and_count());
    assert_eq!(values(&made, &[12; 2], &[0x555; 2]), [0, 0]);
    assert!(agree(&circuit, &made));
}
