//! Median and quantiles of all values of two parties.
//!
//! Each party sorts its values in the clear. Of two sorted lists the k smallest are the first t of Alice's and the first k − t
//! of Bob's, where t is the number of i < k with a_i ≤ b_{k−1−i}. As i grows this holds first and then no more, so that where it ends
//! is found by XOR alone, and t picks a_{t−1}, a_t, b_{k−1−t} and b_{k−t}: of the first and third the greater is of rank k, of
//! the others the less is of rank k + 1. The search of Aggarwal, Mishra and Pinkas, "Secure computation of the kth-ranked
//! element" (EUROCRYPT 2004) takes log k comparisons, but tells both parties their results, and with them more than the value
//! where some are equal; this tells nothing but the result, to whom it may concern.
//!
//! **Cost** for w bits and rank k: a comparison and 4·w ANDs for each of k + 1 places, 2·w for a quantile.

use super::MOST_ROWS;
use super::lists::Lists;
use duologue::circuit::blocks::{Goal, less_or_equal, max, min, mux};
use duologue::circuit::program::{Functionality, Recipient, Value, View};
use duologue::circuit::{Bit, Bits, Builder, Circuit, Int, Kind, Party, Program, Type, bits, int, uint};
use std::sync::Arc;

/// The most bits of a value.
pub const MOST_BITS: u32 = 64;

/// The median of Alice's values `alice` and Bob's `bob`, as many as the public sizes of these names: of an even number the mean of
/// the two in the middle, as NumPy's `median`. Exact: it has one bit after the point.
///
/// # Panics
/// If the width is not 2 to 64.
pub fn median(width: u32, learns: Recipient, goal: Goal) -> Program {
    let mut p = Program::new("median");
    let args = values(&mut p, width);
    let found = search(&mut p, width, &args, goal);
    let median = p.map(&middle(width, goal), &found);
    p.output("median", learns, median);
    p
}

/// The smallest value of both parties that is not less than `percent` per cent of all, a public size of 1 to 100: that of rank
/// ⌈n·percent / 100⌉ of n, as NumPy's `quantile` with the method `inverted_cdf`.
///
/// # Panics
/// If the width is not 2 to 64.
pub fn quantile(width: u32, learns: Recipient, goal: Goal) -> Program {
    let mut p = Program::new("quantile");
    let mut args = values(&mut p, width);
    let percent = p.size("percent", 1..=100);
    args.push(p.number(uint(1), percent, 0));
    let found = search(&mut p, width, &args, goal);
    let quantile = p.map(&greater_of(width, goal), &found);
    p.output("quantile", learns, quantile);
    p
}

pub(super) fn values(p: &mut Program, width: u32) -> Vec<Value> {
    let input = |(name, party)| {
        let lanes = p.size(name, 0..=MOST_ROWS);
        p.input(name, party, int(width), lanes)
    };
    [("alice", Party::Alice), ("bob", Party::Bob)].map(input).into()
}

/// The values next to where the lists are cut, of Alice's list and then of Bob's; of a median also whether the number of values is
/// odd.
fn search(p: &mut Program, width: u32, args: &[Value], goal: Goal) -> Vec<Value> {
    let lists: Arc<dyn Functionality> = Arc::new(Lists);
    let mut lists = p.call(&lists, &[], args);
    // After a mistake there are none.
    let odd = if args.len() == 2 { lists.pop() } else { None };
    let (alice, bob) = lists.split_at(lists.len() / 2);
    let (Some((&a, from_a)), Some((&b, from_b))) = (alice.split_first(), bob.split_first()) else { return Vec::new() };
    let first = p.map(&in_order(width, goal), &[a, b]);
    let [yes, no] = [1, 0].map(|bit| p.number(bits(1), 1, bit));
    let before = p.view(View::Chain, &[yes, first]);
    let after = p.view(View::Chain, &[first, no]);
    let all = p.view(View::Join, &[from_a, from_b].concat());
    let width = width * (from_a.len() + from_b.len()) as u32;
    let picked = p.map(&pick(width), &[before, after, all]);
    let mut found: Vec<Value> = p.reduce(&sum(width), &[picked]);
    found.extend(odd);
    found
}

/// Whether Alice's value is one of the smallest: it is not greater than Bob's.
fn in_order(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("in_order");
    let (a, b) = (c.int("a", width), c.int("b", width));
    let first = less_or_equal(&mut c, &a, &b, goal);
    c.output("first", &Bits::from(first));
    c.finish()
}

/// The values of a place if the lists are cut there, else zeros.
fn pick(width: u32) -> Circuit {
    let mut c = Builder::new("pick");
    let (before, after, values) = (c.bits("before", 1), c.bits("after", 1), c.bits("values", width));
    let here = c.xor(before.0[0], after.0[0]);
    let picked = Bits(values.0.iter().map(|&bit| c.and(here, bit)).collect());
    c.output("picked", &picked);
    c.finish()
}

/// All places together, of which one is not zero.
fn sum(width: u32) -> Circuit {
    let mut c = Builder::new("together");
    let (left, right) = (c.bits("left", width), c.bits("right", width));
    let both = Bits(left.0.iter().zip(&right.0).map(|(&left, &right)| c.xor(left, right)).collect());
    c.output("both", &both);
    c.finish()
}

fn part(all: &Bits, width: u32, number: usize) -> Int {
    let width = width as usize;
    Int(all.0[number * width..][..width].to_vec())
}

fn greater_of(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("greater_of");
    let picked = c.bits("picked", 2 * width);
    let greater = max(&mut c, &part(&picked, width, 0), &part(&picked, width, 1), goal);
    c.output("quantile", &greater);
    c.finish()
}

/// Half of the sum of the values of rank k and k + 1; of an odd number that of rank k.
fn middle(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("middle");
    let (picked, odd) = (c.bits("picked", 4 * width), c.bits("odd", 1));
    let [a_below, a_above, b_below, b_above] = [0, 1, 2, 3].map(|number| part(&picked, width, number));
    let low = max(&mut c, &a_below, &b_below, goal);
    let high = min(&mut c, &a_above, &b_above, goal);
    let high = mux(&mut c, odd.0[0], &low, &high);
    let [low, high] = [low, high].map(|value| value.resized(width as usize + 1));
    let twice: Vec<Bit> = duologue::circuit::blocks::add(&mut c, &low, &high, goal).0;
    c.output_as("median", Type { kind: Kind::Fixed { fraction: 1 }, width: width + 1 }, &twice);
    c.finish()
}
