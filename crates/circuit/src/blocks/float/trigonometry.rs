//! Sine, cosine and tangent, of half-turns and of radians.
//!
//! An angle is reduced to its distance from the nearest zero (sine, cosine) or from the nearest zero or pole (tangent),
//! as a significand s and an exponent −m. For each m, sin(π·2^−m·s)·2^m is a [branch](crate::blocks::approximation::branches) of its
//! own: a table of polynomials in s that gives the significand of the result, with no product by s. Where m is so large
//! that sine and tangent are the same as the angle, one branch serves all m. The tangent's branches near poles are
//! those of the cotangent, so nothing is divided.
//!
//! Results are faithful: one of the two neighbours of the exact value, and the exact value where it is a number. The
//! significand is computed to half a unit of the last place and a bit more, rounded once at the finest place that it
//! can have, and then cut off where it turns out longer.

use num_bigint::BigInt;

use super::format::{Float, Format, Mode, Unpacked};
use super::gates::{all, increment, mux};
use super::reduce::{Distance, Turns, choose, closeness, distance, half_turns, radians, with_exponents};
use super::round::{Unrounded, round};
use crate::blocks::approximation::branches::{Branch, Branches, UnitArgument};
use crate::blocks::approximation::reals::Reals;
use crate::blocks::{Columns, Goal, less, one_hot};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// sin(πx), IEEE 754's sinPi: of a whole number a zero of its sign; of an infinity NaN.
///
/// Single precision, mode `Ieee`: 1,537 ANDs of depth 149 for size, 2,050 of depth 43 for depth; 42 bits: 2,656 of
/// depth 211, 3,597 of depth 49; double: 6,829 of depth 354, 9,229 of depth 54.
pub fn sin_pi(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    Circular { function: Function::Sin, angle: Angle::HalfTurns, mode, goal }.of(c, x)
}

/// cos(πx), IEEE 754's cosPi: of a whole number and a half +0; of an infinity NaN.
///
/// Single precision: 1,439 ANDs of depth 140 for size, 1,825 of depth 36 for depth; 42 bits: 2,450 of depth 181, 3,302
/// of depth 39; double: 6,595 of depth 336, 8,918 of depth 45.
pub fn cos_pi(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    Circular { function: Function::Cos, angle: Angle::HalfTurns, mode, goal }.of(c, x)
}

/// tan(πx), IEEE 754's tanPi: of a whole number and a half an infinity, plus if the whole number is even; of an
/// infinity NaN.
///
/// Single precision, mode `Ieee`: 2,024 ANDs of depth 176 for size, 2,759 of depth 47 for depth.
pub fn tan_pi(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    Circular { function: Function::Tan, angle: Angle::HalfTurns, mode, goal }.of(c, x)
}

/// sin x, x in radians of any size; of an infinity NaN.
///
/// Single precision, mode `Ieee`: 3,144 ANDs of depth 241 for size, 3,919 of depth 47 for depth; double: 14,362 of
/// depth 531, 17,538 of depth 61.
pub fn sin(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    Circular { function: Function::Sin, angle: Angle::Radians, mode, goal }.of(c, x)
}

/// cos x, x in radians of any size; of an infinity NaN.
///
/// Single precision, mode `Ieee`: 3,109 ANDs of depth 240 for size, 3,879 of depth 46 for depth; double: 14,291 of
/// depth 530, 17,462 of depth 60.
pub fn cos(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    Circular { function: Function::Cos, angle: Angle::Radians, mode, goal }.of(c, x)
}

/// tan x, x in radians of any size; of an infinity NaN.
///
/// Single precision, mode `Ieee`: 3,592 ANDs of depth 264 for size, 4,700 of depth 50 for depth; double: 17,460 of
/// depth 657, 20,944 of depth 63.
pub fn tan(c: &mut Builder, x: &Float, mode: Mode, goal: Goal) -> Float {
    Circular { function: Function::Tan, angle: Angle::Radians, mode, goal }.of(c, x)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Sin,
    Cos,
    Tan,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Angle {
    HalfTurns,
    Radians,
}

/// A function and how to compute it.
#[derive(Clone, Copy)]
struct Circular {
    function: Function,
    angle: Angle,
    mode: Mode,
    goal: Goal,
}

/// An angle by its distance from a zero or pole.
struct Reduced {
    distance: Distance,
    /// The highest bit of the distance is 2^−first.
    first: usize,
    /// The distance is the angle itself, |x|: its fraction and exponent as they stand.
    kept: Bit,
    /// The distance is from a pole.
    pole: Bit,
    /// The result has the other sign than x (sine, tangent) or is negative (cosine).
    flip: Bit,
    /// The result is x itself (radians) or 1 (cosine).
    tiny: Bit,
}

/// The magnitude of a result, for exponents and fractions that are stored as they are.
struct Magnitude {
    exponent: Vec<Bit>,
    fraction: Vec<Bit>,
    /// It is 1, whatever exponent and fraction say.
    one: Bit,
}

impl Circular {
    fn of(self, c: &mut Builder, x: &Float) -> Float {
        with_exponents(c, x, self.mode, self.goal, |c, x| self.of_enough(c, x))
    }

    /// The function in a format whose exponent is wide enough for its fraction.
    fn of_enough(self, c: &mut Builder, x: &Float) -> Float {
        let parts = x.unpack(c, self.mode);
        let reduced = match self.angle {
            Angle::HalfTurns => self.reduce_half_turns(c, x),
            Angle::Radians => self.reduce_radians(c, x),
        };
        let magnitude = match self.rounds(x.format) {
            true => self.rounded(c, &parts, &reduced),
            false => self.stored(c, &parts, &reduced),
        };
        self.settle(c, x, &parts, &reduced, magnitude)
    }

    fn reduce_half_turns(self, c: &mut Builder, x: &Float) -> Reduced {
        let precision = i64::from(x.format.precision());
        // Angles below 2^least are kept, or have the cosine 1.
        // The carry of a distance that is taken back counts by one slope for a whole segment, so it needs a place so low
        // that other slopes make no difference: by a unit of 2 and, near a pole, of 5.
        let (least, below, keep, lower) = match self.function {
            Function::Sin => (-1, precision, true, 2),
            Function::Tan => (-2, precision + 1, true, 3),
            Function::Cos => (-(precision + 5) / 2, precision + 4, false, 0),
        };
        let mut shifted = half_turns(c, x, least, below as usize, keep, self.goal);
        shifted.turns.fraction.splice(..0, vec![Bit::FALSE; lower]);
        let (small, large) = (shifted.small, shifted.large);
        let mut reduced = self.fold(c, &shifted.turns, keep.then_some(small), precision as usize + 3 + lower);
        if self.function == Function::Cos {
            reduced.tiny = c.xor(small, large);
            reduced.distance.zero = c.and(reduced.distance.zero, !reduced.tiny);
        } else {
            reduced.distance.zero = c.or(reduced.distance.zero, large);
            reduced.pole = c.and(reduced.pole, !large);
        }
        let unturned = if self.function == Function::Cos { reduced.tiny } else { large };
        reduced.flip = c.and(reduced.flip, !unturned);
        reduced
    }

    fn reduce_radians(self, c: &mut Builder, x: &Float) -> Reduced {
        let fraction = i64::from(x.format.fraction);
        // Below 2^least, the second term of the series is less than a unit of the last place.
        let least = match self.function {
            Function::Sin => -(fraction + 1) / 2,
            Function::Cos | Function::Tan => -(fraction + 2) / 2,
        };
        let precision = fraction as usize + 6;
        let nearest = closeness(x.format).max((2 - least) as usize);
        let turns = radians(c, x, least, nearest + precision, self.goal);
        let from = UInt::constant((x.format.bias() + least) as u128, x.format.exponent);
        let tiny = less(c, &UInt(x.exponent().to_vec()), &from, self.goal);
        let mut reduced = self.fold(c, &turns, None, precision);
        reduced.flip = c.and(reduced.flip, !tiny);
        Reduced { tiny, distance: Distance { zero: Bit::FALSE, ..reduced.distance }, ..reduced }
    }

    /// The distance from the nearest zero or pole: beyond the middle between two, all is turned over.
    fn fold(self, c: &mut Builder, turns: &Turns, kept: Option<Bit>, precision: usize) -> Reduced {
        let n = turns.fraction.len();
        let (half, quarter) = (turns.fraction[n - 1], turns.fraction[n - 2]);
        let (word, back) = match self.function {
            Function::Sin => (&turns.fraction[..], half),
            Function::Cos => (&turns.fraction[..n - 1], !half),
            Function::Tan => (&turns.fraction[..n - 1], quarter),
        };
        let back = kept.map_or(back, |kept| c.and(back, !kept));
        let distance = distance(c, word, back, kept, precision, self.goal);
        let (pole, flip) = match self.function {
            Function::Sin => (Bit::FALSE, c.and(turns.odd, !distance.zero)),
            Function::Cos => {
                let negative = c.xor(turns.odd, half);
                (Bit::FALSE, c.and(negative, !distance.zero))
            }
            Function::Tan => (c.xor(half, back), c.mux(distance.zero, turns.odd, half)),
        };
        let (first, kept) = (n - word.len() + 1, kept.unwrap_or(Bit::FALSE));
        Reduced { distance, first, kept, pole, flip, tiny: Bit::FALSE }
    }

    /// Whether results can be denormal though the angle is not, so that they need to be rounded.
    fn rounds(self, format: Format) -> bool {
        self.angle == Angle::Radians && closeness(format) as i64 > format.bias()
    }

    /// The exponent of the distance with the bit 2^−first + i, or that of a power of two that the cotangent is near.
    fn exponent(self, c: &mut Builder, parts: &Unpacked, reduced: &Reduced) -> Vec<Bit> {
        let places = &reduced.distance.places;
        let bias = parts.format.bias();
        let of_zero = |i: usize| bias - (reduced.first + i) as i64;
        let of_pole = |i: usize| bias + (reduced.first + i) as i64 - 4;
        let bit = |k: usize| {
            let used = |i: usize| i > 0 || reduced.kept == Bit::FALSE;
            let zero = choose(c, places, |i| used(i) && of_zero(i) >> k & 1 == 1);
            let pole = choose(c, places, |i| used(i) && of_pole(i) >> k & 1 == 1);
            let kept = c.and(reduced.kept, parts.exponent.0[k]);
            let exponent = c.mux(reduced.pole, pole, zero);
            c.xor(exponent, kept)
        };
        (0..parts.exponent.0.len()).map(bit).collect()
    }

    /// The significand over the power of two of [`exponent`](Self::exponent): in [2, 8], or below of a denormal.
    fn significand(self, c: &mut Builder, parts: &Unpacked, reduced: &Reduced, denormal: Bit, low: i32) -> Vec<Bit> {
        let last = last_exponent(low);
        let start = if self.function == Function::Tan { 3 } else { 2 };
        let exponents = exponents_of(c, parts, reduced.kept, last);
        let places = &reduced.distance.places;
        let hot = |m: usize| (m, places.get(m - reduced.first).copied().unwrap_or(Bit::FALSE), exponents[m]);
        let lines: Vec<(usize, Bit, Bit)> = (start..=last).map(hot).collect();
        let mut branches = Vec::new();
        let mut others = Bit::FALSE;
        for (m, place, kept) in lines {
            let line = c.xor(place, kept);
            others = c.xor(others, line);
            self.add_branch(c, &mut branches, line, reduced.pole, Some(m));
        }
        if denormal != Bit::FALSE {
            others = c.xor(others, denormal);
            branches.push(Branch { hot: denormal, function: Box::new(|r, x| r.mul(&r.pi(), x)) });
        }
        self.add_branch(c, &mut branches, !others, reduced.pole, None);
        let place = UnitArgument { bits: &reduced.distance.fraction, carry: reduced.distance.carry };
        // The tangent of an eighth of a turn is 1, and its significand 8.
        let high = if self.function == Function::Tan { 4 } else { 3 };
        Branches { branches, low, high, error: 0.33 }.evaluate(c, &place, Bit::FALSE, self.goal)
    }

    /// The branches of the distances 2^−m·s, or of all smaller ones, for 2^m times the function; by poles, for the
    /// tangent over 2^(m − 4).
    fn add_branch(self, c: &mut Builder, branches: &mut Vec<Branch>, hot: Bit, pole: Bit, m: Option<usize>) {
        let near_pole = c.and(hot, pole);
        let function = self.function;
        let of_zero = move |r: &Reals, x: &BigInt| {
            let s = r.one() + x;
            let Some(m) = m else { return r.mul(&r.pi(), &s) };
            match (r.sin_cos_pi(&(s >> m)), function) {
                ((sin, cos), Function::Tan) => r.div(&sin, &cos) << m,
                ((sin, _), _) => sin << m,
            }
        };
        let of_pole = move |r: &Reals, x: &BigInt| {
            let s = r.one() + x;
            let Some(m) = m else { return r.div(&r.power_of_two(4), &r.mul(&r.pi(), &s)) };
            let (sin, cos) = r.sin_cos_pi(&(s >> m));
            r.div(&(cos << 4), &(sin << m))
        };
        branches.push(Branch { hot: c.xor(hot, near_pole), function: Box::new(of_zero) });
        if pole != Bit::FALSE {
            branches.push(Branch { hot: near_pole, function: Box::new(of_pole) });
        }
    }

    /// The result as it is stored: no angle but a kept one gives a denormal.
    fn stored(self, c: &mut Builder, parts: &Unpacked, reduced: &Reduced) -> Magnitude {
        let fraction = parts.format.fraction as usize;
        let exponent = self.exponent(c, parts, reduced);
        let denormal = match reduced.kept {
            Bit::FALSE => Bit::FALSE,
            _ => !parts.significand.0[fraction],
        };
        let whole = denormal == Bit::FALSE;
        let mut word = self.significand(c, parts, reduced, denormal, i32::from(whole) - fraction as i32);
        if whole {
            word.insert(0, Bit::FALSE);
        }
        let one = word.get(fraction + 3).copied().unwrap_or(Bit::FALSE);
        let (low, two, four) = (word[fraction], word[fraction + 1], word[fraction + 2]);
        let more = if whole { Bit::TRUE } else { c.or(two, four) };
        let some = c.or(low, more);
        let bits = mux(c, more, &word[1..fraction + 3], &word[..fraction + 2]);
        let bits = mux(c, four, &bits[1..=fraction], &bits[..fraction]);
        let mut exponent = exponent[..parts.format.exponent as usize].to_vec();
        exponent[0] = c.and(exponent[0], some);
        Magnitude { exponent: self.raise(c, &exponent, more, four), fraction: bits, one }
    }

    /// The result where it may be denormal: to more bits, and then rounded.
    fn rounded(self, c: &mut Builder, parts: &Unpacked, reduced: &Reduced) -> Magnitude {
        let exponent = self.exponent(c, parts, reduced);
        let word = self.significand(c, parts, reduced, Bit::FALSE, -2 - parts.format.fraction as i32);
        let n = parts.format.fraction as usize + 5;
        let (four, one) = (word[n - 1], word.get(n).copied().unwrap_or(Bit::FALSE));
        let mut significand = mux(c, four, &word[1..n], &word[..n - 1]);
        *significand.last_mut().expect("a significand") = Bit::TRUE;
        let value = Unrounded {
            sign: Bit::FALSE,
            exponent: Int(self.raise(c, &exponent, Bit::TRUE, four)),
            significand: UInt(significand),
            zero: Bit::FALSE,
            infinite: Bit::FALSE,
            nan: Bit::FALSE,
        };
        let result = round(c, parts.format, self.mode, &value, self.goal);
        Magnitude { exponent: result.exponent().to_vec(), fraction: result.fraction().to_vec(), one }
    }

    /// exponent + more + four, where four implies more.
    fn raise(self, c: &mut Builder, exponent: &[Bit], more: Bit, four: Bit) -> Vec<Bit> {
        match self.goal {
            Goal::Size => {
                let mut sum = Columns::new(exponent.len());
                sum.add_word(0, exponent);
                sum.add_bit(0, more);
                sum.add_bit(0, four);
                sum.sum(c, self.goal)
            }
            Goal::Depth => {
                let (once, _) = increment(c, exponent, Bit::TRUE, self.goal);
                let (upper, _) = increment(c, &exponent[1..], Bit::TRUE, self.goal);
                let twice = [&exponent[..1], &upper].concat();
                let result = mux(c, more, &once, exponent);
                mux(c, four, &twice, &result)
            }
        }
    }

    /// The result with its sign, and what it is where it is no multiple of a power of two.
    fn settle(self, c: &mut Builder, x: &Float, parts: &Unpacked, reduced: &Reduced, mut result: Magnitude) -> Float {
        let cosine = self.function == Function::Cos;
        let bad = c.xor(parts.infinite, parts.nan);
        let (one, passed) = if cosine { (reduced.tiny, Bit::FALSE) } else { (result.one, reduced.tiny) };
        let at_pole = c.and(reduced.distance.zero, reduced.pole);
        let flushed = if cosine || self.mode == Mode::Ieee { Bit::FALSE } else { parts.zero };
        let zero = c.or(reduced.distance.zero, flushed);
        result.fraction = mux(c, passed, x.fraction(), &result.fraction);
        result.exponent = mux(c, passed, x.exponent(), &result.exponent);
        // Infinite angles count as large, and so as zeros.
        let other = c.or(zero, passed);
        let one = c.and(one, !other);
        let ends = c.xor(zero, one);
        let special = c.or(ends, bad);
        let top = c.or(at_pole, bad);
        let one = c.and(one, !bad);
        let mut bits: Vec<Bit> = result.fraction.iter().map(|&bit| c.and(bit, !special)).collect();
        let last = result.exponent.len() - 1;
        for (k, &bit) in result.exponent.iter().enumerate() {
            let end = if k < last { c.xor(top, one) } else { top };
            bits.push(c.mux(special, end, bit));
        }
        if self.mode == Mode::Ieee {
            let quiet = x.format.fraction as usize - 1;
            bits[quiet] = c.xor(bits[quiet], bad);
        }
        let sign = if cosine { reduced.flip } else { c.xor(parts.sign, reduced.flip) };
        bits.push(c.and(sign, !bad));
        Float::new(x.format, bits)
    }
}

/// Of distances below 2^−last, sine and tangent are multiples, but for a few hundredths of 2^low.
fn last_exponent(low: i32) -> usize {
    (8 - low).unsigned_abs().div_ceil(2) as usize
}

/// Bit m says whether the angle is kept and from 2^−m to twice that, for m up to `last`.
///
/// # Panics
/// If the format does not have these exponents.
fn exponents_of(c: &mut Builder, parts: &Unpacked, kept: Bit, last: usize) -> Vec<Bit> {
    if kept == Bit::FALSE {
        return vec![Bit::FALSE; last + 1];
    }
    let width = parts.format.exponent as usize;
    let low = (usize::BITS - last.leading_zeros()) as usize;
    assert!(low < width, "format {} has too few exponents for its fraction", parts.format);
    let exponent = &parts.exponent.0[..width];
    // The bias has ones everywhere but at the top.
    let mut upper = exponent[low..].to_vec();
    upper[width - low - 1] = !upper[width - low - 1];
    let upper = all(c, &upper);
    let hots = one_hot(c, &exponent[..low]);
    (0..=last).map(|m| c.and(upper, hots[(1 << low) - 1 - m])).collect()
}
