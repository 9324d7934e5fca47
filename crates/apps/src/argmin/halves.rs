//! Private halves: each party finds the least of its own values alone, and one comparison is left.
//!
//! Alice's least value is shared as (y, 0), Bob's as (0, y): they are the two values of a tournament, Alice's first. What is
//! selected is shared by XOR, the value itself with its index or argument.

use super::layout::Layout;
use super::online::Begin;
use super::rows::Rows;
use duologue::call::{Call, Zeroizing};
use duologue::circuit::{BitMatrix, Party};

/// The party's shares of the two values that are left.
pub fn of_values(layout: &Layout, call: &Call, party: Party, args: &[Option<BitMatrix>]) -> Begin {
    let lanes_of_alice = call.args.first().map_or(0, |arg| arg.lanes);
    let first_index = if party == Party::Bob { lanes_of_alice } else { 0 };
    let argument = layout.strings - layout.bits;
    let held = |arg: usize| args.get(arg).and_then(Option::as_ref);
    let least = match (held(party as usize), held(2 + party as usize)) {
        (Some(values), arguments) => least(values, arguments, (argument, first_index)),
        (None, _) => Zeroizing::new(vec![0; layout.strings]),
    };
    // In the lane of the party's own value.
    let own = |rows: usize, from: usize| {
        let mut shares = Rows::zeros(rows, 2);
        let bits = least.iter().skip(from).take(rows);
        bits.enumerate().for_each(|(row, bit)| shares.row_mut(row)[0] = bit << party as usize);
        shares
    };
    let sums = own(layout.bits, 0).then(&Rows::zeros(1, 2));
    Begin { sums, strings: own(layout.strings, 0), least_share: None }
}

/// The bits of the least value, then those of its argument or index, by going through all values in the same way whatever
/// they are.
fn least(values: &BitMatrix, arguments: Option<&BitMatrix>, (width, first_index): (usize, u64)) -> Zeroizing<Vec<u64>> {
    let mut least = Zeroizing::new(vec![0; values.rows() + width]);
    for lane in 0..values.lanes() {
        let argument = |bit: usize| match arguments {
            Some(arguments) => u64::from(arguments.get(bit, lane)),
            None => (first_index + lane as u64) >> bit & 1,
        };
        let own = (0..values.rows()).map(|row| u64::from(values.get(row, lane))).chain((0..width).map(argument));
        let own = Zeroizing::new(own.collect::<Vec<u64>>());
        let less = less(&own[..values.rows()], &least) | u64::from(lane == 0);
        least.iter_mut().zip(own.iter()).for_each(|(to, &bit)| *to ^= (*to ^ bit) & less);
    }
    least
}

/// Whether a number of single bits, the lowest first, is less than another, without a branch: 0 or 1.
fn less(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).fold(0, |less, (a, b)| (a ^ b) & b | !(a ^ b) & less) & 1
}
