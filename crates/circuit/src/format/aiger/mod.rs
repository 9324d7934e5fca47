//! AIGER files, ASCII (`aag`) and binary (`aig`), read and written: circuits of ANDs and complements.
//!
//! Format: Biere, *The AIGER And-Inverter Graph (AIG) Format* (2007), and of its version 1.9 the header. Circuits alone: a
//! file with latches, or with properties to prove, is refused. Inputs and outputs are single bits there; those that the
//! symbol table calls `a[0]`, `a[1]`, … in this order become one port `a`, and bits in a row that it does not name become
//! one as well. What stands there as three ANDs for an XOR is read as one. Reading is total, and its memory is bounded by the
//! length of the file.

mod read;
mod write;

pub use read::read;
pub use write::{write, write_ascii};

const FORMAT: &str = "AIGER";
