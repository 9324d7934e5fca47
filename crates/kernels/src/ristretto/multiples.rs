//! Multiples of points by secret scalars, eight side by side.
//!
//! A scalar a becomes digits of w bits by h = (a + 2^(wn) − 1)/2 modulo the order ℓ of the group: with digits u of h, n of
//! them, a = Σ (2u − (2^w − 1))·2^(wi) modulo ℓ. So every digit of a is odd, of either sign and never zero: a step adds or
//! subtracts one of P, 3P, … (2^w − 1)P, whatever the digit, and no case is apart. What is ℓ times a point has an order that
//! divides four, which no encoding tells from the neutral one.

use std::hint::black_box;
use std::sync::LazyLock;

use curve25519_dalek::Scalar;
use zeroize::Zeroizing;

use super::constants::TWICE_D;
use super::edwards::{Affine, Group, Point, Prepared, PreparedGroup, ZERO};
use super::field::{Element, LIMBS, inverses};
use crate::backend::Multiplier;
use crate::backend::limbs::{Limb, LimbLanes, LimbLoop, SIDE_BY_SIDE};

/// Bits of a digit of the scalar of many points, and how many they are.
const WIDTH: usize = 4;
pub(crate) const DIGITS: usize = 64;
/// Odd multiples in a table.
const ODD: usize = 1 << (WIDTH - 1);

/// Bits of a digit of a scalar of a fixed base, and how many they are: 255 bits are enough for a number below ℓ.
const FIXED_WIDTH: usize = 5;
pub(crate) const FIXED_DIGITS: usize = 51;
const FIXED_ODD: usize = 1 << (FIXED_WIDTH - 1);

/// How scalars become N digits of `WIDTH` bits.
struct Recoding<const WIDTH: usize, const N: usize> {
    half: Scalar,
    /// 2^(wn) − 1.
    raised: Scalar,
}

static ONE_SCALAR: LazyLock<Recoding<WIDTH, DIGITS>> = LazyLock::new(Recoding::new);
static FIXED: LazyLock<Recoding<FIXED_WIDTH, FIXED_DIGITS>> = LazyLock::new(Recoding::new);

impl<const WIDTH: usize, const N: usize> Recoding<WIDTH, N> {
    fn new() -> Self {
        let power = (0..WIDTH * N).fold(Scalar::ONE, |power, _| power + power);
        Recoding { half: Scalar::from(2_u64).invert(), raised: power - Scalar::ONE }
    }

    /// The digits u, the lowest first.
    fn digits(&self, scalar: &Scalar) -> Zeroizing<[u8; N]> {
        let sum = Zeroizing::new(scalar + self.raised);
        let h = Zeroizing::new(*sum * self.half);
        let bytes = h.as_bytes();
        Zeroizing::new(std::array::from_fn(|i| {
            let (byte, shift) = (WIDTH * i / 8, WIDTH * i % 8);
            let both = u16::from(bytes[byte]) | u16::from(*bytes.get(byte + 1).unwrap_or(&0)) << 8;
            (both >> shift) as u8 & ((1 << WIDTH) - 1)
        }))
    }
}

/// Multiplies groups by one scalar.
pub(crate) fn multiply(cpu: Multiplier, groups: &mut [Group], scalar: &Scalar) {
    // In every lane, and in memory: where a digit is in a register of its own, its compiler compares it as one number, and
    // may branch on that.
    let digits = Zeroizing::new(ONE_SCALAR.digits(scalar).map(|digit| Limb([digit.into(); SIDE_BY_SIDE])));
    let mut table = Zeroizing::new(vec![ZERO; ODD]);
    let table = table.first_chunk_mut().expect("as many as there are");
    cpu.run(Multiply { groups, digits: &digits, table });
}

struct Multiply<'a> {
    groups: &'a mut [Group],
    digits: &'a [Limb; DIGITS],
    /// Room for odd multiples.
    table: &'a mut [PreparedGroup; ODD],
}

impl LimbLoop for Multiply<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let Multiply { groups, digits, table } = self;
        for group in groups {
            let mut point = Point::load(cpu, group);
            let twice = point.double(1).prepared(cpu);
            for entry in table.iter_mut() {
                point.prepared(cpu).store(entry);
                point = point.add(twice, 0.into());
            }
            point = Point::neutral(cpu);
            for digit in digits[1..].iter().rev() {
                let (entry, negative) = odd_multiple(cpu, table, cpu.load(black_box(digit)));
                point = point.double(WIDTH).add_before_doubling(entry, negative);
            }
            let (entry, negative) = odd_multiple(cpu, table, cpu.load(black_box(&digits[0])));
            point.double(WIDTH).add(entry, negative).store(group);
        }
    }
}

/// The multiple that a digit stands for, the same in all lanes, and whether its negative is meant; all of the table is read.
#[inline(always)]
fn odd_multiple<C: LimbLanes>(cpu: C, table: &[PreparedGroup; ODD], digit: C::Reg) -> (Prepared<C>, C::Mask) {
    let (index, negative) = odd_index(cpu, digit, ODD as u64);
    let mut entry = Prepared::load(cpu, &table[0]);
    for (number, place) in (1..).zip(&table[1..]) {
        entry = entry.replace(cpu.equal(index, cpu.splat(number)), place);
    }
    (entry, negative)
}

/// Of digits u below 2·odd the odd multiples 2u − (2·odd − 1): where each is in a table of the positive ones, and the lanes
/// of the others.
#[inline(always)]
fn odd_index<C: LimbLanes>(cpu: C, digit: C::Reg, odd: u64) -> (C::Reg, C::Mask) {
    let negative = cpu.equal(cpu.and(digit, cpu.splat(odd)), cpu.splat(0));
    let positive_index = cpu.and(digit, cpu.splat(odd - 1));
    let negative_index = cpu.subtract(cpu.splat(odd - 1), positive_index);
    (cpu.select(negative, positive_index, negative_index), negative)
}

/// Y + X, Y − X and 2d·T of the odd multiples of one point of which Z is one, with their limbs side by side.
pub(crate) type Row = [[[Limb; 2]; LIMBS]; 3];
/// The same of eight points.
type AffineGroup = [[Limb; LIMBS]; 3];

const ROW_GROUPS: usize = FIXED_DIGITS.div_ceil(SIDE_BY_SIDE);
/// Groups that are taken through a row of the table together, while it is in the cache.
const GROUPS_A_ROW: usize = 16;

/// For each place of a digit the odd multiples that it may stand for.
pub(crate) fn table(cpu: Multiplier, point: &Group) -> Vec<Row> {
    let mut bases = [ZERO; ROW_GROUPS];
    cpu.run(Bases { point, out: &mut bases });
    let mut rows = vec![[[[Limb::ZERO; 2]; LIMBS]; 3]; FIXED_DIGITS];
    let mut multiples = vec![[[Limb::ZERO; LIMBS]; 3]; FIXED_ODD];
    for (base, rows) in bases.iter().zip(rows.chunks_mut(SIDE_BY_SIDE)) {
        cpu.run(OddMultiples { base, out: &mut multiples });
        for (lane, row) in rows.iter_mut().enumerate() {
            multiples.iter().enumerate().for_each(|(number, group)| put_entry(row, number, group, lane));
        }
    }
    rows
}

fn put_entry(row: &mut Row, number: usize, group: &AffineGroup, lane: usize) {
    for (places, limbs) in row.iter_mut().zip(group) {
        for (place, limb) in places.iter_mut().zip(limbs) {
            place[number / SIDE_BY_SIDE].0[number % SIDE_BY_SIDE] = limb.0[lane];
        }
    }
}

/// The first point of a group times 2^(wi) for each place i.
struct Bases<'a> {
    point: &'a Group,
    out: &'a mut [Group; ROW_GROUPS],
}

impl LimbLoop for Bases<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let mut power = *self.point;
        for place in 0..FIXED_DIGITS {
            copy_lane(&power, 0, &mut self.out[place / SIDE_BY_SIDE], place % SIDE_BY_SIDE);
            Point::load(cpu, &power).double(FIXED_WIDTH).store(&mut power);
        }
    }
}

/// Copies one point of a group to a place of another.
pub(crate) fn copy_lane(from: &Group, lane: usize, to: &mut Group, place: usize) {
    for (from, to) in from.as_flattened().iter().zip(to.as_flattened_mut()) {
        to.0[place] = from.0[lane];
    }
}

struct OddMultiples<'a> {
    base: &'a Group,
    out: &'a mut [AffineGroup],
}

impl LimbLoop for OddMultiples<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        let mut point = Point::load(cpu, self.base);
        let twice = point.double(1).prepared(cpu);
        for out in self.out {
            let [inverse] = inverses([point.z]);
            let (x, y) = (point.x * inverse, point.y * inverse);
            let twice_dt = x * y * Element::splat(cpu, &TWICE_D);
            (y + x).store(&mut out[0]);
            (y - x).store(&mut out[1]);
            twice_dt.store(&mut out[2]);
            point = point.add(twice, 0.into());
        }
    }
}

/// Multiples of the point of a table by a scalar for each lane; groups begin as neutral points.
pub(crate) fn multiply_fixed(cpu: Multiplier, table: &[Row], scalars: &[Scalar], groups: &mut [Group]) {
    let mut digits = Zeroizing::new(vec![[Limb::ZERO; FIXED_DIGITS]; GROUPS_A_ROW]);
    let chunks = scalars.chunks(GROUPS_A_ROW * SIDE_BY_SIDE).zip(groups.chunks_mut(GROUPS_A_ROW));
    for (scalars, groups) in chunks {
        for (at, scalar) in scalars.iter().enumerate() {
            let (group, lane) = (at / SIDE_BY_SIDE, at % SIDE_BY_SIDE);
            let places = digits[group].iter_mut();
            places.zip(FIXED.digits(scalar).iter()).for_each(|(place, &digit)| place.0[lane] = digit.into());
        }
        cpu.run(MultiplyFixed { table, digits: &digits, groups });
    }
}

struct MultiplyFixed<'a> {
    table: &'a [Row],
    digits: &'a [[Limb; FIXED_DIGITS]],
    groups: &'a mut [Group],
}

impl LimbLoop for MultiplyFixed<'_> {
    #[inline(always)]
    fn run<C: LimbLanes>(self, cpu: C) {
        for (place, row) in self.table.iter().enumerate() {
            for (group, digits) in self.groups.iter_mut().zip(self.digits) {
                let (entry, negative) = fixed_multiple(cpu, row, cpu.load(&digits[place]));
                Point::load(cpu, group).add_affine(entry, negative).store(group);
            }
        }
    }
}

/// For each lane the multiple that its digit stands for, and the lanes in which its negative is meant.
#[inline(always)]
fn fixed_multiple<C: LimbLanes>(cpu: C, row: &Row, digit: C::Reg) -> (Affine<C>, C::Mask) {
    let (index, negative) = odd_index(cpu, digit, FIXED_ODD as u64);
    let entry = Affine {
        sum: Element::look_up(cpu, &row[0], index),
        difference: Element::look_up(cpu, &row[1], index),
        twice_dt: Element::look_up(cpu, &row[2], index),
    };
    (entry, negative)
}
