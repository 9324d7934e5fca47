//! Directions of rounding and status flags (IEEE 754-2019, §4.3 and §7).

use super::compare::is_signalling;
use super::format::{Float, Mode};
use super::gates::any;
use crate::builder::Builder;
use crate::graph::Bit;
use crate::words::Bits;

/// Which of the two neighbours of an exact value is taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    /// The nearest; of two that are, the even one.
    Nearest,
    /// The nearest; of two that are, the one of larger magnitude.
    NearestAway,
    /// Towards −∞.
    Floor,
    /// Towards +∞.
    Ceiling,
    /// Towards zero.
    Truncate,
}

impl Rounding {
    /// All five.
    pub const ALL: [Rounding; 5] =
        [Rounding::Nearest, Rounding::NearestAway, Rounding::Floor, Rounding::Ceiling, Rounding::Truncate];

    /// Whether what a directed rounding cannot represent goes away from zero; to nearest: `nearest`.
    pub(super) fn away(self, sign: Bit, nearest: Bit) -> Bit {
        match self {
            Rounding::Nearest | Rounding::NearestAway => nearest,
            Rounding::Floor => sign,
            Rounding::Ceiling => !sign,
            Rounding::Truncate => Bit::FALSE,
        }
    }

    /// The sign of a sum that is zero though its terms are not: plus, but towards −∞.
    pub(super) fn sign_of_zero(self) -> Bit {
        if self == Rounding::Floor { Bit::TRUE } else { Bit::FALSE }
    }
}

/// What an operation has to say beside its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// There is no result, as of 0/0, or an operand is a signalling NaN. The result is [`Float::nan`], or +∞ in mode
    /// [`Flush`](Mode::Flush).
    pub invalid: Bit,
    /// A finite number other than zero is divided by zero: the result is an exact infinity.
    pub divide_by_zero: Bit,
    /// The magnitude, rounded as if exponents had no bounds, is above the largest number.
    pub overflow: Bit,
    /// The exact magnitude is below the smallest normal number, not zero, and the result is inexact (§7.5, tininess
    /// before rounding).
    pub underflow: Bit,
    /// The result is not the exact value.
    pub inexact: Bit,
}

impl Flags {
    /// None is set.
    pub const NONE: Flags = Flags {
        invalid: Bit::FALSE,
        divide_by_zero: Bit::FALSE,
        overflow: Bit::FALSE,
        underflow: Bit::FALSE,
        inexact: Bit::FALSE,
    };

    /// The flags as one word, in the order of their declaration from bit 0 on.
    pub fn word(&self) -> Bits {
        Bits(vec![self.invalid, self.divide_by_zero, self.overflow, self.underflow, self.inexact])
    }
}

/// A result and its flags. Flags that nobody reads cost nothing once the circuit is finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The result.
    pub number: Float,
    /// Its flags.
    pub flags: Flags,
}

impl Outcome {
    /// Sets the flag of an invalid operation, also where one of the operands is a signalling NaN.
    pub(super) fn invalid<const N: usize>(
        mut self,
        c: &mut Builder,
        mode: Mode,
        operation: Bit,
        of: [&Float; N],
    ) -> Self {
        let mut causes = vec![operation];
        if mode == Mode::Ieee {
            causes.extend(of.map(|x| is_signalling(c, x)));
        }
        self.flags.invalid = any(c, &causes);
        self
    }
}
