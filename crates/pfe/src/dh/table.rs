//! The table of one gate: four labels in, of which the holder has one, and by it one of two labels out.
//!
//! With \[v ≥ 2\] a gate takes labels of v = 0 to 3. Each label gives a key κ_v (16 bytes) and a digest δ_v (32 bytes).
//! Two *colour positions* are bits in which the four digests are all different; so each v has a colour c_v in 0 to 3, which
//! says nothing of v, since the positions are a function of the set of digests. The *row reduction* of Pinkas, Schneider,
//! Smart, Williams (*Secure two-party computation is practical*, ASIACRYPT 2009, §5), for a public gate with two values on
//! each side: over GF(16)³², P is the polynomial of degree 2 through (c₀+1, κ₀) and (c₁+1, κ₁), P′ that through
//! (c₂+1, κ₂) and (c₃+1, κ₃), which have the same values Y₅, Y₆ at 5 and 6; for any order of colours there is just one such
//! pair. Output keys are w₀ = P(0) and w₁ = P′(0): who has one label has one of them, and the other is uniform to him.
//!
//! ```text
//! colour positions (2 bytes) ‖ position of a bit in which w₀ and w₁ differ (1) ‖ Y₅ ‖ Y₆ (16 each) ‖ two rows (32 each)
//! row b, for the w of which that bit is b: H(gate, w) ⊕ the label out
//! ```

use super::planes::{inverse, product, times};
use super::points::POINT;
use blake3::Hasher;
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

/// Bytes of a table.
pub const TABLE: usize = 3 + 2 * KEY + 2 * POINT;
const KEY: usize = 16;
const DIGEST: usize = 32;

/// The encoding of a label.
pub type Label = [u8; POINT];

/// The hashes of one run: no other run, and nothing else in it, has them.
pub struct Hashes {
    labels: Zeroizing<[u8; 32]>,
    rows: Zeroizing<[u8; 32]>,
}

impl Hashes {
    /// Those of the run with these public terms, which no other run has.
    pub fn new(run: &[u8; 32]) -> Self {
        let key = |context| Zeroizing::new(blake3::derive_key(context, run));
        let labels = key("duologue v1 private function: labels of gates");
        Hashes { labels, rows: key("duologue v1 private function: rows") }
    }

    /// κ and δ of a label.
    fn key_and_digest(&self, gate: u64, label: &Label) -> (u128, [u8; DIGEST]) {
        let mut output = Zeroizing::new([0; KEY + DIGEST]);
        let mut hasher = Hasher::new_keyed(&self.labels);
        hasher.update(&gate.to_le_bytes()).update(label).finalize_xof().fill(&mut *output);
        let (key, digest) = output.split_at(KEY);
        (u128::from_le_bytes(key.try_into().unwrap_or_default()), digest.try_into().unwrap_or_default())
    }

    fn mask(&self, gate: u64, w: u128) -> Zeroizing<Label> {
        let mut hasher = Hasher::new_keyed(&self.rows);
        hasher.update(&gate.to_le_bytes()).update(&*Zeroizing::new(w.to_le_bytes()));
        Zeroizing::new(*hasher.finalize().as_bytes())
    }

    /// The table of a gate with these labels of 0 to 3, for these labels of its output; none if the digests of the labels
    /// have no two positions, or both output keys are equal: of 2¹⁰⁴ gates one.
    pub fn garble(&self, gate: u64, labels: &[Label; 4], out: &[Label; 2]) -> Option<[u8; TABLE]> {
        let (mut keys, mut digests) = (Zeroizing::new([0; 4]), Zeroizing::new([[0; DIGEST]; 4]));
        for (v, label) in labels.iter().enumerate() {
            (keys[v], digests[v]) = self.key_and_digest(gate, label);
        }
        let positions = colour_positions(&digests)?;
        let colours = Zeroizing::new(digests.map(|digest| colour(&digest, positions)));
        let reduced = reduce(&keys, &colours);
        let w = Zeroizing::new(reduced.w);
        let position = (w[0] ^ w[1]).trailing_zeros();
        if position == u128::BITS {
            return None;
        }
        let mut table = [0; TABLE];
        table[..3].copy_from_slice(&[positions[0], positions[1], position as u8]);
        table[3..3 + KEY].copy_from_slice(&reduced.y[0].to_le_bytes());
        table[3 + KEY..3 + 2 * KEY].copy_from_slice(&reduced.y[1].to_le_bytes());
        let masked = [0, 1].map(|value| Zeroizing::new(xor(&self.mask(gate, w[value]), &out[value])));
        let swap = ((w[0] >> position & 1) as u8).into();
        for (at, (zero, one)) in masked[0].iter().zip(masked[1].iter()).enumerate() {
            table[3 + 2 * KEY + at] = u8::conditional_select(zero, one, swap);
            table[3 + 2 * KEY + POINT + at] = u8::conditional_select(one, zero, swap);
        }
        Some(table)
    }

    /// The label out that the holder of this label has.
    ///
    /// It is no label if the table is none; positions that no table has are taken as they come.
    pub fn open(&self, gate: u64, label: &Label, table: &[u8; TABLE]) -> Label {
        let (key, digest) = self.key_and_digest(gate, label);
        let number = |at: usize| u128::from_le_bytes(table[at..at + KEY].try_into().unwrap_or_default());
        let x = colour(&digest, [table[0], table[1]]) + 1;
        let w = at_zero([(x, key), (5, number(3)), (6, number(3 + KEY))]);
        let row = 3 + 2 * KEY + POINT * (w >> (table[2] & 127) & 1) as usize;
        xor(&self.mask(gate, w), &table[row..row + POINT].try_into().unwrap_or_default())
    }
}

fn xor(a: &Label, b: &Label) -> Label {
    std::array::from_fn(|at| a[at] ^ b[at])
}

/// The bits of a digest at two positions.
fn colour(digest: &[u8; DIGEST], positions: [u8; 2]) -> u8 {
    let bit = |position: u8| digest[usize::from(position >> 3)] >> (position & 7) & 1;
    bit(positions[0]) | bit(positions[1]) << 1
}

/// The first bit that parts the four digests two by two, and the first that parts both halves. Every step treats the four
/// alike, so that the positions do not depend on their order.
fn colour_positions(digests: &[[u8; DIGEST]; 4]) -> Option<[u8; 2]> {
    let bits = |at: u8| digests.each_ref().map(|digest| digest[usize::from(at >> 3)] >> (at & 7) & 1);
    let halves = |at: u8| bits(at).iter().sum::<u8>() == 2;
    let first = (0..=255).find(|&at| halves(at))?;
    let differs = |at: u8| {
        let same: u8 = bits(first).iter().zip(bits(at)).map(|(a, b)| 1 ^ a ^ b).sum();
        same == 2
    };
    let second = (0..=255).find(|&at| halves(at) && differs(at))?;
    Some([first, second])
}

/// The result of row reduction: the values at 5 and 6, and the output keys.
struct Reduced {
    y: [u128; 2],
    w: [u128; 2],
}

/// Finds both polynomials. What is looked up by colours is computed: they belong to secrets.
fn reduce(keys: &[u128; 4], colours: &[u8; 4]) -> Reduced {
    let [x0, x1, x2, x3] = colours.map(|colour| colour + 1);
    let zero = |at: u8, a: u8, b: u8| product(at ^ a, at ^ b);
    // The lines through both keys of each side, at 5 and 6; and the products that are zero at both.
    let line = |at, (xa, a): (u8, u128), (xb, b): (u8, u128)| {
        let scale = inverse(xa ^ xb);
        times(a, product(at ^ xb, scale)) ^ times(b, product(at ^ xa, scale))
    };
    let low = |at| line(at, (x0, keys[0]), (x1, keys[1]));
    let high = |at| line(at, (x2, keys[2]), (x3, keys[3]));
    let [a5, a6, b5, b6] = [zero(5, x0, x1), zero(6, x0, x1), zero(5, x2, x3), zero(6, x2, x3)];
    let scale = inverse(product(a5, b6) ^ product(a6, b5));
    let alpha = times(low(5) ^ high(5), product(b6, scale)) ^ times(low(6) ^ high(6), product(b5, scale));
    let y = [low(5) ^ times(alpha, a5), low(6) ^ times(alpha, a6)];
    let w = [(x0, keys[0]), (x2, keys[2])].map(|key| at_zero([key, (5, y[0]), (6, y[1])]));
    Reduced { y, w }
}

/// The value at 0 of the polynomial of degree 2 through three points.
fn at_zero(points: [(u8, u128); 3]) -> u128 {
    let mut sum = 0;
    for (number, &(x, y)) in points.iter().enumerate() {
        let (a, b) = (points[(number + 1) % 3].0, points[(number + 2) % 3].0);
        sum ^= times(y, product(product(a, b), inverse(product(x ^ a, x ^ b))));
    }
    sum
}

/// Whether two labels are equal, in constant time.
pub fn equal(a: &Label, b: &Label) -> subtle::Choice {
    a.ct_eq(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::Block;
    use kernels::generator::Generator;

    fn orders() -> Vec<[u8; 4]> {
        let digits = || 0..4u8;
        let all = digits()
            .flat_map(|a| digits().flat_map(move |b| digits().flat_map(move |c| digits().map(move |d| [a, b, c, d]))));
        all.filter(|order| (0..4).all(|digit| order.contains(&digit))).collect()
    }

    fn random(rng: &mut Generator) -> u128 {
        let mut bytes = [0; 16];
        rng.fill(&mut bytes);
        u128::from_le_bytes(bytes)
    }

    #[test]
    fn every_order_of_colours_has_one_pair_of_polynomials() {
        let mut rng = Generator::from_seed(Block::new(1));
        assert_eq!(orders().len(), 24);
        for order in orders() {
            let keys: [u128; 4] = std::array::from_fn(|_| random(&mut rng));
            let reduced = reduce(&keys, &order);
            for v in 0..4 {
                let w = at_zero([(order[v] + 1, keys[v]), (5, reduced.y[0]), (6, reduced.y[1])]);
                assert_eq!(w, reduced.w[v / 2], "{order:?}");
            }
            assert_ne!(reduced.w[0], reduced.w[1]);
        }
    }

    /// To the holder of any one key, the three others are in one-to-one correspondence with Y₅, Y₆ and the other output key:
    /// so these three are uniform and independent.
    #[test]
    fn one_key_says_nothing_of_the_other_output() {
        for order in orders() {
            for held in 0..4 {
                let mut rows: Vec<[u8; 3]> = Vec::new();
                for other in (0..4).filter(|&v| v != held) {
                    let mut keys = [0; 4];
                    keys[other] = 1;
                    let Reduced { y, w } = reduce(&keys, &order);
                    let element = |vector: u128| (0..4).fold(0, |e, i| e | ((vector >> (32 * i) & 1) as u8) << i);
                    rows.push([y[0], y[1], w[1 - held / 2]].map(element));
                }
                let minor = |a: usize, b: usize| product(rows[1][a], rows[2][b]) ^ product(rows[1][b], rows[2][a]);
                let determinant = product(rows[0][0], minor(1, 2))
                    ^ product(rows[0][1], minor(0, 2))
                    ^ product(rows[0][2], minor(0, 1));
                assert_ne!(determinant, 0, "{order:?}, {held}");
            }
        }
    }

    fn labels(rng: &mut Generator) -> ([Label; 4], [Label; 2]) {
        let mut bytes = [[0; POINT]; 6];
        bytes.iter_mut().for_each(|label| rng.fill(label));
        let [a, b, c, d, zero, one] = bytes;
        ([a, b, c, d], [zero, one])
    }

    #[test]
    fn each_label_opens_its_output_and_no_other() {
        let (mut rng, hashes) = (Generator::from_seed(Block::new(2)), Hashes::new(&[7; 32]));
        for gate in 0..200 {
            let (labels, out) = labels(&mut rng);
            let table = hashes.garble(gate, &labels, &out).unwrap();
            for v in 0..4 {
                assert_eq!(hashes.open(gate, &labels[v], &table), out[v / 2]);
                assert!(!out.contains(&hashes.open(gate + 1, &labels[v], &table)), "bound to the gate");
                assert!(!out.contains(&Hashes::new(&[8; 32]).open(gate, &labels[v], &table)), "and to the run");
            }
            let other = [9; 32];
            assert!(!out.contains(&hashes.open(gate, &other, &table)));
        }
    }

    /// Positions say nothing of the order of labels, and rows have no order that depends on values.
    #[test]
    fn positions_are_those_of_a_set() {
        let (mut rng, hashes) = (Generator::from_seed(Block::new(3)), Hashes::new(&[7; 32]));
        for gate in 0..50 {
            let (labels, out) = labels(&mut rng);
            let table = hashes.garble(gate, &labels, &out).unwrap();
            for order in orders() {
                let moved = order.map(|v| labels[usize::from(v)]);
                assert_eq!(hashes.garble(gate, &moved, &out).unwrap()[..2], table[..2]);
            }
        }
        assert!(hashes.garble(0, &[[1; 32]; 4], &[[2; 32]; 2]).is_none(), "labels that are equal have no colours");
    }
}
