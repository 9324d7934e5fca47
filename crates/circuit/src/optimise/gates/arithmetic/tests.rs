//! Sums and products flattened to gates in the ways of textbooks: products come back as what they were, near misses do not,
//! and all stay right.

use super::products::Product;
use super::*;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Bits;
use proptest::prelude::*;

/// How a full adder is made of gates.
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    /// Its carry is the OR of three ANDs.
    Majority,
    /// Two half adders and an OR.
    Halves,
    /// Its carry is selected by the XOR of two inputs.
    Select,
    /// Nine NANDs.
    Nands,
}

/// In which order the bits of columns are added.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tree {
    /// A row after the other, each by a ripple adder.
    Rows,
    /// As many adders as there may be, stage by stage.
    Wallace,
    /// As few adders as there must be, stage by stage.
    Dadda,
}

pub(super) const STYLES: [Style; 4] = [Style::Majority, Style::Halves, Style::Select, Style::Nands];
pub(super) const TREES: [Tree; 3] = [Tree::Rows, Tree::Wallace, Tree::Dadda];

/// Columns of bits that are added modulo 2^width.
pub(super) struct Flat {
    pub(super) c: Builder,
    style: Style,
    columns: Vec<Vec<Bit>>,
}

impl Flat {
    pub(super) fn new(style: Style, width: usize) -> Self {
        Flat { c: Builder::new("flat"), style, columns: vec![Vec::new(); width] }
    }

    pub(super) fn put(&mut self, column: usize, bit: Bit) {
        if let Some(column) = self.columns.get_mut(column).filter(|_| bit != Bit::FALSE) {
            column.push(bit);
        }
    }

    pub(super) fn nand(&mut self, a: Bit, b: Bit) -> Bit {
        !self.c.and(a, b)
    }

    /// A XOR as three ANDs, so that nothing says where one is.
    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        match self.style {
            Style::Nands => {
                let both = self.nand(a, b);
                let (left, right) = (self.nand(a, both), self.nand(b, both));
                self.nand(left, right)
            }
            _ => {
                let (both, neither) = (self.c.and(a, b), self.c.and(!a, !b));
                self.c.and(!both, !neither)
            }
        }
    }

    /// The sum and the carry.
    pub(super) fn full(&mut self, x: Bit, y: Bit, z: Bit) -> (Bit, Bit) {
        let p = self.xor(x, y);
        let sum = self.xor(p, z);
        let carry = match self.style {
            Style::Majority => {
                let pairs = [self.c.and(x, y), self.c.and(x, z), self.c.and(y, z)];
                let some = self.c.or(pairs[0], pairs[1]);
                self.c.or(some, pairs[2])
            }
            Style::Halves | Style::Nands => {
                let (made, passed) = (self.nand(x, y), self.nand(p, z));
                self.nand(made, passed)
            }
            Style::Select => {
                let (passed, own) = (self.c.and(p, z), self.c.and(!p, x));
                self.c.or(passed, own)
            }
        };
        (sum, carry)
    }

    /// Adds bits of a column until `left` are left or no two are.
    fn shorten(&mut self, column: usize, left: usize, bits: &mut Vec<Bit>, next: &mut [Vec<Bit>]) {
        while bits.len() > left {
            let third = if bits.len() > left + 1 { bits.pop().unwrap() } else { Bit::FALSE };
            let (x, y) = (bits.pop().unwrap(), bits.pop().unwrap());
            let (sum, carry) = self.full(x, y, third);
            bits.insert(0, sum);
            if column + 1 < next.len() {
                next[column + 1].push(carry);
            }
        }
    }

    pub(super) fn sum(&mut self, tree: Tree) -> Vec<Bit> {
        let mut columns = std::mem::take(&mut self.columns);
        if let Tree::Rows = tree {
            return self.rows(columns);
        }
        loop {
            let most = columns.iter().map(Vec::len).max().unwrap_or(0);
            if most <= 2 {
                return self.rows(columns);
            }
            // 2, 3, 4, 6, 9, 13, …
            let goal = std::iter::successors(Some(2), |height| Some(height * 3 / 2))
                .take_while(|&height| height < most)
                .last();
            let mut next = vec![Vec::new(); columns.len()];
            for (i, mut bits) in columns.into_iter().enumerate() {
                match tree {
                    Tree::Dadda => {
                        let mut all = std::mem::take(&mut next[i]);
                        all.append(&mut bits);
                        self.shorten(i, goal.unwrap(), &mut all, &mut next);
                        next[i] = all;
                    }
                    _ => {
                        for chunk in bits.chunks(3) {
                            let mut chunk = chunk.to_vec();
                            self.shorten(i, 1, &mut chunk, &mut next);
                            next[i].extend(chunk);
                        }
                    }
                }
            }
            columns = next;
        }
    }

    /// The first bit of each column, and the others added to that row by row.
    fn rows(&mut self, mut columns: Vec<Vec<Bit>>) -> Vec<Bit> {
        let mut take = || -> Vec<Bit> { columns.iter_mut().map(|column| column.pop().unwrap_or(Bit::FALSE)).collect() };
        let mut sum = take();
        loop {
            let row = take();
            if row.iter().all(|&bit| bit == Bit::FALSE) {
                return sum;
            }
            let mut carry = Bit::FALSE;
            for (bit, other) in sum.iter_mut().zip(row) {
                (*bit, carry) = self.full(*bit, other, carry);
            }
        }
    }

    pub(super) fn product(&mut self, shift: usize, a: &[Bit], b: &[Bit]) {
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let both = self.c.and(x, y);
                self.put(shift + i + j, both);
            }
        }
    }

    /// a·a, and once more 2^more times the pair, if it is one.
    pub(super) fn square(&mut self, a: &[Bit], pair: (usize, usize), more: usize) {
        for (j, &y) in a.iter().enumerate() {
            self.put(2 * j, y);
            for (i, &x) in a[..j].iter().enumerate() {
                let both = self.c.and(x, y);
                self.put(i + j + 1, both);
                if pair == (i, j) {
                    self.put(more, both);
                }
            }
        }
    }

    pub(super) fn finish(mut self, tree: Tree) -> Circuit {
        let sum = self.sum(tree);
        self.c.output("y", &Bits(sum));
        self.c.finish()
    }
}

fn found(circuit: &Circuit) -> Vec<Recognised> {
    find(&Network::read(&merge::merged(circuit).unwrap()))
}

/// The widths of the factors of all products.
fn products(circuit: &Circuit) -> Vec<(usize, usize)> {
    let found = found(circuit);
    let all = found.iter().flat_map(|one| &one.products);
    all.map(|product| (product.left.bits.len(), product.right.bits.len())).collect()
}

/// What the circuit gives for words of these widths.
pub(super) fn value(circuit: &Circuit, words: &[(u64, usize)]) -> u64 {
    let bits: Vec<bool> = words.iter().flat_map(|&(word, width)| (0..width).map(move |i| word >> i & 1 == 1)).collect();
    circuit.evaluate(&bits).iter().rev().fold(0, |value, &bit| value << 1 | u64::from(bit))
}

pub(super) fn two_words(style: Style, width: usize, n: u32) -> (Flat, Vec<Bit>, Vec<Bit>) {
    let mut flat = Flat::new(style, width);
    let (a, b) = (flat.c.bits("a", n).0, flat.c.bits("b", n).0);
    (flat, a, b)
}

/// The circuit with its sums built anew has at most so many ANDs, and gives what the model gives of words of n bits.
pub(super) fn check(flat: &Circuit, n: usize, ands: u64, model: impl Fn(&[u64]) -> u64) {
    let made = rebuild(flat, Goal::Size).unwrap();
    let mask = (1u64 << flat.output_width()) - 1;
    for i in 0..200u64 {
        let word = |k: usize| {
            (i + k as u64).wrapping_mul([0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35][k % 3]) >> 7 & ((1 << n) - 1)
        };
        let words: Vec<u64> = (0..flat.inputs().len()).map(word).collect();
        let inputs: Vec<(u64, usize)> = words.iter().map(|&word| (word, n)).collect();
        assert_eq!(value(&made, &inputs), model(&words) & mask, "{words:?}");
    }
    assert!(made.and_count() <= ands, "{} ANDs of {}, at most {ands}", made.and_count(), flat.and_count());
}

#[test]
fn products_of_all_styles_are_found() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        for (n, width, ands) in [(8, 16, 85), (8, 8, 43), (6, 9, 45)] {
            let (mut flat, a, b) = two_words(style, width, n);
            flat.product(0, &a, &b);
            let circuit = flat.finish(tree);
            let of = (n as usize).min(width);
            assert_eq!(products(&circuit), [(of, of)], "{style:?}, {tree:?}, {width}");
            check(&circuit, n as usize, ands, |words| words[0] * words[1]);
        }
    }
}

/// In a square the pairs of different bits count twice.
#[test]
fn squares_of_all_styles_are_found() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        for (n, width, ands) in [(8, 16, 37), (8, 8, 15), (6, 9, 19)] {
            let mut flat = Flat::new(style, width);
            let a = flat.c.bits("a", n).0;
            flat.square(&a, (0, 0), 0);
            check(&flat.finish(tree), n as usize, ands, |words| words[0] * words[0]);
        }
    }
}

/// A pair that counts otherwise: no square, and still the right sum.
#[test]
fn near_misses_of_squares_are_none() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        for (pair, more) in [((2, 3), 1), ((2, 3), 3), ((0, 5), 2), ((1, 4), 7)] {
            let mut flat = Flat::new(style, 13);
            let a = flat.c.bits("a", 6).0;
            flat.square(&a, pair, more);
            let circuit = flat.finish(tree);
            let found = found(&circuit);
            let is_square = |one: &&Product| one.left == one.right && one.left.bits.len() == 6;
            assert!(
                !found.iter().flat_map(|one| &one.products).any(|one| is_square(&one)),
                "{style:?}, {tree:?}, {pair:?}"
            );
            check(&circuit, 6, u64::MAX, |words| {
                let odd = words[0] >> pair.0 & words[0] >> pair.1 & 1;
                words[0] * words[0] + (odd << more)
            });
        }
    }
}

/// a·b + 2·c·d + 3·e stays what it is, whatever of it is found.
#[test]
fn sums_of_products_stay_right() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        let (mut flat, a, b) = two_words(style, 14, 6);
        let (c, d) = (flat.c.bits("c", 6).0, flat.c.bits("d", 6).0);
        let e = flat.c.bits("e", 6).0;
        flat.product(0, &a, &b);
        flat.product(1, &c, &d);
        (0..6).for_each(|i| [0, 1].iter().for_each(|shift| flat.put(i + shift, e[i])));
        let circuit = flat.finish(tree);
        assert!(!found(&circuit).is_empty(), "{style:?}, {tree:?}");
        check(&circuit, 6, circuit.and_count(), |words| words[0] * words[1] + 2 * words[2] * words[3] + 3 * words[4]);
    }
}

/// In two's complement, after Baugh and Wooley: pairs with one sign are complemented.
#[test]
fn signed_products_are_found() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        let (mut flat, a, b) = two_words(style, 12, 6);
        for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
            let both = flat.c.and(a[i], b[j]);
            flat.put(i + j, both.flip((i == 5) != (j == 5)));
        }
        [6, 11].iter().for_each(|&column| flat.put(column, Bit::TRUE));
        let circuit = flat.finish(tree);
        assert_eq!(products(&circuit), [(6, 6)], "{style:?}, {tree:?}");
        let extended = |word: u64| if word >> 5 == 1 { word | !63 } else { word };
        check(&circuit, 6, 57, |words| extended(words[0]).wrapping_mul(extended(words[1])));
    }
}

/// c − a·b, with the complements of all pairs, stays what it is.
#[test]
fn products_that_are_subtracted_stay_right() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        let (mut flat, a, b) = two_words(style, 12, 6);
        let c = flat.c.bits("c", 6).0;
        (0..6).for_each(|i| flat.put(i, c[i]));
        for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
            let bit = flat.nand(a[i], b[j]);
            flat.put(i + j, bit);
        }
        // −x is ¬x − 1, and all the ones are (2^6 − 1)².
        let ones = (1u64 << 12) - 63 * 63;
        (0..12).filter(|i| ones >> i & 1 == 1).for_each(|i| flat.put(i, Bit::TRUE));
        let circuit = flat.finish(tree);
        check(&circuit, 6, circuit.and_count(), |words| words[2].wrapping_sub(words[0] * words[1]));
    }
}

/// A pair is missing, is there twice, or has another weight: no product, and still the right sum.
#[test]
fn near_misses_of_products_are_none() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        for (column, other) in [(6, None), (6, Some(6)), (6, Some(7)), (9, Some(3))] {
            let (mut flat, a, b) = two_words(style, 13, 6);
            for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))).filter(|&(i, j)| (i, j) != (column - 4, 4)) {
                let both = flat.c.and(a[i], b[j]);
                flat.put(i + j, both);
            }
            let odd = flat.c.and(a[column - 4], b[4]);
            if let Some(other) = other {
                flat.put(other, odd);
                if other == column {
                    flat.put(other, odd);
                }
            }
            let circuit = flat.finish(tree);
            assert_eq!(products(&circuit), [], "{style:?}, {tree:?}, {column}, {other:?}");
            let weight = other.map_or(0, |other| if other == column { 2 << other } else { 1u64 << other });
            check(&circuit, 6, u64::MAX, |words| {
                let [a, b] = [words[0], words[1]];
                let odd = (a >> (column - 4) & 1) * (b >> 4 & 1);
                a * b + odd * weight - (odd << column)
            });
        }
    }
}

/// Of adders with one carry wrong, none is taken for a sum of as many bits.
#[test]
fn near_misses_of_adders_are_none() {
    for style in STYLES {
        // At the lowest bit, (a | b) is the carry of a + b + 1.
        for wrong in 1..7 {
            let (mut flat, a, b) = two_words(style, 8, 8);
            let mut carry = Bit::FALSE;
            let mut sum = Vec::new();
            for i in 0..8 {
                let (bit, next) = flat.full(a[i], b[i], carry);
                sum.push(bit);
                carry = if i == wrong { flat.c.or(a[i], b[i]) } else { next };
            }
            flat.c.output("y", &Bits(sum));
            let circuit = flat.c.finish();
            let most = found(&circuit).iter().map(|one| one.sum.digits.len()).max().unwrap_or(0);
            assert!(most < 8, "{style:?}, {wrong}");
            check(&circuit, 8, u64::MAX, |words| {
                let [a, b] = [words[0], words[1]];
                let low = (2u64 << wrong) - 1;
                let carry = (a | b) >> wrong & 1;
                let high = (a & !low).wrapping_add(b & !low).wrapping_add(carry * (low + 1));
                high & !low | a.wrapping_add(b) & low
            });
        }
    }
}

/// A carry that comes around to the lowest bit: two sums, of which the second reads the first.
#[test]
fn a_carry_may_come_around() {
    for style in STYLES {
        let (mut flat, a, b) = two_words(style, 8, 8);
        let mut carry = Bit::FALSE;
        let mut sum = Vec::new();
        for round in 0..2 {
            for i in 0..8 {
                let (x, y) = if round == 0 { (a[i], b[i]) } else { (sum[i], Bit::FALSE) };
                let (bit, next) = flat.full(x, y, carry);
                carry = next;
                if round == 0 { sum.push(bit) } else { sum[i] = bit }
            }
        }
        flat.c.output("y", &Bits(sum));
        check(&flat.c.finish(), 8, 15, |words| ((words[0] + words[1]) & 255) + ((words[0] + words[1]) >> 8));
    }
}

/// A word, or a product of two, shifted; and whether it is subtracted.
type Part = ((u32, u32), usize, bool);

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let width = prop_oneof![Just(0u32), 2u32..7];
    prop::collection::vec(((2u32..7, width), 0usize..4, any::<bool>()), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Sums of words and products, each of words of its own.
    #[test]
    fn random_sums_stay_right(
        parts in parts(),
        width in 4usize..14,
        style in prop::sample::select(&STYLES[..]),
        tree in prop::sample::select(&TREES[..]),
        values in prop::collection::vec(prop::collection::vec(any::<u64>(), 8), 20),
    ) {
        let mut flat = Flat::new(style, width);
        for (i, &((n, m), shift, subtract)) in parts.iter().enumerate() {
            let [a, b] = words(&mut flat.c, i, n, m);
            match (m, subtract) {
                (0, false) => (0..a.len()).for_each(|i| flat.put(shift + i, a[i])),
                (0, true) => {
                    (shift..width).for_each(|i| flat.put(i, !a.get(i - shift).copied().unwrap_or(Bit::FALSE)));
                    flat.put(shift, Bit::TRUE);
                }
                _ => flat.product(shift, &a, &b),
            }
        }
        let circuit = flat.finish(tree);
        let made = rebuild(&circuit, Goal::Size).unwrap();
        for values in values {
            let (mut inputs, mut sum) = (Vec::new(), 0u64);
            for (&((n, m), shift, subtract), pair) in parts.iter().zip(values.chunks(2)) {
                let [a, b] = [pair[0] & ((1 << n) - 1), pair[1] & ((1 << m) - 1)];
                inputs.extend([(a, n as usize), (b, m as usize)].into_iter().filter(|word| word.1 > 0));
                sum = match (m, subtract) {
                    (0, false) => sum.wrapping_add(a << shift),
                    (0, true) => sum.wrapping_sub(a << shift),
                    _ => sum.wrapping_add((a * b) << shift),
                };
            }
            prop_assert_eq!(value(&made, &inputs), sum & ((1 << width) - 1));
        }
    }
}

/// The words of a part; the second may be none.
fn words(c: &mut Builder, part: usize, n: u32, m: u32) -> [Vec<Bit>; 2] {
    let mut word =
        |side: char, width: u32| if width == 0 { Vec::new() } else { c.bits(format!("{side}{part}"), width).0 };
    [word('a', n), word('b', m)]
}
