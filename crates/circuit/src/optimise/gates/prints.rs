//! Fingerprints of functions that respect XOR: print(f ⊕ g) = print(f) ⊕ print(g), and print(¬f) = print(f) ⊕ 1.
//!
//! Inputs have random prints. An AND has one made of the plane through zero that the prints of its operands span, without
//! their constants: all ANDs of two of a plane's functions differ by affine forms of these alone. So equal prints mean equal
//! functions, in whatever order XORs were added and however operands were complemented. That two functions have
//! one print by accident has a chance of 2^-127 a pair; hashes are keyed by the circuit, so that none is made to have them.

/// A fingerprint; the lowest bit is the constant.
pub type Print = u128;

/// The prints of a circuit.
pub struct Prints {
    key: [u64; 4],
}

/// A plane of functions, named by a print that stands for the AND of its two least.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// The print of the AND of `low` and `high`.
    pub name: Print,
    low: Print,
    high: Print,
}

/// Two words become one that depends on all of both.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Prints {
    pub fn new(seed: [u8; 32]) -> Self {
        let word = |i: usize| u64::from_le_bytes(seed[8 * i..][..8].try_into().expect("eight bytes")) | 1;
        Prints { key: [word(0), word(1), word(2), word(3)] }
    }

    fn hash(&self, words: [u64; 4]) -> Print {
        let [a, b, c, d] = words;
        let [k, l, m, n] = self.key;
        let half = |k: u64, l: u64, turn: u32| {
            let first = folded(a ^ k, b.rotate_left(turn) ^ l);
            let second = folded(c ^ l ^ first, d.rotate_left(turn) ^ k);
            folded(first ^ second.rotate_left(23) ^ k, second ^ l)
        };
        (u128::from(half(k, l, 0)) << 64 | u128::from(half(m, n, 17))) & !1
    }

    /// The print of an input.
    pub fn input(&self, number: usize) -> Print {
        self.hash([number as u64, 0, 0, 0])
    }

    /// The plane of two functions, which are neither constant nor equal nor complements.
    pub fn plane(&self, a: Print, b: Print) -> Plane {
        let (a, b) = (a & !1, b & !1);
        let mut three = [a, b, a ^ b];
        three.sort_unstable();
        let [low, high, _] = three;
        let name = self.hash([low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64]);
        Plane { name, low, high }
    }
}

impl Plane {
    /// The print of the AND of two functions of the plane.
    pub fn and(&self, a: Print, b: Print) -> Print {
        // (A ⊕ p)(B ⊕ q) = AB ⊕ qA ⊕ pB ⊕ pq, and of low, high and low ⊕ high the ANDs of pairs differ by one of them.
        let (plain_a, plain_b) = (a & !1, b & !1);
        let third = plain_a ^ plain_b;
        let product = self.name
            ^ if third == self.low {
                self.high
            } else if third == self.high {
                self.low
            } else {
                0
            };
        let times = |bit: Print, print: Print| if bit & 1 == 1 { print } else { 0 };
        product ^ times(b, plain_a) ^ times(a, plain_b) ^ (a & b & 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// All ANDs of two of a plane's functions, by their tables over two inputs, have the prints of these tables.
        #[test]
        fn ands_of_a_plane(seed: [u8; 32]) {
            let prints = Prints::new(seed);
            let (x, y) = (prints.input(0), prints.input(1));
            let forms: Vec<(u8, Print)> = (0..8u8)
                .filter(|form| form & 3 != 0)
                .map(|form| {
                    let pick = |bit: u8, table: u8, print: Print| if form & bit == 0 { (0, 0) } else { (table, print) };
                    let parts = [pick(1, 0b1010, x), pick(2, 0b1100, y), pick(4, 0b1111, 1)];
                    parts.iter().fold((0, 0), |sum, part| (sum.0 ^ part.0, sum.1 ^ part.1))
                })
                .collect();
            let mut known: Vec<(u8, Print)> = Vec::new();
            for a in &forms {
                for b in forms.iter().filter(|b| (a.1 ^ b.1) & !1 != 0) {
                    let (table, print) = (a.0 & b.0, prints.plane(a.1, b.1).and(a.1, b.1));
                    known.iter().for_each(|one| assert_eq!(one.0 == table, one.1 == print));
                    known.push((table, print));
                }
            }
        }
    }
}
