//! Division by convergence, after Goldschmidt ("Applications of division by convergence", MIT, 1964): the shallow
//! variant for all but narrow words.
//!
//! The divisor is shifted until it lies in [½, 1), the dividend alike. A table of its k highest bits gives a factor F
//! with divisor · F = 1 − e for some e below 2^-k, and 1 / (1 − e) = (1 + e)(1 + e²)(1 + e⁴)…, so that every round is
//! one product for the quotient and beside it one square. All that is dropped on the way makes the quotient smaller,
//! by less than one in all: a last product tells by its remainder whether one has to be added.
//!
//! Table entries are XORs of a decoder; products are those of signed digits, without their lower halves.

use super::adder::{Adder, add_bits_with, majority};
use super::columns::Columns;
use super::factor::{Factor, Product};
use super::multiply::{product_high_into, products_into};
use super::shift::{seen_from_above, shift_by_leading_zeros};
use crate::blocks::Goal;
use crate::blocks::logic::select::{mux, one_hot};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::UInt;

/// Bits of the table's index at most: its decoder has 2^k ANDs.
const INDEX: usize = 9;

/// How the work is divided.
struct Plan {
    /// Bits of the operands.
    n: usize,
    /// Bits of the table's index.
    index: usize,
    /// Bits of a table entry behind the point.
    entry: usize,
    /// Factors 1 + e, 1 + e², ...
    rounds: usize,
    /// Bits of the quotient behind the point.
    guard: usize,
}

impl Plan {
    fn new(n: usize) -> Self {
        // e is below 1.125 · 2^-k = 2^-(k - 0.17), and its first power without a factor must be below 2^-(n + 2).
        let index = |rounds: usize| (100 * (n + 2) + (17 << rounds)).div_ceil(100 << rounds);
        let rounds = (1..).find(|&rounds| index(rounds) <= INDEX).expect("enough rounds");
        let index = index(rounds);
        let drops = |guard: usize| 2 * rounds * (n + guard) + index.max(guard) + 6;
        // The factors left out take a quarter of the one that may be missing, what is dropped not quite the rest.
        let guard = (3..).find(|&guard| 10 * drops(guard) <= 7 << guard).expect("enough bits");
        Plan { n, index, entry: guard.max(index + 3), rounds, guard }
    }

    /// The highest bits of e^(2^round) that are zero.
    fn zeros(&self, round: usize) -> usize {
        (self.index << round) - (1 << round >> 2).max(1)
    }
}

/// ⌊a / b⌋ and a mod b; by zero all ones, and a.
pub(crate) fn divide(c: &mut Builder, a: &[Bit], b: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
    let plan = Plan::new(b.len());
    let seen = seen_from_above(c, b, Goal::Depth);
    let zero = !seen[plan.n - 1];
    let divisor = shift_by_leading_zeros(c, &seen, b);
    let mut wide = a.to_vec();
    wide.resize(2 * plan.n, Bit::FALSE);
    let dividend = shift_by_leading_zeros(c, &seen, &wide)[plan.n - plan.guard..].to_vec();
    let factor = plan.factor(c, &divisor);
    let error = plan.error(c, &divisor, &factor);
    let quotient = plan.quotient(c, &dividend, &factor, error);
    correct(c, a, b, &quotient, zero)
}

/// ⌊a·2^(n + 1) / b⌋ in n + 2 bits and the remainder, for a and b of n bits whose highest bits are set.
pub(crate) fn divide_normalised(c: &mut Builder, a: &[Bit], b: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
    let plan = Plan::new(b.len() + 2);
    let divisor = [&[Bit::FALSE; 2], b].concat();
    let mut dividend = [&vec![Bit::FALSE; plan.guard + 1], a].concat();
    dividend.resize(plan.n + plan.guard, Bit::FALSE);
    let factor = plan.factor(c, &divisor);
    let error = plan.error(c, &divisor, &factor);
    let quotient = plan.quotient(c, &dividend, &factor, error);
    // The remainder has a bit more than b at most, and all bits of the dividend are above that.
    correct(c, &vec![Bit::FALSE; b.len()], b, &quotient, Bit::FALSE)
}

impl Plan {
    /// The table: 1 / (the end of the interval of the divisor), rounded down, between 1 and 2.
    fn factor(&self, c: &mut Builder, divisor: &[Bit]) -> Vec<Bit> {
        let places = one_hot(c, &divisor[self.n - 1 - self.index..self.n - 1]);
        let entry = |i: usize| (1u64 << (self.entry + self.index + 1)) / ((1 << self.index) + i as u64 + 1);
        let bit = |k: usize| {
            let set = places.iter().enumerate().filter(|(i, _)| entry(*i) >> k & 1 == 1);
            c.xor_all(set.map(|(_, &place)| place))
        };
        (0..=self.entry).map(bit).collect()
    }

    /// e = 1 − divisor · factor, rounded down to the bits that count.
    fn error(&self, c: &mut Builder, divisor: &[Bit], factor: &[Bit]) -> Vec<Bit> {
        let product = Product::of(Factor::unsigned(divisor), Factor::unsigned(factor));
        let mut columns = Columns::new(self.n + self.entry - self.zeros(0));
        products_into(c, &mut columns, 0, &[product], Goal::Depth);
        columns.subtract_power(0);
        let error = columns.sum(c, Goal::Depth);
        error[self.entry - self.guard..].iter().map(|&bit| !bit).collect()
    }

    /// dividend · factor · (1 + e)(1 + e²)…, rounded down.
    fn quotient(&self, c: &mut Builder, dividend: &[Bit], factor: &[Bit], error: Vec<Bit>) -> Vec<Bit> {
        let width = self.n + self.guard;
        let mut quotient = high_product(c, Columns::new(width), (dividend, factor), self.entry);
        let mut error = error;
        for round in 0..self.rounds {
            let zeros = self.zeros(round);
            let mut columns = Columns::new(width);
            columns.add_word(0, &quotient);
            quotient = high_product(c, columns, (&quotient[zeros..], &error), error.len());
            let high = &error[zeros.min(error.len())..];
            if round + 1 < self.rounds {
                error = high_product(c, Columns::new(width - self.zeros(round + 1)), (high, high), high.len());
            }
        }
        quotient[self.guard..].to_vec()
    }
}

/// The sum and a · b / 2^drop, rounded down by at most `drop` too much.
fn high_product(c: &mut Builder, mut sum: Columns, (a, b): (&[Bit], &[Bit]), drop: usize) -> Vec<Bit> {
    product_high_into(c, &mut sum, 0, (&Factor::unsigned(a), &Factor::unsigned(b)), drop);
    sum.sum(c, Goal::Depth)
}

/// The quotient and the remainder from a quotient that may be one too small.
///
/// The remainder a − qb is ¬(qb + ¬a), and so is the one after it, with b more. Of zero, no more is taken.
fn correct(c: &mut Builder, a: &[Bit], b: &[Bit], quotient: &[Bit], zero: Bit) -> (Vec<Bit>, Vec<Bit>) {
    let n = b.len();
    let mut columns = Columns::new(n + 1);
    products_into(c, &mut columns, 0, &[Product::of(Factor::unsigned(quotient), Factor::unsigned(b))], Goal::Depth);
    columns.add_word(0, &a.iter().map(|&bit| !bit).collect::<Vec<_>>());
    columns.add_power(n);
    let (first, second) = columns.carry_save(c);
    let (mut sums, mut carries) = (Vec::new(), vec![Bit::FALSE]);
    for ((&x, &y), &z) in first.iter().zip(&second).zip(b.iter().chain([&zero])) {
        sums.push(c.xor_all([x, y, z]));
        carries.push(majority(c, x, y, z));
    }
    carries.pop();
    let less = add_bits_with(c, &first, &second, Bit::FALSE, Adder::PREFIX);
    let more = add_bits_with(c, &sums, &carries, Bit::FALSE, Adder::PREFIX);
    let enough = more[n];
    let remainder = mux(c, enough, &complement(&more[..n]), &complement(&less[..n])).0;
    let quotient: Vec<Bit> = quotient.iter().map(|&bit| c.or(bit, zero)).collect();
    let quotient = add_bits_with(c, &quotient, &vec![Bit::FALSE; quotient.len()], enough, Adder::PREFIX);
    (quotient, remainder)
}

fn complement(bits: &[Bit]) -> UInt {
    UInt(bits.iter().map(|&bit| !bit).collect())
}

#[cfg(test)]
mod tests {
    use super::divide;
    use crate::builder::Builder;
    use crate::simulate::Simulator;
    use crate::words::UInt;

    /// Narrower words than it is used for, so that all pairs can be tried.
    #[test]
    fn all_pairs_of_narrow_words() {
        for n in 7..=11u32 {
            let mut c = Builder::new("divide");
            let (a, b) = (c.uint("a", n), c.uint("b", n));
            let (quotient, remainder) = divide(&mut c, &a.0, &b.0);
            c.output("quotient", &UInt(quotient));
            c.output("remainder", &UInt(remainder));
            let mut simulator = Simulator::new(&c.finish());
            let all: Vec<u128> = (0..1 << n).collect();
            for b in 0..1u128 << n {
                let results = simulator.numbers(&[&all, &vec![b; all.len()]]);
                for (lane, &a) in all.iter().enumerate() {
                    let expected = (a.checked_div(b).unwrap_or((1 << n) - 1), a.checked_rem(b).unwrap_or(a));
                    assert_eq!((results[0][lane], results[1][lane]), expected, "{a} / {b} in {n} bits");
                }
            }
        }
    }
}
