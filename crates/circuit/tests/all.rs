//! Nearly all tests of the crate in one program.

mod common;
#[path = "../../../tests/support/named.rs"]
mod named;

mod aiger;
mod blif;
mod blocks;
mod bristol;
mod ciphers;
mod corners;
mod distances;
mod division;
mod elementary;
mod fixed;
mod floats;
mod formulas;
mod fuse;
mod graph;
mod matrix;
mod more_blocks;
mod numbers;
mod optimise;
mod order;
mod products;
mod programs;
mod rounding;
mod sboxes;
mod selection;
mod sets;
mod shdl;
mod shifts;
mod sorting;
mod table7;
mod trigonometry;
mod written;

/// Where they lie.
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
