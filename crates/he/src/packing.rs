//! Several numbers in one plaintext, in slots of any widths.
//!
//! [`Layout`]: the slots of one plaintext. [`Stream`]: numbers of any widths one after the other, in as few plaintexts as
//! hold them in order.
//!
//! Slot i of a layout of widths w₀, w₁, … begins at bit w₀ + … + w_{i−1}. Ciphertexts are packed without their key by
//! Horner's rule from the highest slot down: c = c_i^(2^(w_{i−1}))·c_{i−1}. Widths are public. Whoever packs sees to it that
//! every value fits its slot, with room for all that is added to it later; plaintexts are checked here.

mod stream;

use crate::additive::Additive;
use crate::error::{Error, Result};
use crate::group::{Ciphertexts, Group};
use crate::number;
use crate::paillier::PublicKey;
use crate::plaintexts::Plaintexts;
use crate::size::KeySize;
pub use stream::Stream;

/// The widths of the slots of one plaintext, in bits, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    widths: Vec<u32>,
}

impl Layout {
    /// Slots that fit a plaintext of a key: all their bits are fewer than those of N.
    ///
    /// # Errors
    /// If they do not fit, one has no bits, or there are none.
    pub fn new(widths: &[u32], key: &PublicKey) -> Result<Self> {
        Layout::of(widths, key.size())
    }

    fn of(widths: &[u32], size: KeySize) -> Result<Self> {
        let (bits, capacity) = (widths.iter().map(|&width| u64::from(width)).sum(), size.bits() - 1);
        if bits == 0 || bits > u64::from(capacity) || widths.contains(&0) {
            return Err(Error::Layout { bits, capacity });
        }
        Ok(Layout { widths: widths.to_vec() })
    }

    /// Cuts a list of widths into layouts, each with as many of the next slots as fit.
    ///
    /// # Errors
    /// If one slot alone does not fit, or has no bits.
    pub fn greedy(widths: &[u32], key: &PublicKey) -> Result<Vec<Self>> {
        Layout::all(widths.iter().copied(), key.size())
    }

    fn all(widths: impl Iterator<Item = u32>, size: KeySize) -> Result<Vec<Self>> {
        let (mut layouts, mut next) = (Vec::new(), Vec::new());
        let mut used = 0;
        for width in widths {
            if !next.is_empty() && used + u64::from(width) > u64::from(size.bits() - 1) {
                layouts.push(Layout::of(&std::mem::take(&mut next), size)?);
                used = 0;
            }
            next.push(width);
            used += u64::from(width);
        }
        if !next.is_empty() {
            layouts.push(Layout::of(&next, size)?);
        }
        Ok(layouts)
    }

    /// As many slots of one width as fit a plaintext.
    ///
    /// # Errors
    /// If not one fits.
    pub fn uniform(width: u32, key: &PublicKey) -> Result<Self> {
        let count = (key.size().bits() - 1).checked_div(width).unwrap_or(0);
        Layout::new(&vec![width; count as usize], key)
    }

    /// How many slots there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.widths.len()
    }

    /// The widths, the lowest slot first.
    pub fn widths(&self) -> &[u32] {
        &self.widths
    }

    /// Packs numbers, those of a plaintext one after the other; the last plaintext may have slots without one.
    ///
    /// # Errors
    /// If a number does not fit its slot.
    pub fn pack(&self, values: &Plaintexts) -> Result<Plaintexts> {
        let len = self.bits().div_ceil(64) as usize + 1;
        let mut out = Plaintexts::zeros(values.len().div_ceil(self.len()), len);
        for (index, value) in values.iter().enumerate() {
            let (slot, width) = (index % self.len(), self.widths[index % self.len()]);
            if number::is_longer(value, width) {
                return Err(Error::SlotOverflow { index, width });
            }
            let shifted = shifted_up(value, self.first_bit(slot), len);
            number::add(out.get_mut(index / self.len()), &shifted);
        }
        Ok(out)
    }

    /// Packs ciphertexts in the same way; nobody can check that their plaintexts fit.
    ///
    /// # Errors
    /// If they are of another key.
    pub fn pack_ciphertexts(&self, key: &PublicKey, values: &Ciphertexts) -> Result<Ciphertexts> {
        key.group().check(values)?;
        let whole = values.len() / self.len();
        let rest: Vec<usize> = (whole * self.len()..values.len()).collect();
        let mut parts = Vec::new();
        if whole > 0 {
            parts.push(self.horner(key, whole, self.len(), |at, slot| at * self.len() + slot, values)?);
        }
        if !rest.is_empty() {
            parts.push(self.horner(key, 1, rest.len(), |_, slot| rest[slot], values)?);
        }
        if parts.is_empty() { Ok(values.clone()) } else { Ciphertexts::joined(&parts) }
    }

    /// `count` ciphertexts of the first `slots` slots.
    fn horner(
        &self,
        key: &PublicKey,
        count: usize,
        slots: usize,
        place: impl Fn(usize, usize) -> usize,
        values: &Ciphertexts,
    ) -> Result<Ciphertexts> {
        let of_slot = |slot| values.pick(&(0..count).map(|at| place(at, slot)).collect::<Vec<_>>());
        let mut packed = of_slot(slots - 1)?;
        for slot in (0..slots - 1).rev() {
            packed = key.add(&key.double(&packed, self.widths[slot])?, &of_slot(slot)?)?;
        }
        Ok(packed)
    }

    /// The first `count` numbers in packed plaintexts that came from a peer.
    ///
    /// # Errors
    /// If there are not as many plaintexts as hold them, or one is larger than its slots.
    pub fn unpack(&self, packed: &Plaintexts, count: usize) -> Result<Plaintexts> {
        Group::check_lengths(packed.len(), count.div_ceil(self.len()))?;
        let each = self.widths.iter().max().map_or(1, |width| width.div_ceil(64)) as usize;
        let mut out = Plaintexts::zeros(count, each);
        for index in 0..packed.len() {
            let used = (count - index * self.len()).min(self.len());
            self.unpack_one((index, packed.get(index)), used, (index * self.len(), &mut out), each)?;
        }
        Ok(out)
    }

    /// The numbers of the first slots of one plaintext, to a place and those after it.
    fn unpack_one(
        &self,
        (index, packed): (usize, &[u64]),
        slots: usize,
        (place, out): (usize, &mut Plaintexts),
        each: usize,
    ) -> Result<()> {
        if number::is_longer(packed, self.first_bit(slots)) {
            return Err(Error::PlaintextOutOfRange { index });
        }
        for slot in 0..slots {
            let mut value = shifted_down(packed, self.first_bit(slot), each);
            keep(&mut value, self.widths[slot]);
            out.get_mut(place + slot).copy_from_slice(&value);
        }
        Ok(())
    }

    fn bits(&self) -> u32 {
        self.first_bit(self.len())
    }

    fn first_bit(&self, slot: usize) -> u32 {
        self.widths[..slot].iter().sum()
    }
}

fn shifted_up(x: &[u64], by: u32, len: usize) -> number::Words {
    let mut out = number::small(0, len);
    let (words, bits) = (by as usize / 64, by % 64);
    for (i, &word) in x.iter().enumerate() {
        let wide = u128::from(word) << bits;
        for (at, part) in [(words + i, wide as u64), (words + i + 1, (wide >> 64) as u64)] {
            if let Some(place) = out.get_mut(at) {
                *place |= part;
            }
        }
    }
    out
}

fn shifted_down(x: &[u64], by: u32, len: usize) -> number::Words {
    let mut out = number::small(0, len);
    let (words, bits) = (by as usize / 64, by % 64);
    let at = |i: usize| u128::from(x.get(i).copied().unwrap_or(0));
    for (i, out) in out.iter_mut().enumerate() {
        *out = ((at(words + i) | at(words + i + 1) << 64) >> bits) as u64;
    }
    out
}

/// Clears what is above the lowest `width` bits.
fn keep(x: &mut [u64], width: u32) {
    let whole = width as usize / 64;
    if let Some(word) = x.get_mut(whole) {
        *word &= (1 << (width % 64)) - 1;
    }
    x.iter_mut().skip(whole + 1).for_each(|word| *word = 0);
}
