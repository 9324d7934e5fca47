//! All tests of the command in one program.

#[path = "support/couple.rs"]
mod couple;
#[path = "support/named.rs"]
mod named;
#[path = "support/process.rs"]
mod process;

mod bench;
mod command;
mod compile;
mod configuration;
mod cost;
mod data;
mod demo;
mod doctor;
mod every_block;
mod faults;
mod formats;
mod he;
mod job;
mod join;
mod library;
mod pool;
mod prepared;
mod private;
mod private_prepared;
mod psi;
mod statistics;
mod texts;
mod two_processes;
mod values;

/// Where they lie.
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests");
