//! Digit recurrences: quotients and square roots, a digit a step from the top, in any domain.
//!
//! A step appends the next bits of the number that is taken apart to the remainder, and subtracts what the digit would take
//! away, if that is not more: the divisor, or 4·root + 1 for the root so far. This says what the digits are; how a circuit
//! computes them is another matter.

use super::super::network::Kind;
use super::super::samples::gate;
use super::super::window::Table;
use super::diagrams::{Diagram, Diagrams};
use crate::graph::Bit;

/// Where functions are computed: on samples, as diagrams.
pub trait Domain {
    type Value: Copy;
    fn constant(&self, value: bool) -> Self::Value;
    /// Nothing if it takes too much.
    fn gate(&mut self, kind: Kind, operands: [Self::Value; 2]) -> Option<Self::Value>;
}

impl Domain for Diagrams {
    type Value = Diagram;

    fn constant(&self, value: bool) -> Diagram {
        Diagram::constant(value)
    }

    fn gate(&mut self, kind: Kind, operands: [Diagram; 2]) -> Option<Diagram> {
        Diagrams::gate(self, kind, operands)
    }
}

/// Values on samples.
pub struct Sampled<const W: usize>;

impl<const W: usize> Domain for Sampled<W> {
    type Value = Table<W>;

    fn constant(&self, value: bool) -> Table<W> {
        [u64::from(value).wrapping_neg(); W]
    }

    fn gate(&mut self, kind: Kind, operands: [Table<W>; 2]) -> Option<Table<W>> {
        Some(gate(kind, operands))
    }
}

/// A recurrence over words of a circuit, the lowest bit first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recurrence {
    /// What is taken apart: the dividend, or the number under the root, of an even width.
    pub number: Vec<Bit>,
    /// Nothing for a square root.
    pub divisor: Option<Vec<Bit>>,
}

/// What is left of the number's higher bits after some steps, the lowest bit first.
#[derive(Clone)]
pub struct State<V> {
    pub remainder: Vec<V>,
    /// The divisor, or the root so far.
    pub by: Vec<V>,
}

impl Recurrence {
    /// Bits of the number that a step takes up.
    fn taken(&self) -> usize {
        if self.divisor.is_some() { 1 } else { 2 }
    }

    pub fn steps(&self) -> usize {
        self.number.len() / self.taken()
    }

    /// The places of the bits of the number that a step takes up; the first step takes the highest.
    pub fn takes(&self, step: usize) -> std::ops::Range<usize> {
        let end = self.number.len() - step * self.taken();
        end - self.taken()..end
    }

    /// The digit of a step and what comes after it.
    pub fn step<D: Domain>(
        &self,
        domain: &mut D,
        state: &State<D::Value>,
        taken: &[D::Value],
    ) -> Option<(D::Value, State<D::Value>)> {
        let number = [taken, &state.remainder].concat();
        let mut by = state.by.clone();
        if self.divisor.is_none() {
            let ends = [true, false].map(|end| domain.constant(end));
            by.splice(0..0, ends);
        }
        let (digit, mut remainder) = subtract(domain, &number, &by)?;
        let mut after = state.by.clone();
        if self.divisor.is_none() {
            after.insert(0, digit);
            remainder.truncate(after.len() + 1);
        }
        Some((digit, State { remainder, by: after }))
    }

    /// Whether a bit of the remainder is known by one of the number: the lowest under a root, from which the digit has been
    /// subtracted, and those above a divisor of so many bits, which are clear unless that is zero.
    pub fn is_simple(&self, divisor: usize, at: usize) -> bool {
        if self.divisor.is_some() { at >= divisor } else { at == 0 }
    }

    /// What holds before each step: the remainder is less than the divisor, if that is not zero, or at most twice the root.
    pub fn invariant<D: Domain>(&self, domain: &mut D, state: &State<D::Value>) -> Option<D::Value> {
        let [zero, one] = [false, true].map(|value| domain.constant(value));
        let Some(by_zero) = self.by_zero(domain, state)? else {
            let twice = [&[zero], &state.by[..]].concat();
            return Some(subtract(domain, &twice, &state.remainder)?.0);
        };
        let (large, _) = subtract(domain, &state.remainder, &state.by)?;
        let not_zero = domain.gate(Kind::Xor, [by_zero, one])?;
        let broken = domain.gate(Kind::And, [large, not_zero])?;
        domain.gate(Kind::Xor, [broken, one])
    }

    /// Whether the divisor is zero, if there is one.
    pub fn by_zero<D: Domain>(&self, domain: &mut D, state: &State<D::Value>) -> Option<Option<D::Value>> {
        if self.divisor.is_none() {
            return Some(None);
        }
        let one = domain.constant(true);
        let mut zero = one;
        for &bit in &state.by {
            let clear = domain.gate(Kind::Xor, [bit, one])?;
            zero = domain.gate(Kind::And, [zero, clear])?;
        }
        Some(Some(zero))
    }
}

/// Whether x ≥ y, and x − y if so, else x, in as many bits as x has.
fn subtract<D: Domain>(domain: &mut D, x: &[D::Value], y: &[D::Value]) -> Option<(D::Value, Vec<D::Value>)> {
    let [zero, one] = [false, true].map(|value| domain.constant(value));
    let at = |word: &[D::Value], i: usize| word.get(i).copied().unwrap_or(zero);
    let (mut borrow, mut changes) = (zero, Vec::new());
    for i in 0..x.len().max(y.len()) {
        let change = domain.gate(Kind::Xor, [at(y, i), borrow])?;
        changes.push(change);
        // The borrow is y where y and it are equal, and else ¬x.
        let differs = domain.gate(Kind::Xor, [at(x, i), borrow])?;
        let differs = domain.gate(Kind::Xor, [differs, one])?;
        let both = domain.gate(Kind::And, [change, differs])?;
        borrow = domain.gate(Kind::Xor, [both, borrow])?;
    }
    let digit = domain.gate(Kind::Xor, [borrow, one])?;
    let mut left = Vec::with_capacity(x.len());
    for (&bit, change) in x.iter().zip(changes) {
        let change = domain.gate(Kind::And, [digit, change])?;
        left.push(domain.gate(Kind::Xor, [bit, change])?);
    }
    Some((digit, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Domain for Plain {
        type Value = bool;

        fn constant(&self, value: bool) -> bool {
            value
        }

        fn gate(&mut self, kind: Kind, [a, b]: [bool; 2]) -> Option<bool> {
            Some(if kind == Kind::And { a & b } else { a ^ b })
        }
    }

    fn bits(value: u32, width: usize) -> Vec<bool> {
        (0..width).map(|i| value >> i & 1 == 1).collect()
    }

    fn value(bits: &[bool]) -> u32 {
        bits.iter().rev().fold(0, |value, &bit| 2 * value + u32::from(bit))
    }

    /// The digits, and what is left; the invariant holds before each step.
    fn run(number: u32, width: usize, divisor: Option<(u32, usize)>) -> [u32; 2] {
        let word = |width| vec![Bit::FALSE; width];
        let recurrence = Recurrence { number: word(width), divisor: divisor.map(|(_, width)| word(width)) };
        let by = divisor.map_or(Vec::new(), |(divisor, width)| bits(divisor, width));
        let mut state = State { remainder: Vec::new(), by };
        let mut digits = 0;
        for step in 0..recurrence.steps() {
            assert_eq!(recurrence.invariant(&mut Plain, &state), Some(true), "{number}, {divisor:?}, step {step}");
            let taken = &bits(number, width)[recurrence.takes(step)];
            let (digit, after) = recurrence.step(&mut Plain, &state, taken).expect("bits take little");
            digits = 2 * digits + u32::from(digit);
            state = after;
        }
        [digits, value(&state.remainder)]
    }

    #[test]
    fn digits_are_those_of_the_quotient() {
        for (a, b) in (0..128u32).flat_map(|a| (0..32u32).map(move |b| (a, b))) {
            let expected = [a.checked_div(b).unwrap_or(127), a.checked_rem(b).unwrap_or(a)];
            assert_eq!(run(a, 7, Some((b, 5))), expected, "{a} and {b}");
        }
    }

    #[test]
    fn digits_are_those_of_the_root() {
        for a in 0..4_096u32 {
            assert_eq!(run(a, 12, None), [a.isqrt(), a - a.isqrt().pow(2)], "{a}");
        }
    }
}
