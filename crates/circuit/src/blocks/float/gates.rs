//! Small circuits on bits that the floating-point blocks share; bits come least significant first.

use crate::blocks::arithmetic::adder::{Adder, carries, carries_with};
pub(super) use crate::blocks::logic::reduce::{all, any};
use crate::blocks::{Goal, subtract};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::UInt;

/// `then` if `condition`, else `otherwise`; the shorter is filled up with zeros.
pub(super) fn mux(c: &mut Builder, condition: Bit, then: &[Bit], otherwise: &[Bit]) -> Vec<Bit> {
    let at = |bits: &[Bit], i: usize| bits.get(i).copied().unwrap_or(Bit::FALSE);
    (0..then.len().max(otherwise.len())).map(|i| c.mux(condition, at(then, i), at(otherwise, i))).collect()
}

/// Every bit turned over if `condition`. Free.
pub(super) fn flip(c: &mut Builder, condition: Bit, bits: &[Bit]) -> Vec<Bit> {
    bits.iter().map(|&bit| c.xor(condition, bit)).collect()
}

/// How far an increment ripples when size counts.
const RIPPLE: u32 = 24;

/// bits + carry, and the carry out of it. Size: n ANDs up to 24 bits or so and a few more above, in no more layers than
/// that; depth: about n + (n/2)·log n ANDs, one layer behind a late carry.
pub(super) fn increment(c: &mut Builder, bits: &[Bit], carry: Bit, goal: Goal) -> (Vec<Bit>, Bit) {
    let adder = match goal {
        Goal::Size => Adder::within(c.depth(carry) + RIPPLE),
        Goal::Depth => Adder::PREFIX,
    };
    let carries = carries_with(c, bits, &vec![Bit::FALSE; bits.len()], carry, adder);
    let sum = bits.iter().zip(&carries).map(|(&bit, &carry)| c.xor(bit, carry)).collect();
    (sum, carries[bits.len()])
}

/// a + b + carry, and the carry out of it. Costs what [`add_carry`](crate::blocks::add_carry) does.
pub(super) fn add_with_carry(c: &mut Builder, a: &[Bit], b: &[Bit], carry: Bit, goal: Goal) -> (Vec<Bit>, Bit) {
    let carries = carries(c, a, b, carry, goal);
    let sum = a.iter().zip(b).zip(&carries).map(|((&a, &b), &carry)| c.xor_all([a, b, carry])).collect();
    (sum, carries[a.len()])
}

/// a − b for an unsigned b of no more bits, modulo 2^width of a.
pub(super) fn subtract_small(c: &mut Builder, a: &[Bit], b: &[Bit], goal: Goal) -> Vec<Bit> {
    let a = UInt(a.to_vec());
    let b = UInt(b.to_vec()).resized(a.0.len());
    subtract(c, &a, &b, goal).0
}

/// bits · 2^amount, in as many bits; the highest bit of the amount shifts first.
pub(super) fn shift_left(c: &mut Builder, bits: &[Bit], amount: &[Bit]) -> Vec<Bit> {
    amount.iter().enumerate().rev().fold(bits.to_vec(), |bits, (stage, &by)| {
        let shifted: Vec<Bit> = std::iter::repeat_n(Bit::FALSE, 1 << stage).chain(bits.iter().copied()).collect();
        mux(c, by, &shifted[..bits.len()], &bits)
    })
}

/// ⌊bits / 2^amount⌋ in as many bits, and whether any bit that was shifted out is set.
///
/// An amount of more bits than shifts need costs one AND for each bit more, and as many as there are stages.
pub(super) fn shift_right(c: &mut Builder, bits: &[Bit], amount: &[Bit]) -> (Vec<Bit>, Bit) {
    let stages = (usize::BITS - bits.len().leading_zeros()) as usize;
    let far = any(c, &amount[stages.min(amount.len())..]);
    let amount: Vec<Bit> = amount.iter().take(stages).map(|&bit| c.or(bit, far)).collect();
    let mut bits = bits.to_vec();
    let mut lost = Vec::new();
    for (stage, &by) in amount.iter().enumerate().rev() {
        let by_stage = bits.len().min(1 << stage);
        let dropped = any(c, &bits[..by_stage]);
        lost.push(c.and(by, dropped));
        bits = mux(c, by, &bits[by_stage..], &bits);
    }
    let sticky = any(c, &lost);
    (bits, sticky)
}

/// The bits shifted left until the highest is set, and by how much; of zero both are arbitrary.
///
/// Size: a test and a shift for each stage. Depth: the zeros are counted by a tree first, so that all stages know
/// their bit after log n layers.
pub(super) fn normalise(c: &mut Builder, bits: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
    let stages = (usize::BITS - bits.len().saturating_sub(1).leading_zeros()) as usize;
    if goal == Goal::Depth {
        let (_, zeros) = leading_zeros(c, bits, stages);
        return (shift_left(c, bits, &zeros), zeros);
    }
    let mut bits = bits.to_vec();
    let mut zeros = Vec::new();
    for stage in (0..stages).rev() {
        let top = any(c, &bits[bits.len() - (1 << stage)..]);
        let shifted: Vec<Bit> = std::iter::repeat_n(Bit::FALSE, 1 << stage).chain(bits.iter().copied()).collect();
        bits = mux(c, top, &bits, &shifted[..bits.len()]);
        zeros.push(!top);
    }
    zeros.reverse();
    (bits, zeros)
}

/// Whether all bits are zero, and how many zeros lead if not, in `stages` bits: a tree over at most 2^stages bits.
pub(super) fn leading_zeros(c: &mut Builder, bits: &[Bit], stages: usize) -> (Bit, Vec<Bit>) {
    match (bits, stages) {
        ([], _) => (Bit::TRUE, vec![Bit::FALSE; stages]),
        (&[bit], 0) => (!bit, Vec::new()),
        _ => {
            let high = bits.len().min(1 << (stages - 1));
            let (high_zero, high) = leading_zeros(c, &bits[bits.len() - high..], stages - 1);
            let (low_zero, low) = leading_zeros(c, &bits[..bits.len().saturating_sub(1 << (stages - 1))], stages - 1);
            let mut count = mux(c, high_zero, &low, &high);
            count.push(high_zero);
            (c.and(high_zero, low_zero), count)
        }
    }
}
