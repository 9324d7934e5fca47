//! Residues as bits one after the other, little-endian, each of a fixed number of bits: no more than one way to write them.

use super::ring::{DEGREE, Poly, Q, SMALL, zeros};
use crate::error::CiphertextFault;

/// Bits of a residue modulo q.
const LARGE_BITS: usize = 54;
/// Bits of a residue modulo the small prime.
const SMALL_BITS: usize = 14;

/// Bytes of a polynomial modulo q.
pub const POLY: usize = DEGREE * LARGE_BITS / 8;
/// Bytes of a polynomial modulo the small prime.
pub const SMALL_POLY: usize = DEGREE * SMALL_BITS / 8;

const _: () = assert!(Q < 1 << LARGE_BITS && SMALL < 1 << SMALL_BITS);

/// Writes residues modulo q.
pub fn write(out: &mut Vec<u8>, x: &[u64]) {
    put::<LARGE_BITS>(out, x);
}

/// Writes residues modulo the small prime.
pub fn write_small(out: &mut Vec<u8>, x: &[u64]) {
    put::<SMALL_BITS>(out, x);
}

/// Reads residues modulo q from [`POLY`] bytes.
///
/// # Errors
/// If one is q or more.
pub fn read(bytes: &[u8]) -> Result<Poly, CiphertextFault> {
    get::<LARGE_BITS, Q>(bytes)
}

/// Reads residues modulo the small prime from [`SMALL_POLY`] bytes.
///
/// # Errors
/// If one is the prime or more.
pub fn read_small(bytes: &[u8]) -> Result<Poly, CiphertextFault> {
    get::<SMALL_BITS, SMALL>(bytes)
}

fn put<const BITS: usize>(out: &mut Vec<u8>, x: &[u64]) {
    let (mut word, mut used) = (0_u128, 0);
    for &x in x {
        word |= u128::from(x) << used;
        used += BITS;
        if used >= 64 {
            out.extend((word as u64).to_le_bytes());
            (word, used) = (word >> 64, used - 64);
        }
    }
    debug_assert_eq!(used, 0, "a polynomial is whole words");
}

fn get<const BITS: usize, const MODULUS: u64>(bytes: &[u8]) -> Result<Poly, CiphertextFault> {
    let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    let (mut word, mut left, mut most, mut out) = (0_u128, 0, 0, zeros());
    for x in out.iter_mut() {
        if left < BITS {
            word |= u128::from(words.next().unwrap_or(u64::MAX)) << left;
            left += 64;
        }
        *x = word as u64 & ((1 << BITS) - 1);
        most = most.max(*x);
        (word, left) = (word >> BITS, left - BITS);
    }
    if most < MODULUS { Ok(out) } else { Err(CiphertextFault::TooLarge) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(seed in prop::array::uniform8(0..Q), at in 0..DEGREE) {
            let mut x: Vec<u64> = seed.iter().copied().cycle().take(DEGREE).collect();
            x[at] = Q - 1;
            let mut bytes = Vec::new();
            write(&mut bytes, &x);
            prop_assert_eq!(bytes.len(), POLY);
            prop_assert_eq!(&*read(&bytes).expect("residues"), &x);
            let small: Vec<u64> = x.iter().map(|x| x % SMALL).collect();
            bytes.clear();
            write_small(&mut bytes, &small);
            prop_assert_eq!(bytes.len(), SMALL_POLY);
            prop_assert_eq!(&*read_small(&bytes).expect("residues"), &small);
        }

        #[test]
        fn a_residue_that_is_too_large_is_refused(at in 0..DEGREE, over in Q..1 << LARGE_BITS) {
            let mut x = vec![0; DEGREE];
            x[at] = over;
            let mut bytes = Vec::new();
            write(&mut bytes, &x);
            prop_assert_eq!(read(&bytes).err(), Some(CiphertextFault::TooLarge));
            x[at] = SMALL + over % ((1 << SMALL_BITS) - SMALL);
            bytes.clear();
            write_small(&mut bytes, &x);
            prop_assert_eq!(read_small(&bytes).err(), Some(CiphertextFault::TooLarge));
        }
    }

    #[test]
    fn the_order_of_bits_is_that_of_the_format() {
        let mut x = vec![0; DEGREE];
        (x[0], x[1]) = (1, 1);
        let mut bytes = Vec::new();
        write(&mut bytes, &x);
        assert_eq!((bytes[0], bytes[6]), (1, 1 << 6), "bit 54 is the second's lowest");
    }
}
