//! Random circuits for tests.

use duologue::circuit::{Bits, Builder, Circuit};
use kernels::Block;
use kernels::generator::Generator;

pub(crate) fn seeded(seed: u64) -> Generator {
    Generator::from_seed(Block::new(u128::from(seed)))
}

/// Gates of two earlier bits, each of a kind: complements of the operands, and an AND or an XOR.
pub(crate) fn circuit_of(inputs: u32, gates: &[(u8, usize, usize)], outputs: usize) -> Circuit {
    let mut c = Builder::new("random");
    let mut bits = c.bits("x", inputs).0;
    for &(kind, a, b) in gates {
        let (a, b) = (bits[a % bits.len()].flip(kind & 1 == 1), bits[b % bits.len()].flip(kind & 2 == 2));
        bits.push(if kind & 4 == 4 { c.and(a, b) } else { c.xor(a, b) });
    }
    c.output("y", &Bits(bits[bits.len() - outputs.min(bits.len())..].to_vec()));
    c.finish()
}
