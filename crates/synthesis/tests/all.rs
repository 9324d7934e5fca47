//! All tests of the crate in one program.

#[path = "common/bench.rs"]
mod bench;
mod common;
#[path = "../../../tests/support/named.rs"]
mod named;
mod writer;

mod blocks;
mod cells;
mod clocked;
mod costs;
mod decoders;
mod hierarchy;
mod library;
mod mapped;
mod profile;
mod readers;
mod refused;
mod selection;
mod verilog;

/// Where they lie.
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
