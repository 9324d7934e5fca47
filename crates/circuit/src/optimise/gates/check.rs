//! Whether two circuits compute the same, by trying: all inputs up to 24 bits of them, else 2^20 lanes.

use super::affine::truth::INPUT;
use crate::graph::Circuit;
use crate::matrix::BitMatrix;
use crate::simulate::Simulator;

/// Input bits up to which all values are tried.
pub const MOST_EXHAUSTIVE: usize = 24;
/// Lanes that are tried of wider inputs.
const LANES: usize = 1 << 20;
/// Lanes at a time.
const BLOCK: usize = 1 << 14;

/// Whether the outputs are equal on every lane that is tried.
pub fn agree(one: &Circuit, other: &Circuit) -> bool {
    let width = one.input_width();
    let lanes = if width <= MOST_EXHAUSTIVE { 1 << width.max(6) } else { LANES };
    let (mut one, mut other) = (Simulator::new(one), Simulator::new(other));
    let mut random = blake3::Hasher::new_derive_key("duologue v1 optimiser: lanes").finalize_xof();
    let mut inputs = BitMatrix::zeros(width, BLOCK.min(lanes));
    (0..lanes).step_by(BLOCK).all(|first| {
        if width <= MOST_EXHAUSTIVE {
            count(&mut inputs, first)
        } else {
            draw(&mut inputs, first / BLOCK, &mut random)
        }
        one.run(&inputs) == other.run(&inputs)
    })
}

/// Lane l has the bits of `first` + l.
fn count(inputs: &mut BitMatrix, first: usize) {
    for row in 0..inputs.rows() {
        for (i, word) in inputs.row_mut(row).iter_mut().enumerate() {
            let high = (first + 64 * i) >> row & 1 == 1;
            *word = INPUT.get(row).copied().unwrap_or(u64::from(high).wrapping_neg());
        }
    }
}

/// Half of the blocks are uniform; in the others seven of eight bits are zero, or are set.
pub fn draw(inputs: &mut BitMatrix, block: usize, random: &mut blake3::OutputReader) {
    let mut word = || {
        let mut bytes = [0; 8];
        random.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    };
    for row in 0..inputs.rows() {
        for place in inputs.row_mut(row) {
            *place = match block % 4 {
                0 | 1 => word(),
                2 => word() & word() & word(),
                _ => word() | word() | word(),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::words::Bits;

    /// The AND of all bits, or of all but one.
    fn all(width: u32, but: usize) -> Circuit {
        let mut c = Builder::new("all");
        let x = c.bits("x", width);
        let all = x.0.iter().skip(but).fold(crate::Bit::TRUE, |all, &bit| c.and(all, bit));
        c.output("all", &Bits(vec![all]));
        c.finish()
    }

    #[test]
    fn one_lane_of_millions_is_enough() {
        for width in [1, 3, 7, 13, 20] {
            assert!(agree(&all(width, 0), &all(width, 0)));
            assert!(!agree(&all(width, 0), &all(width, 1)), "{width} bits");
        }
        assert!(!agree(&all(30, 0), &all(30, 1)), "dense lanes");
    }
}
