//! Products and powers modulo an odd number, of eight numbers side by side.
//!
//! Montgomery's multiplication (*Modular multiplication without trial division*, Math. Comp. 1985): x is kept as
//! x·R modulo n, and a product is divided by R. What is computed of one number is computed of eight in the lanes of
//! registers, with 52-bit limbs and AVX-512 IFMA (`wide.rs`; the layout is that of Gueron and Krasnov, *Accelerating big
//! integer arithmetic using Intel IFMA extensions*, ARITH 2016, turned by 90 degrees: a register holds one limb of eight
//! numbers, so there is no carry between lanes). Elsewhere each number is computed by itself in words of 64 bits
//! (`portable.rs`). All give the same numbers, though not the same bytes in memory.
//!
//! Modulo the square of a number ([`Modulus::square_of`]) numbers are pairs in the wide loops (`pairs.rs`).
//!
//! With limbs of 52 bits R is more than 4n, numbers are kept below 2n, and no product ends with a subtraction (Walter,
//! *Montgomery exponentiation needs no final subtractions*, 1999).
//!
//! Constant time in all numbers, exponents and moduli: time and addresses depend on the number of bits of a modulus, on
//! lengths, and on the lengths of exponents only. Numbers, powers and moduli are erased when dropped.
//!
//! Numbers come and go as little-endian words of 64 bits, as many a number as the modulus has.

mod pairs;
mod portable;
mod power;
mod residues;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod wide;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::Backend;
use crate::backend::Multiplier;
use crate::backend::limbs::{LIMB_BITS, LIMB_MASK, Limb, SIDE_BY_SIDE};
use pairs::{InPairs, Pairs};
use wide::{Multiply, Reduce, Select, SelectShared, Square};

pub use power::FixedBase;
pub use residues::Residues;

/// The smallest and the largest modulus, in bits.
const SMALLEST: usize = 64;
const LARGEST: usize = 6144;
/// Limbs of a number are a multiple of this, and those of a component of a pair and of its root of half of it, as the blocks of rows in
/// `wide.rs` want it; each has at least so many.
const STEP: usize = wide::LEFT;
const FEWEST: usize = 10;

/// A number that cannot be a modulus here: even, or not of 64 to 6,144 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsuitableModulus;

impl fmt::Display for UnsuitableModulus {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a modulus is odd, and has {SMALLEST} to {LARGEST} bits")
    }
}

impl std::error::Error for UnsuitableModulus {}

/// An odd modulus of 64 to 6,144 bits, with what products need.
#[derive(ZeroizeOnDrop)]
pub struct Modulus {
    /// Without zeros at the end.
    words: Vec<u64>,
    /// Of n, or of its root where numbers are pairs, in every lane; for the wide loops.
    limbs: Vec<Limb>,
    /// R² modulo n, as a number to multiply by, in the layout of the loops; of pairs R³ behind it.
    to_form: Vec<Limb>,
    /// −1/n modulo 2⁶⁴, or of its root.
    inverse: u64,
    #[zeroize(skip)]
    multiplier: Option<Multiplier>,
    /// In the wide loops, of the square of a number.
    #[zeroize(skip)]
    pairs: Option<Pairs>,
}

impl Modulus {
    /// A modulus as little-endian words.
    pub fn new(words: &[u64]) -> Result<Self, UnsuitableModulus> {
        Self::with_backend(words, Backend::detect())
    }

    /// A modulus, on one backend.
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn with_backend(words: &[u64], backend: Backend) -> Result<Self, UnsuitableModulus> {
        Self::with_multiplier(words, backend.multiplier())
    }

    fn with_multiplier(words: &[u64], multiplier: Option<Multiplier>) -> Result<Self, UnsuitableModulus> {
        let words = checked(words)?;
        // Numbers may be as large as their words allow, which can be more than the bits of the modulus.
        let held = (words::bits(words) + 2).max(64 * words.len()).div_ceil(LIMB_BITS);
        Ok(Self::with_limbs(words, held.max(FEWEST).next_multiple_of(STEP), multiplier))
    }

    /// A modulus whose numbers have so many limbs where there are limbs, of any length.
    fn with_limbs(words: &[u64], limbs: usize, multiplier: Option<Multiplier>) -> Self {
        let limbs = multiplier.map_or_else(Vec::new, |_| in_every_lane(words, limbs).collect());
        let inverse = words::negative_inverse(words[0]);
        let mut modulus =
            Modulus { words: words.to_vec(), limbs, to_form: Vec::new(), inverse, multiplier, pairs: None };
        let r_bits = if multiplier.is_some() { LIMB_BITS * modulus.stride() } else { 64 * modulus.len() };
        let square = words::power_of_two(2 * r_bits, &modulus.words);
        let mut squares = modulus.layout(&Zeroizing::new(square.repeat(SIDE_BY_SIDE)));
        modulus.to_form = std::mem::take(&mut *squares);
        modulus
    }

    /// Words of 64 bits of each number.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Its number of bits.
    pub fn bits(&self) -> usize {
        words::bits(&self.words)
    }

    /// Its words, the lowest first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Numbers to compute with, of [`len`](Self::len) words each. They may be as large as their words allow.
    ///
    /// # Panics
    /// If the words are not a whole number of numbers.
    pub fn residues(&self, values: &[u64]) -> Residues {
        assert_eq!(values.len() % self.len(), 0, "numbers of {} words each", self.len());
        let mut residues = self.empty(values.len() / self.len());
        for (group, values) in residues.groups_mut().zip(values.chunks(SIDE_BY_SIDE * self.len())) {
            group.copy_from_slice(&self.layout(values));
        }
        let mut scratch = self.scratch();
        residues.groups_mut().for_each(|group| self.enter(group, &mut scratch));
        residues
    }

    /// The numbers, each below the modulus and of [`len`](Self::len) words.
    pub fn values(&self, residues: &Residues) -> Zeroizing<Vec<u64>> {
        self.check(residues);
        let mut values = Zeroizing::new(vec![0; residues.len() * self.len()]);
        let (one, mut scratch) = (self.layout(&self.small(1).repeat(SIDE_BY_SIDE)), self.scratch());
        let mut group = Zeroizing::new(vec![Limb::ZERO; self.stride()]);
        for (from, values) in residues.groups().zip(values.chunks_mut(SIDE_BY_SIDE * self.len())) {
            group.copy_from_slice(from);
            match self.in_pairs() {
                Some(pairs) => pairs.leave(&mut group, &mut scratch),
                None => self.multiply_group(&mut group, &one, &mut scratch),
            }
            self.put_words(&group, values);
        }
        values
    }

    /// The number one, as often as wanted.
    pub fn ones(&self, count: usize) -> Residues {
        self.residues(&self.small(1).repeat(count))
    }

    /// Products of numbers at the same places.
    ///
    /// # Panics
    /// If there are not as many of both, or one is of a modulus of another length. Of one of the same length nobody can
    /// tell: the products are then wrong.
    pub fn multiply(&self, a: &Residues, b: &Residues) -> Residues {
        assert_eq!(a.len(), b.len(), "as many factors as factors");
        self.check(b);
        self.map(a, |at, group, scratch| self.multiply_group(group, b.group(at), scratch))
    }

    /// a^(2^times), where `times` is public: squares of squares.
    pub fn square(&self, a: &Residues, times: usize) -> Residues {
        self.map(a, |_, group, scratch| (0..times).for_each(|_| self.square_group(group, scratch)))
    }

    /// Applies a function to a copy of each group of eight.
    fn map(&self, a: &Residues, mut f: impl FnMut(usize, &mut [Limb], &mut [Limb])) -> Residues {
        self.check(a);
        let (mut out, mut scratch) = (a.clone(), self.scratch());
        out.groups_mut().enumerate().for_each(|(at, group)| f(at, group, &mut scratch));
        out
    }

    /// The root of which this is the square, and the numbers modulo it, where they are at hand: with numbers side by side.
    pub fn modulo_root(&self, a: &Residues) -> Option<(&Modulus, Residues)> {
        self.check(a);
        let root = self.pairs.as_ref()?.root();
        let mut out = root.empty(a.len());
        let groups = out.groups_mut().zip(a.groups());
        groups.for_each(|(rest, pair)| rest.copy_from_slice(&pair[..root.stride()]));
        Some((root, out))
    }

    fn check(&self, residues: &Residues) {
        let ours = residues.stride == self.stride() && residues.wide == self.multiplier.is_some();
        assert!(ours, "numbers of another modulus");
    }

    /// Room for the columns of one product, and for a number.
    fn scratch(&self) -> Zeroizing<Vec<Limb>> {
        Zeroizing::new(vec![Limb::ZERO; 3 * self.stride()])
    }

    /// Cache lines of eight numbers.
    fn stride(&self) -> usize {
        match self.multiplier {
            Some(_) => self.limbs.len() << u32::from(self.pairs.is_some()),
            None => self.words.len(),
        }
    }

    fn empty(&self, count: usize) -> Residues {
        Residues::zeros(count, self.stride(), self.multiplier.is_some())
    }

    fn small(&self, x: u64) -> Vec<u64> {
        let mut words = vec![0; self.len()];
        words[0] = x;
        words
    }

    /// At most eight numbers in the layout of the loops: a limb of each, or one number after the other.
    fn layout(&self, values: &[u64]) -> Zeroizing<Vec<Limb>> {
        let mut group = Zeroizing::new(vec![Limb::ZERO; self.stride()]);
        if self.multiplier.is_none() {
            bytemuck::cast_slice_mut(&mut group[..])[..values.len()].copy_from_slice(values);
            return group;
        }
        for (lane, value) in values.chunks(self.len()).enumerate() {
            (0..).zip(group.iter_mut()).for_each(|(k, limb)| limb.0[lane] = words::limb(value, k));
        }
        group
    }

    /// The reverse of `layout`, with numbers that are n at most made less than n.
    fn put_words(&self, group: &[Limb], values: &mut [u64]) {
        if let Some(pairs) = &self.pairs {
            return pairs.put_words(group, values, self.len());
        }
        for (lane, value) in values.chunks_mut(self.len()).enumerate() {
            if self.multiplier.is_none() {
                value.copy_from_slice(&bytemuck::cast_slice(group)[lane * self.len()..(lane + 1) * self.len()]);
            } else {
                (0..).zip(group).for_each(|(k, limb)| words::put_limb(value, k, limb.0[lane]));
            }
            portable::subtract_if_not_less(value, 0, &self.words);
        }
    }

    // The steps on a group of eight numbers, on the instructions that were found.

    fn multiply_group(&self, a: &mut [Limb], b: &[Limb], scratch: &mut [Limb]) {
        if let Some(pairs) = self.in_pairs() {
            return pairs.multiply(a, b, scratch);
        }
        let Some(cpu) = self.multiplier else { return self.each_number(a, b, scratch) };
        let columns = &mut scratch[..2 * self.stride()];
        columns.fill(Limb::ZERO);
        cpu.run(Multiply { a, b, columns });
        self.reduce(cpu, columns, a);
    }

    fn square_group(&self, a: &mut [Limb], scratch: &mut [Limb]) {
        if let Some(pairs) = self.in_pairs() {
            return pairs.square(a, scratch);
        }
        let Some(cpu) = self.multiplier else {
            let copy = Zeroizing::new(a.to_vec());
            return self.each_number(a, &copy, scratch);
        };
        let (columns, twice) = scratch.split_at_mut(2 * self.stride());
        columns.fill(Limb::ZERO);
        cpu.run(Square { a, twice, columns });
        self.reduce(cpu, columns, a);
    }

    /// What came as words becomes what products are computed with.
    fn enter(&self, a: &mut [Limb], scratch: &mut [Limb]) {
        match self.in_pairs() {
            Some(pairs) => pairs.enter(a, scratch),
            None => self.multiply_group(a, &self.to_form, scratch),
        }
    }

    fn in_pairs(&self) -> Option<InPairs<'_>> {
        self.pairs.as_ref().zip(self.multiplier).map(|(pairs, cpu)| InPairs { n: self, pairs, cpu })
    }

    fn reduce(&self, cpu: Multiplier, columns: &mut [Limb], out: &mut [Limb]) {
        cpu.run(Reduce { columns, n: &self.limbs, inverse: self.inverse & LIMB_MASK, out });
    }

    fn each_number(&self, a: &mut [Limb], b: &[Limb], scratch: &mut [Limb]) {
        let len = self.len();
        let product = &mut bytemuck::cast_slice_mut(scratch)[..2 * len];
        let (a, b): (&mut [u64], &[u64]) = (bytemuck::cast_slice_mut(a), bytemuck::cast_slice(b));
        for (a, b) in a.chunks_exact_mut(len).zip(b.chunks_exact(len)) {
            portable::multiply(a, b, &self.words, self.inverse, product);
        }
    }

    /// For each lane the entry of a table of groups that its index names.
    fn select(&self, table: &[Limb], index: &Limb, out: &mut [Limb]) {
        if let Some(cpu) = self.multiplier {
            return cpu.run(Select { table, index, out });
        }
        let len = self.len();
        for (lane, out) in bytemuck::cast_slice_mut(out).chunks_exact_mut(len).enumerate() {
            let entry = |group| &bytemuck::cast_slice::<Limb, u64>(group)[lane * len..(lane + 1) * len];
            portable::select(table.chunks_exact(len).map(entry), index.0[lane], out);
        }
    }

    /// For each lane the entry of a table of single numbers that its index names.
    fn select_shared(&self, table: &[Limb], index: &Limb, out: &mut [Limb]) {
        if let Some(cpu) = self.multiplier {
            return cpu.run(SelectShared { table, index, out });
        }
        let (len, table) = (self.len(), bytemuck::cast_slice::<Limb, u64>(table));
        for (lane, out) in bytemuck::cast_slice_mut(out).chunks_exact_mut(len).enumerate() {
            portable::select(table.chunks_exact(len), index.0[lane], out);
        }
    }
}

/// A number in the layout of the loops, the same in every lane.
fn in_every_lane(x: &[u64], limbs: usize) -> impl Iterator<Item = Limb> {
    (0..limbs).map(|k| Limb([words::limb(x, k); SIDE_BY_SIDE]))
}

/// The words of a modulus, without zeros at the end.
fn checked(words: &[u64]) -> Result<&[u64], UnsuitableModulus> {
    let bits = words::bits(words);
    let suits = (SMALLEST..=LARGEST).contains(&bits) && !words[0].is_multiple_of(2);
    if suits { Ok(&words[..bits.div_ceil(64)]) } else { Err(UnsuitableModulus) }
}

impl Zeroize for Limb {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
