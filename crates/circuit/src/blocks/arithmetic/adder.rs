//! How carries run: from ripple adders to prefix trees, one construction for all of them.
//!
//! Carries go from block to block; inside a block, a prefix tree finds what every bit generates and passes on. Blocks
//! grow as time goes by: when the carry arrives at depth d, every span that can tell by depth d whether it passes a
//! carry on is ready to take it in. Blocks of 1, 2, 4, ... bits therefore carry through n bits in depth ⌈log(n + 1)⌉,
//! and no circuit is shallower: the carry of n bits and one carry is a polynomial of degree n + 1. The tree of
//! Ladner and Fischer ("Parallel prefix computation", JACM 1980) needs one layer more. Bits that arrive late end up in
//! small blocks, bits that are early ripple.
//!
//! "Generates" and "passes on" exclude each other, so that their OR is an XOR and a join costs one layer.

use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;

/// The trade of an adder between ANDs and depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Adder {
    /// Trees know the spans of 2^sparse bits only; the carries between them follow in as many more layers.
    sparse: u32,
    /// Blocks grow no more than this depth needs.
    depth: u32,
}

impl Adder {
    /// One AND and one layer a bit.
    pub const RIPPLE: Adder = Adder { sparse: 0, depth: u32::MAX };
    /// The least depth.
    pub const PREFIX: Adder = Adder { sparse: 0, depth: 0 };

    /// The least depth of trees over spans of 2^`levels` bits: about half the ANDs of the trees, for one more layer, a
    /// level.
    pub const fn sparse(levels: u32) -> Self {
        Adder { sparse: levels, depth: 0 }
    }

    /// No more ANDs than this depth of the carries needs, or the least depth if that is more.
    pub const fn within(depth: u32) -> Self {
        Adder { sparse: 0, depth }
    }
}

impl From<Goal> for Adder {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Size => Adder::RIPPLE,
            Goal::Depth => Adder::PREFIX,
        }
    }
}

/// The majority of three bits: the carry of a full adder. One AND.
pub(crate) fn majority(c: &mut Builder, x: Bit, y: Bit, z: Bit) -> Bit {
    let (left, right) = (c.xor(x, z), c.xor(y, z));
    let both = c.and(left, right);
    c.xor(z, both)
}

/// a + b + `carry` mod 2^n.
///
/// # Panics
/// If the widths differ.
pub(crate) fn add_bits_with(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, adder: Adder) -> Vec<Bit> {
    assert_eq!(a.len(), b.len(), "operands of one width");
    let low = a.len().saturating_sub(1);
    let carries = carries_with(c, &a[..low], &b[..low], carry, adder);
    sum_bits(c, a, b, &carries)
}

/// The sums of the bits and the carries into them.
pub(crate) fn sum_bits(c: &mut Builder, a: &[Bit], b: &[Bit], carries: &[Bit]) -> Vec<Bit> {
    a.iter().zip(b).zip(carries).map(|((&a, &b), &carry)| c.xor_all([a, b, carry])).collect()
}

/// The carries into bits 0 to n of a + b + `carry`; the last one is the carry of the sum.
///
/// # Panics
/// If the widths differ.
pub(crate) fn carries(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, goal: Goal) -> Vec<Bit> {
    carries_with(c, a, b, carry, goal.into())
}

/// [`carries`], with any adder.
///
/// # Panics
/// If the widths differ.
pub(crate) fn carries_with(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, adder: Adder) -> Vec<Bit> {
    assert_eq!(a.len(), b.len(), "operands of one width");
    let spans: Vec<Span> = a.iter().zip(b).map(|(&a, &b)| Span::of_bits(c, a, b)).collect();
    let mut carries = vec![carry];
    carries.extend(carries_of(c, &spans, carry, adder.sparse, adder.depth));
    carries
}

/// Bits in a row: whether they generate a carry, and whether they pass one on.
#[derive(Clone, Copy)]
struct Span {
    made: Made,
    passes: Bit,
}

#[derive(Clone, Copy)]
enum Made {
    /// One bit of each operand: it generates a carry if both are set.
    Bits(Bit, Bit),
    /// Several bits that generate this carry.
    Carry(Bit),
}

impl Span {
    fn of_bits(c: &mut Builder, a: Bit, b: Bit) -> Self {
        Span { made: Made::Bits(a, b), passes: c.xor(a, b) }
    }

    /// The carry out for this carry in. One AND.
    fn carry(&self, c: &mut Builder, carry: Bit) -> Bit {
        match self.made {
            Made::Bits(a, b) => majority(c, a, b, carry),
            Made::Carry(made) => {
                let passed = c.and(self.passes, carry);
                c.xor(made, passed)
            }
        }
    }

    /// This span and the one below it.
    fn join(&self, c: &mut Builder, below: &Span) -> Self {
        let lower = below.carry(c, Bit::FALSE);
        Span { made: Made::Carry(self.carry(c, lower)), passes: c.and(self.passes, below.passes) }
    }
}

/// The carries after every span.
fn carries_of(c: &mut Builder, spans: &[Span], carry: Bit, sparse: u32, depth: u32) -> Vec<Bit> {
    if sparse == 0 || spans.len() < 2 {
        return carries_of_blocks(c, spans, carry, depth);
    }
    let pair = |c: &mut Builder, pair: &[Span]| pair[1..].iter().fold(pair[0], |below, above| above.join(c, &below));
    let pairs: Vec<Span> = spans.chunks(2).map(|spans| pair(c, spans)).collect();
    let after = carries_of(c, &pairs, carry, sparse - 1, depth);
    let before = [&[carry], &after[..]].concat();
    let whole = |i: usize| i % 2 == 1 || i + 1 == spans.len();
    spans
        .iter()
        .enumerate()
        .map(|(i, span)| if whole(i) { after[i / 2] } else { span.carry(c, before[i / 2]) })
        .collect()
}

fn carries_of_blocks(c: &mut Builder, spans: &[Span], carry: Bit, depth: u32) -> Vec<Bit> {
    let mut carries = Vec::with_capacity(spans.len());
    let mut carry = carry;
    let mut rest = spans;
    for (length, time) in blocks(c, spans, carry, depth) {
        let block = prefixes(c, &rest[..length], time);
        let first = carries.len();
        carries.extend(block.iter().map(|span| span.carry(c, carry)));
        carry = carries[first + length - 1];
        rest = &rest[length..];
    }
    carries
}

/// The lengths of the blocks and the depth by which each knows what it passes on: the shortest ones that reach `depth`
/// or, if none do, the least depth.
fn blocks(c: &Builder, spans: &[Span], carry: Bit, depth: u32) -> Vec<(usize, u32)> {
    if depth == u32::MAX {
        return blocks_up_to(c, spans, carry, |_| 1);
    }
    let end = |blocks: &[(usize, u32)]| blocks.last().map_or(0, |&(_, time)| time + 1);
    let least = end(&blocks_up_to(c, spans, carry, |_| usize::MAX));
    let late = |longest: &dyn Fn(usize) -> usize| end(&blocks_up_to(c, spans, carry, longest)) > depth.max(least);
    let mut longest = 1;
    while late(&|_| longest) {
        longest *= 2;
    }
    // The first blocks stay shorter if there is time; at the least depth the low bits had better be early.
    let shorter = |early: usize| move |start: usize| if start < early { longest.div_ceil(2) } else { longest };
    let (mut early, mut end) = (0, if depth > least { spans.len() } else { 0 });
    while early < end {
        let middle = (early + end).div_ceil(2);
        if late(&shorter(middle)) {
            end = middle - 1;
        } else {
            early = middle;
        }
    }
    blocks_up_to(c, spans, carry, shorter(early))
}

/// Blocks as long as they can be, up to `longest` for a block that begins at the given span.
fn blocks_up_to(c: &Builder, spans: &[Span], carry: Bit, longest: impl Fn(usize) -> usize) -> Vec<(usize, u32)> {
    let mut blocks = Vec::new();
    let (mut start, mut time) = (0, c.depth(carry));
    while start < spans.len() {
        let rest = &spans[start..];
        time = time.max(c.depth(rest[0].passes));
        let length = reach(c, &rest[..rest.len().min(longest(start))], time);
        blocks.push((length, time));
        start += length;
        time += 1;
    }
    blocks
}

/// How many of these spans can know by this depth what they pass on, from the first of them to each.
fn reach(c: &Builder, spans: &[Span], time: u32) -> usize {
    let early = spans.iter().take_while(|span| c.depth(span.passes) <= time).count();
    let spans = &spans[..early];
    match spans.first() {
        _ if enough(c, spans) <= time => spans.len(),
        Some(first) if c.depth(first.passes) < time => {
            let half = reach(c, spans, time - 1);
            half + reach(c, &spans[half..], time - 1)
        }
        first => first.iter().count(),
    }
}

/// A depth by which these spans surely know what they pass on: a balanced tree above the latest of them. More time
/// changes nothing, so no search begins later than this.
fn enough(c: &Builder, spans: &[Span]) -> u32 {
    let latest = spans.iter().map(|span| c.depth(span.passes)).max().unwrap_or(0);
    latest + spans.len().max(1).next_power_of_two().ilog2()
}

/// The spans from the first of these to each, in the depth that [`reach`] found.
fn prefixes(c: &mut Builder, spans: &[Span], time: u32) -> Vec<Span> {
    if spans.len() < 2 {
        return spans.to_vec();
    }
    let time = time.min(enough(c, spans));
    let half = reach(c, spans, time - 1);
    let mut joined = prefixes(c, &spans[..half], time - 1);
    let below = joined[half - 1];
    let above = prefixes(c, &spans[half..], time - 1);
    joined.extend(above.iter().map(|span| span.join(c, &below)));
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bits, Simulator};

    /// Sums and carry of operands whose bits arrive at once, or some of them late.
    fn build(n: u32, adder: Adder, late: bool) -> crate::Circuit {
        let mut c = Builder::new("adder");
        let (a, mut b, carry) = (c.bits("a", n), c.bits("b", n), c.bits("carry", 1));
        if late {
            // Bit i waits for an AND of the bits below it wherever i is a multiple of three.
            for i in (3..b.0.len()).step_by(3) {
                let all = (0..i).fold(Bit::TRUE, |all, j| c.and(all, a.0[j]));
                b.0[i] = c.xor(b.0[i], all);
            }
        }
        let carries = carries_with(&mut c, &a.0, &b.0, carry.0[0], adder);
        let sums = sum_bits(&mut c, &a.0, &b.0, &carries);
        c.output("sum", &Bits([sums, vec![carries[n as usize]]].concat()));
        c.output("b", &b);
        c.finish()
    }

    #[test]
    fn every_adder_adds() {
        let adders = (0..4).map(Adder::sparse).chain((0..9).map(Adder::within)).chain([Adder::RIPPLE]);
        for (adder, late, n) in adders.flat_map(|adder| [(adder, false, 7), (adder, true, 7), (adder, true, 3)]) {
            let all = 0..1u128 << (2 * n + 1);
            let part =
                |shift: u32, width: u32| all.clone().map(|x| x >> shift & ((1 << width) - 1)).collect::<Vec<_>>();
            let (a, b, carry) = (part(0, n), part(n, n), part(2 * n, 1));
            let out = Simulator::new(&build(n, adder, late)).numbers(&[&a, &b, &carry]);
            for (lane, &sum) in out[0].iter().enumerate() {
                assert_eq!(sum, a[lane] + out[1][lane] + carry[lane], "{adder:?}, {n} bits, late {late}");
            }
        }
    }

    #[test]
    fn depth_for_size() {
        for n in 1..=65u32 {
            let cost = |adder| {
                let circuit = build(n, adder, false);
                (circuit.and_count(), circuit.depth())
            };
            let least = u32::BITS - n.leading_zeros();
            assert_eq!((cost(Adder::PREFIX).1, cost(Adder::RIPPLE)), (least, (n.into(), n)), "{n} bits");
            let mut last = cost(Adder::PREFIX).0;
            for depth in least..=n {
                let (ands, came) = cost(Adder::within(depth));
                assert!(came <= depth && ands <= last, "{n} bits within {depth}: {ands} ANDs of depth {came}");
                last = ands;
            }
            for levels in (1..4).filter(|_| n >= 16) {
                let (ands, depth) = cost(Adder::sparse(levels));
                assert!(depth <= least + levels && ands <= cost(Adder::PREFIX).0, "{n} bits: {ands}, {depth}");
            }
        }
    }
}
