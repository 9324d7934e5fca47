//! Powers with secret exponents of public lengths.
//!
//! An exponent is cut into digits of a fixed number of bits (*fixed windows*). Each digit, zero too, costs one product
//! with a power from a table, of which every entry is read, so that time and addresses do not depend on the digit.

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::words::digit;
use super::{Modulus, Residues};
use crate::backend::limbs::{Limb, SIDE_BY_SIDE};

/// Bits of a digit of a fixed base: larger ones save products, and take a table that costs more.
const WIDTHS: std::ops::RangeInclusive<usize> = 5..=7;
/// Groups of eight that are taken through a row of the table together, while it is in the cache, and limbs of its numbers of which all
/// entries are in the nearest one.
const GROUPS_A_ROW: usize = 48;
const LIMBS_TOGETHER: usize = 16;

impl Modulus {
    /// The powers of all numbers by one secret exponent of at most `bits` bits, a public number.
    ///
    /// # Panics
    /// If the exponent has not as many words as its bits take. That it has no more bits is not looked at.
    pub fn power(&self, bases: &Residues, exponent: &[u64], bits: usize) -> Residues {
        assert_eq!(exponent.len(), bits.div_ceil(64), "words of an exponent of {bits} bits");
        self.powers(None, bases, bits, |_| exponent)
    }

    /// The power of each number by an exponent of its own of at most `bits` bits, a public number; exponents lie one
    /// after the other, each in as many words as its bits take.
    ///
    /// # Panics
    /// If there are not as many exponents as numbers.
    pub fn power_each(&self, bases: &Residues, exponents: &[u64], bits: usize) -> Residues {
        self.powers_each(None, bases, exponents, bits)
    }

    /// start^(2^bits)·base^exponent, where each start has a base and an exponent as [`power_each`](Self::power_each) takes them: for
    /// as many squares as the power alone takes.
    ///
    /// # Panics
    /// If there are not as many bases as starts, or exponents as bases.
    pub fn power_each_onto(&self, starts: &Residues, bases: &Residues, exponents: &[u64], bits: usize) -> Residues {
        assert_eq!(starts.len(), bases.len(), "as many starts as bases");
        self.check(starts);
        self.powers_each(Some(starts), bases, exponents, bits)
    }

    fn powers_each(&self, starts: Option<&Residues>, bases: &Residues, exponents: &[u64], bits: usize) -> Residues {
        let len = bits.div_ceil(64);
        assert_eq!(exponents.len(), bases.len() * len, "an exponent of {bits} bits for each base");
        self.powers(starts, bases, bits, |at| {
            &exponents[(at * len).min(exponents.len())..((at + 1) * len).min(exponents.len())]
        })
    }

    fn powers<'a>(
        &self,
        starts: Option<&Residues>,
        bases: &Residues,
        bits: usize,
        exponent: impl Fn(usize) -> &'a [u64],
    ) -> Residues {
        let width = digit_bits(bits);
        let mut table = Zeroizing::new(vec![Limb::ZERO; self.stride() << width]);
        let mut factor = Zeroizing::new(vec![Limb::ZERO; self.stride()]);
        let one = self.ones(SIDE_BY_SIDE);
        self.map(bases, |at, group, scratch| {
            self.fill_table(&mut table, group, one.group(0), scratch);
            let mut digits = Zeroizing::new(Limb::ZERO);
            let highest = bits.div_ceil(width).saturating_sub(1);
            if let Some(starts) = starts {
                group.copy_from_slice(starts.group(at));
            }
            for number in (0..=highest).rev() {
                put_digits(&mut digits, |lane| digit(exponent(SIDE_BY_SIDE * at + lane), number * width, width));
                if number == highest && starts.is_none() {
                    self.select(&table, &digits, group);
                    continue;
                }
                (0..width.min(bits - number * width)).for_each(|_| self.square_group(group, scratch));
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

/// Powers of one base, from a table of base^(d·2^(wk)) for every digit d of w bits and one in v of the places k of an exponent:
/// the others are taken in v rounds, with w squares before each but the first (Lim and Lee, *More flexible exponentiation with
/// precomputation*, CRYPTO 1994, with digits of neighbouring bits).
#[derive(ZeroizeOnDrop)]
pub struct FixedBase {
    /// One row of 2^w numbers for each of these places: of all of them a limb after the other, or number after number.
    table: Vec<Limb>,
    bits: usize,
    /// w.
    width: usize,
    /// v.
    rounds: usize,
}

impl FixedBase {
    /// A table for exponents of at most `bits` bits that pays for about so many powers: more of them take less time each, with a
    /// table that takes more. The base has as many words as the modulus.
    ///
    /// # Panics
    /// If it has not, or there are no bits.
    pub fn new(modulus: &Modulus, base: &[u64], bits: usize, powers: usize) -> Self {
        let (width, rounds) = shape(modulus, bits, powers.div_ceil(SIDE_BY_SIDE));
        Self::with_shape(modulus, base, bits, width, rounds)
    }

    fn with_shape(modulus: &Modulus, base: &[u64], bits: usize, width: usize, rounds: usize) -> Self {
        assert!(base.len() == modulus.len() && bits > 0, "one base, and exponents of some bits");
        let mut places = vec![modulus.residues(base)];
        for place in 1..bits.div_ceil(width).div_ceil(rounds) {
            places.push(modulus.square(&places[place - 1], width * rounds));
        }
        let (stride, row) = (modulus.stride(), modulus.stride() << width);
        let table = vec![Limb::ZERO; row / SIDE_BY_SIDE * places.len()];
        let mut fixed = FixedBase { table, bits, width, rounds };
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
        let (len, places) = (self.bits.div_ceil(64), self.bits.div_ceil(self.width));
        assert_eq!(exponents.len() % len, 0, "exponents of {} bits", self.bits);
        let held = self.row(modulus) * places.div_ceil(self.rounds);
        assert_eq!(self.table.len(), held, "a table of another modulus");
        let mut out = modulus.ones(exponents.len() / len);
        let mut scratch = modulus.scratch();
        let mut groups: Vec<_> = out.groups_mut().collect();
        let exponents = exponents.chunks(GROUPS_A_ROW * SIDE_BY_SIDE * len);
        for (groups, exponents) in groups.chunks_mut(GROUPS_A_ROW).zip(exponents) {
            for first in (0..self.rounds.min(places)).rev() {
                self.round(modulus, first, groups, exponents, &mut scratch);
                if first > 0 {
                    let mut squares = |group: &mut [Limb]| {
                        (0..self.width).for_each(|_| modulus.square_group(group, &mut scratch));
                    };
                    groups.iter_mut().for_each(|group| squares(group));
                }
            }
        }
        out
    }

    /// Multiplies groups by what the table has for the places from the first on, as far apart as there are rounds.
    fn round(
        &self,
        modulus: &Modulus,
        first: usize,
        groups: &mut [&mut [Limb]],
        exponents: &[u64],
        scratch: &mut [Limb],
    ) {
        let (len, width, stride) = (self.bits.div_ceil(64), self.width, modulus.stride());
        let mut digits = Zeroizing::new(vec![Limb::ZERO; groups.len()]);
        let mut factors = Zeroizing::new(vec![Limb::ZERO; groups.len() * stride]);
        let places = (first * width..self.bits).step_by(self.rounds * width);
        for (at, row) in places.zip(self.table.chunks_exact(self.row(modulus))) {
            for (digits, exponents) in digits.iter_mut().zip(exponents.chunks(SIDE_BY_SIDE * len)) {
                let exponent = |lane| exponents.get(lane * len..(lane + 1) * len).unwrap_or(&[]);
                put_digits(digits, |lane| digit(exponent(lane), at, width));
            }
            self.look_up(modulus, row, &digits, &mut factors);
            for (group, factor) in groups.iter_mut().zip(factors.chunks_exact(stride)) {
                modulus.multiply_group(group, factor, scratch);
            }
        }
    }

    /// For each group the entries of a row that its digits name. Where a limb of all entries lies together, some limbs are looked up
    /// for all groups, while they are in the nearest cache.
    fn look_up(&self, modulus: &Modulus, row: &[Limb], digits: &[Limb], factors: &mut [Limb]) {
        let stride = modulus.stride();
        let together = if modulus.multiplier.is_some() { LIMBS_TOGETHER } else { stride };
        for (part, from) in row.chunks((together << self.width) / SIDE_BY_SIDE).zip((0..).step_by(together)) {
            let limbs = from..stride.min(from + together);
            for (factor, digits) in factors.chunks_exact_mut(stride).zip(digits) {
                modulus.select_shared(part, digits, &mut factor[limbs.clone()]);
            }
        }
    }

    /// Limbs of a row.
    fn row(&self, modulus: &Modulus) -> usize {
        (modulus.stride() << self.width) / SIDE_BY_SIDE
    }
}

/// Bits of a digit, and rounds, with which so many groups of powers and their table take the least time.
fn shape(modulus: &Modulus, bits: usize, groups: usize) -> (usize, usize) {
    // A product and a square, and looking a number up, which goes through a row: in tenths of a cycle a limb, about.
    let (stride, look_up) = (modulus.stride(), if modulus.multiplier.is_some() { 1 } else { 5 });
    let (product, square) = (25 * stride, 18 * stride);
    let time = |&(width, rounds): &(usize, usize)| {
        let places = bits.div_ceil(width);
        let table = (places.div_ceil(rounds) << width) * product / SIDE_BY_SIDE;
        groups * (places * (product + (look_up << width)) + (rounds - 1) * width * square) + table
    };
    let shapes = WIDTHS.flat_map(|width| (0..6).map(move |log| (width, 1 << log)));
    shapes.min_by_key(time).unwrap_or((*WIDTHS.start(), 1))
}
