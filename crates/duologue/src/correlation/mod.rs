//! Correlations: the secrets that two parties share before any input is known, and that each AND or input uses up.
//!
//! A [`Maker`] makes them in setup and adds them to a [`Stock`], from which protocols draw in one order that both
//! parties share. Nothing is drawn twice, and nothing is made that the caller did not ask for: the [`Demand`] of a
//! program is known before an input is read.

mod bits;
pub mod choice;
pub mod derived;
mod lengths;
mod maker;
#[cfg(feature = "disk")]
pub mod pool;
mod stock;
mod triples;

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::Party;
pub(crate) use choice::MakerTerm;
pub(crate) use lengths::{MakerExchange, MakerLengths};
pub(crate) use maker::Recipe;
#[doc(hidden)]
pub use maker::{Maker, Reading, Refill, RefillStep};
pub use stock::{Stock, Triples};

/// A number of correlations of each kind: the demand of a program, the contents of a stock, or the sum of its draws.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct Demand {
    /// Correlated OTs with Alice as sender: she holds Δ, Bob the choice bits.
    pub cots_by_alice: u64,
    /// Correlated OTs with Bob as sender.
    pub cots_by_bob: u64,
    /// Boolean multiplication triples.
    pub triples: u64,
}

impl Demand {
    /// No correlations.
    pub const NONE: Self = Self { cots_by_alice: 0, cots_by_bob: 0, triples: 0 };

    /// A demand of correlated OTs alone, with `sender` as their sender.
    pub fn of_cots(sender: Party, count: u64) -> Self {
        match sender {
            Party::Alice => Self { cots_by_alice: count, ..Self::NONE },
            Party::Bob => Self { cots_by_bob: count, ..Self::NONE },
        }
    }

    /// A demand of triples alone.
    pub fn of_triples(count: u64) -> Self {
        Self { triples: count, ..Self::NONE }
    }

    /// The number of correlated OTs that `sender` sends.
    pub fn cots_by(&self, sender: Party) -> u64 {
        match sender {
            Party::Alice => self.cots_by_alice,
            Party::Bob => self.cots_by_bob,
        }
    }

    /// The number of correlations of all kinds together.
    pub fn total(&self) -> u64 {
        self.cots_by_alice + self.cots_by_bob + self.triples
    }

    /// The smaller of both numbers, for each kind.
    pub fn at_most(&self, other: &Self) -> Self {
        Self {
            cots_by_alice: self.cots_by_alice.min(other.cots_by_alice),
            cots_by_bob: self.cots_by_bob.min(other.cots_by_bob),
            triples: self.triples.min(other.triples),
        }
    }

    /// The demand of so many that are alike.
    pub(crate) fn times(&self, count: u64) -> Self {
        let each = |number: u64| number.saturating_mul(count);
        Self {
            cots_by_alice: each(self.cots_by_alice),
            cots_by_bob: each(self.cots_by_bob),
            triples: each(self.triples),
        }
    }

    /// The part of this demand that is missing from `available`.
    pub fn missing_from(&self, available: &Self) -> Self {
        Self {
            cots_by_alice: self.cots_by_alice.saturating_sub(available.cots_by_alice),
            cots_by_bob: self.cots_by_bob.saturating_sub(available.cots_by_bob),
            triples: self.triples.saturating_sub(available.triples),
        }
    }
}

impl Add for Demand {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cots_by_alice: self.cots_by_alice + other.cots_by_alice,
            cots_by_bob: self.cots_by_bob + other.cots_by_bob,
            triples: self.triples + other.triples,
        }
    }
}

impl AddAssign for Demand {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Demand {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::NONE, Add::add)
    }
}
