//! Numbers modulo 2^width, of any width.

/// The bits of a number, the lowest first, in words; those beyond the width are zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Residue {
    words: Vec<u64>,
    width: usize,
}

impl Residue {
    pub fn zero(width: usize) -> Self {
        Residue { words: vec![0; width.div_ceil(64)], width }
    }

    pub fn of_bits(bits: &[bool]) -> Self {
        let mut made = Residue::zero(bits.len());
        bits.iter().enumerate().for_each(|(i, &bit)| made.words[i / 64] |= u64::from(bit) << (i % 64));
        made
    }

    /// 2^weight.
    pub fn power(weight: usize, width: usize) -> Self {
        let mut made = Residue::zero(width);
        made.words[weight / 64] = 1 << (weight % 64);
        made
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn is_zero(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    pub fn bit(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// The weights of the bits that are set.
    pub fn weights(&self) -> impl Iterator<Item = usize> {
        (0..self.width).filter(|&i| self.bit(i))
    }

    pub fn add(&mut self, other: &Residue) {
        self.combine(other, false);
    }

    pub fn subtract(&mut self, other: &Residue) {
        self.combine(other, true);
    }

    /// Twice the number, negative.
    pub fn minus_twice(&self) -> Residue {
        let mut made = Residue::zero(self.width);
        made.subtract(self);
        made.subtract(self);
        made
    }

    /// a + b, or a + ¬b + 1.
    fn combine(&mut self, other: &Residue, subtract: bool) {
        let mut carry = u128::from(subtract);
        for (word, &other) in self.words.iter_mut().zip(&other.words) {
            let other = if subtract { !other } else { other };
            carry += u128::from(*word) + u128::from(other);
            *word = carry as u64;
            carry >>= 64;
        }
        let above = self.width % 64;
        if let (Some(last), 1..) = (self.words.last_mut(), above) {
            *last &= (1 << above) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn residue(value: u128, width: usize) -> Residue {
        Residue::of_bits(&(0..width).map(|i| value >> i & 1 == 1).collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn sums_are_those_of_integers(a: u128, b: u128, width in 1usize..=128) {
            let mask = u128::MAX >> (128 - width);
            let (x, y) = (residue(a, width), residue(b, width));
            let (mut sum, mut difference) = (x.clone(), x.clone());
            sum.add(&y);
            difference.subtract(&y);
            prop_assert_eq!(sum, residue(a.wrapping_add(b) & mask, width));
            prop_assert_eq!(&difference, &residue(a.wrapping_sub(b) & mask, width));
            prop_assert_eq!(y.minus_twice(), residue(b.wrapping_mul(2).wrapping_neg() & mask, width));
            prop_assert_eq!(x.weights().map(|i| 1u128 << i).sum::<u128>(), a & mask);
        }
    }
}
