//! Numbers of any width, signed or not, as cells read their operands.

use circuit::{Bit, Int, UInt};

/// A number: its bits, least significant first, and whether they are in two's complement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Number {
    pub bits: Vec<Bit>,
    pub signed: bool,
}

impl Number {
    /// The number without bits that say nothing: zeros above an unsigned number, copies of a sign. A sign that is zero
    /// makes a number unsigned.
    pub fn new(bits: &[Bit], signed: bool) -> Self {
        let mut number = Number { bits: bits.to_vec(), signed };
        if number.signed {
            while number.bits.len() > 1 && number.bits[number.bits.len() - 2..].iter().all(|bit| *bit == number.sign())
            {
                number.bits.pop();
            }
            number.signed = number.sign() != Bit::FALSE;
        }
        while !number.signed && number.bits.last() == Some(&Bit::FALSE) {
            number.bits.pop();
        }
        number
    }

    pub fn unsigned(bits: &[Bit]) -> Self {
        Number::new(bits, false)
    }

    pub fn width(&self) -> usize {
        self.bits.len()
    }

    /// The bit that stands above all others.
    pub fn sign(&self) -> Bit {
        self.bits.last().copied().filter(|_| self.signed).unwrap_or(Bit::FALSE)
    }

    /// Its bits modulo 2^width.
    pub fn extended(&self, width: usize) -> Vec<Bit> {
        let more = std::iter::repeat(self.sign());
        self.bits.iter().copied().chain(more).take(width).collect()
    }

    pub fn uint(&self, width: usize) -> UInt {
        UInt(self.extended(width))
    }

    pub fn int(&self, width: usize) -> Int {
        Int(self.extended(width))
    }

    /// The value of a number that is constant.
    pub fn constant(&self) -> Option<Vec<bool>> {
        self.bits.iter().map(|bit| bit.known()).collect()
    }

    /// The bits that hold both numbers as signed ones, or as unsigned ones if neither is signed.
    pub fn common_width(&self, other: &Number) -> usize {
        let signed = self.signed || other.signed;
        let width = |number: &Number| number.width() + usize::from(signed && !number.signed);
        width(self).max(width(other))
    }
}

/// A bit that is the same whatever the inputs are.
pub(crate) trait Known {
    fn known(self) -> Option<bool>;
}

impl Known for Bit {
    fn known(self) -> Option<bool> {
        match self {
            Bit::FALSE => Some(false),
            Bit::TRUE => Some(true),
            _ => None,
        }
    }
}
