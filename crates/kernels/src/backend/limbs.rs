//! The loops over limbs of 52 bits, written once for any registers of eight lanes, without `unsafe`.
//!
//! A [`LimbLoop`] is one call: its operands and the loop over them. [`LimbLanes`] is what an instruction set offers.
//! As with [`Kernel`](super::lanes::Kernel), a processor's token runs a job by inlining it into a function that is
//! compiled with the instructions, so every function of a loop is `inline(always)`.

use std::ops::{BitOr, BitXor};

use bytemuck::{Pod, Zeroable};

/// Numbers of one modulus that are computed side by side.
pub(crate) const SIDE_BY_SIDE: usize = 8;
/// Bits of a limb: the significand of a double, which is what the processor's multipliers are made for.
pub(crate) const LIMB_BITS: usize = 52;
pub(crate) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// One limb of each of eight numbers: a cache line, and a register.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Limb(pub [u64; SIDE_BY_SIDE]);

impl Limb {
    pub(crate) const ZERO: Self = Limb([0; SIDE_BY_SIDE]);
}

/// One call of a loop.
pub(crate) trait LimbLoop {
    fn run<C: LimbLanes>(self, cpu: C);
}

/// The instructions of one processor on eight lanes of 64 bits. A value of an implementing type is the proof that the
/// processor has them.
pub(crate) trait LimbLanes: Copy {
    type Reg: Copy;
    /// A bit for each lane, the lowest for the first.
    type Mask: Copy + From<u8> + Into<u8> + BitOr<Output = Self::Mask> + BitXor<Output = Self::Mask>;

    fn load(self, from: &Limb) -> Self::Reg;
    fn store(self, x: Self::Reg, to: &mut Limb);
    /// A register with this number in every lane.
    fn splat(self, x: u64) -> Self::Reg;
    fn add(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    fn subtract(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// The low 64 bits of the product.
    fn multiply(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    fn and(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    fn shift_right<const BITS: u32>(self, x: Self::Reg) -> Self::Reg;
    /// What is above the lowest 52 bits.
    fn carry(self, x: Self::Reg) -> Self::Reg;
    /// `sum` and the low 52 bits of the product of the low 52 bits of `x` and of `y`.
    fn add_low(self, sum: Self::Reg, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// The low 52 bits of the product of the low 52 bits of `x`, which may have more, and of `y`.
    fn multiply_low(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// `sum` and the high 52 bits of the product of the low 52 bits of `x` and of `y`.
    fn add_high(self, sum: Self::Reg, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// The lanes in which both are equal.
    fn equal(self, x: Self::Reg, y: Self::Reg) -> Self::Mask;
    /// `y` in the lanes of the mask, `x` in the others.
    fn select(self, mask: Self::Mask, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// For each lane the number of the table that the lowest four bits of its index name; all of the table is in registers.
    fn look_up(self, table: &[Limb; 2], index: Self::Reg) -> Self::Reg;
    /// `place` in the lanes of the mask, `x` in the others.
    fn replace(self, x: Self::Reg, mask: Self::Mask, place: &Limb) -> Self::Reg;
}

/// Plain lanes for tests, on any processor, which panic where a sum or a product is larger than a lane, a difference is
/// negative, or a factor has more than 52 bits. So they prove of loops that rely on none of these what they are tested on.
#[cfg(test)]
#[derive(Clone, Copy)]
pub struct Checked;

#[cfg(test)]
impl Checked {
    fn each(f: impl Fn(usize) -> u64) -> Limb {
        Limb(std::array::from_fn(f))
    }

    fn product(x: u64, y: u64) -> u128 {
        assert!(x <= LIMB_MASK && y <= LIMB_MASK, "factors of 52 bits");
        u128::from(x) * u128::from(y)
    }
}

#[cfg(test)]
impl LimbLanes for Checked {
    type Reg = Limb;
    type Mask = u8;

    fn load(self, from: &Limb) -> Limb {
        *from
    }
    fn store(self, x: Limb, to: &mut Limb) {
        *to = x;
    }
    fn splat(self, x: u64) -> Limb {
        Limb([x; SIDE_BY_SIDE])
    }
    fn add(self, x: Limb, y: Limb) -> Limb {
        Self::each(|lane| x.0[lane].checked_add(y.0[lane]).expect("a sum that fits"))
    }
    fn subtract(self, x: Limb, y: Limb) -> Limb {
        Self::each(|lane| x.0[lane].checked_sub(y.0[lane]).expect("a difference that is not negative"))
    }
    fn multiply(self, x: Limb, y: Limb) -> Limb {
        Self::each(|lane| x.0[lane].checked_mul(y.0[lane]).expect("a product that fits"))
    }
    fn and(self, x: Limb, y: Limb) -> Limb {
        Self::each(|lane| x.0[lane] & y.0[lane])
    }
    fn shift_right<const BITS: u32>(self, x: Limb) -> Limb {
        Self::each(|lane| x.0[lane] >> BITS)
    }
    fn carry(self, x: Limb) -> Limb {
        Self::each(|lane| x.0[lane] >> LIMB_BITS)
    }
    fn add_low(self, sum: Limb, x: Limb, y: Limb) -> Limb {
        self.add(sum, Self::each(|lane| Self::product(x.0[lane], y.0[lane]) as u64 & LIMB_MASK))
    }
    fn multiply_low(self, x: Limb, y: Limb) -> Limb {
        self.add_low(self.splat(0), self.and(x, self.splat(LIMB_MASK)), y)
    }
    fn add_high(self, sum: Limb, x: Limb, y: Limb) -> Limb {
        self.add(sum, Self::each(|lane| (Self::product(x.0[lane], y.0[lane]) >> LIMB_BITS) as u64))
    }
    fn equal(self, x: Limb, y: Limb) -> u8 {
        (0..SIDE_BY_SIDE).fold(0, |mask, lane| mask | u8::from(x.0[lane] == y.0[lane]) << lane)
    }
    fn select(self, mask: u8, x: Limb, y: Limb) -> Limb {
        Self::each(|lane| if mask >> lane & 1 == 1 { y.0[lane] } else { x.0[lane] })
    }
    fn look_up(self, table: &[Limb; 2], index: Limb) -> Limb {
        Self::each(|lane| table.each_ref().map(|limb| limb.0).as_flattened()[(index.0[lane] & 15) as usize])
    }
    fn replace(self, x: Limb, mask: u8, place: &Limb) -> Limb {
        self.select(mask, x, *place)
    }
}
