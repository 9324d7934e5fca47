//! Powers with secret exponents of public lengths.
//!
//! An exponent is cut into digits of a fixed number of bits (*fixed windows*). Each digit, zero too, costs one product
//! with a power from a table, of which every entry is read, so that time and addresses do not depend on the digit.

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::words::digit;
use super::{Modulus, Residues};
use crate::backend::limbs::{Limb, SIDE_BY_SIDE};

/// Bits of a digit of a fixed base, for few powers and for many: larger ones save products, and take a table that costs more.
const FEW: usize = 5;
const MANY: usize = 7;
/// Groups of eight that are taken through a row of the table together, while it is in the cache.
const GROUPS_A_ROW: usize = 16;

impl Modulus {
    /// The powers of all numbers by one secret exponent of at most `bits` bits, a public number.
    ///
    /// # Panics
    /// If the exponent has not as many words as its bits take. That it has no more bits is not looked at.
    pub fn power(&self, bases: &Residues, exponent: &[u64], bits: usize) -> Residues {
        assert_eq!(exponent.len(), bits.div_ceil(64), "words of an exponent of {bits} bits");
        self.powers(bases, bits, |_| exponent)
    }

    /// The power of each number by an exponent of its own of at most `bits` bits, a public number; exponents lie one
    /// after the other, each in as many words as its bits take.
    ///
    /// # Panics
    /// If there are not as many exponents as numbers.
    pub fn power_each(&self, bases: &Residues, exponents: &[u64], bits: usize) -> Residues {
        let len = bits.div_ceil(64);
        assert_eq!(exponents.len(), bases.len() * len, "an exponent of {bits} bits for each base");
        self.powers(bases, bits, |at| {
            &exponents[(at * len).min(exponents.len())..((at + 1) * len).min(exponents.len())]
        })
    }

    fn powers<'a>(&self, bases: &Residues, bits: usize, exponent: impl Fn(usize) -> &'a [u64]) -> Residues {
        let width = digit_bits(bits);
        let mut table = Zeroizing::new(vec![Limb::ZERO; self.stride() << width]);
        let mut factor = Zeroizing::new(vec![Limb::ZERO; self.stride()]);
        let one = self.ones(SIDE_BY_SIDE);
        self.map(bases, |at, group, scratch| {
            self.fill_table(&mut table, group, one.group(0), scratch);
            let mut digits = Zeroizing::new(Limb::ZERO);
            let highest = bits.div_ceil(width).saturating_sub(1);
            for number in (0..=highest).rev() {
                put_digits(&mut digits, |lane| digit(exponent(SIDE_BY_SIDE * at + lane), number * width, width));
                if number == highest {
                    self.select(&table, &digits, group);
                    continue;
                }
                (0..width).for_each(|_| self.square_group(group, scratch));
                self.select(&table, &digits, &mut factor);
                self.multiply_group(group, &factor, scratch);
            }
        })
    }

    /// The powers of a group from the zeroth on.
    fn fill_table(&self, table: &mut [Limb], base: &[Limb], one: &[Limb], scratch: &mut [Limb]) {
        let stride = self.stride();
        table[..stride].copy_from_slice(one);
        table[stride..2 * stride].copy_from_slice(base);
        for power in 2..table.len() / stride {
            let (before, now) = table.split_at_mut(power * stride);
            let from = if power % 2 == 0 { power / 2 } else { power - 1 };
            now[..stride].copy_from_slice(&before[from * stride..][..stride]);
            match power % 2 {
                0 => self.square_group(&mut now[..stride], scratch),
                _ => self.multiply_group(&mut now[..stride], base, scratch),
            }
        }
    }
}

/// Bits of a digit, so that the table costs no more than it saves.
fn digit_bits(bits: usize) -> usize {
    match bits {
        0..24 => 2,
        24..96 => 3,
        96..320 => 4,
        _ => 5,
    }
}

fn put_digits(digits: &mut Limb, digit: impl Fn(usize) -> u64) {
    digits.0.iter_mut().enumerate().for_each(|(lane, place)| *place = digit(lane));
}

/// Powers of one base, from a table of base^(d·2^(wk)) for every digit d of w bits and every place k of an exponent.
#[derive(ZeroizeOnDrop)]
pub struct FixedBase {
    /// One row of 2^w numbers for each place: of all of them a limb after the other, or number after number.
    table: Vec<Limb>,
    bits: usize,
    /// w.
    width: usize,
}

impl FixedBase {
    /// A table for exponents of at most `bits` bits, which takes 32·⌈bits/5⌉ numbers. The base has as many words as the
    /// modulus.
    ///
    /// # Panics
    /// If it has not, or there are no bits.
    pub fn new(modulus: &Modulus, base: &[u64], bits: usize) -> Self {
        Self::with_digits(modulus, base, bits, FEW)
    }

    /// The same for some hundreds of powers or more, which take three quarters of the time; the table takes 128·⌈bits/7⌉ numbers,
    /// three times as many.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn for_many(modulus: &Modulus, base: &[u64], bits: usize) -> Self {
        Self::with_digits(modulus, base, bits, MANY)
    }

    fn with_digits(modulus: &Modulus, base: &[u64], bits: usize, width: usize) -> Self {
        assert!(base.len() == modulus.len() && bits > 0, "one base, and exponents of some bits");
        let mut places = vec![modulus.residues(base)];
        for place in 1..bits.div_ceil(width) {
            places.push(modulus.square(&places[place - 1], width));
        }
        let (stride, row) = (modulus.stride(), modulus.stride() << width);
        let mut fixed = FixedBase { table: vec![Limb::ZERO; row / SIDE_BY_SIDE * places.len()], bits, width };
        let table = bytemuck::cast_slice_mut::<Limb, u64>(&mut fixed.table);
        let mut number = Zeroizing::new(vec![0; stride]);
        // Few rows at a time, which stay in the cache for all digits.
        for (rows, places) in table.chunks_mut(SIDE_BY_SIDE * row).zip(places.chunks(SIDE_BY_SIDE)) {
            let (bases, mut power) = (Residues::joined(places), modulus.ones(places.len()));
            for digit in 0..1 << width {
                for (place, row) in rows.chunks_exact_mut(row).enumerate() {
                    power.copy_number(place, &mut number);
                    for (k, &word) in number.iter().enumerate() {
                        row[if power.wide { (k << width) + digit } else { digit * stride + k }] = word;
                    }
                }
                power = modulus.multiply(&power, &bases);
            }
        }
        fixed
    }

    /// Bits of the longest exponent.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The powers of the base by secret exponents, which lie one after the other, each in as many words as
    /// [`bits`](Self::bits) take and of no more bits. The modulus is that of the table.
    ///
    /// # Panics
    /// If the words are no whole number of exponents, or the modulus is another one in length. Of another modulus of the
    /// same length nobody can tell: the powers are then wrong.
    pub fn power(&self, modulus: &Modulus, exponents: &[u64]) -> Residues {
        let (len, width) = (self.bits.div_ceil(64), self.width);
        let row = (modulus.stride() << width) / SIDE_BY_SIDE;
        assert_eq!(exponents.len() % len, 0, "exponents of {} bits", self.bits);
        assert_eq!(self.table.len(), row * self.bits.div_ceil(width), "a table of another modulus");
        let mut out = modulus.ones(exponents.len() / len);
        let (mut scratch, mut digits) = (modulus.scratch(), Zeroizing::new(Limb::ZERO));
        let mut factor = Zeroizing::new(vec![Limb::ZERO; modulus.stride()]);
        let mut groups: Vec<_> = out.groups_mut().collect();
        let exponents = exponents.chunks(GROUPS_A_ROW * SIDE_BY_SIDE * len);
        for (groups, exponents) in groups.chunks_mut(GROUPS_A_ROW).zip(exponents) {
            for (place, row) in self.table.chunks_exact(row).enumerate() {
                for (group, exponents) in groups.iter_mut().zip(exponents.chunks(SIDE_BY_SIDE * len)) {
                    let exponent = |lane| exponents.chunks_exact(len).nth(lane).unwrap_or(&[]);
                    put_digits(&mut digits, |lane| digit(exponent(lane), place * width, width));
                    modulus.select_shared(row, &digits, &mut factor);
                    modulus.multiply_group(group, &factor, &mut scratch);
                }
            }
        }
        out
    }
}
