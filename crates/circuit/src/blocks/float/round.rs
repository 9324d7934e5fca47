//! Rounding, and what follows from it: overflow, denormals, underflow, flags.
//!
//! A result is held as an exponent and a significand of any width, whose lowest bit may stand for everything below
//! it. The increment runs into the exponent on its own, because a full fraction that is incremented becomes zero; the
//! flags of both outcomes are there before its carry is (so they cost no depth after it).

use super::format::{Float, Format, Mode};
use super::gates::{all, any, flip, increment, mux, shift_right};
use super::status::{Flags, Outcome, Rounding};
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// A result before rounding: (−1)^sign · significand · 2^(exponent − bias), its significand in [1, 2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unrounded {
    /// One if negative.
    pub sign: Bit,
    /// The biased exponent in two's complement: at least as many bits as the format's exponent and two more.
    pub exponent: Int,
    /// The significand; its highest bit is one, the bits below are the fraction. The lowest bit is to be set as well
    /// if the exact value goes on below it.
    pub significand: UInt,
    /// The result is zero, whatever exponent and significand say, unless one of the other flags is set.
    pub zero: Bit,
    /// The result is infinite, whatever exponent and significand say.
    pub infinite: Bit,
    /// The result is NaN: not together with `infinite`. Mode `Flush` has none and ignores this.
    pub nan: Bit,
}

/// The number of this format that is nearest; of two that are, the one with an even fraction.
///
/// Above the largest number: infinity. Below the smallest normal one: a denormal (`Ieee`), or zero, unless it rounds
/// to a normal one (`Flush`). `Flush`: about 2·fraction + 5·exponent ANDs; `Ieee`: a shift of the significand more.
/// Depth goal: 4 + log fraction, in mode `Ieee` log (exponent · precision) + 3 more.
///
/// # Panics
/// If the exponent has too few bits.
pub fn round(c: &mut Builder, format: Format, mode: Mode, value: &Unrounded, goal: Goal) -> Float {
    round_to(c, format, mode, Rounding::Nearest, value, goal).number
}

/// The neighbour in this direction, and the flags of overflow, underflow and an inexact result.
///
/// To nearest as [`round`]. A directed rounding never passes the exact value: above the largest number it gives that
/// one or infinity, and in mode `Flush` below the smallest normal number that one or zero. Towards zero saves the
/// increment; the flags cost about the fraction and twenty more ANDs.
///
/// # Panics
/// If the exponent has too few bits.
pub fn round_to(
    c: &mut Builder,
    format: Format,
    mode: Mode,
    rounding: Rounding,
    value: &Unrounded,
    goal: Goal,
) -> Outcome {
    assert!(value.exponent.0.len() >= format.exponent as usize + 2, "bits of an exponent before rounding");
    match mode {
        Mode::Flush => round_aligned(c, format, mode, rounding, value, goal),
        Mode::Ieee => {
            let aligned = align(c, format, value, goal);
            round_aligned(c, format, mode, rounding, &aligned, goal)
        }
    }
}

/// Exponents below 1 become 1, and the significand gives way to the right.
fn align(c: &mut Builder, format: Format, value: &Unrounded, goal: Goal) -> Unrounded {
    // By 1 − e, which is the complement of e and 2.
    let width = value.exponent.0.len();
    let mut by = flip(c, Bit::TRUE, &value.exponent.0);
    let (upper, _) = increment(c, &by[1..], Bit::TRUE, goal);
    by.splice(1.., upper);
    let tiny = {
        let positive = any(c, &value.exponent.0[..width - 1]);
        !c.and(positive, !value.exponent.0[width - 1])
    };
    let amount: Vec<Bit> = by[..width - 1].iter().map(|&bit| c.and(bit, tiny)).collect();
    // Two bits below the fraction are enough once the rest is in the lowest one.
    let bits = resized(c, &value.significand.0, format.precision() as usize + 2);
    let (mut bits, lost) = shift_right(c, &bits, &amount);
    bits[0] = c.or(bits[0], lost);
    let one = UInt::constant(1, width as u32 - 1).0;
    let mut exponent = mux(c, tiny, &one, &value.exponent.0[..width - 1]);
    exponent.push(Bit::FALSE);
    Unrounded { exponent: Int(exponent), significand: UInt(bits), ..value.clone() }
}

/// The upper `width` bits, the lowest of them set if any below is; or more zeros below.
fn resized(c: &mut Builder, bits: &[Bit], width: usize) -> Vec<Bit> {
    let Some(below) = bits.len().checked_sub(width) else {
        return [vec![Bit::FALSE; width - bits.len()], bits.to_vec()].concat();
    };
    let mut upper = bits[below..].to_vec();
    upper[0] = any(c, &bits[..=below]);
    upper
}

/// Rounds a significand that is aligned: in mode `Ieee` exponents are at least 1, and where the highest bit of the
/// significand is clear the exponent is 1.
pub(super) fn round_aligned(
    c: &mut Builder,
    format: Format,
    mode: Mode,
    rounding: Rounding,
    value: &Unrounded,
    goal: Goal,
) -> Outcome {
    let precision = format.precision() as usize;
    let missing = precision.saturating_sub(value.significand.0.len());
    let significand = [vec![Bit::FALSE; missing], value.significand.0.clone()].concat();
    let (below, kept) = significand.split_at(significand.len() - precision);
    let (fraction, hidden) = (&kept[..precision - 1], kept[precision - 1]);
    let up = rounds_up(c, rounding, value.sign, below, fraction[0]);

    let (fraction, carry) = increment(c, fraction, up, goal);
    let exponent = raised(c, format, value, hidden, carry, goal);
    let ends = Ends::new(c, format, mode, value).settle(c, carry);
    let mut bits: Vec<Bit> = fraction.iter().map(|&bit| c.and(bit, !ends.clear)).collect();
    bits.extend(exponent.iter().map(|&bit| c.mux(ends.clear, ends.top, bit)));
    if !matches!(rounding, Rounding::Nearest | Rounding::NearestAway) {
        ends.turn_back(c, rounding, value.sign, &mut bits, precision - 1);
    }
    match mode {
        Mode::Flush => bits.push(value.sign),
        Mode::Ieee => {
            bits[precision - 2] = c.xor(bits[precision - 2], value.nan);
            bits.push(c.and(value.sign, !value.nan));
        }
    }
    Outcome { number: Float::new(format, bits), flags: ends.flags(c, mode, value, hidden, below) }
}

/// To nearest: above one half, or one half and odd, or one half; else: not zero, and away from zero.
fn rounds_up(c: &mut Builder, rounding: Rounding, sign: Bit, below: &[Bit], odd: Bit) -> Bit {
    let Some((&half, rest)) = below.split_last() else { return Bit::FALSE };
    match rounding {
        Rounding::Nearest => {
            let beyond = any(c, &[rest, &[odd]].concat());
            c.and(half, beyond)
        }
        Rounding::NearestAway => half,
        Rounding::Truncate => Bit::FALSE,
        Rounding::Floor | Rounding::Ceiling => {
            let some = any(c, below);
            c.and(some, rounding.away(sign, Bit::FALSE))
        }
    }
}

/// The stored exponent with the carry of the fraction.
fn raised(c: &mut Builder, format: Format, value: &Unrounded, hidden: Bit, carry: Bit, goal: Goal) -> Vec<Bit> {
    let mut exponent = value.exponent.0[..format.exponent as usize].to_vec();
    // Of a denormal it is 1, and stored as 0.
    exponent[0] = c.and(exponent[0], hidden);
    match goal {
        Goal::Size => increment(c, &exponent, carry, goal).0,
        Goal::Depth => {
            let (next, _) = increment(c, &exponent, Bit::TRUE, goal);
            mux(c, carry, &next, &exponent)
        }
    }
}

/// Results whose fraction and exponent are not kept: zeros, infinities, NaN.
struct Ends {
    /// Fraction zero, and exponent all `top`; the first without, the second with a carry from the fraction.
    clears: [Bit; 2],
    tops: [Bit; 2],
    /// The exponent is too large, and in mode `Flush` too small, both without and with a carry from the fraction.
    overs: [Bit; 2],
    belows: [Bit; 2],
    /// Zero, infinite or NaN whatever exponent and significand say.
    exact: Bit,
}

/// [`Ends`] once the carry is known.
struct Settled {
    clear: Bit,
    top: Bit,
    over: Bit,
    below: Bit,
    exact: Bit,
}

impl Ends {
    fn new(c: &mut Builder, format: Format, mode: Mode, value: &Unrounded) -> Self {
        let n = format.exponent as usize;
        let (&negative, exponent) = value.exponent.0.split_last().expect("an exponent has a sign");
        let low = &exponent[..n];
        let beyond = any(c, &exponent[n..]);
        let special = match mode {
            Mode::Ieee => c.xor(value.infinite, value.nan),
            Mode::Flush => value.infinite,
        };
        // All ones, without and with the carry.
        let near = all(c, &low[1..]);
        let full = c.and(near, low[0]);
        let possible = c.and(!negative, !value.zero);
        let [(over, top), (over_next, top_next)] = [full, near].map(|full| {
            let high = c.or(beyond, full);
            let over = c.and(high, possible);
            (over, c.or(over, special))
        });
        let (overs, tops) = ([over, over_next], [top, top_next]);
        let belows = match mode {
            Mode::Ieee => [Bit::FALSE; 2],
            Mode::Flush => {
                let positive = any(c, exponent);
                [c.or(negative, !positive), negative]
            }
        };
        let zeros = belows.map(|below| c.or(below, value.zero));
        let clears = [c.or(tops[0], zeros[0]), c.or(tops[1], zeros[1])];
        let exact = c.or(special, value.zero);
        Ends { clears, tops, overs, belows, exact }
    }

    fn settle(&self, c: &mut Builder, carry: Bit) -> Settled {
        let [clear, top, over, below] =
            [self.clears, self.tops, self.overs, self.belows].map(|[without, with]| c.mux(carry, with, without));
        Settled { clear, top, over: c.and(over, !self.exact), below: c.and(below, !self.exact), exact: self.exact }
    }
}

impl Settled {
    /// A directed rounding does not pass the exact value: towards zero infinity becomes the largest number, away from it a
    /// flushed zero the smallest. `magnitude` is the result's, with all that is settled.
    fn turn_back(&self, c: &mut Builder, rounding: Rounding, sign: Bit, magnitude: &mut [Bit], fraction: usize) {
        let away = rounding.away(sign, Bit::TRUE);
        let largest = c.and(self.over, !away);
        let smallest = c.and(self.below, away);
        magnitude[..fraction].iter_mut().for_each(|bit| *bit = c.xor(*bit, largest));
        magnitude[fraction] = c.xor_all([magnitude[fraction], largest, smallest]);
    }

    /// The flags but for `invalid` and `divide_by_zero`, which rounding cannot know.
    fn flags(&self, c: &mut Builder, mode: Mode, value: &Unrounded, hidden: Bit, below: &[Bit]) -> Flags {
        let rest = any(c, below);
        let rest = c.and(rest, !self.exact);
        let inexact = any(c, &[rest, self.over, self.below]);
        let tiny = match mode {
            Mode::Ieee => !hidden,
            Mode::Flush => {
                let (&negative, exponent) = value.exponent.0.split_last().expect("an exponent has a sign");
                let positive = any(c, exponent);
                c.or(negative, !positive)
            }
        };
        Flags { overflow: self.over, underflow: c.and(inexact, tiny), inexact, ..Flags::NONE }
    }
}
