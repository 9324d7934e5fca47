//! Exponentials: 2^x, e^x, 10^x, within a unit of the last place.
//!
//! The exponent of x moves its significand into fixed point, and with its sign it becomes n·s + t: s = log_b 2 is what
//! the argument grows by when the result doubles, n is an integer, and t in [0, s) or a little more. So b^x = 2^n·b^t,
//! where n goes into the exponent and b^t comes from a [table of polynomials](crate::blocks::approximation::piecewise). For b = 2, n
//! and t are the bits before and after the point. Otherwise n comes from the leading bits of x alone, rounded down, so
//! that n·s costs one table look-up for each few bits of n.
//!
//! Bits cut off below the last bit of x, and a negation that is a complement, leave an interval of one unit, whose
//! middle is the argument: two or three bits more than the significand has are enough. Before it is rounded to the
//! nearest, the significand is off by less than half a unit in all. So the result is one of the two neighbours of the
//! exact value, and exact wherever that is a number of the format.

use num_bigint::BigInt;

use super::format::{Float, Format, Mode, Unpacked};
use super::gates::{any, flip, mux};
use super::round::{Unrounded, round};
use crate::blocks::approximation::digits::{Digits, Sum};
use crate::blocks::approximation::piecewise::{LastBit, Piecewise};
use crate::blocks::approximation::reals::{Reals, power_of_two};
use crate::blocks::arithmetic::shift;
use crate::blocks::{Columns, Goal, one_hot, subtract};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::{Int, UInt};

/// The base of a power or a logarithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// 2.
    Two,
    /// Euler's number.
    E,
    /// 10.
    Ten,
}

impl Base {
    /// Its natural logarithm.
    pub(super) fn ln(self, r: &Reals) -> BigInt {
        match self {
            Base::Two => r.ln2(),
            Base::E => r.one(),
            Base::Ten => r.ln(&r.scaled(10, 0)),
        }
    }
}

/// b^x, off by less than a unit of the last place; exact where the exact value is a number of the format.
///
/// b^(−∞) = 0, b^∞ = ∞, b^NaN = NaN, b^0 = 1. Results that are too large become infinite; those below the smallest
/// normal number are denormal or zero in mode `Ieee`, zero in mode `Flush`.
///
/// ANDs and depth in mode `Flush`, for single, 42-bit and double: 2^x by size 768 @ 91, 1,401 @ 116, 3,822 @ 207, by
/// depth 1,134 @ 35, 1,991 @ 38, 5,311 @ 46; e^x by size 1,008 @ 136, 1,735 @ 178, 4,354 @ 292, by depth 1,534 @ 51,
/// 2,461 @ 57, 5,994 @ 65; 10^x as e^x. Mode `Ieee` adds a shifter at the end: 216, 341 and 598 ANDs by size.
///
/// # Panics
/// If the exponent has fewer than 4 bits.
pub fn exponential(c: &mut Builder, x: &Float, base: Base, mode: Mode, goal: Goal) -> Float {
    let format = x.format;
    assert!(format.exponent >= 4, "an exponential in format {format}");
    let parts = x.unpack(c, mode);
    let (bits, beyond) = argument(c, &parts, base, goal);
    let power = match base {
        Base::Two => Power::of_two(c, format, &bits, fraction_bits(format, base), goal),
        _ => Power::new(c, format, &bits, base, goal),
    };
    let infinite = c.or(beyond, parts.infinite);
    let large = c.and(infinite, !parts.nan);
    power.round(c, format, mode, Bounds { large, sign: parts.sign, nan: parts.nan, negative: Bit::FALSE }, goal)
}

/// x in fixed point: in two's complement, somewhere in the unit of its last place. And whether its magnitude is too
/// large for any result but zero and infinity.
fn argument(c: &mut Builder, x: &Unpacked, base: Base, goal: Goal) -> (Vec<Bit>, Bit) {
    let (magnitude, beyond) = fixed_point(c, x, integer_bits(x.format, base), fraction_bits(x.format, base), goal);
    let mut bits = flip(c, x.sign, &magnitude);
    bits.push(x.sign);
    (bits, beyond)
}

/// Bits after the point of the argument: half a unit there is at most a fifth of one of the result.
pub(super) fn fraction_bits(format: Format, base: Base) -> usize {
    let guard = match base {
        Base::Two => 2,
        Base::E => 4,
        Base::Ten => 5,
    };
    format.fraction as usize + guard
}

/// Bits before the point, so that an argument with more gives zero or infinity.
pub(super) fn integer_bits(format: Format, base: Base) -> usize {
    let most = format.bias() + i64::from(format.fraction) + 3;
    let most = match base {
        Base::Two => most,
        Base::E => most * 7 / 10,
        Base::Ten => most * 31 / 100,
    };
    (i64::BITS - most.leading_zeros()) as usize
}

/// ⌊|x|·2^fraction⌋ in `whole + fraction` bits, and whether it needs more.
pub(super) fn fixed_point(c: &mut Builder, x: &Unpacked, whole: usize, fraction: usize, goal: Goal) -> (Vec<Bit>, Bit) {
    let width = x.exponent.0.len() as u32;
    let top = Int::constant((x.format.bias() + whole as i64 - 1).into(), width);
    let amount = subtract(c, &top, &x.exponent, goal).0;
    let (&beyond, amount) = amount.split_last().expect("a sign");
    let mut bits = vec![Bit::FALSE; whole + fraction - x.significand.0.len()];
    bits.extend(&x.significand.0);
    if x.format.bias() <= fraction as i64 {
        // A zero's significand is not shifted out on its own.
        bits = bits.iter().map(|&bit| c.and(bit, !x.zero)).collect();
    }
    (shift::shift_right(c, &UInt(bits), &UInt(amount.to_vec()), goal).0, beyond)
}

/// 2^(n + carry)·(1 + fraction).
pub(super) struct Power {
    /// In two's complement.
    n: Vec<Bit>,
    carry: Bit,
    fraction: Vec<Bit>,
}

/// Facts about an argument beside its bits.
pub(super) struct Bounds {
    /// The result is zero or infinite.
    pub(super) large: Bit,
    /// The argument is negative.
    pub(super) sign: Bit,
    pub(super) nan: Bit,
    /// The result is negative.
    pub(super) negative: Bit,
}

impl Power {
    /// 2^x of a fixed-point number with this many bits after the point.
    pub(super) fn of_two(c: &mut Builder, format: Format, x: &[Bit], fraction: usize, goal: Goal) -> Self {
        let precision = format.fraction as usize;
        let (t, n) = x.split_at(fraction);
        let minus_one = Piecewise {
            function: &|r, t| r.exp2(t) - r.one(),
            domain: 0.0..1.0,
            place: LastBit::Middle,
            low: -(precision as i32),
            high: 1,
            error: 0.3,
        };
        let word = minus_one.evaluate(c, t, goal);
        Power { n: n.to_vec(), carry: word[precision], fraction: word[..precision].to_vec() }
    }

    /// b^x of a fixed-point number.
    fn new(c: &mut Builder, format: Format, x: &[Bit], base: Base, goal: Goal) -> Self {
        let precision = format.fraction as usize;
        let low = -(fraction_bits(format, base) as i32);
        let (n, rest, end) = reduce(c, x, low, base, goal);
        let minus_one = Piecewise {
            function: &|r, t| r.exp(&r.mul(t, &base.ln(r))) - r.one(),
            domain: 0.0..end,
            place: LastBit::Middle,
            low: -(precision as i32),
            high: 1,
            error: 0.25,
        };
        let word = minus_one.evaluate(c, &rest, goal);
        // From 2 on half as much: the bit that falls off is worth a quarter of a unit on average, and half at most.
        let (carry, fraction) = (word[precision], &word[..precision]);
        Power { n, carry, fraction: mux(c, carry, &fraction[1..], fraction) }
    }

    /// The power as a number.
    pub(super) fn round(&self, c: &mut Builder, format: Format, mode: Mode, bounds: Bounds, goal: Goal) -> Float {
        let width = (self.n.len() + 1).max(format.exponent_width() as usize);
        let mut exponent = Columns::new(width);
        exponent.add_signed(0, &self.n);
        exponent.add_constant(0, format.bias() as u128);
        exponent.add_bit(0, self.carry);
        let (&negative, magnitude) = self.n.split_last().expect("a sign");
        let far = any(c, &magnitude[magnitude.len().min(format.exponent as usize)..]);
        let far = c.and(far, !negative);
        let tiny = c.and(bounds.large, bounds.sign);
        let over = c.or(far, bounds.large);
        let over = c.and(over, !bounds.sign);
        let infinite = match mode {
            Mode::Ieee => c.and(over, !bounds.nan),
            Mode::Flush => c.or(over, bounds.nan),
        };
        let value = Unrounded {
            sign: bounds.negative,
            exponent: Int(exponent.sum(c, goal)),
            significand: UInt([&self.fraction[..], &[Bit::TRUE]].concat()),
            zero: tiny,
            infinite,
            nan: bounds.nan,
        };
        round(c, format, mode, &value, goal)
    }
}

/// Bits after the point in the argument that the number of steps is taken from.
const COARSE: usize = 4;

/// n and t with x = n·s + t, s = log_b 2, and the end of the range of t, which starts at zero. t is in fixed point, one
/// bit lower than x, and somewhere in the unit of its last place.
fn reduce(c: &mut Builder, x: &[Bit], low: i32, base: Base, goal: Goal) -> (Vec<Bit>, Vec<Bit>, f64) {
    let r = Reals::new(x.len() as u32 + 64);
    let step = r.div(&r.ln2(), &base.ln(&r));
    let (coarse, fine) = (COARSE as i32, -(COARSE as i32) - 3);
    let leading = &x[(-low) as usize - COARSE..];
    // The number of steps, too low by `slack` on average, so that it is never too high.
    let mut steps = Sum::new(fine);
    add_tables(&mut steps, c, &r, leading, -coarse, &r.div(&r.one(), &step));
    let slack = steps.error() + 2.0 * power_of_two(fine);
    steps.constant(&r, &-r.scaled((slack / power_of_two(fine - 1)) as i64, fine - 1));
    let slack = slack + steps.error();
    let whole = x.len() as i32 + low + 1 + i32::from(base == Base::Ten);
    let n = steps.word(c, 0, whole, goal);
    let mut rest = Sum::new(low - 1);
    rest.add(&as_digits(x, low));
    add_tables(&mut rest, c, &r, &n, 0, &-&step);
    let end = r.to_f64(&step) * (1.0 + slack) + power_of_two(-coarse);
    (n, rest.word(c, low - 1, 0, goal), end)
}

/// A word in two's complement, or rather the middle of the unit of its last place, as digits. Free.
pub(super) fn as_digits(word: &[Bit], low: i32) -> Digits {
    let mut bits = word.to_vec();
    let sign = bits.last_mut().expect("a sign");
    *sign = !*sign;
    Digits::new(bits, low)
}

/// Adds word·factor, the word in two's complement with its lowest bit at 2^low, by a table for each few bits.
pub(super) fn add_tables(sum: &mut Sum, c: &mut Builder, r: &Reals, word: &[Bit], low: i32, factor: &BigInt) {
    let tables = word.len().div_ceil(5);
    let mut rest = word;
    let mut low = low;
    for left in (1..=tables).rev() {
        let (index, above) = rest.split_at(rest.len().div_ceil(left));
        let hots = one_hot(c, index);
        let half = if left == 1 { hots.len() / 2 } else { hots.len() };
        let signed = |i: usize| if i < half { i as i64 } else { i as i64 - 2 * half as i64 };
        let times = |i: usize| factor * signed(i);
        let scaled = |i: usize| if low < 0 { times(i) >> -low } else { times(i) << low };
        sum.table(c, r, &hots, &(0..hots.len()).map(scaled).collect::<Vec<_>>());
        low += index.len() as i32;
        rest = above;
    }
}
