//! The table of a NAND in 48 bytes, for labels under XOR: half-gates, and what is between their output and the given one.
//!
//! ```text
//! T_G ‖ T_E (16 each, `kernels::half_gates`) ‖ W ⊕ s      W, s the half-gate's and the given label of 1
//! ```
//!
//! Half-gates make their output label W themselves, where here s is given. Both have the same offset Δ, so that W ⊕ s serves
//! both values (Bingöl, Biçer, Kiraz, Levi, *An efficient 2-party private function evaluation protocol based on half gates*,
//! The Computer Journal 2018). Holz, Kiss, Rathee, Schneider hold half-gates to be impossible here, and send 84 bytes.
//!
//! **The hash.** Its theorem (`kernels::half_gates::HalfGates`) is for labels that an honest garbler draws alone, and lets four
//! ANDs share a key; here operands are s_π ⊕ b with b the evaluator's. So gate n takes AND number 16·n, whose key no other AND
//! has. What is left to ask of labels is within one AND, whose hidden calls are on L ⊕ Δ of tweak 0 and R ⊕ Δ of tweak 1: they
//! are one call if L ⊕ R = 1, and that has a chance of 2⁻¹²⁸ a gate if the evaluator draws b as the protocol says, for
//! whatever s. Δ is uniform but for bit 0 and independent of all labels as before. By the count given there, a key for each AND
//! has 124 bits; against parties that follow the protocol, as all of this.

use super::method::Tables;
use he::linear::{Labels, Strings};
use kernels::Block;
use kernels::gates::{Gate, Numbers};
use kernels::half_gates::HalfGates;
use kernels::rows::BlockRows;
use zeroize::Zeroizing;

const BLOCK: usize = 16;

/// The hash of one run.
pub struct Halves(HalfGates);

/// Numbers of ANDs by which no two gates have one key.
fn numbers(first: u64) -> Numbers {
    Numbers { first: 16 * first, step: 16 }
}

/// Rows of the operands and room for what comes out, one lane each, and the gates that read them.
fn matrix([left, right]: [&Strings; 2]) -> (Zeroizing<Vec<Block>>, Vec<Gate>) {
    let count = left.len() as u32;
    let room = vec![Block::ZERO; left.len()];
    let blocks = Zeroizing::new([left.blocks(), right.blocks(), &room[..]].concat());
    (blocks, (0..count).map(|at| Gate::new(2 * count + at, [(at, false), (count + at, false)])).collect())
}

impl Tables<Strings> for Halves {
    const TABLE: usize = 3 * BLOCK;

    fn new(run: &[u8; 32]) -> Self {
        let s = blake3::derive_key("duologue v1 private function: key of half-gates", run);
        Halves(HalfGates::new(Block::from_bytes(std::array::from_fn(|i| s[i]))))
    }

    fn garble(&self, first: u64, operands: [&Strings; 2], out: &Strings, offset: &Strings) -> Option<Vec<u8>> {
        let (mut blocks, gates) = matrix(operands);
        let (delta, mut halves) = (offset.blocks()[0], vec![Default::default(); gates.len()]);
        let mut rows: Vec<_> = halves.chunks_mut(1).collect();
        self.0.garble_gates(numbers(first), delta, BlockRows { blocks: &mut blocks, len: 1 }, &gates, &mut rows);
        let made = blocks[2 * gates.len()..].iter().zip(out.blocks());
        let corrections = made.map(|(&and, &given)| (and ^ delta ^ given).to_bytes());
        Some(halves.iter().zip(corrections).flat_map(|(&[g, e], w)| [g, e, w]).flatten().collect())
    }

    fn evaluate(&self, first: u64, operands: [&Strings; 2], tables: &[u8]) -> (Strings, bool) {
        let (mut blocks, gates) = matrix(operands);
        let (tables, _) = tables.as_chunks::<BLOCK>();
        let (tables, _) = tables.as_chunks::<3>();
        let halves: Vec<_> = tables.iter().map(|&[g, e, _]| [[g, e]]).collect();
        let rows: Vec<_> = halves.iter().map(|row| &row[..]).collect();
        self.0.evaluate_gates(numbers(first), BlockRows { blocks: &mut blocks, len: 1 }, &gates, &rows);
        let out = blocks[2 * gates.len()..].iter().zip(tables).map(|(&and, &[.., w])| and ^ Block::from_bytes(w));
        (Strings::new(Zeroizing::new(out.collect())), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Sixteen ANDs that follow each other share four keys of the hash; these share none.
    #[test]
    fn every_gate_has_a_key_of_its_own() {
        let key = |number: u64| 4 * (number / 16) + number % 4;
        let of_chunk = |first: u64| {
            let Numbers { first, step } = numbers(first);
            (0..500).map(move |gate| key(first + gate * step))
        };
        let keys: BTreeSet<u64> = of_chunk(0).chain(of_chunk(500)).collect();
        assert_eq!(keys.len(), 1000);
    }
}
