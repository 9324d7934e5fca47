//! What a method is made of: a scheme, and tables for its labels.

use super::halves::Halves;
use super::rows::Rows;
use crate::proposal::Method;
use he::bfv::Bfv;
use he::djn::DjnOf;
use he::elgamal::ElGamal;
use he::linear::{Labels, Scheme};

/// How NANDs are garbled under labels of a kind, of which those of the outputs are given.
pub trait Tables<L: Labels>: Send {
    /// Bytes of a table.
    const TABLE: usize;

    /// Those of the run with these public terms, which no other run has.
    fn new(run: &[u8; 32]) -> Self;

    /// The tables of the gates from number `first` on, of which these are the labels of 0: of both operands and of the outputs.
    /// None if labels cannot be told apart, which has a chance of about 2⁻²⁵² a run (points), or 2⁻¹²⁸ (integers): that r is 0.
    fn garble(&self, first: u64, operands: [&L; 2], out: &L, offset: &L) -> Option<Vec<u8>>;

    /// The labels out of the gates from number `first` on, of which these are the operands'; and whether each is a label.
    ///
    /// # Panics
    /// If there are fewer tables than gates.
    fn evaluate(&self, first: u64, operands: [&L; 2], tables: &[u8]) -> (L, bool);
}

/// Katz and Malka's protocol with a scheme.
pub trait Linear: Scheme {
    /// Its name to the peer.
    const METHOD: Method;
    /// Tables for its labels.
    type Tables: Tables<Self::Labels>;
}

impl Linear for ElGamal {
    const METHOD: Method = Method::ElGamal;
    type Tables = Rows;
}

impl<const BITS: u32> Linear for DjnOf<BITS> {
    const METHOD: Method = Method::Djn;
    type Tables = Rows;
}

impl Linear for Bfv {
    const METHOD: Method = Method::Bfv;
    type Tables = Halves;
}
