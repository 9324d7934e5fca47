//! The two ways of garbling an AND, behind one trait: which one it is, is asked once a chunk of tables.

use super::Garbling;
use bytemuck::Pod;
use kernels::Block;
use kernels::gates::Operand;
use kernels::gates::{Gate, Numbers};
use kernels::half_gates::HalfGates;
use kernels::rows::BlockRows;
use kernels::three_halves::ThreeHalves;
use kernels::{half_gates, three_halves};

/// The hash that both parties agreed on.
pub(super) enum Hash {
    HalfGates(HalfGates),
    ThreeHalves(ThreeHalves),
}

impl Hash {
    /// The hash for one S.
    pub fn new(garbling: Garbling, s: Block) -> Hash {
        match garbling {
            Garbling::HalfGates => Hash::HalfGates(HalfGates::new(s)),
            Garbling::ThreeHalves => Hash::ThreeHalves(ThreeHalves::new(s)),
        }
    }

    /// Bytes of an AND's table.
    pub fn table(&self) -> usize {
        match self {
            Hash::HalfGates(_) => Garbling::HalfGates.table(),
            Hash::ThreeHalves(_) => Garbling::ThreeHalves.table(),
        }
    }
}

/// A hash that garbles and evaluates ANDs, each with a table: consecutive ones, or gates of a matrix.
pub(super) trait Gates: Sync {
    type Table: Pod + Send + Sync;

    fn garble(&self, first: u64, delta: Block, a: Operand, b: Operand, out: &mut [Block], tables: &mut [Self::Table]);
    fn evaluate(&self, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[Self::Table]);
    fn garble_gates(
        &self,
        numbers: Numbers,
        delta: Block,
        strip: BlockRows,
        gates: &[Gate],
        rows: &mut [&mut [Self::Table]],
    );
    fn evaluate_gates(&self, numbers: Numbers, strip: BlockRows, gates: &[Gate], rows: &[&[Self::Table]]);
}

/// Both hashes have these functions; here they only get a common name.
macro_rules! gates {
    ($hash:ty, $table:ty) => {
        impl Gates for $hash {
            type Table = $table;

            fn garble(
                &self,
                first: u64,
                delta: Block,
                a: Operand,
                b: Operand,
                out: &mut [Block],
                tables: &mut [$table],
            ) {
                <$hash>::garble(self, first, delta, a, b, out, tables);
            }

            fn evaluate(&self, first: u64, a: &[Block], b: &[Block], out: &mut [Block], tables: &[$table]) {
                <$hash>::evaluate(self, first, a, b, out, tables);
            }

            fn garble_gates(
                &self,
                numbers: Numbers,
                delta: Block,
                strip: BlockRows,
                gates: &[Gate],
                rows: &mut [&mut [$table]],
            ) {
                <$hash>::garble_gates(self, numbers, delta, strip, gates, rows);
            }

            fn evaluate_gates(&self, numbers: Numbers, strip: BlockRows, gates: &[Gate], rows: &[&[$table]]) {
                <$hash>::evaluate_gates(self, numbers, strip, gates, rows);
            }
        }
    };
}

gates!(HalfGates, half_gates::Ciphertexts);
gates!(ThreeHalves, three_halves::Table);
