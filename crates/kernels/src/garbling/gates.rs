//! Operands, gates and the numbers of ANDs.

use crate::Block;

/// The zero labels of one operand of a run of ANDs.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    /// One label an AND.
    pub labels: &'a [Block],
    /// The operand enters complemented: the garbler adds Δ, the evaluator does nothing.
    pub flip: bool,
}

/// An AND of two rows of a matrix of labels, which makes another one.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// The row of the first operand.
    pub a: u32,
    /// The row of the second operand.
    pub b: u32,
    /// The row of the result, which is no operand.
    pub out: u32,
    /// Whether each operand enters complemented: the garbler adds Δ, the evaluator does nothing.
    pub flips: [bool; 2],
}

/// The numbers of ANDs: AND number `first + i·step + l` is lane l of gate i.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The number of lane 0 of the first gate.
    pub first: u64,
    /// The difference of the numbers of two consecutive gates.
    pub step: u64,
}
