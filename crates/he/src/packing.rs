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
use std::ops::Range;

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

/// Numbers of one width in as few plaintexts as hold them, number i in slot ⌊i/m⌋ of plaintext i mod m of m: all plaintexts have
/// as many slots, but for one, so that they are packed side by side. A number has parts of these widths, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    parts: Vec<u32>,
    count: usize,
    plaintexts: usize,
}

impl Columns {
    /// Slots for so many numbers, in plaintexts of a key with so many bits.
    ///
    /// # Errors
    /// If a number does not fit, or a part has no bits, or there are no parts.
    pub fn new(parts: &[u32], count: usize, key: KeySize) -> Result<Self> {
        let (width, capacity) = (parts.iter().map(|&part| u64::from(part)).sum::<u64>(), key.bits() - 1);
        if width == 0 || width > u64::from(capacity) || parts.contains(&0) {
            return Err(Error::Layout { bits: width, capacity });
        }
        let slots = (u64::from(capacity) / width) as usize;
        Ok(Columns { parts: parts.to_vec(), count, plaintexts: count.div_ceil(slots) })
    }

    /// How many plaintexts there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.plaintexts
    }

    /// Bits of a number.
    pub fn width(&self) -> u32 {
        self.parts.iter().sum()
    }

    /// The places of the numbers of a slot in some of the plaintexts.
    fn places(&self, slot: usize, plaintexts: &Range<usize>) -> Vec<usize> {
        plaintexts.clone().map(|at| slot * self.plaintexts + at).filter(|&place| place < self.count).collect()
    }

    fn slots(&self) -> usize {
        self.count.div_ceil(self.plaintexts.max(1))
    }

    /// Packs whole numbers into some of the plaintexts.
    ///
    /// # Errors
    /// If there are not as many numbers, or one does not fit its slot.
    pub fn pack(&self, numbers: &Plaintexts, plaintexts: Range<usize>) -> Result<Plaintexts> {
        Group::check_lengths(numbers.len(), self.count)?;
        let len = (self.slots() as u32 * self.width()).div_ceil(64) as usize + 1;
        let mut out = Plaintexts::zeros(plaintexts.len(), len);
        for slot in 0..self.slots() {
            for (at, index) in self.places(slot, &plaintexts).into_iter().enumerate() {
                let (number, width) = (numbers.get(index), self.width());
                if number::is_longer(number, width) {
                    return Err(Error::SlotOverflow { index, width });
                }
                number::add(out.get_mut(at), &shifted_up(number, slot as u32 * width, len));
            }
        }
        Ok(out)
    }

    /// Packs ciphertexts of the parts of all numbers into some of the plaintexts; nobody can check that they fit.
    ///
    /// # Errors
    /// If there are not as many parts or numbers, or one is of another key.
    pub fn pack_ciphertexts(
        &self,
        key: &PublicKey,
        parts: &[Ciphertexts],
        plaintexts: Range<usize>,
    ) -> Result<Ciphertexts> {
        Group::check_lengths(parts.len(), self.parts.len())?;
        parts.iter().try_for_each(|part| Group::check_lengths(part.len(), self.count))?;
        let mut packed: Option<Ciphertexts> = None;
        for slot in (0..self.slots()).rev() {
            let places = self.places(slot, &plaintexts);
            if places.is_empty() {
                continue;
            }
            for (part, &width) in parts.iter().zip(&self.parts).rev() {
                let part = part.pick(&places)?;
                packed = Some(match packed {
                    Some(above) => key.add_to_first(&key.double(&above, width)?, &part)?,
                    None => part,
                });
            }
        }
        packed.ok_or(Error::Lengths(0, self.count))
    }

    /// The numbers in all plaintexts, of which a peer sent some after the other.
    ///
    /// # Errors
    /// If there are not as many plaintexts, or one is larger than its slots.
    pub fn unpack(&self, packed: &[Plaintexts]) -> Result<Plaintexts> {
        Group::check_lengths(packed.iter().map(Plaintexts::len).sum(), self.plaintexts)?;
        let (width, each) = (self.width(), self.width().div_ceil(64) as usize);
        let mut out = Plaintexts::zeros(self.count, each);
        for (index, plain) in packed.iter().flat_map(Plaintexts::iter).enumerate() {
            let used = (self.count - index).div_ceil(self.plaintexts) as u32;
            if number::is_longer(plain, used * width) {
                return Err(Error::PlaintextOutOfRange { index });
            }
            for slot in 0..used {
                let mut number = shifted_down(plain, slot * width, each);
                keep(&mut number, width);
                out.get_mut(slot as usize * self.plaintexts + index).copy_from_slice(&number);
            }
        }
        Ok(out)
    }
}

pub(crate) fn shifted_up(x: &[u64], by: u32, len: usize) -> number::Words {
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
