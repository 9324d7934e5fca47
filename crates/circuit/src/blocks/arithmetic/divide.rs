//! Division with remainder and the integer square root.
//!
//! The digit recurrence finds one bit of the result a step, from the top. A non-restoring step adds or subtracts the
//! divisor, whichever brings the remainder nearer to zero; as the choice is an XOR, the step costs one AND a bit, where a
//! comparison with a restoring selection costs two. While the remainder is shorter than half of the divisor, restoring
//! steps of its own width are cheaper. All in all a quotient takes about ¾ n² ANDs. For depth, words of 17 bits or more
//! are divided by convergence instead.

use super::adder::{add_bits_with, carries_with, sum_bits};
use super::goldschmidt;
use super::shift::or_prefix;
use super::sum::negate_if;
use crate::blocks::Goal;
use crate::blocks::logic::reduce::any;
use crate::blocks::logic::select::mux;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt, Word};

/// Words of so many bits or more are divided by convergence for depth.
const CONVERGENCE: usize = 17;

/// ⌊a / b⌋ and a mod b. Division by zero gives all ones and the remainder a, as in RISC-V.
///
/// Size: ⌊¾ n²⌋ + 4n − 4 ANDs for even n and one more for odd n, in less than ⅝ n² + 4n layers: 76 ANDs of depth 62 for 8
/// bits, 252 of 208 for 16, 892 of 740 for 32, 3,324 of 2,764 for 64. Depth: 150 ANDs of depth 31 for 8 bits, 682 of 73 for
/// 16, 4,904 of 51 for 32, 16,640 of 70 for 64.
///
/// # Panics
/// If the widths differ.
pub fn divide(c: &mut Builder, a: &UInt, b: &UInt, goal: Goal) -> (UInt, UInt) {
    assert_eq!(a.width(), b.width(), "operands of one width");
    let (quotient, remainder) = divide_bits(c, &a.0, &b.0, goal);
    (UInt(quotient), UInt(remainder))
}

/// a / b rounded towards zero, and a remainder of the sign of a. Division by zero gives −1 and the remainder a; the
/// least number by −1 overflows to itself and the remainder 0, as in RISC-V.
///
/// Costs what [`divide`] costs and the negations: 1,048 ANDs of depth 771 for 32 bits (size), 5,252 of depth 61 (depth).
///
/// # Panics
/// If the widths differ.
pub fn divide_signed(c: &mut Builder, a: &Int, b: &Int, goal: Goal) -> (Int, Int) {
    assert_eq!(a.width(), b.width(), "operands of one width");
    let (sign_a, sign_b) = (a.0[a.width() - 1], b.0[b.width() - 1]);
    let (size_a, size_b) = (negate_if(c, sign_a, a, goal), negate_if(c, sign_b, b, goal));
    let (quotient, remainder) = divide_bits(c, &size_a.0, &size_b.0, goal);
    // Only a quotient by zero has no sign: −1 stays.
    let some = any(c, &b.0);
    let differ = c.xor(sign_a, sign_b);
    let turn = c.and(differ, some);
    (negate_if(c, turn, &Int(quotient), goal), negate_if(c, sign_a, &Int(remainder), goal))
}

/// ⌊√a⌋ in ⌈n/2⌉ bits, and a − ⌊√a⌋² in one bit more.
///
/// Size, for even n: n²/8 + 5n/4 ANDs, depth n²/8 from 12 bits on: 51 ANDs of depth 31 for 16 bits, 167 of 123 for
/// 32, 591 of 499 for 64. Depth: 90 ANDs of depth 20 for 16 bits, 414 of 52 for 32, 1,998 of 132 for 64.
pub fn square_root(c: &mut Builder, a: &UInt, goal: Goal) -> (UInt, UInt) {
    let steps = a.width().div_ceil(2);
    let a = a.resized(2 * steps).0;
    let mut state = Root::new();
    (0..steps).rev().for_each(|i| state.step(c, [a[2 * i], a[2 * i + 1]], goal));
    let (root, remainder) = state.end(c, goal);
    (UInt(root), UInt(remainder))
}

/// The quotient of m bits by n bits in m bits, and the remainder in n bits; by zero, anything.
#[doc(hidden)]
pub fn divide_widths(c: &mut Builder, a: &[Bit], b: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
    if goal == Goal::Size || a.len().max(b.len()) < CONVERGENCE {
        return long_division(c, a, b, goal);
    }
    let width = a.len().max(b.len());
    let [long, short] = [a, b].map(|bits| UInt(bits.to_vec()).resized(width).0);
    let (mut quotient, mut remainder) = divide_bits(c, &long, &short, goal);
    quotient.truncate(a.len());
    remainder.truncate(b.len());
    (quotient, remainder)
}

fn divide_bits(c: &mut Builder, a: &[Bit], b: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
    match goal {
        Goal::Depth if b.len() >= CONVERGENCE => goldschmidt::divide(c, a, b),
        _ => long_division(c, a, b, goal),
    }
}

/// The quotient of m bits by n bits in m bits, and the remainder in n bits.
///
/// By zero: all ones, and the dividend as the remainder if m ≤ n.
pub(crate) fn long_division(c: &mut Builder, dividend: &[Bit], divisor: &[Bit], goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
    let n = divisor.len();
    let above = above(c, divisor, goal);
    let mut state = State { remainder: Vec::new(), negative: Bit::FALSE, before: Vec::new(), added: Bit::FALSE };
    let mut quotient = Vec::with_capacity(dividend.len());
    for &bit in dividend.iter().rev() {
        state.remainder.insert(0, bit);
        let short = state.remainder.len();
        let digit = match above.get(short) {
            Some(&Bit::TRUE) => Bit::FALSE,
            Some(&above) if 2 * short < n => state.restore(c, &divisor[..short], above, goal),
            _ => state.step(c, divisor, goal),
        };
        quotient.push(digit);
    }
    quotient.reverse();
    (quotient, state.end(c, divisor, goal))
}

/// Whether some bit at i or above is set, for i up to the number of bits.
fn above(c: &mut Builder, divisor: &[Bit], goal: Goal) -> Vec<Bit> {
    let reversed: Vec<Bit> = divisor.iter().rev().copied().collect();
    let mut above = or_prefix(c, &reversed, goal);
    above.reverse();
    above.push(Bit::FALSE);
    above
}

/// The part of the dividend that is not yet divided: at least zero and short, or n bits and a sign.
struct State {
    remainder: Vec<Bit>,
    negative: Bit,
    /// The remainder before the last step, and whether that added the divisor.
    before: Vec<Bit>,
    added: Bit,
}

impl State {
    /// While the remainder is short: subtract the divisor if it is not above it. 2i + 1 ANDs for i bits.
    fn restore(&mut self, c: &mut Builder, low: &[Bit], above: Bit, goal: Goal) -> Bit {
        let low: Vec<Bit> = low.iter().chain([&above]).map(|&bit| !bit).collect();
        let short = self.remainder.len();
        let number = [self.remainder.as_slice(), &[Bit::FALSE]].concat();
        let carries = carries_with(c, &number, &low, Bit::TRUE, goal.into());
        let digit = carries[short + 1];
        for ((bit, &low), &carry) in self.remainder.iter_mut().zip(&low).zip(&carries) {
            let change = c.xor(low, carry);
            let change = c.and(digit, change);
            *bit = c.xor(*bit, change);
        }
        digit
    }

    /// Adds the divisor to a remainder below zero, subtracts it from any other. n ANDs.
    fn step(&mut self, c: &mut Builder, divisor: &[Bit], goal: Goal) -> Bit {
        let subtract = !self.negative;
        let addend: Vec<Bit> = divisor.iter().map(|&bit| c.xor(bit, subtract)).collect();
        self.remainder.resize(divisor.len() + 1, Bit::FALSE);
        self.before = self.remainder[..divisor.len()].to_vec();
        self.added = self.negative;
        let carries = carries_with(c, &self.before, &addend, subtract, goal.into());
        let addend = [addend, vec![subtract]].concat();
        self.remainder = sum_bits(c, &self.remainder, &addend, &carries);
        self.negative = self.remainder.pop().expect("a sign");
        !self.negative
    }

    /// The remainder, brought back above zero: 2n − 1 ANDs, or n more to do so beside the last step.
    fn end(mut self, c: &mut Builder, divisor: &[Bit], goal: Goal) -> Vec<Bit> {
        self.remainder.resize(divisor.len(), Bit::FALSE);
        self.before.resize(divisor.len(), Bit::FALSE);
        match goal {
            Goal::Size => {
                let addend = and_each(c, self.negative, divisor);
                add_bits_with(c, &self.remainder, &addend, Bit::FALSE, goal.into())
            }
            Goal::Depth => {
                let twice = [&[Bit::FALSE], &divisor[..divisor.len() - 1]].concat();
                let addend = and_each(c, self.added, &twice);
                let other = add_bits_with(c, &self.before, &addend, Bit::FALSE, goal.into());
                mux(c, self.negative, &UInt(other), &UInt(self.remainder)).0
            }
        }
    }
}

fn and_each(c: &mut Builder, with: Bit, bits: &[Bit]) -> Vec<Bit> {
    bits.iter().map(|&bit| c.and(with, bit)).collect()
}

/// The bits of a root so far, and what is left of the number above them: a − root², or that plus 2·root + 1.
struct Root {
    remainder: Vec<Bit>,
    negative: Bit,
    root: Vec<Bit>,
}

impl Root {
    fn new() -> Self {
        Root { remainder: vec![Bit::FALSE], negative: Bit::FALSE, root: Vec::new() }
    }

    /// Two more bits of the number: subtracts 4·root + 1, or adds 4·root + 3 to a remainder below zero. As −(4r + 1) is
    /// 4·¬r + 3, both have the same low bits. i ANDs in step i.
    fn step(&mut self, c: &mut Builder, pair: [Bit; 2], goal: Goal) {
        let subtract = !self.negative;
        let mut addend = vec![Bit::TRUE; 2];
        addend.extend(self.root.iter().map(|&bit| c.xor(bit, subtract)));
        self.remainder.splice(0..0, pair);
        let low = addend.len();
        let carries = carries_with(c, &self.remainder[..low], &addend, Bit::FALSE, goal.into());
        addend.push(subtract);
        self.remainder = sum_bits(c, &self.remainder, &addend, &carries);
        self.negative = self.remainder.pop().expect("a sign");
        self.root.insert(0, !self.negative);
    }

    /// The root, and the remainder brought back above zero.
    fn end(self, c: &mut Builder, goal: Goal) -> (Vec<Bit>, Vec<Bit>) {
        let mut addend = vec![self.negative];
        addend.extend(and_each(c, self.negative, &self.root));
        let remainder = add_bits_with(c, &self.remainder, &addend, Bit::FALSE, goal.into());
        (self.root, remainder)
    }
}
