//! Bristol circuit files: "Bristol Fashion" and the older "Bristol format", read and written.
//!
//! Formats: <https://nigelsmart.github.io/MPC-Circuits/>. Both begin with the numbers of gates and of wires. Fashion
//! then has a count and a list of widths for the input values and the same for the output values; the old format has the
//! widths of two inputs (the second may be 0) and of one output. Gates follow in topological order:
//! `inputs outputs wires... NAME`, with XOR, AND and INV (also NOT), and in Fashion EQ (a constant), EQW (a copy) and MAND
//! (2n inputs, n outputs: input i AND input n + i). The first wires are the inputs, the last wires are the outputs.
//!
//! Wire i of a value becomes bit i of its port. What the bit means is up to the file: the arithmetic circuits of the
//! public collection are least significant bit first; its AES and SHA-256 in Fashion read a byte string as one
//! big-endian number, so that bit 0 is the lowest bit of the *last* byte; the old AES files have the highest bit of the
//! first byte at wire 0. Ours ([`blocks`](crate::blocks)) have the lowest bit of the first byte there.
//!
//! Reading is lenient in whitespace and strict in everything else: counts are exact, every wire is assigned once and
//! before it is read. Gates are folded and shared as they are read, so the circuit may be smaller than the file. Memory
//! is bounded by the length of the file, not by what its header claims. No file makes this panic.

mod read;
mod write;

pub use read::{read, read_as};
pub use write::{write, write_old};

/// Which of the two formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// "Bristol Fashion".
    Fashion,
    /// The old "Bristol format".
    Old,
}

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Dialect::Fashion => "Bristol Fashion",
            Dialect::Old => "Bristol format",
        }
    }
}

/// Names for what has none in a file. Ports beyond the end of a list are `in0`, `in1`, ... and `out0`, `out1`, ...
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// The circuit.
    pub circuit: &'a str,
    /// Its inputs in order.
    pub inputs: &'a [&'a str],
    /// Its outputs in order.
    pub outputs: &'a [&'a str],
}

impl Default for Names<'_> {
    fn default() -> Self {
        Names { circuit: "bristol", inputs: &[], outputs: &[] }
    }
}
