//! Lengths of keys.

use crate::error::{Error, Result};

/// The number of bits T of a modulus N. The strength is that of factoring: 3,072 bits for 128 bits of security, 2,048
/// for 112 (NIST SP 800-57, part 1, table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySize(u32);

impl Default for KeySize {
    fn default() -> Self {
        KeySize(3072)
    }
}

impl KeySize {
    /// A length from 2,048 to 3,072 bits, a multiple of 64.
    pub fn new(bits: u32) -> Result<Self> {
        if (2048..=3072).contains(&bits) { Self::even_if_it_can_be_broken(bits) } else { Err(Error::KeySize(bits)) }
    }

    /// A length from 256 bits on. Keys below 2,048 bits can be broken: they are for reproducing figures of others, and
    /// for tests, and the command takes none.
    pub fn even_if_it_can_be_broken(bits: u32) -> Result<Self> {
        let fits = (256..=3072).contains(&bits) && bits.is_multiple_of(64);
        if fits { Ok(KeySize(bits)) } else { Err(Error::KeySize(bits)) }
    }

    /// Bits of the modulus.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Bits of the primes by which keys of DGK hide: twice the strength of the modulus, as of 80, 112 and 128 bits.
    pub(crate) fn subgroup_bits(self) -> u32 {
        match self.0 {
            0..512 => 64,
            512..2048 => 160,
            2048..3072 => 224,
            _ => 256,
        }
    }

    pub(crate) fn words(self) -> usize {
        self.0 as usize / 64
    }
}
