//! The table of a NAND in four rows, for labels of any group; the output's labels are given.
//!
//! ```text
//! position of a bit in which the digests of the left operand's two labels differ (1 byte) ‖ of the right one's (1) ‖ four rows
//! row c + 2·d, for the labels L of colour c and R of colour d: H(gate, L, R) ⊕ the label out
//! ```
//!
//! The *colour* of a label is that bit of its digest. The position is a function of the set of both digests, and which of
//! them has the bit is uniform: so colours say nothing of values, and rows need no order of their own. Holz, Kiss,
//! Rathee, Schneider (ESORICS 2020, §5.1) permute the rows and append 40 zero bits to each, by which it is found.

use super::method::Tables;
use blake3::Hasher;
use he::linear::Labels;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

const DIGEST: usize = 32;

/// The hashes of one run.
pub struct Rows {
    colours: Zeroizing<[u8; 32]>,
    rows: Zeroizing<[u8; 32]>,
}

impl Rows {
    fn digest(&self, gate: u64, operand: u8, label: &[u8]) -> Zeroizing<[u8; DIGEST]> {
        let mut hasher = Hasher::new_keyed(&self.colours);
        hasher.update(&gate.to_le_bytes()).update(&[operand]).update(label);
        Zeroizing::new(*hasher.finalize().as_bytes())
    }

    fn mask(&self, gate: u64, operands: [&[u8]; 2]) -> Zeroizing<[u8; DIGEST]> {
        let mut hasher = Hasher::new_keyed(&self.rows);
        hasher.update(&gate.to_le_bytes()).update(operands[0]).update(operands[1]);
        Zeroizing::new(*hasher.finalize().as_bytes())
    }

    /// Where the digests of two labels differ, and the colour of the first; nowhere if they are equal.
    fn position(&self, gate: u64, operand: u8, labels: [&[u8]; 2]) -> Option<(u8, u8)> {
        let [zero, one] = labels.map(|label| self.digest(gate, operand, label));
        let byte = (0..DIGEST).find(|&at| zero[at] != one[at])?;
        let bit = (zero[byte] ^ one[byte]).trailing_zeros() as u8;
        Some((8 * byte as u8 + bit, zero[byte] >> bit & 1))
    }

    fn garble_one(&self, gate: u64, operands: [[&[u8]; 2]; 2], out: [&[u8]; 2], table: &mut Vec<u8>) -> Option<()> {
        let [left, right] = [0, 1].map(|operand| self.position(gate, operand, operands[usize::from(operand)]));
        let ((left, c), (right, d)) = (left?, right?);
        let width = out[0].len();
        let row = |x: usize, y: usize| {
            let mask = self.mask(gate, [operands[0][x], operands[1][y]]);
            let nand = usize::from(x & y == 0);
            Zeroizing::new(out[nand].iter().zip(mask.iter()).map(|(label, mask)| label ^ mask).collect::<Vec<u8>>())
        };
        let rows = [[row(0, 0), row(1, 0)], [row(0, 1), row(1, 1)]];
        table.extend([left, right]);
        for y in 0..2u8 {
            for x in 0..2u8 {
                for at in 0..width {
                    // The row of the labels of values x ⊕ c and y ⊕ d, by masks: c and d belong to secrets.
                    let of = |right: &[Zeroizing<Vec<u8>>; 2]| {
                        u8::conditional_select(&right[0][at], &right[1][at], Choice::from(x ^ c))
                    };
                    table.push(u8::conditional_select(&of(&rows[0]), &of(&rows[1]), Choice::from(y ^ d)));
                }
            }
        }
        Some(())
    }

    fn open(&self, gate: u64, operands: [&[u8]; 2], table: &[u8], out: &mut Vec<u8>) {
        let colour = |operand: u8| {
            let (label, position) = (operands[usize::from(operand)], table[usize::from(operand)]);
            usize::from(self.digest(gate, operand, label)[usize::from(position >> 3)] >> (position & 7) & 1)
        };
        let (row, width) = (colour(0) + 2 * colour(1), operands[0].len());
        let mask = self.mask(gate, operands);
        out.extend(table[2 + width * row..].iter().zip(&mask[..width]).map(|(byte, mask)| byte ^ mask));
    }
}

impl<L: Labels> Tables<L> for Rows {
    const TABLE: usize = 2 + 4 * L::BYTES;

    fn new(run: &[u8; 32]) -> Self {
        let key = |context| Zeroizing::new(blake3::derive_key(context, run));
        let colours = key("duologue v1 private function: colours of NANDs");
        Rows { colours, rows: key("duologue v1 private function: rows of NANDs") }
    }

    fn garble(&self, first: u64, operands: [&L; 2], out: &L, offset: &L) -> Option<Vec<u8>> {
        let both = |zero: &L| [zero.encode(), zero.add(&offset.pick((0..zero.len()).map(|_| 0))).encode()];
        let (operands, out) = (operands.map(both), both(out));
        let mut tables = Vec::with_capacity(out[0].len() / L::BYTES * <Self as Tables<L>>::TABLE);
        for (gate, at) in (first..).zip((0..out[0].len()).step_by(L::BYTES)) {
            let [left, right] = operands.each_ref().map(|labels| labels.each_ref().map(|of| &of[at..at + L::BYTES]));
            self.garble_one(gate, [left, right], out.each_ref().map(|of| &of[at..at + L::BYTES]), &mut tables)?;
        }
        Some(tables)
    }

    fn evaluate(&self, first: u64, operands: [&L; 2], tables: &[u8]) -> (L, bool) {
        let [left, right] = operands.map(L::encode);
        let mut out = Zeroizing::new(Vec::with_capacity(left.len()));
        let labels = left.chunks_exact(L::BYTES).zip(right.chunks_exact(L::BYTES));
        for ((gate, (left, right)), table) in (first..).zip(labels).zip(tables.chunks_exact(<Self as Tables<L>>::TABLE))
        {
            self.open(gate, [left, right], table, &mut out);
        }
        L::decode(&out)
    }
}
