//! Formats and modes of floating point, numbers as words, and their parts.
//!
//! A number of a [`Format`] is, from the lowest bit, its fraction, its biased exponent and its sign (IEEE 754-2019, §3.4).
//! Two [`Mode`]s say what the extremes of the exponent mean.

use std::fmt;

use super::gates::{all, any, normalise, subtract_small};
use crate::blocks::Goal;
use crate::builder::Builder;
use crate::graph::{Bit, Kind, Type};
use crate::words::{Int, UInt};

/// How many bits exponent and fraction have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    /// Bits of the exponent, at least 3.
    pub exponent: u32,
    /// Bits of the fraction, without the hidden bit, at least 2.
    pub fraction: u32,
}

impl Format {
    /// IEEE 754 binary16.
    pub const HALF: Format = Format { exponent: 5, fraction: 10 };
    /// The upper half of a single.
    pub const BFLOAT16: Format = Format { exponent: 8, fraction: 7 };
    /// IEEE 754 binary32.
    pub const SINGLE: Format = Format { exponent: 8, fraction: 23 };
    /// The 42 bits of "Automated synthesis of optimized circuits for secure computation" (CCS 2015), §4.3.
    pub const PAPER: Format = Format { exponent: 9, fraction: 32 };
    /// IEEE 754 binary64.
    pub const DOUBLE: Format = Format { exponent: 11, fraction: 52 };

    /// Bits of a number.
    pub const fn width(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// Bits of a significand: the fraction and the hidden bit.
    pub const fn precision(self) -> u32 {
        self.fraction + 1
    }

    /// The bias: the stored exponent minus the true one.
    pub const fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The stored exponent of infinities: all ones.
    pub const fn top(self) -> i64 {
        (1 << self.exponent) - 1
    }

    /// Bits of an exponent on the way, in two's complement: the sum of two exponents of normalised denormals fits.
    pub const fn exponent_width(self) -> u32 {
        let shifts = u32::BITS - (self.fraction + 1).leading_zeros();
        if self.exponent > shifts { self.exponent + 2 } else { shifts + 3 }
    }

    /// The type of a port of this format.
    pub const fn ty(self) -> Type {
        Type { kind: Kind::Float { exponent: self.exponent }, width: self.width() }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.exponent, self.fraction)
    }
}

/// The meaning of the extreme exponents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// IEEE 754: denormals, infinities, NaN. Every NaN that comes out is the one quiet NaN of [`Float::nan`].
    Ieee,
    /// No denormals and no NaN: exponent zero is zero and exponent all ones is infinity, whatever the fraction.
    ///
    /// Results are rounded as if exponents had no bounds; what is then below the smallest normal number becomes a zero
    /// of its sign. What would be NaN in IEEE 754 is plus infinity, as DesignWare has it without `ieee_compliance`.
    Flush,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Ieee => "ieee",
            Mode::Flush => "flush",
        })
    }
}

/// A floating-point number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Float {
    /// Its format.
    pub format: Format,
    /// Fraction, exponent, sign, each from its lowest bit.
    pub bits: Vec<Bit>,
}

impl Float {
    /// The number of these bits.
    ///
    /// # Panics
    /// If there are not as many as the format has.
    pub fn new(format: Format, bits: Vec<Bit>) -> Self {
        assert_eq!(bits.len(), format.width() as usize, "bits of a number of format {format}");
        Float { format, bits }
    }

    /// A new input port.
    pub fn input(c: &mut Builder, name: impl Into<String>, format: Format) -> Self {
        Float::new(format, c.input(name, format.ty()))
    }

    /// A new output port.
    pub fn output(&self, c: &mut Builder, name: impl Into<String>) {
        c.output_as(name, self.format.ty(), &self.bits);
    }

    /// The constant with this encoding.
    pub fn constant(format: Format, encoding: u128) -> Self {
        Float::new(format, UInt::constant(encoding, format.width()).0)
    }

    /// A zero.
    pub fn zero(format: Format, sign: Bit) -> Self {
        Float::of_parts(format, sign, Bit::FALSE, Bit::FALSE)
    }

    /// An infinity.
    pub fn infinity(format: Format, sign: Bit) -> Self {
        Float::of_parts(format, sign, Bit::TRUE, Bit::FALSE)
    }

    /// The quiet NaN that results are: positive, the highest bit of the fraction set, the others clear.
    pub fn nan(format: Format) -> Self {
        Float::of_parts(format, Bit::FALSE, Bit::TRUE, Bit::TRUE)
    }

    fn of_parts(format: Format, sign: Bit, exponent: Bit, quiet: Bit) -> Self {
        let mut bits = vec![Bit::FALSE; format.fraction as usize - 1];
        bits.push(quiet);
        bits.extend((0..format.exponent).map(|_| exponent));
        bits.push(sign);
        Float::new(format, bits)
    }

    /// The sign: one if negative.
    pub fn sign(&self) -> Bit {
        self.bits[self.bits.len() - 1]
    }

    /// The stored exponent.
    pub fn exponent(&self) -> &[Bit] {
        &self.bits[self.format.fraction as usize..self.bits.len() - 1]
    }

    /// The stored fraction.
    pub fn fraction(&self) -> &[Bit] {
        &self.bits[..self.format.fraction as usize]
    }

    /// All but the sign: magnitudes that are no NaN are ordered like these bits as an unsigned number.
    pub fn magnitude(&self) -> &[Bit] {
        &self.bits[..self.bits.len() - 1]
    }

    /// The number with its sign replaced.
    pub fn with_sign(&self, sign: Bit) -> Self {
        let mut bits = self.bits.clone();
        *bits.last_mut().expect("a number has a sign") = sign;
        Float { format: self.format, bits }
    }

    /// −x, also of a NaN. Free.
    pub fn negate(&self) -> Self {
        self.with_sign(!self.sign())
    }

    /// |x|, also of a NaN. Free.
    pub fn abs(&self) -> Self {
        self.with_sign(Bit::FALSE)
    }

    /// The magnitude of x with the sign of y, also of NaNs. Free.
    pub fn copysign(&self, y: &Float) -> Self {
        self.with_sign(y.sign())
    }

    /// `then` if `condition`, else `otherwise`. One AND a bit, depth 1.
    ///
    /// # Panics
    /// If the formats differ.
    pub fn select(c: &mut Builder, condition: Bit, then: &Float, otherwise: &Float) -> Self {
        assert_eq!(then.format, otherwise.format, "numbers of one format");
        let pairs = then.bits.iter().zip(&otherwise.bits);
        Float::new(then.format, pairs.map(|(&a, &b)| c.mux(condition, a, b)).collect())
    }

    /// The parts of the number. `Ieee`: 2·exponent + fraction ANDs, depth 1 + log fraction; `Flush`: 2·exponent − 2
    /// ANDs, depth log exponent.
    pub fn unpack(&self, c: &mut Builder, mode: Mode) -> Unpacked {
        let exponent_ones = all(c, self.exponent());
        let exponent_zero = !any(c, self.exponent());
        let exponent = UInt(self.exponent().to_vec());
        let exponent = Int(exponent.resized(self.format.exponent_width() as usize).0);
        let mut unpacked = Unpacked {
            format: self.format,
            sign: self.sign(),
            exponent,
            significand: UInt([self.fraction(), &[Bit::TRUE]].concat()),
            zero: exponent_zero,
            infinite: exponent_ones,
            nan: Bit::FALSE,
        };
        if mode == Mode::Ieee {
            unpacked.add_denormals(c);
        }
        unpacked
    }
}

/// The parts of a number: (−1)^sign · significand · 2^(exponent − bias − fraction), unless a flag is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unpacked {
    /// Its format.
    pub format: Format,
    /// One if negative.
    pub sign: Bit,
    /// The biased exponent in two's complement of [`Format::exponent_width`] bits; of a denormal it is 1, or less once
    /// [`normalised`](Self::normalised).
    pub exponent: Int,
    /// Fraction and hidden bit. The hidden bit is the constant one in mode `Flush`, where zeros have `zero` set and
    /// an arbitrary significand.
    pub significand: UInt,
    /// The number is zero. At most one of the three flags is set.
    pub zero: Bit,
    /// The number is infinite.
    pub infinite: Bit,
    /// The number is NaN.
    pub nan: Bit,
}

impl Unpacked {
    /// Exponent zero: the hidden bit is clear and the exponent counts as 1. Exponent all ones: a fraction makes a NaN.
    fn add_denormals(&mut self, c: &mut Builder) {
        let (denormal, special) = (self.zero, self.infinite);
        let fraction = self.format.fraction as usize;
        let whole = !any(c, &self.significand.0[..fraction]);
        self.significand.0[fraction] = !denormal;
        self.exponent.0[0] = c.xor(self.exponent.0[0], denormal);
        self.zero = c.and(denormal, whole);
        self.infinite = c.and(special, whole);
        self.nan = c.xor(special, self.infinite);
    }

    /// Normalises: shifts the highest one to the top of the significand, whose top bit is then the constant one;
    /// of zero the parts are arbitrary. Costs nothing in mode `Flush`.
    pub fn normalised(&self, c: &mut Builder, goal: Goal) -> Self {
        let top = self.format.fraction as usize;
        if self.significand.0[top] == Bit::TRUE {
            return self.clone();
        }
        let (mut bits, zeros) = normalise(c, &self.significand.0, goal);
        bits[top] = Bit::TRUE;
        let exponent = Int(subtract_small(c, &self.exponent.0, &zeros, goal));
        Unpacked { exponent, significand: UInt(bits), ..self.clone() }
    }
}
