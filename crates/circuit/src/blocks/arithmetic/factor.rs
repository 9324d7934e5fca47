//! Factors and products of them, before they are gates.

use super::columns::Columns;
use crate::graph::{Bit, Kind};
use crate::words::Word;

/// A factor of a product.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    /// Its bits, least significant first.
    pub bits: Vec<Bit>,
    /// Whether it is in two's complement.
    pub signed: bool,
}

impl Factor {
    /// A word, in two's complement if it is of such a kind.
    pub fn of(word: &impl Word) -> Self {
        let signed = matches!(word.ty().kind, Kind::Int | Kind::Fixed { .. });
        Factor { bits: word.bits().to_vec(), signed }
    }

    pub fn unsigned(bits: &[Bit]) -> Self {
        Factor { bits: bits.to_vec(), signed: false }
    }

    pub fn signed(bits: &[Bit]) -> Self {
        Factor { bits: bits.to_vec(), signed: true }
    }

    pub fn width(&self) -> usize {
        self.bits.len()
    }

    /// Whether bit i counts negative.
    pub fn negative(&self, i: usize) -> bool {
        self.signed && i + 1 == self.width()
    }

    /// Adds the factor · 2^shift.
    pub fn add_to(&self, columns: &mut Columns, shift: usize) {
        if self.signed { columns.add_signed(shift, &self.bits) } else { columns.add_word(shift, &self.bits) }
    }

    /// Subtracts the factor · 2^shift.
    pub fn subtract_from(&self, columns: &mut Columns, shift: usize) {
        if self.signed { columns.subtract_signed(shift, &self.bits) } else { columns.subtract_word(shift, &self.bits) }
    }

    /// The unsigned number a + 2^(n−1) if a is signed, else a.
    pub fn turned(&self) -> Self {
        let mut bits = self.bits.clone();
        if let (true, Some(sign)) = (self.signed, bits.last_mut()) {
            *sign = !*sign;
        }
        Factor { bits, signed: false }
    }

    /// The factor modulo 2^width.
    pub fn cut(&self, width: usize) -> Self {
        if width < self.width() { self.low(width) } else { self.clone() }
    }

    /// The bits of the number extended to `width`, which is no less than its own width.
    pub fn extended(&self, width: usize) -> Vec<Bit> {
        let sign = self.bits.last().copied().filter(|_| self.signed).unwrap_or(Bit::FALSE);
        let more = std::iter::repeat_n(sign, width - self.width());
        self.bits.iter().copied().chain(more).collect()
    }

    /// The bits below bit `at`.
    pub fn low(&self, at: usize) -> Self {
        Factor::unsigned(&self.bits[..at])
    }

    /// The bits from bit `at` on.
    pub fn high(&self, at: usize) -> Self {
        Factor { bits: self.bits[at..].to_vec(), signed: self.signed }
    }
}

/// A product of two factors, or the square of one.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    left: Factor,
    right: Option<Factor>,
}

impl Product {
    pub fn of(left: Factor, right: Factor) -> Self {
        Product { left, right: Some(right) }
    }

    pub fn square(factor: Factor) -> Self {
        Product { left: factor, right: None }
    }

    pub fn left(&self) -> &Factor {
        &self.left
    }

    /// The other factor: the same one in a square.
    pub fn right(&self) -> &Factor {
        self.right.as_ref().unwrap_or(&self.left)
    }

    pub fn is_square(&self) -> bool {
        self.right.is_none()
    }

    /// The factors: one of a square, two of a product.
    pub fn factors(&self) -> impl Iterator<Item = &Factor> {
        std::iter::once(&self.left).chain(&self.right)
    }

    /// The product of other factors.
    pub fn map(&self, mut change: impl FnMut(&Factor) -> Factor) -> Self {
        Product { left: change(&self.left), right: self.right.as_ref().map(change) }
    }

    /// The bits that it needs.
    pub fn width(&self) -> usize {
        self.left().width() + self.right().width()
    }
}
