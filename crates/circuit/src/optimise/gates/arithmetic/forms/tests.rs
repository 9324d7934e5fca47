//! Words that gates hide: they are found, and those that differ in a single value are not.

use super::super::tests::{Flat, STYLES, Style, TREES, Tree, value};
use super::*;
use crate::blocks::Columns;
use crate::builder::Builder;
use crate::graph::{Type, uint};
use crate::words::Bits;
use proptest::prelude::*;

/// The word that these add up to, each shifted, as one output.
fn finish(mut c: Builder, word: Vec<Bit>) -> Circuit {
    c.output("y", &Bits(word));
    c.finish()
}

/// The circuit whose highest bit is another for one value of all inputs.
fn spoilt(circuit: &Circuit) -> Circuit {
    let mut c = Builder::new("spoilt");
    let inputs: Vec<Bit> = circuit.inputs().iter().flat_map(|port| c.input(port.name.clone(), port.ty)).collect();
    let mut word = c.append(circuit, &inputs);
    let all = inputs.iter().enumerate().fold(Bit::TRUE, |all, (i, &bit)| c.and(all, bit.flip(i % 3 == 1)));
    let top = word.len() - 1;
    word[top] = c.xor(word[top], all);
    finish(c, word)
}

/// The word is found and has at most so many ANDs; one that differs from it in a single value is not found. Words of n
/// bits give what the model gives of them.
fn check(circuit: &Circuit, n: usize, ands: u64, model: impl Fn(&[u64]) -> u64) {
    let made = rebuilt(circuit, Goal::Size).expect("a form");
    assert!(made.and_count() <= ands, "{} ANDs of {}, at most {ands}", made.and_count(), circuit.and_count());
    let mask = u64::MAX >> (64 - circuit.output_width());
    for i in 0..200u64 {
        let random = |k: usize| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7 * k as u32 + 3);
        let width = |k: usize| circuit.inputs()[k].ty.width as usize;
        let words: Vec<u64> =
            (0..circuit.inputs().len()).map(|k| random(k) & (u64::MAX >> (64 - width(k).min(n)))).collect();
        let inputs: Vec<(u64, usize)> = words.iter().enumerate().map(|(k, &word)| (word, width(k))).collect();
        assert_eq!(value(&made, &inputs), model(&words) & mask, "{words:?}");
    }
    assert!(rebuilt(&spoilt(circuit), Goal::Size).is_none(), "samples do not prove it");
}

/// a + b and a − b, and which of them is given.
fn sum_or_difference(style: Style, n: u32) -> Circuit {
    let mut flat = Flat::new(style, n as usize);
    let (a, b) = (flat.c.bits("a", n).0, flat.c.bits("b", n).0);
    let select = flat.c.bits("s", 1).0[0];
    let words = [false, true].map(|subtract| {
        let mut carry = Bit::constant(subtract);
        let bits = a.iter().zip(&b).map(|(&x, &y)| {
            let (sum, next) = flat.full(x, y.flip(subtract), carry);
            carry = next;
            sum
        });
        bits.collect::<Vec<Bit>>()
    });
    let word = words[0].iter().zip(&words[1]).map(|(&sum, &difference)| flat.c.mux(select, difference, sum)).collect();
    finish(flat.c, word)
}

#[test]
fn a_sum_or_a_difference_that_is_selected() {
    for style in STYLES {
        for n in [5u32, 9, 20, 33] {
            check(&sum_or_difference(style, n), n as usize, u64::from(n) - 1, |words| match words[2] {
                0 => words[0].wrapping_add(words[1]),
                _ => words[0].wrapping_sub(words[1]),
            });
        }
    }
}

#[test]
fn products_of_more_inputs_than_can_be_tried() {
    for (style, tree) in [(Style::Nands, Tree::Wallace), (Style::Majority, Tree::Dadda), (Style::Select, Tree::Rows)] {
        for (n, width, ands) in [(14, 28, 229), (14, 14, 118)] {
            let mut flat = Flat::new(style, width);
            let (a, b) = (flat.c.bits("a", n).0, flat.c.bits("b", n).0);
            flat.product(0, &a, &b);
            check(&flat.finish(tree), n as usize, ands, |words| words[0] * words[1]);
        }
    }
}

#[test]
fn sums_of_products_are_found() {
    for (style, tree) in STYLES.into_iter().zip([Tree::Wallace, Tree::Dadda, Tree::Rows, Tree::Wallace]) {
        let mut flat = Flat::new(style, 15);
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| flat.c.bits(name, 7).0);
        flat.product(0, &a, &b);
        flat.product(0, &c, &d);
        check(&flat.finish(tree), 7, 134, |words| words[0] * words[1] + words[2] * words[3]);
    }
}

/// x_i·x_j and x_j·x_i are two terms, as where a product has one word twice.
#[test]
fn squares_are_found() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        let mut flat = Flat::new(style, 20);
        let a = flat.c.bits("a", 10).0;
        flat.product(0, &a, &a);
        check(&flat.finish(tree), 10, 57, |words| words[0] * words[0]);
    }
}

#[test]
fn counts_are_found() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        let mut flat = Flat::new(style, 6);
        let bits = flat.c.bits("a", 40).0;
        bits.iter().for_each(|&bit| flat.put(0, bit));
        check(&flat.finish(tree), 40, 38, |words| u64::from(words[0].count_ones()));
    }
}

/// Whether most of the inputs are set, by their count.
#[test]
fn majorities_are_found() {
    for (style, tree) in STYLES.into_iter().flat_map(|style| TREES.map(|tree| (style, tree))) {
        for n in [15u32, 31, 40] {
            let mut flat = Flat::new(style, 6);
            let bits = flat.c.bits("a", n).0;
            bits.iter().for_each(|&bit| flat.put(0, bit));
            let count = flat.sum(tree);
            let least = n as usize / 2 + 1;
            // The count is no less than its complement's complement: a borrow of the constant.
            let fewer = (0..6).fold(Bit::FALSE, |borrow, i| match least >> i & 1 {
                1 => !flat.c.and(count[i], !borrow),
                _ => flat.c.and(!count[i], borrow),
            });
            let circuit = finish(flat.c, vec![!fewer]);
            check(&circuit, n as usize, u64::from(n) + 4, |words| u64::from(words[0].count_ones() > n / 2));
        }
    }
}

/// No values of the inputs set all bits of which it is said that they are never all set.
#[test]
fn what_is_never_set_is_not() {
    let mut clauses = 0;
    for n in 3..=10 {
        let mut c = Builder::new("count");
        let bits = c.bits("x", n);
        let count = crate::blocks::population_count(&mut c, &bits);
        c.output("y", &count);
        let part = c.finish();
        let form = threshold::count(n as usize);
        let replica = replica::replica(&part, &Known::of(&part), &form, Pairs::Once).unwrap();
        clauses += replica.never.len();
        for x in 0..1u64 << n {
            let inputs: Vec<bool> = (0..n).map(|i| x >> i & 1 == 1).collect();
            let outputs = replica.circuit.evaluate(&inputs);
            let wrong = replica.never.iter().find(|clause| clause.iter().all(|&output| outputs[output]));
            assert_eq!(wrong, None, "{n} bits, {x:b}");
        }
    }
    assert!(clauses > 0);
}

/// A coefficient, and one or two of the inputs.
type Part = (i64, usize, usize);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// The sum of all parts is the word's value whatever is found; with a gate too many nothing wrong is.
    #[test]
    fn random_forms_stay_right(
        parts in prop::collection::vec((-40i64..40, 0usize..8, 0usize..8), 4..24),
        width in 3usize..9,
        wrong in prop::option::of((0usize..8, 0usize..8, 0usize..8)),
    ) {
        let mut c = Builder::new("form");
        let inputs = c.input("x", Type { width: 8, ..uint(8) });
        let mut columns = Columns::new(width);
        for &(coefficient, i, j) in &parts {
            let bit = c.and(inputs[i], inputs[j]);
            (0..width).filter(|k| coefficient >> k & 1 == 1).for_each(|k| columns.add_bit(k, bit));
        }
        let mut word = columns.sum(&mut c, Goal::Depth);
        if let Some((i, j, k)) = wrong {
            let pair = c.and(inputs[i], inputs[j]);
            let three = c.and(pair, inputs[k]);
            word[width - 1] = c.xor(word[width - 1], three);
        }
        let circuit = finish(c, word);
        let made = rebuilt(&circuit, Goal::Size).unwrap_or_else(|| circuit.clone());
        for x in 0..256u64 {
            let set = |i: usize| (x >> i & 1) as i64;
            let mut sum: i64 = parts.iter().map(|&(coefficient, i, j): &Part| coefficient * set(i) * set(j)).sum();
            if let Some((i, j, k)) = wrong {
                sum ^= (set(i) * set(j) * set(k)) << (width - 1);
            }
            prop_assert_eq!(value(&made, &[(x, 8)]), sum as u64 & ((1 << width) - 1));
        }
    }
}
