//! Tables that are the inversion in GF(2^8) between affine maps: the S-boxes of AES, SM4, Camellia and their like.
//!
//! After Biryukov, De Cannière, Braeken and Preneel, "A toolbox for cryptanalysis: linear and affine equivalence
//! algorithms" (EUROCRYPT 2003), §3.1. Of T(x) = B(inv(A(x ⊕ x₀))) ⊕ y₀ with linear A and B, x₀ is tried and y₀ = T(x₀).
//! Where A is known so is B⁻¹ at the table's values, B⁻¹(T(x ⊕ x₀) ⊕ y₀) = inv(A(x)), and the other way round; both are linear, so
//! that few values of A give all others, or contradict each other. As inv(sx) = inv(s)·inv(x), any one value of A may be 1.

use crate::blocks::Goal;
use crate::blocks::logic::sbox::{Byte, invert};
use crate::builder::Builder;

/// The polynomial of the field, that of AES.
const FIELD: u16 = 0x11b;

/// A table of bytes as an inversion between affine maps. A linear map is its values at the eight bits.
pub(super) struct Inversion {
    inner: [u8; 8],
    outer: [u8; 8],
    /// What is added to the index.
    from: u8,
    /// What is added to the result.
    to: u8,
}

impl Inversion {
    /// The maps, if the table is one.
    pub fn find(table: &[u8; 256]) -> Option<Self> {
        let inverses = inverses();
        (0..=255).find_map(|from: u8| {
            let to = table[usize::from(from)];
            let moved = std::array::from_fn(|x| table[x ^ usize::from(from)] ^ to);
            let found = Search::new(&moved, &inverses)?.run()?;
            Some(Inversion { inner: found.inner.values()?, outer: invert_map(&found.outer.values()?), from, to })
        })
    }

    /// The table's value at a byte. 32 ANDs, depth 6.
    pub fn build(&self, c: &mut Builder, byte: Byte) -> Byte {
        let added = |byte: Byte, value: u8| std::array::from_fn(|i| byte[i].flip(value >> i & 1 == 1));
        let inner = apply(c, &self.inner, added(byte, self.from));
        let turned = invert(c, inner, Goal::Size);
        added(apply(c, &self.outer, turned), self.to)
    }
}

/// A linear map of bits.
fn apply(c: &mut Builder, map: &[u8; 8], byte: Byte) -> Byte {
    std::array::from_fn(|i| c.xor_all((0..8).filter(|&j| map[j] >> i & 1 == 1).map(|j: usize| byte[j])))
}

/// The inverse of an invertible linear map.
fn invert_map(map: &[u8; 8]) -> [u8; 8] {
    let value = |x: u8| (0..8).filter(|i| x >> i & 1 == 1).fold(0, |sum, i| sum ^ map[i]);
    std::array::from_fn(|i| (0..=255).find(|&x| value(x) == 1 << i).expect("an invertible map"))
}

/// The inverse of each element, and zero of zero.
fn inverses() -> [u8; 256] {
    std::array::from_fn(|a| (0..=255).find(|&b| multiply(a as u8, b) == 1).unwrap_or(0))
}

fn multiply(a: u8, b: u8) -> u8 {
    let mut product = 0u16;
    for i in (0..8).rev() {
        product <<= 1;
        product ^= if product & 0x100 != 0 { FIELD } else { 0 };
        product ^= if b >> i & 1 == 1 { a.into() } else { 0 };
    }
    product as u8
}

/// A linear map as far as it is known: its values on the span of some vectors.
#[derive(Clone)]
struct Partial {
    values: [u8; 256],
    known: Vec<u8>,
    /// Whether a byte is in `known`, or among the values.
    places: [bool; 256],
    taken: [bool; 256],
}

impl Partial {
    fn new() -> Self {
        let mut zero = [false; 256];
        zero[0] = true;
        Partial { values: [0; 256], known: vec![0], places: zero, taken: zero }
    }

    /// Another value; whether an injective linear map has it beside the others.
    fn set(&mut self, place: u8, value: u8) -> bool {
        if self.places[usize::from(place)] {
            return self.values[usize::from(place)] == value;
        }
        if self.taken[usize::from(value)] {
            return false;
        }
        for i in 0..self.known.len() {
            let other = self.known[i];
            let (sum, of_sum) = (other ^ place, self.values[usize::from(other)] ^ value);
            self.known.push(sum);
            self.values[usize::from(sum)] = of_sum;
            self.places[usize::from(sum)] = true;
            self.taken[usize::from(of_sum)] = true;
        }
        true
    }

    /// The values at the eight bits, if the map is known everywhere.
    fn values(&self) -> Option<[u8; 8]> {
        (self.known.len() == 256).then(|| std::array::from_fn(|i| self.values[1 << i]))
    }
}

/// The inner map and the inverse of the outer one, as far as they are known.
#[derive(Clone)]
struct Search<'a> {
    table: &'a [u8; 256],
    places: [u8; 256],
    inverses: &'a [u8; 256],
    inner: Partial,
    outer: Partial,
    /// How many of the known places of each map have been looked at.
    seen: [usize; 2],
}

impl<'a> Search<'a> {
    /// Nothing is known; a table that takes a value twice is no inversion.
    fn new(table: &'a [u8; 256], inverses: &'a [u8; 256]) -> Option<Self> {
        let (mut places, mut taken) = ([0; 256], [false; 256]);
        for (place, &value) in (0..=255).zip(table) {
            if std::mem::replace(&mut taken[usize::from(value)], true) {
                return None;
            }
            places[usize::from(value)] = place;
        }
        Some(Search { table, places, inverses, inner: Partial::new(), outer: Partial::new(), seen: [0; 2] })
    }

    fn run(mut self) -> Option<Self> {
        self.inner.set(1, 1).then_some(())?;
        self.complete()
    }

    /// Tries the values of the first place that is not known, until both maps are.
    fn complete(mut self) -> Option<Self> {
        self.follow().then_some(())?;
        let Some(place) = (1..=255).find(|&place: &u8| !self.inner.places[usize::from(place)]) else {
            return (self.outer.known.len() == 256).then_some(self);
        };
        (1..=255).find_map(|value| {
            let mut guess = self.clone();
            guess.inner.set(place, value).then_some(())?;
            guess.complete()
        })
    }

    /// What follows from what is known; whether it is free of contradiction.
    fn follow(&mut self) -> bool {
        while self.seen != [self.inner.known.len(), self.outer.known.len()] {
            while let Some(&place) = self.inner.known.get(self.seen[0]) {
                self.seen[0] += 1;
                let value = self.inverses[usize::from(self.inner.values[usize::from(place)])];
                if !self.outer.set(self.table[usize::from(place)], value) {
                    return false;
                }
            }
            while let Some(&value) = self.outer.known.get(self.seen[1]) {
                self.seen[1] += 1;
                let inverse = self.inverses[usize::from(self.outer.values[usize::from(value)])];
                if !self.inner.set(self.places[usize::from(value)], inverse) {
                    return false;
                }
            }
        }
        true
    }
}
