//! Least and greatest of two and of many words against integers, ties included, and their costs.

use crate::common::lanes::{Lanes, check, every, log, low, mixed, signed};
use circuit::blocks::{self, Goal};
use circuit::{Builder, Circuit, Int, UInt, Word};

const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// Least, its index, greatest, its index.
fn ends<W: Word + Clone>(count: u32, width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("ends");
    let words: Vec<W> = (0..count).map(|i| W::from_bits(c.bits(format!("x{i}"), width).0)).collect();
    let (least, first) = blocks::min_index(&mut c, &words, goal);
    let (greatest, last) = blocks::max_index(&mut c, &words, goal);
    c.output("least", &least);
    if count > 1 {
        c.output("first", &first);
    }
    c.output("greatest", &greatest);
    if count > 1 {
        c.output("last", &last);
    }
    c.finish()
}

/// The ends of the order in which numbers stand by `key`, the lowest index among equals.
fn expected<K: Ord>(words: &[u128], key: impl Fn(u128) -> K) -> [u128; 4] {
    let least = (0..words.len()).min_by_key(|&i| key(words[i])).unwrap();
    let greatest = (0..words.len()).rev().max_by_key(|&i| key(words[i])).unwrap();
    [words[least], least as u128, words[greatest], greatest as u128]
}

fn check_ends(count: u32, width: u32, goal: Goal, lanes: &Lanes) {
    let place = format!("{count} words of {width} bits, {goal}");
    if count == 1 {
        return check(&ends::<UInt>(1, width, goal), lanes, &place, |lane| [lane[0]; 2]);
    }
    check(&ends::<UInt>(count, width, goal), lanes, &place, |lane| expected(lane, |word| word));
    check(&ends::<Int>(count, width, goal), lanes, &place, |lane| expected(lane, |word| signed(word, width)));
}

#[test]
fn ends_exhaustively() {
    for goal in GOALS {
        for (count, width) in [(1, 3), (2, 1), (2, 5), (2, 8), (3, 5), (4, 4), (5, 3), (6, 3), (7, 2), (8, 2), (17, 1)]
        {
            check_ends(count, width, goal, &every(&vec![width; count as usize]));
        }
    }
}

#[test]
fn ends_of_many() {
    for goal in GOALS {
        for (count, width, lanes) in
            [(4, 32, 1 << 20), (16, 16, 1 << 14), (23, 64, 1 << 13), (110, 8, 1 << 12), (130, 33, 1 << 11)]
        {
            check_ends(count, width, goal, &mixed(&vec![width; count as usize], lanes, 3));
        }
    }
}

#[test]
fn of_two() {
    let lanes = mixed(&[32, 32], 1 << 20, 4);
    for goal in GOALS {
        let mut c = Builder::new("two");
        let (a, b) = (c.uint("a", 32), c.uint("b", 32));
        let (x, y) = (Int(a.0.clone()), Int(b.0.clone()));
        let (least, greatest) = (blocks::min(&mut c, &a, &b, goal), blocks::max(&mut c, &a, &b, goal));
        let (signed_least, signed_greatest) = (blocks::min(&mut c, &x, &y, goal), blocks::max(&mut c, &x, &y, goal));
        let words = [a.clone(), b.clone(), UInt(x.0.clone())];
        assert_eq!(blocks::minimum(&mut c, &words[..2], goal), least);
        assert_eq!(blocks::maximum(&mut c, &words[..2], goal), greatest);
        c.output("least", &least);
        c.output("greatest", &greatest);
        c.output("signed_least", &signed_least);
        c.output("signed_greatest", &signed_greatest);
        check(&c.finish(), &lanes, &format!("{goal}"), |lane| {
            let (a, b) = (lane[0], lane[1]);
            let (x, y) = (signed(a, 32), signed(b, 32));
            [a.min(b), a.max(b), x.min(y) as u128 & low(32), x.max(y) as u128 & low(32)]
        });
    }
}

/// ANDs and depth at or below (ANDs, depth).
fn at_most(circuit: &Circuit, ands: u32, depth: u32, place: &str) {
    let came = (circuit.and_count(), circuit.depth());
    assert!(came.0 <= ands.into() && came.1 <= depth, "{place}: {came:?} over {:?}", (ands, depth));
}

/// ANDs and depth of a comparison in Table 7.
fn comparison(n: u32, goal: Goal) -> (u32, u32) {
    match goal {
        Goal::Size => (n, n),
        Goal::Depth => (3 * n - log(n) - 2, log(n) + 1),
    }
}

#[test]
fn comparisons_stay_below_table_7() {
    for (n, goal) in (1..=70).chain([127, 128, 129, 512]).flat_map(|n| GOALS.map(|goal| (n, goal))) {
        let (mut ands, depth) = comparison(n, goal);
        if goal == Goal::Depth && n.is_power_of_two() && n > 1 {
            ands = 5 * n / 2 - log(n) - 2;
        }
        for name in ["greater", "signed_greater"] {
            let circuit = blocks::find(name).unwrap().circuit(&[n], goal).unwrap();
            at_most(&circuit, ands, depth, &format!("{name}, {n} bits, {goal}"));
        }
    }
}

/// The least of k words alone, or with its index.
fn least(k: u32, n: u32, goal: Goal, with_index: bool) -> Circuit {
    let mut c = Builder::new("least");
    let words: Vec<UInt> = (0..k).map(|i| c.uint(format!("x{i}"), n)).collect();
    let (least, index) = blocks::min_index(&mut c, &words, goal);
    c.output("least", &least);
    if with_index {
        c.output("index", &index);
    }
    c.finish()
}

#[test]
fn tournaments_stay_below_table_7() {
    for (k, n) in (2..=40).chain([64, 105, 107, 128, 600]).flat_map(|k| [1, 2, 3, 8, 16, 21, 32].map(|n| (k, n))) {
        for goal in GOALS {
            let place = format!("{k} words of {n} bits, {goal}");
            let (ands, layers) = comparison(n, goal);
            let depth = log(k) * (layers + 1);
            at_most(&least(k, n, goal, false), (k - 1) * (ands + n), depth, &place);
            at_most(&least(k, n, goal, true), (k - 1) * (ands + n + log(k)), depth, &place);
            if goal == Goal::Size {
                at_most(&least(k, n, goal, true), 2 * n * (k - 1) + (1 << log(k)) - log(k) - 1, depth, &place);
            }
        }
    }
    at_most(&least(1000, 32, Goal::Depth, true), 113_750, 53, "1000 words");
    at_most(&least(320, 42, Goal::Depth, true), 43_619, 58, "320 words");
}
