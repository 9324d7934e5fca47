//! Numbers of any widths in several plaintexts at once.

use std::collections::BTreeMap;

use kernels::montgomery::{Modulus, Residues};

use super::{Layout, shifted_up};
use crate::error::{Error, Result};
use crate::group::{Ciphertexts, Group};
use crate::number;
use crate::paillier::PublicKey;
use crate::plaintexts::Plaintexts;
use crate::size::KeySize;

/// Plaintexts that are packed side by side.
const TOGETHER: usize = 8;

/// Numbers of any widths one after the other, cut into plaintexts of which each holds as many of the next ones as fit.
///
/// Ciphertexts are packed by Horner's rule in eight plaintexts at once, whatever their slots are: all are squared from bit to
/// bit, and those in which a slot begins are multiplied by its ciphertext.
pub struct Stream {
    layouts: Vec<Layout>,
    count: usize,
}

impl Stream {
    /// Plaintexts of a key of this size, for numbers of these widths.
    ///
    /// # Errors
    /// If one number alone does not fit, or has no bits.
    pub fn new(widths: impl Iterator<Item = u32>, size: KeySize) -> Result<Self> {
        let layouts = Layout::all(widths, size)?;
        let count = layouts.iter().map(Layout::len).sum();
        Ok(Stream { layouts, count })
    }

    /// How many plaintexts there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.layouts.len()
    }

    /// The layouts, and of each the place of its first number.
    fn parts(&self) -> impl Iterator<Item = (&Layout, usize)> {
        let firsts = self.layouts.iter().scan(0, |next, layout| {
            *next += layout.len();
            Some(*next - layout.len())
        });
        self.layouts.iter().zip(firsts)
    }

    /// Packs the numbers.
    ///
    /// # Errors
    /// If they are not as many as there are widths, or one has more bits.
    pub fn pack(&self, values: &Plaintexts) -> Result<Plaintexts> {
        Group::check_lengths(values.len(), self.count)?;
        let len = self.layouts.iter().map(Layout::bits).max().unwrap_or(0).div_ceil(64) as usize + 1;
        let mut out = Plaintexts::zeros(self.len(), len);
        for (at, (layout, first)) in self.parts().enumerate() {
            for (slot, &width) in layout.widths.iter().enumerate() {
                let (index, value) = (first + slot, values.get(first + slot));
                if number::is_longer(value, width) {
                    return Err(Error::SlotOverflow { index, width });
                }
                number::add(out.get_mut(at), &shifted_up(value, layout.first_bit(slot), len));
            }
        }
        Ok(out)
    }

    /// Packs ciphertexts in the same way; nobody can check that their plaintexts fit.
    ///
    /// # Errors
    /// If they are not as many as there are widths, or are of another key.
    pub fn pack_ciphertexts(&self, key: &PublicKey, values: &Ciphertexts) -> Result<Ciphertexts> {
        let group = key.group();
        group.check(values)?;
        Group::check_lengths(values.len(), self.count)?;
        // Behind the values a one, for plaintexts without a slot at a bit.
        let values = Residues::joined(&[values.residues.clone(), group.modulus.ones(1)]);
        let parts: Vec<_> = self.parts().collect();
        let packed: Vec<_> = parts.chunks(TOGETHER).map(|parts| self.horner(&group.modulus, parts, &values)).collect();
        Ok(group.batch(if packed.is_empty() { group.modulus.ones(0) } else { Residues::joined(&packed) }))
    }

    /// Some plaintexts, from the highest bit of them on.
    fn horner(&self, modulus: &Modulus, parts: &[(&Layout, usize)], values: &Residues) -> Residues {
        let mut packed = modulus.ones(parts.len());
        let mut above = None;
        for (bit, slots) in slots(parts).into_iter().rev() {
            packed = modulus.square(&packed, above.map_or(0, |above: u32| above - bit) as usize);
            let mut places = vec![self.count; parts.len()];
            slots.into_iter().for_each(|(at, value)| places[at] = value);
            packed = modulus.multiply(&packed, &values.pick(places.into_iter()));
            above = Some(bit);
        }
        packed
    }

    /// The numbers in packed plaintexts that came from a peer.
    ///
    /// # Errors
    /// If there are not as many plaintexts as hold them, or one is larger than its slots.
    pub fn unpack(&self, packed: &Plaintexts) -> Result<Plaintexts> {
        Group::check_lengths(packed.len(), self.len())?;
        let widest = self.layouts.iter().flat_map(|layout| &layout.widths).max();
        let each = widest.map_or(1, |width| width.div_ceil(64)) as usize;
        let mut out = Plaintexts::zeros(self.count, each);
        for (at, (layout, first)) in self.parts().enumerate() {
            layout.unpack_one((at, packed.get(at)), layout.len(), (first, &mut out), each)?;
        }
        Ok(out)
    }
}

/// For each bit at which slots begin, their plaintexts and their numbers.
fn slots(parts: &[(&Layout, usize)]) -> BTreeMap<u32, Vec<(usize, usize)>> {
    let mut slots = BTreeMap::<_, Vec<_>>::new();
    for (at, (layout, first)) in parts.iter().enumerate() {
        for slot in 0..layout.len() {
            slots.entry(layout.first_bit(slot)).or_default().push((at, first + slot));
        }
    }
    slots
}
