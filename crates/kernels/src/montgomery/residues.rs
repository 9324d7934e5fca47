//! Lists of numbers modulo one modulus.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::backend::limbs::{Limb, SIDE_BY_SIDE};

/// Numbers modulo one modulus, in the form in which its products are computed. They are erased when dropped.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Residues {
    /// Groups of eight numbers: `stride` limbs of each side by side, or one number of `stride` words after the other.
    data: Vec<Limb>,
    count: usize,
    pub(super) stride: usize,
    pub(super) wide: bool,
}

impl Residues {
    pub(super) fn zeros(count: usize, stride: usize, wide: bool) -> Self {
        Residues { data: vec![Limb::ZERO; count.div_ceil(SIDE_BY_SIDE) * stride], count, stride, wide }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The numbers at public places, in the order of the places.
    ///
    /// # Panics
    /// If there is no number at one of them.
    pub fn pick(&self, places: impl ExactSizeIterator<Item = usize>) -> Self {
        let mut out = Self::zeros(places.len(), self.stride, self.wide);
        let mut number = vec![0; self.stride];
        for (to, from) in places.enumerate() {
            assert!(from < self.count, "place {from} of {} numbers", self.count);
            self.copy_number(from, &mut number);
            out.put_number(to, &number);
        }
        number.zeroize();
        out
    }

    /// Lists one after the other.
    ///
    /// # Panics
    /// If there are none, or their moduli differ.
    pub fn joined(lists: &[Self]) -> Self {
        let mut out = Self::zeros(lists.iter().map(Self::len).sum(), lists[0].stride, lists[0].wide);
        let mut number = vec![0; out.stride];
        let numbers = lists.iter().flat_map(|list| (0..list.len()).map(move |at| (list, at)));
        for (to, (list, at)) in numbers.enumerate() {
            assert!(list.stride == out.stride && list.wide == out.wide, "numbers of one modulus");
            list.copy_number(at, &mut number);
            out.put_number(to, &number);
        }
        number.zeroize();
        out
    }

    /// Copies the limbs or words of one number.
    pub(super) fn copy_number(&self, at: usize, to: &mut [u64]) {
        let (group, lane) = (self.group(at / SIDE_BY_SIDE), at % SIDE_BY_SIDE);
        if self.wide {
            group.iter().zip(to).for_each(|(limb, to)| *to = limb.0[lane]);
        } else {
            to.copy_from_slice(&bytemuck::cast_slice(group)[lane * self.stride..(lane + 1) * self.stride]);
        }
    }

    /// Swaps two numbers if all bits of a mask are set, and not if none is; in constant time in the mask.
    ///
    /// # Panics
    /// If there are not so many numbers.
    pub fn swap_masked(&mut self, a: usize, b: usize, mask: u64) {
        assert!(a < self.count && b < self.count, "places {a} and {b} of {} numbers", self.count);
        let (stride, wide, words) = (self.stride, self.wide, bytemuck::cast_slice_mut::<Limb, u64>(&mut self.data));
        let place = |at: usize, k: usize| {
            let (group, lane) = (at / SIDE_BY_SIDE, at % SIDE_BY_SIDE);
            if wide { (group * stride + k) * SIDE_BY_SIDE + lane } else { at * stride + k }
        };
        for (a, b) in (0..stride).map(|k| (place(a, k), place(b, k))) {
            let differ = (words[a] ^ words[b]) & mask;
            words[a] ^= differ;
            words[b] ^= differ;
        }
    }

    fn put_number(&mut self, at: usize, from: &[u64]) {
        let (group, lane) = (&mut self.data[at / SIDE_BY_SIDE * self.stride..][..self.stride], at % SIDE_BY_SIDE);
        if self.wide {
            group.iter_mut().zip(from).for_each(|(limb, &from)| limb.0[lane] = from);
        } else {
            bytemuck::cast_slice_mut(group)[lane * self.stride..(lane + 1) * self.stride].copy_from_slice(from);
        }
    }

    pub(super) fn group(&self, at: usize) -> &[Limb] {
        &self.data[at * self.stride..(at + 1) * self.stride]
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = &[Limb]> {
        self.data.chunks_exact(self.stride)
    }

    pub(super) fn groups_mut(&mut self) -> impl Iterator<Item = &mut [Limb]> {
        self.data.chunks_exact_mut(self.stride)
    }
}

impl Zeroize for Residues {
    fn zeroize(&mut self) {
        self.data.zeroize();
    }
}
