//! Vectors of 32 elements of GF(16) = GF(2)\[x\]/(x⁴ + x + 1), as four planes of 32 bits in a number: bit 32·i + k is the
//! coefficient of xⁱ of element k. Sums are XORs.

/// A product of two elements, in time that depends on neither.
pub fn product(a: u8, b: u8) -> u8 {
    let product = (0..4).fold(0, |sum, i| sum ^ (a << i) & (b >> i & 1).wrapping_neg());
    // x⁴ = x + 1, x⁵ = x² + x, x⁶ = x³ + x².
    let high = product >> 4;
    (product & 15) ^ high ^ high << 1
}

/// The inverse; 0 of 0.
pub fn inverse(a: u8) -> u8 {
    let square = |a| product(a, a);
    let (a2, a4, a8) = (square(a), square(square(a)), square(square(square(a))));
    product(product(a2, a4), a8)
}

/// Every element times `by`.
pub fn times(vector: u128, by: u8) -> u128 {
    let (mut power, mut sum) = (vector, 0);
    for bit in 0..4 {
        sum ^= power & u128::from(by >> bit & 1).wrapping_neg();
        // Times x: the highest plane comes back as x + 1.
        power = power.rotate_left(32) ^ (power >> 96) << 32;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_elements_are_a_field() {
        for a in 0..16 {
            assert_eq!(product(a, 1), a);
            assert_eq!(product(a, inverse(a)), u8::from(a != 0));
            for b in 0..16 {
                assert_eq!(product(a, b), product(b, a));
                assert!(product(a, b) < 16);
                for c in 0..16 {
                    assert_eq!(product(a, product(b, c)), product(product(a, b), c));
                    assert_eq!(product(a, b ^ c), product(a, b) ^ product(a, c));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn vectors_are_their_elements(vector in any::<u128>(), by in 0u8..16) {
            let element = |vector: u128, k: usize| (0..4).fold(0, |e, i| e | ((vector >> (32 * i + k) & 1) as u8) << i);
            let multiplied = times(vector, by);
            for k in 0..32 {
                prop_assert_eq!(element(multiplied, k), product(element(vector, k), by));
            }
        }
    }
}
