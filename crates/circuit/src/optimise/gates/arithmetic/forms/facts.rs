//! What is never set together: bits that are added up at one time weigh no more than the most that a form can be.
//!
//! Whatever has been added so far, the sum of all digits and of all that is left of the columns, with their weights, is the
//! value of the form. In the highest columns few bits can be set at once, which no proof of a few gates would find.

use super::fit::Form;
use crate::graph::Bit;
use std::collections::BTreeMap;

/// Columns in which more bits can be set are not looked at.
const MOST_UNITS: u128 = 4;
/// Bits beyond which a moment is not looked at.
const MOST_BITS: usize = 24;

/// A bit, its value where all inputs are set, and what it weighs.
struct Weighted {
    bit: Bit,
    full: bool,
    weight: u128,
}

/// Sets of bits of which not all are set.
pub struct Facts {
    /// The most that the form can be, if that is a number of the width.
    most: Option<u128>,
    pub bits: Vec<Bit>,
    /// By their places among the bits.
    pub clauses: Vec<Vec<usize>>,
    places: BTreeMap<Bit, usize>,
}

impl Facts {
    pub fn of(form: &Form) -> Self {
        Facts { most: form.most(), bits: Vec::new(), clauses: Vec::new(), places: BTreeMap::new() }
    }

    /// Nothing is known where bits count less than zero.
    pub fn forget(&mut self) {
        self.most = None;
    }

    /// Takes up a moment: digits below a place, bits that are left there, and bits that are carried above it, each with its
    /// value where all inputs are set.
    pub fn enter(&mut self, digits: &[(Bit, bool)], left: &[(Bit, bool)], carried: &[(Bit, bool)]) {
        let place = digits.len();
        let Some(most) = self.most.filter(|most| most >> place <= MOST_UNITS) else { return };
        let of =
            |bits: &[(Bit, bool)], weight: usize| bits.iter().map(|&bit| (bit, 1u128 << weight)).collect::<Vec<_>>();
        let below = digits.iter().enumerate().map(|(i, &bit)| (bit, 1u128 << i));
        let all: Vec<((Bit, bool), u128)> = [of(left, place), of(carried, place + 1), below.collect()].concat();
        let open: Vec<Weighted> = all
            .into_iter()
            .filter(|((bit, _), _)| bit.node() != 0)
            .map(|((bit, full), weight)| Weighted { bit, full, weight })
            .collect();
        if open.len() > MOST_BITS {
            return;
        }
        // The most is reached only where all inputs are set.
        let never = |set: &[&Weighted]| {
            let weight: u128 = set.iter().map(|one| one.weight).sum();
            weight > most || weight == most && set.iter().any(|one| !one.full)
        };
        for (i, x) in open.iter().enumerate() {
            for (j, y) in open[..i].iter().enumerate() {
                if never(&[x, y]) {
                    self.clause(&[x.bit, y.bit]);
                    continue;
                }
                let thirds = open[..j].iter().filter(|z| never(&[x, y, z]) && !never(&[x, z]) && !never(&[y, z]));
                thirds.for_each(|z| self.clause(&[x.bit, y.bit, z.bit]));
            }
        }
    }

    /// All digits: they are a number that is not too large.
    pub fn close(&mut self, digits: &[Bit]) {
        let Some(most) = self.most else { return };
        let mut above = Vec::new();
        for (i, &digit) in digits.iter().enumerate().rev() {
            match most >> i & 1 {
                1 => above.push(digit),
                _ => self.clause(&[&above[..], &[digit]].concat()),
            }
        }
    }

    fn clause(&mut self, bits: &[Bit]) {
        let mut clause: Vec<usize> = bits.iter().map(|&bit| self.place(bit)).collect();
        clause.sort_unstable();
        if !self.clauses.contains(&clause) {
            self.clauses.push(clause);
        }
    }

    fn place(&mut self, bit: Bit) -> usize {
        let next = self.bits.len();
        let place = *self.places.entry(bit).or_insert(next);
        if place == next {
            self.bits.push(bit);
        }
        place
    }
}
