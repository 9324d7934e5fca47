//! Words: bits of a circuit under construction, least significant first, with the kind of number they are.

use crate::graph::{Bit, Type, bits, int, uint};

/// A word of a circuit: its bits and how people read them.
pub trait Word {
    /// Its bits, least significant first.
    fn bits(&self) -> &[Bit];
    /// Its kind and width.
    fn ty(&self) -> Type;
    /// The word of these bits.
    fn from_bits(bits: Vec<Bit>) -> Self
    where
        Self: Sized;

    /// How many bits it has.
    fn width(&self) -> usize {
        self.bits().len()
    }
}

macro_rules! word {
    ($(#[$about:meta])* $name:ident, $ty:path) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $name(pub Vec<Bit>);

        impl Word for $name {
            fn bits(&self) -> &[Bit] {
                &self.0
            }

            fn ty(&self) -> Type {
                $ty(u32::try_from(self.0.len()).expect("a circuit has fewer than 2^31 bits"))
            }

            fn from_bits(bits: Vec<Bit>) -> Self {
                $name(bits)
            }
        }
    };
}

word!(
    /// A string of bits.
    Bits,
    bits
);
word!(
    /// An unsigned integer.
    UInt,
    uint
);
word!(
    /// An integer in two's complement.
    Int,
    int
);

impl Bits {
    /// The constant of these bytes: byte k at bits 8k to 8k+7, least significant bit first.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Bits(bytes.iter().flat_map(|&byte| (0..8).map(move |i| Bit::constant(byte >> i & 1 == 1))).collect())
    }
}

impl From<Bit> for Bits {
    fn from(bit: Bit) -> Self {
        Bits(vec![bit])
    }
}

impl From<Bit> for UInt {
    /// The number 0 or 1, of one bit.
    fn from(bit: Bit) -> Self {
        UInt(vec![bit])
    }
}

impl UInt {
    /// Extends the number to `width` bits, or keeps its low bits if it has more.
    pub fn resized(&self, width: usize) -> Self {
        let bits = self.0.iter().copied().chain(std::iter::repeat(Bit::FALSE));
        UInt(bits.take(width).collect())
    }

    /// The constant `value` modulo 2^`width`.
    pub fn constant(value: u128, width: u32) -> Self {
        UInt((0..width).map(|i| Bit::constant(i < 128 && value >> i & 1 == 1)).collect())
    }

    /// The constant 2^`width` − 1, all of whose bits are ones; of any width.
    pub fn ones(width: u32) -> Self {
        UInt(vec![Bit::TRUE; width as usize])
    }
}

impl Int {
    /// Extends the number to `width` bits, or keeps its low bits if it has more.
    ///
    /// # Panics
    /// If it has no bits.
    pub fn resized(&self, width: usize) -> Self {
        let sign = *self.0.last().expect("an integer has a sign bit");
        let bits = self.0.iter().copied().chain(std::iter::repeat(sign));
        Int(bits.take(width).collect())
    }

    /// The constant `value` modulo 2^`width`.
    pub fn constant(value: i128, width: u32) -> Self {
        Int((0..width).map(|i| Bit::constant(value >> i.min(127) & 1 == 1)).collect())
    }
}
