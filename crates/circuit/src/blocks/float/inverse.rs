//! Arcsine and arctangent.
//!
//! Both are tables of polynomials with a [branch](crate::blocks::approximation::branches) for each exponent, over the whole range:
//! arctan x needs no 1/x above 1, and arcsin x no root near 1, where the exponent is that of 1 − |x| and the branches
//! are those of arcsin(1 − 2^−m·s), smooth in s. Results are faithful: one of the two neighbours of the exact value.

use std::cell::OnceCell;

use num_bigint::BigInt;

use super::format::{Float, Mode};
use super::gates::{any, increment, mux};
use super::reduce::{distance, with_exponents};
use crate::blocks::approximation::branches::{Branch, Branches, UnitArgument};
use crate::blocks::approximation::reals::Reals;
use crate::blocks::{Goal, one_hot, subtract, subtract_borrow};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::UInt;

/// arctan x in radians, from −π/2 (of −∞) to π/2 (of ∞).
///
/// Single precision, mode `Ieee`: 1,632 ANDs of depth 147 for size, 2,178 of depth 31 for depth; double: 9,455 of depth
/// 440, 10,627 of depth 43.
pub fn atan(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    with_exponents(c, x, mode, goal, |c, x| atan_of_enough(c, x, mode, goal))
}

fn atan_of_enough(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    let fraction = i64::from(x.format.fraction);
    let (least, most) = (-(fraction + 2) / 2, fraction + 4);
    let (tiny, hots) = exponents(c, x, least, most, goal);
    let parts = x.unpack(c, mode);
    let tables = OnceCell::new();
    let mut lines: Vec<Branch> = Vec::new();
    for (&hot, e) in hots.iter().zip(least..) {
        let tables = &tables;
        let function = move |r: &Reals, x: &BigInt| match Arctan::of(tables, r) {
            a if e > most => a.quarter_turn(),
            a => scale(a.arctan(&scale(r.one() + x, e)), (-e).max(0)),
        };
        lines.push(Branch { hot, function: Box::new(function) });
    }
    let place = UnitArgument { bits: x.fraction(), carry: Some(Bit::FALSE) };
    let word = significand(c, lines, &place, fraction, goal);
    // Over the power of two below the angle, or over 1.
    let small = c.xor_all(hots[..least.unsigned_abs() as usize].iter().copied());
    let (exponent, one) = (UInt(x.exponent().to_vec()), UInt::constant(1, x.format.exponent));
    let below = subtract(c, &exponent, &one, goal);
    let below = over(c, small, &below, x);
    finish(c, x, mode, goal, Outcome { word, below, tiny, zero: parts.zero, invalid: parts.nan })
}

/// arcsin x in radians, from −π/2 (of −1) to π/2 (of 1); beyond, NaN (plus infinity in mode `Flush`).
///
/// Single precision, mode `Ieee`: 1,539 ANDs of depth 147 for size, 1,851 of depth 31 for depth; double: 8,751 of depth
/// 446, 10,068 of depth 47.
pub fn asin(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    with_exponents(c, x, mode, goal, |c, x| asin_of_enough(c, x, mode, goal))
}

fn asin_of_enough(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    let fraction = i64::from(x.format.fraction);
    let least = -(fraction + 1) / 2;
    let (tiny, hots) = exponents(c, x, least, 0, goal);
    let parts = x.unpack(c, mode);
    let (lower, ends) = hots.split_at(hots.len() - 3);
    let &[half, one, beyond] = ends else { unreachable!("three exponents are left") };
    // 1 − |x|, at most ½, takes the place of |x| from ½ on.
    let near = distance(c, x.fraction(), Bit::TRUE, None, fraction as usize, goal);
    let near_bits = [&[Bit::TRUE], &near.fraction[..]].concat();
    let bits = mux(c, half, &near_bits, x.fraction());
    let tables = OnceCell::new();
    let mut lines: Vec<Branch> = Vec::new();
    for (&hot, e) in lower.iter().zip(least..) {
        let tables = &tables;
        let function =
            move |r: &Reals, x: &BigInt| scale(Arctan::of(tables, r).arcsine(&scale(r.one() + x, e)), -e - 1);
        lines.push(Branch { hot, function: Box::new(function) });
    }
    for (&place, e) in near.places.iter().zip((i64::MIN..=-2).rev()) {
        let tables = &tables;
        let function = move |r: &Reals, x: &BigInt| Arctan::of(tables, r).arcsine_from_one(&scale(r.one() + x, e));
        lines.push(Branch { hot: c.and(half, place), function: Box::new(function) });
    }
    let others = c.xor_all(lines.iter().map(|line| line.hot).collect::<Vec<_>>());
    lines.push(Branch { hot: !others, function: Box::new(|r, _| Arctan::of(&tables, r).quarter_turn()) });
    let word = significand(c, lines, &UnitArgument { bits: &bits, carry: Some(half) }, fraction, goal);
    let small = c.xor_all(lower.iter().copied());
    let below = over(c, small, &UInt(x.exponent().to_vec()), x);
    let some = any(c, x.fraction());
    let invalid = c.and(one, some);
    let invalid = c.xor(invalid, beyond);
    let invalid = c.and(invalid, !tiny);
    finish(c, x, mode, goal, Outcome { word, below, tiny, zero: parts.zero, invalid })
}

/// Whether |x| is below 2^least; and a one-hot code of the exponents from `least` to `most` and all larger ones.
fn exponents(c: &mut Builder, x: &Float, least: i64, most: i64, goal: Goal) -> (Bit, Vec<Bit>) {
    let from = x.format.bias() + least;
    assert!(from > 0, "format {} has too few exponents for its fraction", x.format);
    let count = (most - least + 2) as usize;
    let low = count.next_power_of_two().ilog2() as usize;
    let from = UInt::constant(from as u128, x.format.exponent);
    let (index, tiny) = subtract_borrow(c, &UInt(x.exponent().to_vec()), &from, goal);
    let (index, far) = index.0.split_at(low.min(index.0.len()));
    let far = any(c, far);
    let index: Vec<Bit> = index.iter().map(|&bit| c.or(bit, far)).collect();
    let mut hots = one_hot(c, &index);
    let rest = c.xor_all(hots.split_off(count - 1));
    hots.push(rest);
    (tiny, hots)
}

/// The function that is hot, from ½ to 2, with a bit more than the fraction has below 1.
fn significand(c: &mut Builder, branches: Vec<Branch>, place: &UnitArgument, fraction: i64, goal: Goal) -> Vec<Bit> {
    Branches { branches, low: -1 - fraction as i32, high: 1, error: 0.38 }.evaluate(c, place, Bit::FALSE, goal)
}

/// The stored exponent of a significand below 1: this one of small results, or that of ½.
fn over(c: &mut Builder, small: Bit, exponent: &UInt, x: &Float) -> Vec<Bit> {
    let half = UInt::constant(x.format.bias() as u128 - 1, x.format.exponent);
    mux(c, small, &exponent.0, &half.0)
}

/// A result before it is put together.
struct Outcome {
    /// The significand, from ½ to 2.
    word: Vec<Bit>,
    /// The stored exponent if that is below 1.
    below: Vec<Bit>,
    /// The result is x.
    tiny: Bit,
    /// x is zero.
    zero: Bit,
    /// The result is NaN.
    invalid: Bit,
}

fn finish(c: &mut Builder, x: &Float, mode: Mode, goal: Goal, outcome: Outcome) -> Float {
    let fraction = x.format.fraction as usize;
    let top = outcome.word[fraction + 1];
    let bits = mux(c, top, &outcome.word[1..=fraction], &outcome.word[..fraction]);
    let exponent = match goal {
        Goal::Size => increment(c, &outcome.below, top, goal).0,
        Goal::Depth => {
            let (above, _) = increment(c, &outcome.below, Bit::TRUE, goal);
            mux(c, top, &above, &outcome.below)
        }
    };
    let result = mux(c, outcome.tiny, x.magnitude(), &[bits, exponent].concat());
    let flushed = if mode == Mode::Flush { outcome.zero } else { Bit::FALSE };
    let special = c.xor(outcome.invalid, flushed);
    let end = |i: usize| if i < fraction { Bit::FALSE } else { outcome.invalid };
    let mut bits: Vec<Bit> = result.iter().enumerate().map(|(i, &bit)| c.mux(special, end(i), bit)).collect();
    if mode == Mode::Ieee {
        bits[fraction - 1] = c.xor(bits[fraction - 1], outcome.invalid);
    }
    bits.push(c.and(x.sign(), !outcome.invalid));
    Float::new(x.format, bits)
}

/// arctan i/256 for i up to 256, from which others are a short series away.
struct Arctan {
    r: Reals,
    steps: Vec<BigInt>,
}

impl Arctan {
    const STEPS: i64 = 256;

    /// The tables for numbers of this precision; all uses have the same.
    fn of<'a>(tables: &'a OnceCell<Arctan>, r: &Reals) -> &'a Arctan {
        tables.get_or_init(|| Arctan::new(Reals::new(r.bits())))
    }

    fn new(r: Reals) -> Self {
        let mut steps = vec![BigInt::ZERO];
        for i in 0..Self::STEPS {
            // arctan a − arctan b = arctan (a − b)/(1 + ab).
            let step = r.ratio(Self::STEPS, Self::STEPS * Self::STEPS + i * (i + 1));
            steps.push(&steps[i as usize] + series(&r, &step));
        }
        Arctan { r, steps }
    }

    fn quarter_turn(&self) -> BigInt {
        self.r.pi() >> 1u32
    }

    /// arctan x for x from 0.
    fn arctan(&self, x: &BigInt) -> BigInt {
        let one = self.r.one();
        if x > &one {
            return self.quarter_turn() - self.arctan(&self.r.div(&one, x));
        }
        let i = usize::try_from((x * Self::STEPS) >> self.r.bits()).expect("a number up to 1");
        let base = self.r.ratio(i as i64, Self::STEPS);
        let rest = self.r.div(&(x - &base), &(&one + self.r.mul(x, &base)));
        &self.steps[i] + series(&self.r, &rest)
    }

    /// arcsin x for x from 0 to below 1.
    fn arcsine(&self, x: &BigInt) -> BigInt {
        let cosine = self.root(&(self.r.one() - self.r.mul(x, x)));
        self.arctan(&self.r.div(x, &cosine))
    }

    /// arcsin(1 − z): the tangent of half of what is left of a quarter-turn is the root of z/(2 − z).
    fn arcsine_from_one(&self, z: &BigInt) -> BigInt {
        let square = self.r.div(z, &(2 * self.r.one() - z));
        self.quarter_turn() - 2 * self.arctan(&self.root(&square))
    }

    fn root(&self, x: &BigInt) -> BigInt {
        (x << self.r.bits()).sqrt()
    }
}

/// arctan x by its series, for small x.
fn series(r: &Reals, x: &BigInt) -> BigInt {
    let square = -r.mul(x, x);
    let (mut sum, mut power) = (BigInt::ZERO, x.clone());
    for n in (1u32..).step_by(2) {
        let term = &power / n;
        if term == BigInt::ZERO {
            return sum;
        }
        sum += term;
        power = r.mul(&power, &square);
    }
    unreachable!("terms that get smaller")
}

/// x·2^exponent.
fn scale(x: BigInt, exponent: i64) -> BigInt {
    if exponent < 0 { x >> exponent.unsigned_abs() } else { x << exponent.unsigned_abs() }
}
