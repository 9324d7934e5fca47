//! The ways of garbling an AND: which one it is, is asked once a chunk of tables.

use super::Garbling;
use kernels::Block;
use kernels::half_gates::HalfGates;
use kernels::three_halves::ThreeHalves;

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
            Hash::HalfGates(_) => HalfGates::TABLE,
            Hash::ThreeHalves(_) => ThreeHalves::TABLE,
        }
    }
}
