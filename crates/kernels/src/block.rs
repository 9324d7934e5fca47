//! 128 bits: the unit of every protocol here.

use std::ops::{BitAnd, BitXor, BitXorAssign, Not};

use bytemuck::{Pod, Zeroable};
use zeroize::DefaultIsZeroes;

/// 128 bits, little-endian in memory and on the wire; bit 0 is the least significant bit of byte 0.
///
/// Most blocks are secret, so there is no `Debug`, and nothing here branches on the value.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Block(u128);

/// Erased whole, in slices too.
impl DefaultIsZeroes for Block {}

impl Block {
    /// All bits zero.
    pub const ZERO: Self = Block(0);

    /// The block with this value.
    #[inline]
    pub const fn new(value: u128) -> Self {
        Block(value)
    }

    /// The value as a number.
    #[inline]
    pub const fn get(self) -> u128 {
        self.0
    }

    /// Reads 16 little-endian bytes.
    #[inline]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Block(u128::from_le_bytes(bytes))
    }

    /// The 16 little-endian bytes.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Bit 0: the permute bit of a label, the choice bit of a correlation.
    #[inline]
    pub const fn lsb(self) -> bool {
        self.0 & 1 == 1
    }

    /// Replaces bit 0, in constant time.
    #[inline]
    pub const fn with_lsb(self, bit: bool) -> Self {
        Block((self.0 & !1) | bit as u128)
    }

    /// All ones for `true` and zero for `false`, in constant time: `Block::mask(b) & x` chooses between `x` and zero.
    #[inline]
    pub const fn mask(bit: bool) -> Self {
        Block((bit as u128).wrapping_neg())
    }

    /// The linear orthomorphism σ(L‖R) = (L⊕R ‖ L), with L the high 64 bits: both σ and x ↦ σ(x)⊕x are
    /// bijections, which a hash needs that stays random when all its inputs differ by one Δ.
    #[inline]
    pub const fn sigma(self) -> Self {
        let high = self.0 >> 64;
        Block(((high ^ (self.0 & u64::MAX as u128)) << 64) | high)
    }
}

impl BitXor for Block {
    type Output = Self;
    #[inline]
    fn bitxor(self, other: Self) -> Self {
        Block(self.0 ^ other.0)
    }
}

impl BitXorAssign for Block {
    #[inline]
    fn bitxor_assign(&mut self, other: Self) {
        self.0 ^= other.0;
    }
}

impl BitAnd for Block {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Block(self.0 & other.0)
    }
}

impl Not for Block {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Block(!self.0)
    }
}

pub(crate) fn assert_lengths<const N: usize>(len: usize, others: [usize; N]) {
    assert!(others == [len; N], "operands of different lengths: {len} and {others:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Block = Block::new(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);

    #[test]
    fn bytes_are_little_endian() {
        assert_eq!(X.to_bytes()[..3], [0xff, 0xee, 0xdd]);
        assert!(Block::from_bytes(X.to_bytes()) == X);
        assert_eq!(bytemuck::bytes_of(&X), X.to_bytes());
    }

    #[test]
    fn sigma_is_the_written_map_and_an_orthomorphism() {
        assert_eq!(X.sigma().get(), 0x8888_8888_8888_8888_0011_2233_4455_6677);
        // Linear, so a bijection exactly if no unit vector combination vanishes: compare ranks.
        let rank = |map: &dyn Fn(Block) -> Block| {
            let mut rows: Vec<u128> = (0..128).map(|i| map(Block::new(1 << i)).get()).collect();
            (0..128).filter(|&bit| eliminate(&mut rows, bit)).count()
        };
        assert_eq!(rank(&|x| x.sigma()), 128);
        assert_eq!(rank(&|x| x.sigma() ^ x), 128);
    }

    /// One step of Gaussian elimination: removes a row with this bit and the bit from all others.
    fn eliminate(rows: &mut Vec<u128>, bit: u32) -> bool {
        let Some(at) = rows.iter().position(|r| r >> bit & 1 == 1) else {
            return false;
        };
        let pivot = rows.swap_remove(at);
        rows.iter_mut().filter(|r| **r >> bit & 1 == 1).for_each(|r| *r ^= pivot);
        true
    }

    #[test]
    fn masks_and_permute_bits() {
        assert!(Block::mask(true) == !Block::ZERO && Block::mask(false) == Block::ZERO);
        assert!(X.lsb() && !X.with_lsb(false).lsb() && X.with_lsb(true) == X);
        assert!(X.with_lsb(false) == X ^ Block::new(1));
        assert!((X & Block::mask(true)) == X);
    }
}
