//! Numbers modulo the square of n as pairs (a, b), for a + b·n, in the layout of the wide loops.
//!
//! (a + b·n)·(c + d·n) = ac + (ad + bc)·n modulo n². Montgomery's reduction finds m < R = 2^(52L) with ac + m·n = R·r, so that
//! this is R·(r + e·n) for e = (ad + bc − m)/R modulo n: three products and two reductions of half the length, five of what one
//! of each takes eight of at the whole length.
//!
//! **Ranges.** In place of −m, which would make columns negative, R − 1 − m is added limb by limb, with the constant 1 − R modulo n.
//! R ≥ 64·n. Factors have components below 5n: then ac < 25n² makes r < 2n, and ad + bc + R + n < 51n² + R makes e < 2n.

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::wide::{Complement, Double, Multiply, Square};
use super::{FEWEST, Modulus, SMALLEST, STEP, UnsuitableModulus, checked, in_every_lane, portable, words};
use crate::Backend;
use crate::backend::Multiplier;
use crate::backend::limbs::{LIMB_BITS, LIMB_MASK, Limb};

/// n, of whose square the numbers are taken.
#[derive(ZeroizeOnDrop)]
pub(super) struct Pairs {
    /// Of which first components are numbers.
    #[zeroize(skip)]
    root: Box<Modulus>,
    /// 1 − R modulo n, and 52 ones in every limb: what m is taken from.
    minuend: Vec<Limb>,
}

impl Modulus {
    /// The square of an odd number of 33 to 3,072 bits. Where eight numbers are computed side by side, its products take five
    /// eighths of the time; all else is as with [`new`](Self::new).
    ///
    /// # Errors
    /// If the root is even, or has not so many bits.
    pub fn square_of(root: &[u64]) -> Result<Self, UnsuitableModulus> {
        Self::square_of_with_backend(root, Backend::detect())
    }

    /// The same on one backend.
    ///
    /// # Errors
    /// As [`square_of`](Self::square_of).
    ///
    /// # Panics
    /// If the processor does not have it.
    pub fn square_of_with_backend(root: &[u64], backend: Backend) -> Result<Self, UnsuitableModulus> {
        Self::square_with_multiplier(root, backend.multiplier())
    }

    pub(super) fn square_with_multiplier(
        root: &[u64],
        multiplier: Option<Multiplier>,
    ) -> Result<Self, UnsuitableModulus> {
        let bits = words::bits(root);
        let root = &root[..bits.div_ceil(64)];
        let square = words::product_and_sum(root, root, &[]);
        let words = checked(&square)?;
        if bits <= SMALLEST / 2 {
            return Err(UnsuitableModulus);
        }
        let Some(multiplier) = multiplier else { return Self::with_multiplier(words, None) };
        // R ≥ 64·n, and what the words of the square hold is less than R·2^bits.
        let held = (bits + 6).max(128 * root.len() - bits);
        let limbs = held.div_ceil(LIMB_BITS).next_multiple_of(STEP / 2).max(FEWEST);
        let of_root = Self::with_limbs(root, limbs, Some(multiplier));
        let mut modulus = Modulus {
            words: words.to_vec(),
            limbs: in_every_lane(root, limbs).collect(),
            to_form: Vec::with_capacity(4 * limbs),
            inverse: words::negative_inverse(root[0]),
            multiplier: Some(multiplier),
            pairs: Some(Pairs { root: Box::new(of_root), minuend: minuend(root, limbs) }),
        };
        // R² and R³.
        for part in words::power_of_two_by_root(2 * LIMB_BITS * limbs, root) {
            modulus.to_form.extend(in_every_lane(&part, limbs));
        }
        let [square, mut cube] = [(); 2].map(|()| Zeroizing::new(modulus.to_form.clone()));
        modulus.multiply_group(&mut cube, &square, &mut modulus.scratch());
        modulus.to_form.extend_from_slice(&cube);
        Ok(modulus)
    }
}

/// n + 1 − (R modulo n), which is n at most, and the ones.
fn minuend(n: &[u64], limbs: usize) -> Vec<Limb> {
    let rest = words::power_of_two(LIMB_BITS * limbs, n);
    let (mut constant, mut carry) = (Zeroizing::new(Vec::with_capacity(n.len())), 1);
    for (&n, &rest) in n.iter().zip(rest.iter()) {
        let difference = i128::from(n) - i128::from(rest) + carry;
        constant.push(difference as u64);
        carry = difference >> 64;
    }
    in_every_lane(&constant, limbs).map(|limb| Limb(limb.0.map(|limb| limb + LIMB_MASK))).collect()
}

/// One modulus on one processor, and the steps on a group of eight pairs: the limbs of all first components, then those of all
/// second ones.
pub(super) struct InPairs<'a> {
    pub n: &'a Modulus,
    pub pairs: &'a Pairs,
    pub cpu: Multiplier,
}

impl InPairs<'_> {
    /// x·y/R.
    pub fn multiply(&self, x: &mut [Limb], y: &[Limb], scratch: &mut [Limb]) {
        let ((a, b), (c, d)) = (x.split_at_mut(self.limbs()), y.split_at(self.limbs()));
        let [columns, first, _] = self.rooms(scratch);
        self.add_products(columns, [[&*a, c]]);
        self.reduce(columns, first);
        self.take_from_minuend(columns);
        self.add_products(columns, [[&*a, d], [&*b, c]]);
        self.reduce(columns, b);
        a.copy_from_slice(first);
    }

    /// x²/R.
    pub fn square(&self, x: &mut [Limb], scratch: &mut [Limb]) {
        let (a, b) = x.split_at_mut(self.limbs());
        let [columns, first, twice] = self.rooms(scratch);
        self.cpu.run(Square { a, twice, columns });
        self.reduce(columns, first);
        self.take_from_minuend(columns);
        self.cpu.run(Double { a: b, twice });
        self.add_products(columns, [[&*a, &*twice]]);
        self.reduce(columns, b);
        a.copy_from_slice(first);
    }

    /// x·R, for a number x = x₀ + x₁·R of at most as many words as the modulus, by R² and R³.
    pub fn enter(&self, x: &mut [Limb], scratch: &mut [Limb]) {
        let (low, high) = x.split_at_mut(self.limbs());
        let mut powers = self.n.to_form.chunks_exact(self.limbs());
        let [c, d, e, f] = std::array::from_fn(|_| powers.next().expect("two pairs"));
        let [columns, first, _] = self.rooms(scratch);
        self.add_products(columns, [[&*low, c], [&*high, e]]);
        self.reduce(columns, first);
        self.take_from_minuend(columns);
        self.add_products(columns, [[&*low, d], [&*high, f]]);
        self.reduce(columns, high);
        low.copy_from_slice(first);
    }

    /// x/R, the first component n at most and the second n + 1 at most.
    pub fn leave(&self, x: &mut [Limb], scratch: &mut [Limb]) {
        let (a, b) = x.split_at_mut(self.limbs());
        let [columns, ..] = self.rooms(scratch);
        columns[..self.limbs()].copy_from_slice(a);
        self.reduce(columns, a);
        self.take_from_minuend(columns);
        columns.iter_mut().zip(&*b).for_each(|(column, b)| column.0.iter_mut().zip(b.0).for_each(|(sum, b)| *sum += b));
        self.reduce(columns, b);
    }

    fn limbs(&self) -> usize {
        self.n.limbs.len()
    }

    /// Columns of nothing, and room for two components.
    fn rooms<'s>(&self, scratch: &'s mut [Limb]) -> [&'s mut [Limb]; 3] {
        let (columns, rest) = scratch.split_at_mut(2 * self.limbs());
        let (first, rest) = rest.split_at_mut(self.limbs());
        columns.fill(Limb::ZERO);
        [columns, first, &mut rest[..self.limbs()]]
    }

    fn add_products<const COUNT: usize>(&self, columns: &mut [Limb], factors: [[&[Limb]; 2]; COUNT]) {
        factors.into_iter().for_each(|[a, b]| self.cpu.run(Multiply { a, b, columns: &mut *columns }));
    }

    fn reduce(&self, columns: &mut [Limb], out: &mut [Limb]) {
        self.n.reduce(self.cpu, columns, out);
    }

    /// What a reduction has left becomes columns of −m modulo n.
    fn take_from_minuend(&self, columns: &mut [Limb]) {
        let (limbs, above) = columns.split_at_mut(self.limbs());
        self.cpu.run(Complement { constants: &self.pairs.minuend, limbs });
        above.fill(Limb::ZERO);
    }
}

impl Pairs {
    pub fn root(&self) -> &Modulus {
        &self.root
    }

    /// a + b·n of each lane of what has left the form, as words.
    pub fn put_words(&self, group: &[Limb], values: &mut [u64], len: usize) {
        let components = group.split_at(group.len() / 2);
        for (lane, value) in values.chunks_mut(len).enumerate() {
            let [mut a, mut b] = [components.0, components.1].map(|limbs| {
                // n + 2 may have a word more than n.
                let mut words = Zeroizing::new(vec![0; self.root.len() + 1]);
                (0..).zip(limbs).for_each(|(k, limb)| words::put_limb(&mut words, k, limb.0[lane]));
                words
            });
            words::add_small(&mut b, self.reduce_once(&mut a));
            self.reduce_once(&mut b);
            let [a, b] = [&a, &b].map(|part| &part[..self.root.len()]);
            value.copy_from_slice(&words::product_and_sum(b, self.root.words(), a)[..len]);
        }
    }

    /// Subtracts n from a number below 2n unless it is less than n; one if it was subtracted.
    fn reduce_once(&self, x: &mut [u64]) -> u64 {
        let (x, over) = x.split_at_mut(self.root.len());
        portable::subtract_if_not_less(x, over[0], self.root.words())
    }
}
