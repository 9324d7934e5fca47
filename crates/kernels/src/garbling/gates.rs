//! Operands, gates and the numbers of ANDs.

use crate::Block;
use bytemuck::{Pod, Zeroable};

/// The zero labels of one operand of a run of ANDs.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    /// One label an AND.
    pub labels: &'a [Block],
    /// The operand enters complemented: the garbler adds Δ, the evaluator does nothing.
    pub flip: bool,
}

/// An AND of two rows of a matrix of labels, which makes another one.
///
/// In memory it is the row of the result, which is no operand, and those of the operands, with the highest bit set where
/// an operand enters complemented: there the garbler adds Δ, and the evaluator does nothing.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct Gate([u32; 3]);

/// Marks an operand that enters complemented.
const FLIP: u32 = 1 << 31;

impl Gate {
    /// The gate that makes `row` of two rows, each of which may enter complemented.
    pub const fn new(row: u32, [a, b]: [(u32, bool); 2]) -> Gate {
        Gate([row, a.0 | (FLIP * a.1 as u32), b.0 | (FLIP * b.1 as u32)])
    }

    /// The gates of a list in which they stand as in memory.
    #[inline]
    pub fn list(gates: &[[u32; 3]]) -> &[Gate] {
        bytemuck::cast_slice(gates)
    }

    /// The rows of the operands.
    #[inline(always)]
    pub fn operands(self) -> [usize; 2] {
        [self.0[1], self.0[2]].map(|row| (row & !FLIP) as usize)
    }

    /// The row of the result.
    #[inline(always)]
    pub fn out(self) -> usize {
        self.0[0] as usize
    }

    /// Whether each operand enters complemented.
    #[inline(always)]
    pub fn flips(self) -> [bool; 2] {
        [self.0[1], self.0[2]].map(|row| row & FLIP != 0)
    }
}

/// The numbers of ANDs: AND number `first + i·step + l` is lane l of gate i.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The number of lane 0 of the first gate.
    pub first: u64,
    /// The difference of the numbers of two consecutive gates.
    pub step: u64,
}

/// The bucket of an AND's number, whose key it is hashed under, and its first tweak there (`half_gates::HalfGates`).
pub fn bucket(number: u64) -> (u64, u64) {
    let (block, place) = (number / 16, number % 16);
    (4 * block + place % 4, 2 * (place / 4))
}
