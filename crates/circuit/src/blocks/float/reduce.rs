//! Angles modulo a full turn, and how far they are from the zeros and poles of the functions of trigonometry.
//!
//! Angles in half-turns are exact: a shift by the exponent leaves what stands behind the point. Angles in radians are
//! multiplied by 1/π (Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983): of
//! the bits of 1/π those count that, for the exponent at hand, give neither whole turns nor too little; a one-hot code
//! of the exponent chooses them, which is free, and so are the products of digits. How near an angle comes to a
//! multiple of a quarter-turn, and so how many bits the product needs, is in the continued fraction of 2^e/π
//! (Muller et al., "Handbook of floating-point arithmetic", §10.2); it is computed for each format.

use num_bigint::BigInt;

use super::convert::convert;
use super::format::{Float, Format, Mode};
use super::gates::any;
use crate::blocks::approximation::digits::{Digits, Sum};
use crate::blocks::approximation::reals::Reals;
use crate::blocks::{Goal, one_hot, or_prefix, shift_left, subtract_borrow};
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::UInt;

/// |x| modulo 2 half-turns, in fixed point.
pub(super) struct Turns {
    /// The whole half-turns are odd.
    pub(super) odd: Bit,
    /// The bits behind the point; the highest one counts a quarter-turn.
    pub(super) fraction: Vec<Bit>,
}

/// An angle in half-turns by its exponent.
pub(super) struct Shifted {
    pub(super) turns: Turns,
    /// |x| is below 2^least. If small angles are kept, the fraction is then the significand as it stands.
    pub(super) small: Bit,
    /// |x| is so large that it is a multiple of a full turn.
    pub(super) large: Bit,
}

/// |x| modulo 2, with at most `below` bits behind the point, of x in half-turns that is at least 2^least.
pub(super) fn half_turns(c: &mut Builder, x: &Float, least: i64, below: usize, keep: bool, goal: Goal) -> Shifted {
    let width = (i64::from(x.format.fraction) - least + 1) as usize;
    let below = below.min(width - 1);
    let stages = width.next_power_of_two().ilog2() as usize;
    let exponent = UInt(x.exponent().to_vec());
    let from = UInt::constant((x.format.bias() + least) as u128, x.format.exponent);
    let (amount, small) = subtract_borrow(c, &exponent, &from, goal);
    let (amount, far) = amount.0.split_at(stages.min(amount.0.len()));
    let amount = match keep {
        true => amount.iter().map(|&bit| c.and(bit, !small)).collect(),
        false => amount.to_vec(),
    };
    let far = any(c, far);
    let mut bits = x.fraction().to_vec();
    bits.push(Bit::TRUE);
    let bits = shift_left(c, &UInt(bits).resized(width), &UInt(amount), goal).0;
    let turns = Turns { odd: bits[width - 1], fraction: bits[width - 1 - below..width - 1].to_vec() };
    Shifted { turns, small, large: c.and(far, !small) }
}

/// |x/π| modulo 2 to about 2^−below, of a normal x in radians that is at least 2^least; of others it is arbitrary.
///
/// f·(below + 1 + log f) ANDs for f bits of fraction, and one for each exponent.
///
/// # Panics
/// If the format has no exponent of `least`.
pub(super) fn radians(c: &mut Builder, x: &Float, least: i64, below: usize, goal: Goal) -> Turns {
    let format = x.format;
    assert!(least > -format.bias(), "an exponent of format {format}");
    let fraction = i64::from(format.fraction);
    let exponents: Vec<i64> = exponents(format, least);
    let hots = decode_exponent(c, x.exponent(), exponents.len());
    let low = -(below as i32) - (format.fraction as i32).ilog2() as i32 - 1;
    let r = Reals::new((format.top() + 2 * fraction) as u32 + below as u32 + 32);
    let inverse = r.div(&r.one(), &r.pi());
    // The unit of the fraction in half-turns, from −1 to 1; and with it the bits of the fraction as digits ±½.
    let units: Vec<BigInt> = exponents.iter().map(|e| modulo_two(&r, &inverse, e - fraction)).collect();
    let middles: Vec<BigInt> = units.iter().map(|unit| modulo_two(&r, &(unit * middle(fraction)), -1)).collect();
    let digits = Digits::new(x.fraction().to_vec(), 0);
    let unit = Digits::table(c, &r, &hots, &units, low - fraction as i32);
    let mut sum = Sum::new(low);
    sum.product(c, &digits, &unit);
    sum.table(c, &r, &hots, &middles);
    let mut bits = sum.word(c, -(below as i32), 1, goal);
    let odd = bits.pop().expect("a bit for whole half-turns");
    Turns { odd, fraction: bits }
}

/// Twice the significand whose fraction bits are all one half.
fn middle(fraction: i64) -> BigInt {
    (BigInt::from(3) << fraction) - 1
}

/// The exponents that the low bits of the stored ones mean: those above 0, and those from `least` to 0 in another place.
fn exponents(format: Format, least: i64) -> Vec<i64> {
    (1..=format.bias() + 1).chain(least..=0).collect()
}

/// A one-hot code of the exponents, in the order of [`exponents`] when there are `n` of them.
fn decode_exponent(c: &mut Builder, exponent: &[Bit], n: usize) -> Vec<Bit> {
    let (&above, low) = exponent.split_last().expect("an exponent");
    let mut hots = one_hot(c, low);
    let start = 2 * hots.len() - n;
    for i in start..1 << low.len() {
        let below = c.and(hots[i], !above);
        hots[i] = c.xor(hots[i], below);
        hots.push(below);
    }
    hots
}

/// x·2^exponent modulo 2, from −1 to 1.
fn modulo_two(r: &Reals, x: &BigInt, exponent: i64) -> BigInt {
    let x = if exponent < 0 { x >> exponent.unsigned_abs() } else { x << exponent.unsigned_abs() };
    let one = r.one();
    let turns = (&x + &one) >> (r.bits() + 1);
    x - (turns << (r.bits() + 1))
}

/// A k so that no number of the format, 0 apart and from 2^−2 up, is nearer than 2^−k half-turns to a multiple of a
/// quarter-turn, when it is an angle in radians.
///
/// The numbers of one exponent are multiples of a unit α, and of all multiples of α up to 2^precision those by the
/// largest denominator of a convergent of α are the nearest to a whole number.
pub(super) fn closeness(format: Format) -> usize {
    let precision = u64::from(format.precision());
    let bits = 3 * precision + 32;
    let r = Reals::new((format.top() as u64 + bits) as u32);
    let inverse = r.div(&r.one(), &r.pi());
    let most = BigInt::from(1) << precision;
    let nearest = |e: i64| {
        // Quarter-turns behind the point, to `bits` bits.
        let unit: BigInt = &inverse >> (i64::from(r.bits()) - bits as i64 - 1 - (e - i64::from(format.fraction)));
        let one = BigInt::from(1) << bits;
        distance_of_multiples(unit & (&one - 1), one, &most)
    };
    // Half-turns are two quarter-turns; one more for what the unit is rounded down by.
    (-2..=format.bias()).map(|e| bits - nearest(e).bits()).max().expect("an exponent") as usize + 3
}

/// |q·x mod 1| of the last convergent of x/one with a denominator q up to `most`, in units of 1/one.
fn distance_of_multiples(x: BigInt, one: BigInt, most: &BigInt) -> BigInt {
    let (mut before, mut rest) = (one, x);
    let (mut q_before, mut q) = (BigInt::ZERO, BigInt::from(1));
    while rest != BigInt::ZERO {
        let times = &before / &rest;
        let next = &before - &times * &rest;
        let q_next = &q_before + &times * &q;
        if &q_next > most {
            break;
        }
        before = std::mem::replace(&mut rest, next);
        q_before = std::mem::replace(&mut q, q_next);
    }
    rest
}

/// A distance below 2^(1 − first), as its exponent and its significand.
pub(super) struct Distance {
    /// Bit i: the distance is from 2^−(first + i) to twice that. The last: it is 0 or one unit of the word.
    pub(super) places: Vec<Bit>,
    /// The significand in [1, 2) without the highest bit.
    pub(super) fraction: Vec<Bit>,
    /// To be added to the last place of the fraction.
    pub(super) carry: Option<Bit>,
    /// The distance is zero.
    pub(super) zero: Bit,
}

/// The distance of a fixed-point word, highest bit 2^−first: forward from zero or, if `back`, from its highest value
/// and one more unit back. With `kept`, the word is taken as it stands, as if its highest bit were one.
///
/// No adder takes the negative: ones instead of zeros are shifted into its complement, and a unit is still to be added.
pub(super) fn distance(
    c: &mut Builder,
    word: &[Bit],
    back: Bit,
    kept: Option<Bit>,
    precision: usize,
    goal: Goal,
) -> Distance {
    let n = word.len();
    let mut turned: Vec<Bit> = word.iter().rev().map(|&bit| c.xor(bit, back)).collect();
    if let Some(kept) = kept {
        turned[0] = kept;
    }
    let seen = or_prefix(c, &turned, goal);
    let mut places = vec![seen[0]];
    places.extend((1..n).map(|i| c.xor(seen[i], seen[i - 1])));
    let none = !seen[n - 1];
    places.push(none);
    let count = (0..usize::BITS - n.leading_zeros()).map(|k| choose(c, &places, |i| i >> k & 1 == 1)).collect();
    let shifted = shift_left(c, &UInt(word.to_vec()), &UInt(count), goal).0;
    let bits: Vec<Bit> = shifted.iter().map(|&bit| c.xor(bit, back)).collect();
    let cut = n.saturating_sub(precision);
    let fraction = bits[cut..n - 1].to_vec();
    Distance { places, fraction, carry: (cut == 0).then_some(back), zero: c.and(none, !back) }
}

/// The exclusive or of the bits at some places.
pub(super) fn choose(c: &mut Builder, places: &[Bit], counts: impl Fn(usize) -> bool) -> Bit {
    let chosen: Vec<Bit> = (0..places.len()).filter(|&i| counts(i)).map(|i| places[i]).collect();
    c.xor_all(chosen)
}

/// The function, of a number with more exponents where the format has too few for its fraction; other results than
/// denormals are not rounded again, and those are still faithful.
pub(super) fn with_exponents(
    c: &mut Builder,
    x: &Float,
    mode: Mode,
    goal: Goal,
    function: impl FnOnce(&mut Builder, &Float) -> Float,
) -> Float {
    let format = x.format;
    let enough = |format: Format| format.bias() >= i64::from(format.fraction) + 5;
    if enough(format) {
        return function(c, x);
    }
    let formats = (format.exponent..).map(|exponent| Format { exponent, ..format });
    let wide = formats.into_iter().find(|&format| enough(format)).expect("exponents without bounds");
    let x = convert(c, x, wide, mode, goal);
    let result = function(c, &x);
    convert(c, &result, format, mode, goal)
}
