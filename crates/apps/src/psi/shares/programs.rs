//! Programs of what two parties have in common, without its rows: how much it is, a sum over it, whether it is enough.

use super::{Carried, CircuitPsi, MOST, Terms};
use crate::conditional_sum::ConditionalSum;
use crate::equality::Equality;
use crate::psi::Learns;
use duologue::circuit::blocks::{Goal, add, greater_or_equal};
use duologue::circuit::program::{Functionality, Owner, Recipient, Value};
use duologue::circuit::{Bits, Int, Party, Program, UInt, bits, int, uint};
use std::sync::Arc;

/// Bits of a number of strings.
pub const COUNT_WIDTH: u32 = 24;

/// The most bits of a value that is summed.
pub const MOST_VALUE_WIDTH: u32 = 40;

/// Bits of a sum.
const SUM_WIDTH: u32 = 64;

/// What both have in common, a lane for each bin.
pub struct Shares {
    /// Whether both have the string in the bin: a shared bit.
    pub in_both: Value,
    /// The values in their order. The receiver's are its own; the sender's are shared, and random where `in_both` is not set.
    pub values: Vec<Value>,
}

/// Calls [`CircuitPsi`] on Alice's and Bob's strings and values that belong to them, and compares the tags by [`Equality`]. What the program
/// makes of it must not hang on the order of lanes where the sender learns it.
pub fn shares(p: &mut Program, terms: Terms, strings: [Value; 2], values: &[(Party, Value)]) -> Shares {
    let values: Vec<_> = values.iter().map(|&(owner, value)| (Carried::Of(owner), value)).collect();
    compared(p, terms, strings, &values)
}

/// The same with values that travel as is said. Of one that is added there are two numbers, the receiver's and the sender's.
pub(crate) fn compared(p: &mut Program, terms: Terms, strings: [Value; 2], values: &[(Carried, Value)]) -> Shares {
    let (carried, values): (Vec<Carried>, Vec<Value>) = values.iter().copied().unzip();
    let (psi, equality): (Arc<dyn Functionality>, Arc<dyn Functionality>) = (Arc::new(CircuitPsi), Arc::new(Equality));
    let mut results = p.call(&psi, &terms.parameters(&carried), &[&strings[..], &values].concat()).into_iter();
    let tags = [(); 2].map(|()| results.next());
    let in_both = match tags {
        [Some(hers), Some(his)] => p.call(&equality, &[], &[hers, his]).into_iter().next(),
        // The program has remembered why.
        _ => None,
    };
    Shares { in_both: in_both.unwrap_or(strings[0]), values: results.collect() }
}

/// How many strings both have: of Alice's strings `a` of `width` bits and Bob's `b`, of which there are `as` and `bs`, public sizes. Who learns
/// gets `size`. Of equal strings of a party one counts.
pub fn size(width: u32, terms: Terms, learns: Learns) -> Program {
    let mut p = Program::new("psi_size");
    let count = count(&mut p, width, terms);
    p.output("size", recipient(learns), count);
    p
}

/// Whether both have at least `threshold` strings in common, a public number: who learns gets the bit `reached`, and nothing else of
/// how many there are.
pub fn threshold(width: u32, terms: Terms, learns: Learns) -> Program {
    let mut p = Program::new("psi_threshold");
    let least = p.input("threshold", Owner::Public, uint(COUNT_WIDTH), 1);
    let count = count(&mut p, width, terms);
    let reached = p.map_with([count, least], |c, [count, least]: [UInt; 2]| {
        Bits::from(greater_or_equal(c, &count, &least, Goal::Depth))
    });
    p.output("reached", recipient(learns), reached);
    p
}

/// What both have in common, for a further program: shares of whether both have the string in a bin, `in_both`, and of the integers of so many
/// bits that belong to it at Alice and at Bob, `a_value` and `b_value`, which are 0 where not both have it. There are [`bins`](super::bins) lanes.
///
/// # Panics
/// If values have no bits or more than 64.
pub fn joined(width: u32, terms: Terms, value_bits: u32) -> Program {
    assert!((1..=64).contains(&value_bits), "values of 1 to 64 bits");
    let mut p = Program::new("psi_shares");
    let (strings, sizes) = inputs(&mut p, width);
    let owners = [("a_value", Party::Alice), ("b_value", Party::Bob)];
    let values = owners.map(|(name, owner)| (owner, p.input(name, owner, int(value_bits), sizes[owner as usize])));
    let Shares { in_both, values } = shares(&mut p, terms, strings, &values);
    p.output("in_both", Recipient::Shared, in_both);
    for ((name, _), value) in owners.into_iter().zip(values) {
        let kept = p.map_with([in_both, value], |c, [in_both, value]: [Bits; 2]| {
            Int(value.0.iter().map(|&bit| c.and(in_both.0[0], bit)).collect())
        });
        p.output(name, Recipient::Shared, kept);
    }
    p
}

/// The sum of the `values` of one party, signed numbers of so many bits that belong to its strings, over the strings that
/// both have; who learns gets `sum`, and not how many they are. Of equal strings of a party the first one counts.
///
/// # Panics
/// If values have no bits or more than [`MOST_VALUE_WIDTH`].
pub fn sum(width: u32, terms: Terms, (owner, bits): (Party, u32), learns: Learns) -> Program {
    assert!((1..=MOST_VALUE_WIDTH).contains(&bits), "values of 1 to {MOST_VALUE_WIDTH} bits");
    let mut p = Program::new("psi_sum");
    let (strings, sizes) = inputs(&mut p, width);
    let values = p.input("values", owner, int(bits), sizes[owner as usize]);
    // The sender's values as numbers whose sum they are.
    let how = if owner == terms.receiver { Carried::Of(owner) } else { Carried::Added(8) };
    let Shares { in_both, values } = compared(&mut p, terms, strings, &[(how, values)]);
    let total = total(&mut p, SUM_WIDTH, in_both, &values);
    let total = p.map_with([total], |_, [total]: [Bits; 1]| Int(total.0));
    p.output("sum", recipient(learns), total);
    p
}

fn recipient(learns: Learns) -> Recipient {
    match learns {
        Learns::Only(party) => Recipient::Party(party),
        Learns::Both => Recipient::Both,
    }
}

fn inputs(p: &mut Program, width: u32) -> ([Value; 2], [duologue::circuit::program::Size; 2]) {
    let sizes = ["as", "bs"].map(|name| p.size(name, 0..=MOST));
    let a = p.input("a", Party::Alice, bits(width), sizes[0]);
    ([a, p.input("b", Party::Bob, bits(width), sizes[1])], sizes)
}

fn count(p: &mut Program, width: u32, terms: Terms) -> Value {
    let (strings, _) = inputs(p, width);
    let Shares { in_both, .. } = shares(p, terms, strings, &[]);
    let total = total(p, COUNT_WIDTH, in_both, &[]);
    p.map_with([total], |_, [total]: [Bits; 1]| UInt(total.0))
}

/// The sum of values, or of ones, over the lanes in which a bit is set: two numbers, which are added.
fn total(p: &mut Program, width: u32, in_both: Value, values: &[Value]) -> Value {
    let sum: Arc<dyn Functionality> = Arc::new(ConditionalSum);
    let parts = p.call(&sum, &[(width / 8) as u8], &[&[in_both], values].concat());
    let &[hers, his] = &parts[..] else { return p.number(bits(width), 1, 0) };
    p.map_with([hers, his], |c, [a, b]: [Bits; 2]| add(c, &a, &b, Goal::Depth))
}
