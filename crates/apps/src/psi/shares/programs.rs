//! Programs of what two parties have in common, without its rows: how much it is, a sum over it, whether it is enough.

use super::{CircuitPsi, MOST, Terms};
use crate::psi::Learns;
use duologue::circuit::blocks::{Goal, add, equal, greater_or_equal, population_count, sum_full};
use duologue::circuit::program::{Functionality, Owner, Recipient, Value, View};
use duologue::circuit::{Bit, Bits, Builder, Int, Party, Program, UInt, bits, int, uint};
use std::sync::Arc;

/// Bits of a number of strings.
pub const COUNT_WIDTH: u32 = 24;

/// The most bits of a value that is summed.
pub const MOST_VALUE_WIDTH: u32 = 40;

/// Bits of a sum.
const SUM_WIDTH: usize = 64;

/// Lanes that are counted or added up together, in two halves.
const LANES: u32 = 64;

/// What both have in common, a lane for each bin.
pub struct Shares {
    /// Whether both have the string in the bin: a shared bit.
    pub in_both: Value,
    /// The values in their order. The receiver's are its own; the sender's are shared, and random where `in_both` is not set.
    pub values: Vec<Value>,
}

/// Calls [`CircuitPsi`] on Alice's and Bob's strings and values that belong to them, and compares the tags. What the program makes of it must
/// not hang on the order of lanes where the sender learns it.
pub fn shares(p: &mut Program, terms: Terms, strings: [Value; 2], values: &[(Party, Value)]) -> Shares {
    let psi: Arc<dyn Functionality> = Arc::new(CircuitPsi);
    let (owners, values): (Vec<Party>, Vec<Value>) = values.iter().copied().unzip();
    let results = p.call(&psi, &terms.parameters(&owners), &[&strings[..], &values].concat());
    let [hers, his, results @ ..] = &results[..] else {
        // The program has remembered why.
        return Shares { in_both: strings[0], values };
    };
    let in_both = p.map_with([*hers, *his], |c, [a, b]: [Bits; 2]| Bits::from(equal(c, &a, &b)));
    Shares { in_both, values: results.to_vec() }
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
    let Shares { in_both, values } = shares(&mut p, terms, strings, &[(owner, values)]);
    let parts = [in_both, values[0]].map(|value| p.view(View::Merge(LANES), &[value]));
    let sums = p.map_all(&chosen_sums(bits), &parts);
    let total = total(&mut p, &sums);
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
    let parts = p.view(View::Merge(LANES), &[in_both]);
    let counts = p.map_all(&counts(), &[parts]);
    let total = total(p, &counts);
    p.map_with([total], |_, [total]: [Bits; 1]| UInt(total.0))
}

/// How many bits of either half of some lanes are set.
fn counts() -> duologue::circuit::Circuit {
    let mut c = Builder::new("psi_counts");
    let found = c.bits("in_both", LANES);
    for (half, name) in found.0.chunks(LANES as usize / 2).zip(["one", "other"]) {
        let count = population_count(&mut c, &Bits(half.to_vec())).resized(COUNT_WIDTH as usize);
        c.output(name, &Bits(count.0));
    }
    c.finish()
}

/// The sums of the values of either half of some lanes that are in both.
fn chosen_sums(width: u32) -> duologue::circuit::Circuit {
    let mut c = Builder::new("psi_sums");
    let (found, values) = (c.bits("in_both", LANES), c.bits("values", LANES * width));
    let values: Vec<UInt> = found
        .0
        .iter()
        .zip(values.0.chunks(width as usize))
        .map(|(&found, value)| offset(UInt(value.iter().map(|&bit| c.and(found, bit)).collect())))
        .collect();
    for (half, name) in values.chunks(LANES as usize / 2).zip(["one", "other"]) {
        // All offsets together are the uppermost bit of the sum.
        let sum = offset(sum_full(&mut c, half, Goal::Depth));
        c.output(name, &Bits(Int(sum.0).resized(SUM_WIDTH).0));
    }
    c.finish()
}

/// A signed number of w bits plus 2ʷ⁻¹, which is an unsigned one, and back.
fn offset(mut number: UInt) -> UInt {
    if let Some(sign) = number.0.last_mut() {
        *sign = !*sign;
    }
    number
}

/// The sum of all lanes of two words together, as both are all the time: two adders that pass no carry on for each pair of lanes.
fn total(p: &mut Program, words: &[Value]) -> Value {
    let &[one, other] = words else { return p.number(bits(1), 1, 0) };
    let [one, other] = p.reduce_with([one, other], |c, [a, b], [d, e]: [Bits; 2]| {
        let [a, b] = saved(c, [a, b, d]);
        saved(c, [a, b, e])
    });
    p.map_with([one, other], |c, [a, b]: [Bits; 2]| add(c, &a, &b, Goal::Depth))
}

/// Two words whose sum is that of three, modulo their width.
fn saved(c: &mut Builder, [a, b, d]: [Bits; 3]) -> [Bits; 2] {
    let (mut sums, mut carries) = (Vec::new(), vec![Bit::FALSE]);
    for ((&a, &b), &d) in a.0.iter().zip(&b.0).zip(&d.0) {
        let (left, right) = (c.xor(a, b), c.xor(b, d));
        let differ = c.and(left, right);
        sums.push(c.xor(left, d));
        carries.push(c.xor(b, differ));
    }
    carries.truncate(sums.len());
    [Bits(sums), Bits(carries)]
}
