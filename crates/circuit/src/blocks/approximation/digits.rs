//! Numbers in digits of ±½, whose products are free of ANDs, and sums of such products cut off below some bit.
//!
//! A bit b stands for b − ½. The product of two digits is one as well, and it is free: (a − ½)(b − ½) = ½(p − ½) with
//! p = ¬(a ⊕ b). So a product of n by n digits costs the ANDs that add up its n² digits and none to make them; there
//! are no signs to extend, and to leave out the digits below some bit is an error without a bias. A word in two's
//! complement is digits too: turn its sign bit over, and it stands for the middle of its last place. So rounding down
//! costs half a unit of the last place in either direction.
//!
//! Every number carries a bound on its error. The bounds are worst cases; typical errors are several times smaller.

use num_bigint::BigInt;

use super::reals::{Reals, power_of_two};
use crate::blocks::{Columns, Goal};
use crate::builder::Builder;
use crate::graph::Bit;

/// Σ (bit i − ½)·2^(low + i), a number below 2^(low + length − 1) in magnitude.
#[derive(Clone, Debug)]
pub(crate) struct Digits {
    /// Its bits, the lowest first.
    pub(crate) bits: Vec<Bit>,
    /// The weight of the lowest, as a power of two.
    pub(crate) low: i32,
    /// A bound on its error.
    pub(crate) error: f64,
}

impl Digits {
    /// The digits of these bits, with no error.
    pub(crate) fn new(bits: Vec<Bit>, low: i32) -> Self {
        Digits { bits, low, error: 0.0 }
    }

    /// The number that a one-hot code chooses, down to the bit 2^low. Free.
    pub(crate) fn table(c: &mut Builder, r: &Reals, hots: &[Bit], values: &[BigInt], low: i32) -> Self {
        let bound = values.iter().map(|value| r.to_f64(value).abs()).fold(0.0, f64::max);
        let high = high_for(bound, low);
        // The middles of the units are an odd number of half units away from 2^(high − 1), where the digits start.
        let offset = r.power_of_two(high - 1);
        let units: Vec<BigInt> = values.iter().map(|value| floor(r, &(value + &offset), low)).collect();
        let bits = (0..high - low).map(|i| choose(c, hots, &units, i as u64)).collect();
        Digits { bits, low, error: power_of_two(low - 1) }
    }

    /// No digits of this kind and length are larger in magnitude.
    pub(crate) fn bound(&self) -> f64 {
        power_of_two(self.low + self.bits.len() as i32 - 1)
    }
}

/// A sum of digits and constants, exact but for what is cut off below 2^low.
pub(crate) struct Sum {
    low: i32,
    /// Bits and the powers of two that they stand for.
    bits: Vec<(i32, Bit)>,
    /// In units of 2^(low − 1).
    constant: BigInt,
    error: f64,
    bound: f64,
}

impl Sum {
    /// Zero.
    pub(crate) fn new(low: i32) -> Self {
        Sum { low, bits: Vec::new(), constant: BigInt::ZERO, error: 0.0, bound: 0.0 }
    }

    /// Below which power of two it is cut off.
    pub(crate) fn low(&self) -> i32 {
        self.low
    }

    /// This sum and 2^exponent.
    pub(crate) fn plus_power(mut self, exponent: i32) -> Self {
        self.constant += BigInt::from(1) << (exponent - self.low + 1);
        self
    }

    /// This sum less 2^exponent.
    pub(crate) fn minus_power(mut self, exponent: i32) -> Self {
        self.constant -= BigInt::from(1) << (exponent - self.low + 1);
        self
    }

    /// A bound on the error of the sum.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// Adds a, all of whose digits are kept.
    ///
    /// # Panics
    /// If it has digits below the sum's lowest.
    pub(crate) fn add(&mut self, a: &Digits) {
        assert!(a.low >= self.low, "digits below 2^{}", self.low);
        self.bits.extend((a.low..).zip(a.bits.iter().copied()));
        let ones = (BigInt::from(1) << a.bits.len()) - 1;
        self.constant -= ones << (a.low - self.low);
        self.bound += a.bound();
        self.error += a.error;
    }

    /// Adds a·b.
    pub(crate) fn product(&mut self, c: &mut Builder, a: &Digits, b: &Digits) {
        for (i, &x) in (a.low..).zip(&a.bits) {
            for (j, &y) in (b.low..).zip(&b.bits) {
                self.digit(c, i + j - 1, x, y);
            }
        }
        self.bound += a.bound() * b.bound();
        self.error += a.error * b.bound() + b.error * a.bound() + a.error * b.error;
    }

    /// Adds a² − 2^middle/2, for an a below 2^(middle/2) in magnitude: that is less than 2^middle/2.
    pub(crate) fn square(&mut self, c: &mut Builder, r: &Reals, a: &Digits, middle: i32) {
        for (i, &x) in (a.low..).zip(&a.bits) {
            for (j, &y) in (a.low..i).zip(&a.bits) {
                self.digit(c, i + j, x, y);
            }
        }
        // The squares of the digits: Σ 4^i / 4.
        let ends = r.power_of_two(2 * (a.low + a.bits.len() as i32)) - r.power_of_two(2 * a.low);
        self.constant(r, &(ends / 12 - r.power_of_two(middle - 1)));
        self.bound += power_of_two(middle - 1);
        self.error += 2.0 * a.error * a.bound() + a.error * a.error;
    }

    /// Adds (p − ½)·2^weight, the product of two digits, or leaves it out.
    fn digit(&mut self, c: &mut Builder, weight: i32, x: Bit, y: Bit) {
        if weight < self.low {
            self.error += power_of_two(weight - 1);
        } else {
            self.bits.push((weight, !c.xor(x, y)));
            self.constant -= BigInt::from(1) << (weight - self.low);
        }
    }

    /// Adds a constant, rounded to where the sum is an odd number of half units.
    pub(crate) fn constant(&mut self, r: &Reals, value: &BigInt) {
        self.constant = self.constant_with(r, value);
        self.error += power_of_two(self.low - 1);
    }

    /// The odd constant that is nearest to this one and the value.
    fn constant_with(&self, r: &Reals, value: &BigInt) -> BigInt {
        let odd = self.constant.bit(0);
        let half = if odd { r.power_of_two(self.low - 1) } else { BigInt::ZERO };
        let units = floor(r, &(value + half), self.low);
        &self.constant + 2 * units + i32::from(!odd)
    }

    /// Adds the number that a one-hot code chooses, and all constants so far with it. Free but for the sum.
    pub(crate) fn table(&mut self, c: &mut Builder, r: &Reals, hots: &[Bit], values: &[BigInt]) {
        let unit = |value: &BigInt| (self.constant_with(r, value) - 1) / 2;
        let units: Vec<BigInt> = values.iter().map(unit).collect();
        let (least, most) = (units.iter().min().expect("a value"), units.iter().max().expect("a value"));
        let variable = (most - least).bits();
        let base: BigInt = (least >> variable) << variable;
        let units: Vec<BigInt> = units.iter().map(|unit| unit - &base).collect();
        let width = units.iter().map(BigInt::bits).max().unwrap_or(0);
        for i in 0..width {
            self.bits.push((self.low + i as i32, choose(c, hots, &units, i)));
        }
        self.constant = 2 * base + 1;
        self.bound += values.iter().map(|value| r.to_f64(value).abs()).fold(0.0, f64::max);
        self.error += power_of_two(self.low - 1);
    }

    /// The sum as digits.
    pub(crate) fn digits(mut self, c: &mut Builder, goal: Goal) -> Digits {
        let high = high_for(self.bound + self.error, self.low);
        if !self.constant.bit(0) {
            self.error += power_of_two(self.low - 1);
        }
        let (low, error) = (self.low, self.error);
        self.constant += BigInt::from(1) << (high - low);
        Digits { bits: self.word(c, low, high, goal), low, error }
    }

    /// ⌊sum / 2^low⌋ modulo 2^(high − low). Not part of [`error`](Self::error): up to a unit of 2^low.
    pub(crate) fn word(self, c: &mut Builder, low: i32, high: i32, goal: Goal) -> Vec<Bit> {
        let base = self.low - 1;
        let mut columns = Columns::new((high - base) as usize);
        for (weight, bit) in self.bits {
            columns.add_bit((weight - base) as usize, bit);
        }
        let modulus = BigInt::from(1) << (high - base);
        let constant = ((self.constant % &modulus) + &modulus) % &modulus;
        (0..constant.bits()).filter(|&i| constant.bit(i)).for_each(|i| columns.add_power(i as usize));
        columns.sum(c, goal).split_off((low - base) as usize)
    }
}

/// The sum with the highest cut whose error stays within a limit.
///
/// Tries whose error is too large leave gates that nothing needs; as the error halves with every bit, they are few.
pub(crate) fn fit(low: i32, limit: f64, mut sum: impl FnMut(i32) -> Sum) -> Sum {
    let mut cut = low - 3;
    loop {
        let sum = sum(cut);
        if sum.error() <= limit {
            return sum;
        }
        cut -= exponent(sum.error() / limit);
    }
}

/// The least e so that 2^e is at least x, for x > 0.
pub(crate) fn exponent(x: f64) -> i32 {
    let bits = x.to_bits();
    (bits >> 52) as i32 - 1023 + i32::from(bits << 12 != 0)
}

/// The least `high` so that digits from 2^low to below 2^high reach this far, and a little further: bounds are doubles,
/// and units may be smaller than theirs.
fn high_for(bound: f64, low: i32) -> i32 {
    let bound = bound * (1.0 + power_of_two(-40)) + power_of_two(low - 1);
    (low + 1..).find(|&high| power_of_two(high - 1) >= bound).expect("a finite bound")
}

/// ⌊value / 2^low⌋.
fn floor(r: &Reals, value: &BigInt, low: i32) -> BigInt {
    let shift = r.bits() as i32 + low;
    assert!(shift >= 0, "units of 2^{low} are finer than the numbers");
    value >> shift
}

/// Bit i of the value that a one-hot code chooses.
fn choose(c: &mut Builder, hots: &[Bit], values: &[BigInt], i: u64) -> Bit {
    let ones = values.iter().filter(|value| value.bit(i)).count();
    // One of them is set, so those with a one and those with a zero tell the same; take the shorter list.
    let wanted = 2 * ones <= values.len();
    let chosen = hots.iter().zip(values).filter(|(_, value)| value.bit(i) == wanted).map(|(&hot, _)| hot);
    c.xor_all(chosen).flip(!wanted)
}
