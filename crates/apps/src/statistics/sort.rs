//! The smallest values of two parties in order.
//!
//! Each party sorts its values in the clear. Of two lists in order the least of a_i and b_{k−1−i}, for i < k, are the k smallest
//! values of both, first up and then down: K. E. Batcher, "Sorting networks and their applications" (AFIPS 1968), whose bitonic
//! merge sorts them. For k = 2^m it has m layers, and in layer j places are compared that differ in bit m − j. The parties give
//! their values in the order of the bits from the other end, so that these are neighbours: then a layer puts the less of each
//! pair into one half and the greater into the other, and the same step follows. So a layer needs no list of places.

use super::lists::{Lists, reverse};
use super::quantile::values;
use duologue::circuit::blocks::{Goal, conditional_swap, greater, min};
use duologue::circuit::program::{Functionality, Recipient, View};
use duologue::circuit::{Builder, Circuit, Int, Program};
use std::sync::Arc;

/// The most values that are delivered.
pub const MOST_SORTED: u32 = 1 << 17;

/// The `count` smallest of Alice's values `alice` and Bob's `bob`, the least one first; there are as many as the public sizes of
/// these names, `count` or more together.
///
/// With k the power of two from `count` on, (1 + ½·log₂ k)·k comparisons of w bits and as many choices: 2·w ANDs each (size).
///
/// # Panics
/// If the width is not 2 to 64, or the count not 1 to [`MOST_SORTED`].
pub fn sort(width: u32, count: u32, learns: Recipient, goal: Goal) -> Program {
    assert!((1..=MOST_SORTED).contains(&count), "1 to {MOST_SORTED} values");
    let mut p = Program::new("sort");
    let args = values(&mut p, width);
    let call: Arc<dyn Functionality> = Arc::new(Lists);
    let lists = p.call(&call, &count.to_le_bytes(), &args);
    let (lanes, layer) = (count.next_power_of_two(), in_order(width, goal));
    let mut sorted = p.map(&less_of(width, goal), &lists);
    for _ in 0..lanes.ilog2() {
        let pairs = p.view(View::Merge(2), &[sorted]);
        let halves = p.map_all(&layer, &[pairs]);
        sorted = p.view(View::Chain, &halves);
    }
    let places = (0..count.into()).map(|place| reverse(place, lanes.into()));
    let sorted = p.view(View::Lanes(places.collect()), &[sorted]);
    p.output("sorted", learns, sorted);
    p
}

fn less_of(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("less_of");
    let (a, b) = (c.int("a", width), c.int("b", width));
    let less = min(&mut c, &a, &b, goal);
    c.output("less", &less);
    c.finish()
}

/// A pair as its less and its greater value.
fn in_order(width: u32, goal: Goal) -> Circuit {
    let mut c = Builder::new("pair");
    let pair = c.bits("pair", 2 * width).0;
    let (left, right) = pair.split_at(width as usize);
    let (left, right) = (Int(left.to_vec()), Int(right.to_vec()));
    let swap = greater(&mut c, &left, &right, goal);
    let (less, greater) = conditional_swap(&mut c, swap, &left, &right);
    c.output("less", &less);
    c.output("greater", &greater);
    c.finish()
}
